//! MaxPool and MinPool: the maximum or minimum of windows.

mod axes;
mod cpu;
mod drift;
mod grouping;
mod groups;
mod indices;
mod launch;
pub(crate) mod params;
mod planner;
mod pyramid;
mod sliding;
mod tile;
mod tuning;
mod windows;

pub(crate) use axes::Axis;
pub(crate) use cpu::find_positions;
pub(crate) use groups::Group;
pub(crate) use params::{Tiles, Windows};
pub(crate) use planner::plan;
pub(crate) use pyramid::{Level, may_follow, plan as plan_pyramid};
pub(crate) use sliding::Sliding;
pub(crate) use tile::covered;
pub(crate) use tuning::{CPU, HARDWARE, Tuning};
pub(crate) use windows::{Resolved, Window};

#[expect(unused_imports, reason = "named in documentation")]
use crate::base::error::Error;
use crate::base::error::Result;
use crate::plan::{Kernel, Specialization};
use crate::tensor::key::{Extremum, Nan};
use crate::tensor::{
    ElementType, EmptySet, Indices, Inputs, Outputs, Rules, Scalar, TensorDesc, one_of_each,
};

/// The kernels of this module. On the CPU all of them are the same loops.
pub(crate) static KERNELS: [&Kernel; 5] =
    [&GATHER, &TILE, &BLOCKS, &PYRAMID, &sliding::SLIDING_WINDOW];

/// Maxima of windows at any place. `contiguous`: the results of an output vector are in one line, and
/// so are their elements, tap by tap. `indices`: also their positions. `from_positions`: the candidates
/// are positions that an earlier launch found. `to_positions`: the result is positions, for a later
/// launch. `shared_out`: windows split an axis evenly.
static GATHER: Kernel = Kernel::new::<params::GatherParams>("pool_gather", "pool/gather", cpu::run)
    .flags(&["contiguous", "indices", "from_positions", "to_positions", "shared_out"])
    .only(|_, flags| match flags & 2 {
        0 => matches!(flags, 0 | 1 | 16),
        _ => flags & 1 == 0,
    })
    .reads_views(cpu::reads_in_place);
/// Maxima of windows that share elements, each of which a workgroup loads once. `indices`: also their
/// positions. `one_by_one`: words of results are not parts of lines. `shared_out`: windows split an
/// axis evenly. `doubled`: long windows are two shorter ones along each axis.
static TILE: Kernel = Kernel::new::<params::TileParams>("pool_tile", "pool/tile", cpu::run)
    .constants(&[("KEYS", |shader| tile::Tile::keys(shader.element))])
    .flags(&["indices", "one_by_one", "shared_out", "doubled"])
    .only(|element, flags| match flags >> 1 {
        0 | 3 => true,
        1 => element.size() < 4,
        4 => flags == 8,
        _ => false,
    })
    .blocks_and_words()
    .reads_views(cpu::reads_in_place);
/// Maxima of windows along whole blocks of an inner axis. `shared_out`: windows split an axis evenly.
static BLOCKS: Kernel = Kernel::new::<params::BlockParams>("pool_blocks", "pool/blocks", cpu::run)
    .flags(&["shared_out"])
    .reads_views(cpu::reads_in_place);

/// Maxima of windows, and of these maxima, level by level. The text is specialized for a number of
/// results.
static PYRAMID: Kernel =
    Kernel::new::<params::PyramidParams>("pool_pyramid", "pool/pyramid", cpu::run_levels)
        .constants(&[("KEYS", |shader| tile::Tile::keys(shader.element))])
        .specialized(&Specialization {
            write: pyramid::text,
            samples: || [1, 2, 6].map(pyramid::attributes).to_vec(),
        })
        .reads_views(cpu::reads_in_place);

/// The position of the channels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
pub enum Layout {
    /// [batch, channels, spatial...].
    #[default]
    Ncx,
    /// [batch, spatial..., channels].
    Nxc,
}

/// The padding of the spatial axes. Padding has no value: the maximum of a window is that of the
/// elements that it covers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub enum Padding {
    /// A number of places before and after each spatial axis. An empty list is 0 for all axes.
    Explicit {
        /// Places before the first element.
        begin: Vec<usize>,
        /// Places after the last element.
        end: Vec<usize>,
    },
    /// Enough for ceil(size / stride) windows. If the number of places is odd, the extra one is
    /// after the last element.
    SameUpper,
    /// As [`Padding::SameUpper`], with the extra one before the first element.
    SameLower,
    /// No padding.
    Valid,
}

/// How a partial last window is handled: one that reaches beyond the padded input, by less than a
/// stride. It may be the only window, which is then larger than the padded input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub enum Rounding {
    /// A partial last window is dropped.
    #[default]
    Floor,
    /// A partial last window is kept, even if it is entirely in the padding. oneDNN Graph, OpenVINO.
    Ceil,
    /// A partial last window is kept, unless it starts after the last element, in the padding at the
    /// end. ONNX, PyTorch, OpenVINO 14.
    CeilTorch,
}

/// The maximum (or, by [`extremum`](Self::extremum), the minimum) of each window of a tensor of shape
/// [batch, channels, spatial...] or [batch, spatial..., channels], of any element type, with one
/// spatial axis or more.
///
/// On a spatial axis of size I, with kernel size k, stride s and dilation d, a window covers
/// E = (k - 1) d + 1 places, and there are (I + pads - E) / s + 1 windows, rounded as
/// [`Rounding`] says. Element j of window w is the axis's element w s - pads_begin + j d.
///
/// ```
/// use wgmax::operator::MaxPool;
/// use wgmax::{ElementType, TensorDesc};
///
/// let picture = TensorDesc::new(ElementType::U8, [1, 3, 224, 224])?;
/// let pool = MaxPool::new([3, 3]).strides([2, 2]).pads([1, 1], [1, 1]);
/// assert_eq!(pool.infer(&picture)?[0].shape(), [1, 3, 112, 112]);
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(default = "MaxPool::of_nothing")
)]
#[must_use]
#[non_exhaustive]
pub struct MaxPool {
    /// The size of the window along each spatial axis.
    pub kernel: Vec<usize>,
    /// The stride along each spatial axis; `None` for 1 along all of them.
    pub strides: Option<Vec<usize>>,
    /// The dilation along each spatial axis; `None` for 1 along all of them.
    pub dilations: Option<Vec<usize>>,
    /// The padding of the spatial axes.
    pub padding: Padding,
    /// How a partial last window is handled.
    pub rounding: Rounding,
    /// The position of the channels.
    pub layout: Layout,
    /// Whether the maximum or the minimum is found.
    pub extremum: Extremum,
    /// How NaN is handled.
    pub nan: Nan,
    /// The result of a window that covers no element.
    pub empty_window: EmptySet,
    /// A value that joins each window, if any.
    pub initial: Option<Scalar>,
    /// How positions are given, if they are a result.
    pub indices: Option<Indices>,
    /// How many windows split each spatial axis evenly ([`MaxPool::adaptive`]). `None` for windows that
    /// have a kernel, strides, dilations, padding and rounding; these may not be set otherwise.
    pub output_sizes: Option<Vec<usize>>,
}

impl MaxPool {
    /// Windows of this size along each spatial axis. By default strides and dilations are 1, there is
    /// no padding, a partial last window is dropped, the layout is [`Layout::Ncx`], NaN propagates, the
    /// result of a window without elements is [`EmptySet::Identity`], and there are no indices.
    pub fn new(kernel: impl IntoIterator<Item = usize>) -> Self {
        Self {
            kernel: kernel.into_iter().collect(),
            strides: None,
            dilations: None,
            padding: Padding::Explicit { begin: Vec::new(), end: Vec::new() },
            rounding: Rounding::Floor,
            layout: Layout::Ncx,
            extremum: Extremum::Maximum,
            nan: Nan::Propagate,
            empty_window: EmptySet::Identity,
            initial: None,
            indices: None,
            output_sizes: None,
        }
    }

    /// AdaptiveMaxPool: `output_sizes` windows split each spatial axis evenly. Along an axis of I
    /// elements, window i of O covers the elements from floor(i I / O) up to, but not including,
    /// ceil((i + 1) I / O). So windows overlap if O does not divide I, and no window is empty. O may
    /// exceed I; if O is 0, the results are empty. It is an error to set a kernel, strides, dilations,
    /// padding or rounding too.
    ///
    /// ```
    /// use wgmax::operator::MaxPool;
    /// use wgmax::{Device, Run, Tensor};
    ///
    /// let input = Tensor::from_slice([1, 1, 5], &[5u8, 1, 2, 4, 3])?;
    /// let found = MaxPool::adaptive([2]).run(&Device::cpu(), &input)?;
    /// assert_eq!(found[0].as_slice::<u8>()?, [5, 4]); // of 5, 1, 2 and of 2, 4, 3
    /// # Ok::<(), wgmax::Error>(())
    /// ```
    pub fn adaptive(output_sizes: impl IntoIterator<Item = usize>) -> Self {
        let output_sizes = Some(output_sizes.into_iter().collect());
        Self { output_sizes, ..Self::new([]) }
    }

    /// Stride along each spatial axis: the distance from one window to the next. 1 by default.
    pub fn strides(mut self, strides: impl IntoIterator<Item = usize>) -> Self {
        self.strides = Some(strides.into_iter().collect());
        self
    }

    /// Dilation along each spatial axis: the distance from one element of a window to the next. 1
    /// by default.
    pub fn dilations(mut self, dilations: impl IntoIterator<Item = usize>) -> Self {
        self.dilations = Some(dilations.into_iter().collect());
        self
    }

    /// Padding before and after each spatial axis. None by default.
    pub fn pads(
        self,
        begin: impl IntoIterator<Item = usize>,
        end: impl IntoIterator<Item = usize>,
    ) -> Self {
        let (begin, end) = (begin.into_iter().collect(), end.into_iter().collect());
        self.padding(Padding::Explicit { begin, end })
    }

    /// The padding of the spatial axes. None by default.
    pub fn padding(mut self, padding: Padding) -> Self {
        self.padding = padding;
        self
    }

    /// How a partial last window is handled. It is dropped by default.
    pub fn rounding(mut self, rounding: Rounding) -> Self {
        self.rounding = rounding;
        self
    }

    /// The position of the channels. [`Layout::Ncx`] by default.
    pub fn layout(mut self, layout: Layout) -> Self {
        self.layout = layout;
        self
    }

    /// Selects the maximum (the default) or the minimum.
    pub fn extremum(mut self, extremum: Extremum) -> Self {
        self.extremum = extremum;
        self
    }

    /// How NaN is handled. It propagates by default.
    pub fn nan(mut self, nan: Nan) -> Self {
        self.nan = nan;
        self
    }

    /// The result of a window that covers no element. [`EmptySet::Identity`] by default.
    pub fn empty_window(mut self, empty_window: EmptySet) -> Self {
        self.empty_window = empty_window;
        self
    }

    /// A value that joins each window, as one more element: the result is not below it (for minima, not
    /// above), and it is the result of a window without elements. `None` by default. It is the initial
    /// value of StableHLO's `reduce_window`, and takes another pass over the results. With
    /// [`indices`](Self::indices) and for gradients it is an error.
    pub fn initial(mut self, initial: impl Into<Scalar>) -> Self {
        self.initial = Some(initial.into());
        self
    }

    /// How elements of a type are handled.
    ///
    /// # Errors
    /// As [`infer`](Self::infer).
    pub(crate) fn rules(&self, element_type: ElementType) -> Result<Rules> {
        let order = (self.nan, self.extremum);
        Rules::new(element_type, order, self.empty_window, (self.initial, self.indices))
    }

    /// Adds a second result, the position of each maximum in the unpadded input; `None`, the default,
    /// omits it. The index is that of the first of equal elements in row-major order, whatever the
    /// numbering. A window without elements has the index of the first element of its plane.
    ///
    /// With indices, +0 and -0 are equal, and a maximum has the bits of the element at its position. So
    /// a zero may have another sign than without indices, where +0 is above -0.
    pub fn indices(mut self, indices: impl Into<Option<Indices>>) -> Self {
        self.indices = indices.into();
        self
    }

    /// The default of attributes for serde: no windows.
    #[cfg(feature = "serde")]
    fn of_nothing() -> Self {
        Self::new([])
    }

    /// The types and shapes of the results: the maxima, of the input's type, and
    /// the indices, if any, of the same shape. The input is one [`TensorDesc`].
    ///
    /// # Errors
    /// [`Error::InputCount`]; [`Error::PoolRank`] for an input without spatial axes,
    /// [`Error::AttributeLength`] for a list that does not have one number for each of them,
    /// [`Error::BadAttribute`] for a window, stride or dilation of 0, or for indices of another type
    /// than `i32` and `i64` or of the last of equal elements, [`Error::InitialWithIndices`],
    /// [`Error::InitialOutOfRange`], [`Error::WindowTooLarge`] if no window fits the padded input,
    /// [`Error::NothingToShareOut`] for a spatial axis of size 0 that windows split,
    /// [`Error::AxisOutOfRange`] and [`Error::IndexTooLarge`] for indices, [`Error::ShapeOverflow`].
    pub fn infer<'a>(&self, input: impl Inputs<&'a TensorDesc>) -> Result<Outputs<TensorDesc>> {
        let [input] = one_of_each(self.name(), &input.into_inputs())?;
        Ok(self.resolve(input)?.outputs)
    }

    /// As [`Operator::name`](crate::operator::Operator::name).
    pub(crate) fn name(&self) -> &'static str {
        match self.output_sizes {
            None => self.extremum.name_of("MaxPool", "MinPool"),
            Some(_) => self.extremum.name_of("AdaptiveMaxPool", "AdaptiveMinPool"),
        }
    }

    /// The axis of the input that is the first spatial one.
    pub(crate) fn first_spatial(&self) -> usize {
        match self.layout {
            Layout::Ncx => 2,
            Layout::Nxc => 1,
        }
    }
}
