//! Operators on host tensors, on any device.

use std::borrow::Cow;

use super::RunOptions;
#[expect(unused_imports, reason = "named in documentation")]
use crate::base::error::Error;
use crate::base::error::Result;
use crate::device::Device;
use crate::operator::Operator;
use crate::tensor::{Inputs, Outputs, Tensor, TensorDesc, TensorView};

/// An input on the host: a tensor, or a view of one.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Input<'a> {
    /// Contiguous elements.
    Tensor(&'a Tensor),
    /// Elements that need not be contiguous.
    View(&'a TensorView),
}

impl<'a> Input<'a> {
    /// The type and shape.
    pub fn desc(self) -> &'a TensorDesc {
        match self {
            Self::Tensor(tensor) => tensor.desc(),
            Self::View(view) => view.desc(),
        }
    }

    /// The elements, if they are contiguous in their own memory.
    pub(super) fn tensor(self) -> Option<&'a Tensor> {
        match self {
            Self::Tensor(tensor) => Some(tensor),
            Self::View(_) => None,
        }
    }

    pub(super) fn view(self) -> Cow<'a, TensorView> {
        match self {
            Self::Tensor(tensor) => Cow::Owned(tensor.into()),
            Self::View(view) => Cow::Borrowed(view),
        }
    }
}

macro_rules! inputs {
    ($($kind:ident: $of:ty),*) => {$(
        impl<'a> From<&'a $of> for Input<'a> {
            fn from(input: &'a $of) -> Self {
                Self::$kind(input)
            }
        }

        impl<'a> Inputs<Input<'a>> for &'a $of {
            fn into_inputs(self) -> Vec<Input<'a>> {
                vec![Input::$kind(self)]
            }
        }
    )*};
}

inputs!(Tensor: Tensor, View: TensorView);

/// Runs operators on host tensors: uploads the inputs, runs the operator on a device, and downloads
/// the results. All [operators](crate::operator) implement it.
///
/// Inputs are a [`Tensor`] or a [`TensorView`] by reference, or an array of them:
///
/// ```
/// use wgmax::operator::{ReduceMax, SegmentMax};
/// use wgmax::{Device, Run, Tensor, TensorView};
///
/// let device = Device::auto()?;
/// let data = Tensor::from_slice([3, 2], &[1.0f32, 6.0, 2.0, 5.0, 3.0, 4.0])?;
/// let rows = ReduceMax::new().axes([1]).run(&device, &data)?;
/// assert_eq!(rows[0].as_slice::<f32>()?, [6.0, 5.0, 4.0]);
/// let ids = Tensor::from_slice([3], &[0i32, 0, 1])?;
/// let segments = SegmentMax::sorted().run(&device, [&data, &ids])?;
/// assert_eq!(segments[0].as_slice::<f32>()?, [2.0, 6.0, 3.0, 4.0]);
/// // The second column.
/// let column = TensorView::from(&data).slice(1, 1..2)?;
/// assert_eq!(ReduceMax::new().run(&device, &column)?[0].as_slice::<f32>()?, [6.0]);
/// # Ok::<(), wgmax::Error>(())
/// ```
///
/// A view whose axes are permuted or flipped is read in place, and its results are permuted, if the
/// operator allows it. On the CPU, reductions and the maxima of poolings read rows with gaps in place.
/// Other views are copied first.
///
/// Inputs larger than [`RunOptions::max_piece`] are streamed to a GPU in pieces; their partial
/// results are combined on the host. The result is the same, bit for bit. A reduction is split
/// along its axes. A pooling is split along its results, and along its windows if one is too
/// large. Segments are split along their rows, then along their columns. The gradient of a
/// pooling is split along its planes. For the other gradients, and for MaxUnpool, positions are
/// found in pieces, and one thread of the host stores the values. The updates of ScatterMax are
/// split as the rows of segments are, and one thread of the host joins their maxima with the data.
///
/// Inputs may be larger than the GPU's memory. Memory-mapped inputs may be larger than the host's
/// memory too. Results must fit the host's memory. If the GPU runs out of memory, the run continues
/// with smaller pieces. The CPU reads the tensors in place. It copies pieces of them only if a
/// single plan would exceed a limit.
pub trait Run {
    /// Runs the operator with the default options.
    ///
    /// # Errors
    /// As [`Operator::checked`] and [`Operator::plan`], and errors of the device.
    /// [`Error::OverLimit`] is returned only if no split makes the pieces fit.
    /// [`Error::WouldBlock`] for a GPU in a browser.
    fn run<'a>(&self, device: &Device, inputs: impl Inputs<Input<'a>>) -> Result<Outputs<Tensor>>;

    /// As [`Run::run`], with options.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use wgmax::operator::ReduceMax;
    /// use wgmax::{Device, Run, RunOptions, Tensor};
    ///
    /// let input = Tensor::from_slice([4, 1000], &[1.0f32; 4000])?;
    /// let options = RunOptions::new().max_piece(4096).progress(|progress| {
    ///     println!("{} of {} bytes", progress.done, progress.total);
    ///     ControlFlow::Continue(())
    /// });
    /// let found = ReduceMax::new().axes([1]).run_with(&Device::auto()?, &input, options)?;
    /// assert_eq!(found[0].as_slice::<f32>()?, [1.0; 4]);
    /// # Ok::<(), wgmax::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Run::run`]; [`Error::Cancelled`].
    fn run_with<'a>(
        &self,
        device: &Device,
        inputs: impl Inputs<Input<'a>>,
        options: RunOptions,
    ) -> Result<Outputs<Tensor>>;

    /// As [`Run::run`], without blocking on a GPU.
    ///
    /// # Errors
    /// As [`Run::run`].
    fn run_async<'a>(
        &self,
        device: &Device,
        inputs: impl Inputs<Input<'a>>,
    ) -> impl Future<Output = Result<Outputs<Tensor>>>;

    /// As [`Run::run_with`], without blocking on a GPU.
    ///
    /// # Errors
    /// As [`Run::run_with`].
    fn run_with_async<'a>(
        &self,
        device: &Device,
        inputs: impl Inputs<Input<'a>>,
        options: RunOptions,
    ) -> impl Future<Output = Result<Outputs<Tensor>>>;
}

impl<T> Run for T
where
    Operator: for<'o> From<&'o T>,
{
    fn run<'a>(&self, device: &Device, inputs: impl Inputs<Input<'a>>) -> Result<Outputs<Tensor>> {
        self.run_with(device, inputs, RunOptions::new())
    }

    fn run_with<'a>(
        &self,
        device: &Device,
        inputs: impl Inputs<Input<'a>>,
        options: RunOptions,
    ) -> Result<Outputs<Tensor>> {
        let (operator, inputs) = (Operator::from(self), inputs.into_inputs());
        device.block_on(super::run(&operator, device, &inputs, options, true))
    }

    fn run_async<'a>(
        &self,
        device: &Device,
        inputs: impl Inputs<Input<'a>>,
    ) -> impl Future<Output = Result<Outputs<Tensor>>> {
        self.run_with_async(device, inputs, RunOptions::new())
    }

    fn run_with_async<'a>(
        &self,
        device: &Device,
        inputs: impl Inputs<Input<'a>>,
        options: RunOptions,
    ) -> impl Future<Output = Result<Outputs<Tensor>>> {
        let (operator, inputs) = (Operator::from(self), inputs.into_inputs());
        async move { super::run(&operator, device, &inputs, options, false).await }
    }
}
