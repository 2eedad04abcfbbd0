//! Which shaders there are.

use super::Walk;
use crate::tensor::ElementType;

/// The kernels by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// `fill.wgsl`: one value everywhere.
    Fill,
    /// `reduce_rows.wgsl`: the maximum of contiguous rows.
    ReduceRows,
    /// `reduce_short.wgsl`: the maximum of short rows, for adapters whose invocations share no fetches.
    ReduceShort,
    /// `reduce_columns.wgsl`: the maximum down columns, every access a whole aligned block.
    ReduceColumns,
    /// `reduce_columns.wgsl` with any alignment.
    ReduceColumnsGeneral,
    /// `reduce_strips.wgsl`: the maximum down columns, for adapters whose invocations share no fetches.
    ReduceStrips,
    /// `pool_gather.wgsl` where the windows of neighbours are neighbours: words of them are read.
    PoolRow,
    /// `pool_gather.wgsl`: the maximum of windows, element by element.
    PoolLanes,
    /// `pool_gather.wgsl` where the results of a word lie in several lines.
    PoolAcross,
    /// As `PoolAcross`, for long windows that lie in the padding for the most part.
    PoolSparse,
    /// `pool_blocks.wgsl`: the maximum of windows, block by block along the inner axis.
    PoolBlocks,
    /// `pool_runs.wgsl`: the same along one axis, several windows an invocation.
    PoolRuns,
    /// `pool_walk.wgsl`: windows known beforehand, for adapters whose invocations share no fetches.
    PoolWalk(Walk),
    /// The same, and where the maxima are, of elements of a word; whether indices have two.
    PoolWalkIndex(Walk, bool),
    /// `pool_gather.wgsl` with `index/`: where the maximum of windows is.
    PoolIndex,
    /// `pool_index` where the results of a word lie in several lines.
    PoolIndexAcross,
    /// As `PoolIndexAcross`, for long windows that lie in the padding for the most part.
    PoolIndexSparse,
    /// `segment_runs.wgsl`: the maxima of ascending segments, block by block.
    SegmentBlocks,
    /// As `SegmentBlocks`, four blocks at once, for adapters whose invocations share no fetches.
    SegmentStrips,
    /// `segment_runs.wgsl`, element by element.
    SegmentElements,
    /// The same for rows of one element, by eights, for adapters whose invocations share no fetches.
    SegmentEights,
    /// `segment_runs.wgsl`: the rows of the maxima.
    SegmentRows,
    /// `segment_scatter.wgsl`: the maxima of segments in any order.
    SegmentScatter,
    /// `segment_scatter.wgsl`: the rows of the maxima.
    SegmentScatterRows,
    /// `segment_finish.wgsl`: elements from keys in scratch.
    SegmentFinish,
    /// `segment_finish.wgsl`: elements and indices from rows.
    SegmentFinishRows,
    /// `segment_expand.wgsl`: ids from offsets.
    SegmentExpand,
    /// `segment_check.wgsl`: whether ids ascend.
    SegmentCheck,
}

impl Kernel {
    /// Whether the text is written for one set of attributes, so that there is no end of such shaders.
    pub(crate) const fn is_written_out(self) -> bool {
        matches!(self, Self::PoolWalk(_) | Self::PoolWalkIndex(..))
    }

    /// All of them; of those that walk, some.
    pub const ALL: [Self; 35] = [
        Self::Fill,
        Self::ReduceRows,
        Self::ReduceShort,
        Self::ReduceColumns,
        Self::ReduceColumnsGeneral,
        Self::ReduceStrips,
        Self::PoolRow,
        Self::PoolLanes,
        Self::PoolAcross,
        Self::PoolSparse,
        Self::PoolBlocks,
        Self::PoolRuns,
        Self::PoolWalk(Walk::SAMPLES[0]),
        Self::PoolWalk(Walk::SAMPLES[1]),
        Self::PoolWalk(Walk::SAMPLES[2]),
        Self::PoolWalk(Walk::SAMPLES[3]),
        Self::PoolWalk(Walk::SAMPLES[4]),
        Self::PoolWalk(Walk::SAMPLES[5]),
        Self::PoolWalkIndex(Walk::SAMPLES[0], true),
        Self::PoolWalkIndex(Walk::SAMPLES[2], false),
        Self::PoolWalkIndex(Walk::SAMPLES[4], false),
        Self::PoolIndex,
        Self::PoolIndexAcross,
        Self::PoolIndexSparse,
        Self::SegmentBlocks,
        Self::SegmentStrips,
        Self::SegmentElements,
        Self::SegmentEights,
        Self::SegmentRows,
        Self::SegmentScatter,
        Self::SegmentScatterRows,
        Self::SegmentFinish,
        Self::SegmentFinishRows,
        Self::SegmentExpand,
        Self::SegmentCheck,
    ];

    /// Whether its text depends on the element type.
    const fn is_typed(self) -> bool {
        !matches!(self, Self::Fill | Self::SegmentExpand | Self::SegmentCheck)
    }

    /// Whether there is a variant that reads or writes scratch in this way.
    fn has(self, element: ElementType, from_scratch: bool, to_scratch: bool) -> bool {
        let packed = element.size() < 4;
        match self {
            Self::ReduceRows
            | Self::ReduceShort
            | Self::ReduceColumns
            | Self::ReduceColumnsGeneral => true,
            Self::PoolIndex | Self::PoolIndexAcross | Self::PoolIndexSparse => true,
            // Packed elements go by way of scratch.
            Self::SegmentElements => to_scratch == packed && (packed || !from_scratch),
            Self::SegmentEights => to_scratch == packed && !from_scratch,
            Self::SegmentRows => !to_scratch,
            Self::PoolWalkIndex(..) => element.size() == 4 && !from_scratch && !to_scratch,
            _ => !from_scratch && !to_scratch,
        }
    }

    /// The name, as in labels.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fill => "fill",
            Self::ReduceRows => "reduce_rows",
            Self::ReduceShort => "reduce_short",
            Self::ReduceColumns => "reduce_columns",
            Self::ReduceColumnsGeneral => "reduce_columns_general",
            Self::ReduceStrips => "reduce_strips",
            Self::PoolRow => "pool_row",
            Self::PoolLanes => "pool_lanes",
            Self::PoolAcross => "pool_across",
            Self::PoolSparse => "pool_sparse",
            Self::PoolBlocks => "pool_blocks",
            Self::PoolRuns => "pool_runs",
            Self::PoolWalk(_) => "pool_walk",
            Self::PoolWalkIndex(..) => "pool_walk_index",
            Self::PoolIndex => "pool_index",
            Self::PoolIndexAcross => "pool_index_across",
            Self::PoolIndexSparse => "pool_index_sparse",
            Self::SegmentBlocks => "segment_blocks",
            Self::SegmentStrips => "segment_strips",
            Self::SegmentElements => "segment_elements",
            Self::SegmentEights => "segment_eights",
            Self::SegmentRows => "segment_rows",
            Self::SegmentScatter => "segment_scatter",
            Self::SegmentScatterRows => "segment_scatter_rows",
            Self::SegmentFinish => "segment_finish",
            Self::SegmentFinishRows => "segment_finish_rows",
            Self::SegmentExpand => "segment_expand",
            Self::SegmentCheck => "segment_check",
        }
    }
}

/// What a pipeline is made for: all that its text depends on. Shapes are not part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shader {
    /// The kernel.
    pub kernel: Kernel,
    /// The element type.
    pub element: ElementType,
    /// Whether the source is scratch: keys instead of elements, or positions beside them.
    pub from_scratch: bool,
    /// Whether the result is scratch: keys or positions instead of elements.
    pub to_scratch: bool,
    /// Whether the source is bound as words, its length being no multiple of 16 bytes.
    pub words: bool,
    /// Whether sources and results may be ranges of one buffer: then all are bound as writable,
    /// for a dispatch may not bind a buffer both ways.
    pub shared: bool,
    /// Invocations of a workgroup.
    pub workgroup: u32,
}

impl Shader {
    /// Every shader that there is for a workgroup size.
    pub fn all(workgroup: u32) -> Vec<Self> {
        let mut all = Vec::new();
        for kernel in Kernel::ALL {
            if !kernel.is_typed() {
                all.push(Self::untyped(kernel, workgroup));
                continue;
            }
            for element in ElementType::ALL {
                for bits in 0..8 {
                    let (from_scratch, to_scratch, words) =
                        (bits & 1 > 0, bits & 2 > 0, bits & 4 > 0);
                    if !kernel.has(element, from_scratch, to_scratch) {
                        continue;
                    }
                    for shared in [false, true] {
                        all.push(Self {
                            kernel,
                            element,
                            from_scratch,
                            to_scratch,
                            words,
                            shared,
                            workgroup,
                        });
                    }
                }
            }
        }
        all
    }

    /// A kernel that is the same for every type.
    pub(crate) fn untyped(kernel: Kernel, workgroup: u32) -> Self {
        Self {
            kernel,
            element: ElementType::U32,
            from_scratch: false,
            to_scratch: false,
            words: false,
            shared: false,
            workgroup,
        }
    }

    /// A label for debuggers and profilers.
    pub fn label(&self) -> String {
        let ends = match (self.from_scratch, self.to_scratch) {
            (false, false) => "",
            (false, true) => " to scratch",
            (true, false) => " from scratch",
            (true, true) => " scratch to scratch",
        };
        format!("wgmax {} {}{ends}", self.kernel.name(), self.element)
    }

    /// Elements of a cell of the result: those of a word, or 1 if an element has more than a word.
    pub(crate) fn per_cell(&self) -> usize {
        (4 / item_size(self.element, self.to_scratch)).max(1)
    }
}

/// Bytes of an item in memory: of an element, or of a key in scratch.
pub(crate) fn item_size(element: ElementType, scratch: bool) -> usize {
    if scratch { element.size().max(4) } else { element.size() }
}
