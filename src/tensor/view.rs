//! Views: the layout of tensors whose elements are not contiguous.

use std::fmt;
use std::ops::Range;

use super::{ElementType, TensorDesc, check_type};
use crate::base::error::{Error, Result};

/// A tensor's type and shape, and the layout of its elements in memory: an offset, and a *pitch* for
/// each axis, the distance from one element to the next along it. All are counted in elements.
///
/// A pitch may leave gaps (rows padded to 256 bytes, as textures are copied to buffers), be 0 (a
/// broadcast axis) or negative (a flipped axis). The view of a [`TensorDesc`] is row-major without
/// gaps. [`View::new`] and [`View::with_aligned_rows`] make others; the other methods derive views from
/// views. No method moves elements.
///
/// ```
/// use wgmax::{ElementType, TensorDesc, View};
///
/// // The second channel of a picture of 480 rows of 640 RGBA texels.
/// let picture = View::from(TensorDesc::new(ElementType::U8, [480, 640, 4])?);
/// let green = picture.slice(2, 1..2)?;
/// assert_eq!((green.offset(), green.pitches()), (1, vec![2560, 4, 0]));
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct View {
    desc: TensorDesc,
    /// The offset and the pitches; `None` if the elements are in row-major order without gaps.
    layout: Option<(usize, Vec<isize>)>,
}

impl View {
    /// A view with this offset and these pitches, in elements.
    ///
    /// # Errors
    /// [`Error::BadView`] if there is not one pitch for each axis, if an element would be before
    /// the beginning of the memory, or further from it than `isize::MAX` bytes.
    pub fn new(desc: TensorDesc, offset: usize, pitches: impl Into<Vec<isize>>) -> Result<Self> {
        let mut pitches = pitches.into();
        if pitches.len() != desc.rank() {
            return Err(bad(&desc, offset, pitches, "there must be a pitch for each axis"));
        }
        // An axis of one element has no steps: views that differ only there are equal.
        let single = pitches.iter_mut().zip(desc.shape()).filter(|(_, size)| **size == 1);
        single.for_each(|(pitch, _)| *pitch = 0);
        let loops = Loops::new(offset as isize, desc.shape(), &pitches);
        if desc.is_empty() || offset == 0 && matches!(loops.axes[..], [] | [(_, 1)]) {
            return Ok(desc.into());
        }
        let view = Self { desc, layout: Some((offset, pitches)) };
        let ends = view.ends();
        if ends.0 < 0 {
            return Err(view.bad("an element would be before the beginning of the memory"));
        }
        // Space is left for padding to whole blocks.
        if ends.1.saturating_mul(view.item() as i128) > isize::MAX as i128 - 16 {
            return Err(view.bad(TOO_FAR));
        }
        Ok(view)
    }

    /// Rows that begin at multiples of `bytes` bytes. The last axis has no gaps, the axis before it
    /// has the smallest pitch that is such a multiple, and further axes have no further gaps. With
    /// 256, this is the layout of wgpu's copies from textures to buffers.
    ///
    /// # Errors
    /// [`Error::BadView`] if no whole number of elements fills `bytes`, or if the elements are too
    /// far apart to address.
    pub fn with_aligned_rows(desc: TensorDesc, bytes: usize) -> Result<Self> {
        let item = desc.element_type().size();
        if bytes == 0 || !bytes.is_multiple_of(item) {
            let reason = "rows must be aligned to a whole number of elements";
            return Err(bad(&desc, 0, Vec::new(), reason));
        }
        let too_far = || bad(&desc, 0, Vec::new(), TOO_FAR);
        let mut pitches = Vec::with_capacity(desc.rank());
        let mut pitch: isize = 1;
        for (i, &size) in desc.shape().iter().rev().enumerate() {
            pitches.push(pitch);
            let next = size.max(1).checked_mul(pitch as usize).ok_or_else(too_far)?;
            let unit = if i == 0 { bytes / item } else { 1 };
            let next = next.checked_next_multiple_of(unit).ok_or_else(too_far)?;
            pitch = isize::try_from(next).map_err(|_| too_far())?;
        }
        pitches.reverse();
        Self::new(desc, 0, pitches)
    }

    /// The type and shape.
    pub fn desc(&self) -> &TensorDesc {
        &self.desc
    }

    /// The offset of the first element in the memory, in elements.
    pub fn offset(&self) -> usize {
        self.layout.as_ref().map_or(0, |layout| layout.0)
    }

    /// The distance from one element to the next along each axis. For an axis of one element it has no
    /// meaning; it is 0 in a view that is not contiguous.
    pub fn pitches(&self) -> Vec<isize> {
        let row_major = || {
            let mut pitches = vec![1; self.desc.rank()];
            for axis in (1..pitches.len()).rev() {
                // A description bounds the product of the sizes that are not 0.
                pitches[axis - 1] = pitches[axis] * self.desc.shape()[axis].max(1) as isize;
            }
            pitches
        };
        self.layout.as_ref().map_or_else(row_major, |layout| layout.1.clone())
    }

    /// Whether the elements are in row-major order without gaps, from the beginning of the memory.
    pub fn is_contiguous(&self) -> bool {
        self.layout.is_none()
    }

    /// The bytes from the beginning of the memory to the end of the last element. A buffer needs
    /// this size, rounded up to whole words of four bytes.
    pub fn byte_len(&self) -> usize {
        if self.is_contiguous() { self.desc.byte_len() } else { self.bytes().end }
    }

    /// The bytes of the memory from the first element to the end of the last one.
    pub(crate) fn bytes(&self) -> Range<usize> {
        let (first, end) = self.ends();
        first as usize * self.item()..end as usize * self.item()
    }

    /// A range of an axis.
    ///
    /// # Errors
    /// [`Error::AxisOutOfRange`]; [`Error::BadView`] for a range that the axis does not have.
    pub fn slice(&self, axis: usize, range: Range<usize>) -> Result<Self> {
        self.check_axis(axis)?;
        let mut shape = self.desc.shape().to_vec();
        if range.start > range.end || range.end > shape[axis] {
            return Err(self.bad("an axis has no such range"));
        }
        shape[axis] = range.len();
        let pitches = self.pitches();
        // The offset of an empty view has no meaning.
        let moved = (range.start as isize).saturating_mul(pitches[axis]);
        self.with(shape, self.moved(moved), pitches)
    }

    /// Every `step`-th element along an axis; a negative step starts at the last element.
    ///
    /// # Errors
    /// [`Error::AxisOutOfRange`]; [`Error::BadView`] for a step of 0.
    pub fn step_by(&self, axis: usize, step: isize) -> Result<Self> {
        self.check_axis(axis)?;
        if step == 0 {
            return Err(self.bad("a step must not be 0"));
        }
        let (mut shape, mut pitches) = (self.desc.shape().to_vec(), self.pitches());
        let size = shape[axis];
        shape[axis] = size.div_ceil(step.unsigned_abs());
        let first = if step < 0 { size.saturating_sub(1) as isize } else { 0 };
        let offset = self.moved(first.saturating_mul(pitches[axis]));
        // An axis of one element takes no step, so that a huge step does not matter.
        pitches[axis] = pitches[axis].saturating_mul(if shape[axis] > 1 { step } else { 1 });
        self.with(shape, offset, pitches)
    }

    /// The axes in another order: axis `i` of the result is axis `axes[i]` of this view.
    ///
    /// # Errors
    /// [`Error::AxisOutOfRange`]; [`Error::BadView`] unless `axes` has each axis once.
    pub fn permute(&self, axes: &[usize]) -> Result<Self> {
        let mut seen = vec![false; self.desc.rank()];
        for &axis in axes {
            self.check_axis(axis)?;
            seen[axis] = true;
        }
        if axes.len() != seen.len() || seen.contains(&false) {
            return Err(self.bad("a permutation has each axis once"));
        }
        let shape: Vec<usize> = axes.iter().map(|&axis| self.desc.shape()[axis]).collect();
        let pitches = self.pitches();
        let pitches: Vec<isize> = axes.iter().map(|&axis| pitches[axis]).collect();
        self.with(shape, self.offset(), pitches)
    }

    /// A new axis before `axis`, along which the elements are repeated `size` times. A size of 1 only
    /// adds an axis, such as the batch that a pooling of one picture needs.
    ///
    /// # Errors
    /// [`Error::AxisOutOfRange`] unless `axis` is at most the rank, [`Error::TooManyAxes`],
    /// [`Error::ShapeOverflow`].
    pub fn broadcast(&self, axis: usize, size: usize) -> Result<Self> {
        if axis > self.desc.rank() {
            return Err(Error::AxisOutOfRange { axis: axis as i64, rank: self.desc.rank() });
        }
        let (mut shape, mut pitches) = (self.desc.shape().to_vec(), self.pitches());
        shape.insert(axis, size);
        pitches.insert(axis, 0);
        self.with(shape, self.offset(), pitches)
    }

    fn with(&self, shape: Vec<usize>, offset: usize, pitches: Vec<isize>) -> Result<Self> {
        Self::new(TensorDesc::new(self.element_type(), shape)?, offset, pitches)
    }

    fn moved(&self, by: isize) -> usize {
        // The sum is the offset of one of the view's elements. If the view is empty, any offset
        // will do.
        self.offset().saturating_add_signed(by)
    }

    fn check_axis(&self, axis: usize) -> Result<()> {
        let rank = self.desc.rank();
        if axis < rank { Ok(()) } else { Err(Error::AxisOutOfRange { axis: axis as i64, rank }) }
    }

    fn element_type(&self) -> ElementType {
        self.desc.element_type()
    }

    /// Bytes of an element.
    fn item(&self) -> usize {
        self.element_type().size()
    }

    /// The first element of the memory that belongs to the view, and the end of the last one.
    fn ends(&self) -> (i128, i128) {
        let offset = self.offset() as i128;
        if self.desc.is_empty() {
            return (0, 0);
        }
        let axes = self.desc.shape().iter().zip(self.pitches());
        axes.fold((offset, offset + 1), |(first, end), (&size, pitch)| {
            let reach = (size - 1) as i128 * pitch as i128;
            (first.saturating_add(reach.min(0)), end.saturating_add(reach.max(0)))
        })
    }

    /// The rows along the first axis, each with all its elements along a second axis.
    ///
    /// # Errors
    /// [`Error::BadView`] if the elements of a row have no common pitch.
    pub(crate) fn rows(&self) -> Result<Self> {
        let (shape, pitches) = (self.desc.shape(), self.pitches());
        let row = Loops::new(0, &shape[1..], &pitches[1..]);
        let pitch = match row.axes[..] {
            [] => 1,
            [(_, pitch)] => pitch,
            _ if self.desc.is_empty() => 1,
            _ => return Err(self.bad("the elements of a row are not evenly spaced")),
        };
        let row = shape[1..].iter().product();
        self.with(vec![shape[0], row], self.offset(), vec![pitches[0], pitch])
    }

    /// The memory from about the first to the last element: its beginning in bytes, a multiple of 8;
    /// its elements as a 1-D tensor; and the view in it.
    pub(crate) fn trimmed(&self) -> Result<(u64, TensorDesc, Self)> {
        let first = self.bytes().start / 8 * 8;
        let skipped = first / self.item();
        let len = self.byte_len() / self.item() - skipped;
        let memory = TensorDesc::new(self.element_type(), [len])?;
        let view = Self::new(self.desc.clone(), self.offset() - skipped, self.pitches())?;
        Ok((first as u64, memory, view))
    }

    /// The memory up to the last element, as a 1-D tensor.
    #[cfg(feature = "cpu")]
    pub(crate) fn memory(&self) -> Result<TensorDesc> {
        TensorDesc::new(self.element_type(), [self.byte_len() / self.item()])
    }

    /// Refuses a view of another element type than the memory has, or of more elements.
    ///
    /// # Errors
    /// [`Error::WrongElementType`], [`Error::BadView`].
    pub(crate) fn check_within(&self, expected: ElementType, bytes: usize) -> Result<()> {
        check_type("the view", self.element_type(), expected)?;
        match self.byte_len() > bytes {
            true => Err(self.bad("the tensor's memory ends before the last element")),
            false => Ok(()),
        }
    }

    /// Refuses a view in which two elements may share an address: no result can be stored there.
    ///
    /// # Errors
    /// [`Error::BadView`]. Views whose axes interlock in unusual ways are refused too.
    pub(crate) fn check_distinct(&self) -> Result<()> {
        let mut axes: Vec<(isize, usize)> =
            self.loops().axes.iter().map(|&(size, pitch)| (pitch.abs(), size)).collect();
        axes.sort_unstable();
        let mut span: isize = 1;
        for (pitch, size) in axes {
            if size > 1 && pitch < span {
                return Err(self.bad("two elements of a result may share an address"));
            }
            span = span.saturating_add(pitch.saturating_mul(size as isize - 1));
        }
        Ok(())
    }

    /// The view as nested loops.
    pub(crate) fn loops(&self) -> Loops {
        Loops::new(self.offset() as isize, self.desc.shape(), &self.pitches())
    }

    pub(crate) fn bad(&self, reason: &'static str) -> Error {
        bad(&self.desc, self.offset(), self.pitches(), reason)
    }
}

const TOO_FAR: &str = "elements are too far apart to address";

fn bad(desc: &TensorDesc, offset: usize, pitches: Vec<isize>, reason: &'static str) -> Error {
    Error::BadView { shape: desc.shape().to_vec(), offset, pitches, reason }
}

impl From<TensorDesc> for View {
    fn from(desc: TensorDesc) -> Self {
        Self { desc, layout: None }
    }
}

impl From<&TensorDesc> for View {
    fn from(desc: &TensorDesc) -> Self {
        desc.clone().into()
    }
}

impl From<&Self> for View {
    fn from(view: &Self) -> Self {
        view.clone()
    }
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "View({self})")
    }
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.desc)?;
        match &self.layout {
            Some((offset, pitches)) => write!(f, " at {offset} by {pitches:?}"),
            None => Ok(()),
        }
    }
}

/// A view as nested loops over its elements, in their order. Axes of size 1 are dropped, and
/// neighbouring axes are merged if they have a common pitch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Loops {
    /// The offset of the first element.
    pub first: isize,
    /// The size and the pitch of each axis, the outermost first.
    pub axes: Vec<(usize, isize)>,
}

impl Loops {
    pub(crate) fn new(first: isize, shape: &[usize], pitches: &[isize]) -> Self {
        let mut axes: Vec<(usize, isize)> = Vec::new();
        for (&size, &pitch) in shape.iter().zip(pitches).filter(|(size, _)| **size != 1) {
            match axes.last_mut() {
                Some(last) if pitch.checked_mul(size as isize) == Some(last.1) => {
                    *last = (last.0 * size, pitch);
                }
                _ => axes.push((size, pitch)),
            }
        }
        Self { first, axes }
    }

    /// The number of elements.
    pub(crate) fn len(&self) -> usize {
        self.axes.iter().map(|axis| axis.0).product()
    }

    /// The number of elements that are always contiguous: those of the innermost loop, if it has no gaps.
    pub(crate) fn run(&self) -> usize {
        match self.axes.last() {
            Some(&(size, 1)) => size,
            _ => 1,
        }
    }

    /// The offset of an element, given its number.
    pub(crate) fn offset(&self, mut number: usize) -> usize {
        let mut at = self.first;
        for &(size, pitch) in self.axes.iter().rev() {
            at += (number % size) as isize * pitch;
            number /= size;
        }
        at as usize
    }

    /// `len` elements from number `first` on, as whole loops: those before the first whole iteration
    /// of the outermost loop, all whole iterations, and the rest. `at` is the number of the first
    /// element among the requested ones.
    pub(crate) fn parts(
        &self,
        mut first: usize,
        mut len: usize,
        mut at: usize,
        each: &mut dyn FnMut(usize, &Self),
    ) {
        let Some((&(_, pitch), rest)) = self.axes.split_first() else { return each(at, self) };
        let inner: usize = rest.iter().map(|axis| axis.0).product();
        let turn = |first: usize| self.first + (first / inner) as isize * pitch;
        let one = |first| Self { first: turn(first), axes: rest.to_vec() };
        if !first.is_multiple_of(inner) {
            let some = len.min(inner - first % inner);
            one(first).parts(first % inner, some, at, each);
            (first, len, at) = (first + some, len - some, at + some);
        }
        if len >= inner {
            let mut whole = Self { first: turn(first), axes: self.axes.clone() };
            whole.axes[0].0 = len / inner;
            each(at, &whole);
            let some = len / inner * inner;
            (first, len, at) = (first + some, len - some, at + some);
        }
        if len > 0 {
            one(first).parts(0, len, at, each);
        }
    }

    /// The runs of contiguous elements: their offsets, and their numbers.
    pub(crate) fn runs(self) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
        let (len, all) = (self.run(), self.len());
        (0..all).step_by(len.max(1)).map(move |number| {
            let offset = self.offset(number);
            (offset..offset + len, number..number + len)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn desc(shape: &[usize]) -> TensorDesc {
        TensorDesc::new(ElementType::F32, shape).unwrap()
    }

    /// The offsets of all elements, by the definition.
    fn offsets(view: &View) -> Vec<usize> {
        let mut offsets = vec![view.offset() as isize];
        for (&size, pitch) in view.desc().shape().iter().zip(view.pitches()) {
            offsets = offsets
                .iter()
                .flat_map(|&offset| (0..size as isize).map(move |i| offset + i * pitch))
                .collect();
        }
        offsets.iter().map(|&offset| offset as usize).collect()
    }

    #[test]
    fn loops_visit_the_offsets_of_the_definition() {
        let whole = View::from(desc(&[2, 3, 4, 5]));
        assert!(whole.is_contiguous() && whole.loops().axes == [(120, 1)]);
        let permuted = whole.permute(&[3, 0, 2, 1]).unwrap();
        let stepped = permuted.step_by(0, -2).unwrap();
        for (view, axes) in [
            (whole.slice(0, 1..2).unwrap(), 1),
            (whole.slice(1, 1..3).unwrap(), 2),
            (whole.slice(3, 1..3).unwrap(), 2),
            (whole.step_by(1, 2).unwrap(), 3),
            (whole.broadcast(2, 3).unwrap(), 3),
            (whole.broadcast(2, 1).unwrap(), 1),
            (permuted.clone(), 4),
            (stepped.broadcast(0, 2).unwrap(), 5),
            (View::with_aligned_rows(desc(&[3, 5, 7]), 64).unwrap(), 2),
            (whole.slice(2, 2..2).unwrap(), 2),
        ] {
            let (loops, expected) = (view.loops(), offsets(&view));
            assert_eq!(loops.axes.len(), axes, "{view}: {loops:?}");
            assert_eq!(loops.len(), expected.len());
            let found: Vec<usize> = (0..loops.len()).map(|i| loops.offset(i)).collect();
            assert_eq!(found, expected, "{view}");
            let found: Vec<usize> = loops.clone().runs().flat_map(|(offsets, _)| offsets).collect();
            assert_eq!(found, expected, "{view}");
            let end = expected.iter().max().map_or(0, |last| 4 * (last + 1));
            assert_eq!(view.byte_len(), end, "{view}");
        }
    }

    #[test]
    fn rows_are_aligned_as_textures_are_copied() {
        let view = View::with_aligned_rows(desc(&[2, 3, 65]), 256).unwrap();
        assert_eq!(view.pitches(), [384, 128, 1]);
        assert_eq!(view.byte_len(), 4 * (384 + 2 * 128 + 65));
        assert!(View::with_aligned_rows(desc(&[2, 64]), 256).unwrap().is_contiguous());
        assert!(View::with_aligned_rows(desc(&[2, 64]), 6).is_err());
    }

    #[test]
    fn views_outside_of_memory_are_refused() {
        let bad = |offset, pitches: &[isize]| {
            matches!(View::new(desc(&[4, 5]), offset, pitches), Err(Error::BadView { .. }))
        };
        assert!(bad(0, &[5]) && bad(0, &[-5, 1]) && bad(14, &[-5, 1]) && bad(3, &[5, -1]));
        assert!(bad(0, &[isize::MAX / 2, 1]) && bad(usize::MAX, &[5, 1]));
        assert!(!bad(15, &[-5, 1]) && !bad(4, &[5, -1]) && !bad(0, &[0, 0]));
        let view = View::from(desc(&[4, 5]));
        assert!(matches!(view.slice(2, 0..1), Err(Error::AxisOutOfRange { axis: 2, rank: 2 })));
        assert!(view.slice(1, 3..6).is_err() && view.step_by(0, 0).is_err());
        assert!(view.permute(&[0, 0]).is_err() && view.permute(&[0]).is_err());
        assert!(view.broadcast(3, 1).is_err());
    }

    #[test]
    fn results_have_a_place_for_each_element() {
        let whole = View::from(desc(&[4, 5]));
        let distinct = |view: Result<View>| view.unwrap().check_distinct().is_ok();
        assert!(distinct(whole.permute(&[1, 0])) && distinct(whole.step_by(1, -2)));
        assert!(distinct(whole.broadcast(1, 1)) && !distinct(whole.broadcast(1, 2)));
        assert!(!distinct(View::new(desc(&[4, 5]), 0, [4, 1])));
        assert!(distinct(View::new(desc(&[4, 5]), 0, [9, 2])));
    }
}
