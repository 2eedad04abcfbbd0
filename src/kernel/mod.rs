//! The kernels: for each a parameter struct, the twin that runs on the CPU, and
//! a shader of the same name in `shaders/`.
//!
//! A twin is given what the shader is given, parameters and the bytes of its
//! bindings, and writes the same bytes. It may compute them in any order.

mod compose;
mod divide;
mod ends;
pub(crate) mod fill;
pub(crate) mod pool;
pub(crate) mod reduce_columns;
pub(crate) mod reduce_rows;
pub(crate) mod segment;
mod shader;
mod walk;

pub(crate) use divide::divisor;
pub(crate) use ends::{Elements, Read, Scratch, Write};
pub(crate) use shader::item_size;
pub use shader::{Kernel, Shader};
pub use walk::{Over, Walk};

/// A kernel's parameters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Params {
    Fill(fill::Params),
    Rows(reduce_rows::Params),
    Columns(reduce_columns::Params),
    Pool(Box<pool::Params>),
    Segment(Box<segment::Params>),
}

impl Params {
    /// The bytes of the uniform buffer.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Fill(p) => bytemuck::bytes_of(p),
            Self::Rows(p) => bytemuck::bytes_of(p),
            Self::Columns(p) => bytemuck::bytes_of(p),
            Self::Pool(p) => bytemuck::bytes_of(&**p),
            Self::Segment(p) => bytemuck::bytes_of(&**p),
        }
    }

    /// Runs the twin on the bytes of its bindings.
    pub(crate) fn run_twin(&self, shader: &Shader, sources: &[&[u8]], results: &mut [&mut [u8]]) {
        match (self, sources, results) {
            (Self::Fill(p), [], [result]) => fill::twin(p, result),
            (Self::Rows(p), [source], [result]) => with_ends(shader, source, result, p),
            (Self::Columns(p), [source], [result]) => with_ends(shader, source, result, p),
            (Self::Segment(p), sources, results) => segment::twin(p, shader, sources, results),
            (Self::Pool(p), sources, results) => pool_twin(p, shader, sources, results),
            _ => unreachable!("planners bind what a kernel declares"),
        }
    }
}

/// The pooling kernels: elements in, elements or positions out.
fn pool_twin(p: &pool::Params, shader: &Shader, sources: &[&[u8]], results: &mut [&mut [u8]]) {
    use crate::tensor::key::Keyed;
    use Kernel::{PoolIndex, PoolIndexAcross, PoolIndexSparse, PoolWalkIndex};
    use bytemuck::{cast_slice, cast_slice_mut};
    fn twin<T: Keyed>(
        p: &pool::Params,
        shader: &Shader,
        sources: &[&[u8]],
        results: &mut [&mut [u8]],
    ) {
        let source = cast_slice(sources[0]);
        let earlier = sources.get(1).map(|bytes| cast_slice(bytes));
        match (shader.kernel, results) {
            (
                PoolIndex | PoolIndexAcross | PoolIndexSparse | PoolWalkIndex(..),
                [values, indices],
            ) => {
                let (values, indices) = (cast_slice_mut(values), cast_slice_mut(indices));
                pool::finish::<T>(p, source, earlier, values, indices);
            }
            (PoolIndex | PoolIndexAcross | PoolIndexSparse, [result]) => {
                pool::positions::<T>(p, source, earlier, cast_slice_mut(result));
            }
            (_, [result]) => pool::twin::<T>(p, source, cast_slice_mut(result)),
            _ => unreachable!("planners bind what a kernel declares"),
        }
    }
    crate::tensor::key::with_keyed!(shader.element, T => twin::<T>(p, shader, sources, results))
}

/// A twin, generic in how keys are read and written.
pub(crate) trait Twin: Sync {
    /// `read` reads the source's items as keys, `write` turns keys into the result's items.
    fn twin<R: Read, W: Write<Key = R::Key>>(
        &self,
        source: &[R::Item],
        result: &mut [W::Item],
        read: R,
        write: W,
    );
    /// The key of NaN in 32 bits.
    fn nan_key(&self) -> u32;
}

/// Picks the types at a launch's two ends: elements, or keys in scratch.
fn with_ends(shader: &Shader, source: &[u8], result: &mut [u8], kernel: &impl Twin) {
    use crate::tensor::key::{Key, Keyed};
    use bytemuck::{cast_slice, cast_slice_mut};
    fn ends<T: Keyed>(shader: &Shader, source: &[u8], result: &mut [u8], kernel: &impl Twin) {
        let elements = Elements::<T> { nan: T::Key::nan(kernel.nan_key()) };
        let scratch = Scratch::<T::Key>(std::marker::PhantomData);
        match (shader.from_scratch, shader.to_scratch) {
            (false, false) => {
                kernel.twin(cast_slice(source), cast_slice_mut(result), elements, elements)
            }
            (false, true) => {
                kernel.twin(cast_slice(source), cast_slice_mut(result), elements, scratch)
            }
            (true, false) => {
                kernel.twin(cast_slice(source), cast_slice_mut(result), scratch, elements)
            }
            (true, true) => {
                kernel.twin(cast_slice(source), cast_slice_mut(result), scratch, scratch)
            }
        }
    }
    crate::tensor::key::with_keyed!(shader.element, T => ends::<T>(shader, source, result, kernel))
}

/// Below so many elements a twin stays on the calling thread: waking others costs more.
pub(crate) const PARALLEL_FROM: usize = 1 << 16;
