//! Mistakes that can be planted in the CPU kernels, to see whether tests and `wgmax verify` find
//! them.
//!
//! A kernel names its faults where they are: `or` is the right value, or the wrong one while the
//! fault is planted. Without the feature `oracle` nothing can be planted, and the compiler leaves
//! the wrong values out. No vectorised loop asks: what it needs is asked for before it.

#[cfg(feature = "oracle")]
mod mistake;

#[cfg(feature = "oracle")]
use std::sync::atomic::{AtomicU8, Ordering};

#[cfg(feature = "oracle")]
pub use mistake::Mistake;

const FILL: &[&str] = &["fill"];
const ROWS: &[&str] = &["reduce_rows", "reduce_short_rows"];
const FOUND: &[&str] = &["reduce_rows_index", "reduce_columns_index"];
const COLUMNS: &[&str] = &["reduce_columns", "reduce_column_tiles"];
const MAXIMA: &[&str] =
    &["pool_gather", "pool_tile", "pool_blocks", "pool_register_tile", "pool_sliding_window"];
const INDICES: &[&str] = &["pool_index", "pool_tile_index", "pool_sliding_window_index"];
const POOLS: &[&str] = &[
    "pool_gather",
    "pool_tile",
    "pool_blocks",
    "pool_register_tile",
    "pool_sliding_window",
    "pool_index",
    "pool_tile_index",
    "pool_sliding_window_index",
];
/// Short rows and windows are made by the same steps.
const STEPS: &[&str] = &[
    "reduce_rows",
    "reduce_short_rows",
    "pool_gather",
    "pool_tile",
    "pool_blocks",
    "pool_register_tile",
    "pool_sliding_window",
    "pool_index",
    "pool_tile_index",
    "pool_sliding_window_index",
];
const ELEMENTS: &[&str] = &["segment_elements", "segment_unrolled"];
const CHUNKS: &[&str] =
    &["segment_blocks", "segment_column_tiles", "segment_elements", "segment_argmax"];
const ARGMAX: &[&str] = &["segment_argmax"];
const SCATTER: &[&str] = &["segment_scatter"];
const FINISH: &[&str] = &["segment_finish"];
/// Their launches add to what earlier ones have left in a buffer.
const KEEPING: &[&str] = &[
    "segment_blocks",
    "segment_column_tiles",
    "segment_elements",
    "segment_unrolled",
    "segment_argmax",
    "segment_scatter",
    "segment_finish",
];

/// The faults, with their names, what kind of mistake they are, and the kernels that have them.
macro_rules! faults {
    ($($(#[doc = $doc:literal])+ $fault:ident, $name:literal, $mistake:ident, $kernels:expr;)+) => {
        /// A mistake that can be planted in a CPU kernel.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        #[cfg_attr(not(feature = "cpu"), expect(dead_code, reason = "only the executor has it"))]
        pub enum Fault {
            $($(#[doc = $doc])+ $fault,)+
        }

        #[cfg(feature = "oracle")]
        impl Fault {
            /// All faults.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$fault),+];

            /// The name: what goes wrong.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$fault => $name,)+ }
            }

            /// What kind of mistake it is.
            pub const fn mistake(self) -> Mistake {
                match self { $(Self::$fault => Mistake::$mistake,)+ }
            }

            /// The names of the kernels whose CPU function has it.
            pub const fn kernels(self) -> &'static [&'static str] {
                match self { $(Self::$fault => $kernels,)+ }
            }
        }

        #[cfg(not(feature = "oracle"))]
        const _: &[&[&str]] = &[$($kernels),+];
    };
}

faults! {
    /// Of an even number of words the last but one is not written.
    FillRemainder, "fill-skips-the-word-after-pairs", Tail, FILL;
    /// The high word of 64 bits is written before the low one.
    FillWordOrder, "fill-swaps-the-words-of-64-bits", Order, FILL;
    /// A last word of fewer than four bytes is not written.
    FillLastBytes, "fill-skips-a-last-word-that-is-not-full", Tail, FILL;
    /// Of a view that is packed the last element is not copied.
    PackLast, "packing-loses-the-last-element", Tail, &["pack"];
    /// Of a result that is unpacked the last element is not copied.
    UnpackLast, "unpacking-loses-the-last-element", LostWrite, &["unpack"];
    /// What earlier launches have left in a binding is cleared before a launch adds to it.
    BindingCleared, "bindings-are-cleared-before-each-launch", LostWrite, KEEPING;

    /// NaN is ignored where it propagates.
    RowsNan, "rows-ignore-nan", NanFolded, ROWS;
    /// The largest element is found where the smallest is wanted.
    RowsMinimum, "rows-give-the-maximum-for-the-minimum", Extremum, ROWS;
    /// The last piece of a row misses its last element.
    RowsLastPiece, "last-piece-of-a-row-ends-early", Tail, ROWS;
    /// Short rows behind the first block are taken to be the first ones again.
    RowsSecondBlock, "second-block-of-rows-reads-the-first", Offset, ROWS;
    /// What follows the last four whole vectors of a long row is not read.
    LongRowTail, "long-rows-lose-their-tail", Tail, ROWS;
    /// Of a row of two to four vectors only the first and the last one are read.
    MediumRowMiddle, "medium-rows-lose-their-middle", LostElement, ROWS;
    /// What follows the last whole vector of a row of one to four is not read.
    MediumRowTail, "medium-rows-lose-their-tail", Tail, ROWS;
    /// A short row whose length is no power of two misses its last element.
    ShortRowLast, "short-rows-lose-their-last-element", Tail, ROWS;
    /// Where a step makes one window of three, the middle one is left out.
    MiddleThird, "tripled-windows-lose-their-middle", LostElement, STEPS;

    /// Of equal elements the last one is found where the first is wanted, and the reverse.
    LastPosition, "positions-of-reductions-are-the-last", LastOfTie, FOUND;
    /// Of elements that earlier launches have found the positions are forgotten.
    EarlierPosition, "positions-of-pieces-are-forgotten", Offset, FOUND;
    /// What follows the last four whole vectors of a row is not looked through.
    PlacesTail, "positions-in-the-tail-of-rows-are-not-found", Tail, &["reduce_rows_index"];

    /// NaN propagates where it is ignored.
    ColumnsNan, "columns-propagate-nan", NanFolded, COLUMNS;
    /// Of the rows behind the last four whole ones the last one is not read.
    ColumnsRemainder, "columns-lose-the-row-after-fours", Tail, COLUMNS;
    /// Where columns are cut into pieces, each misses its last row.
    ColumnsPieceEnd, "pieces-of-columns-lose-a-row", Tail, COLUMNS;
    /// Of several rows that are taken as one, a last one that is not full is not read.
    ColumnsWidenedRow, "widened-columns-lose-a-row-that-is-not-full", Tail, COLUMNS;
    /// The columns behind the first 2048 of a part are taken to be the first ones again.
    ColumnsSecondTile, "second-tile-of-columns-reads-the-first", Offset, COLUMNS;
    /// Keys that are used again hold what they held before.
    ColumnsStaleKeys, "columns-begin-with-stale-keys", StaleScratch, COLUMNS;

    /// NaN is ignored where it propagates.
    PoolNan, "windows-ignore-nan", NanFolded, MAXIMA;
    /// The largest element is found where the smallest is wanted.
    PoolMinimum, "windows-give-the-maximum-for-the-minimum", Extremum, MAXIMA;
    /// Results that begin within a binding are written to where the binding begins.
    PoolResultBase, "windows-are-stored-at-the-start-of-the-binding", LostWrite, MAXIMA;
    /// NaN propagates where it is ignored and positions are wanted.
    IndexNan, "positions-of-windows-propagate-nan", NanFolded, INDICES;
    /// A window behind the last element of its line gives the identity of the maximum.
    WindowsBehind, "windows-behind-the-end-are-not-empty", Padding, MAXIMA;
    /// A line of windows beside all rows gives the identity of the maximum.
    EmptyLines, "lines-in-the-padding-are-not-empty", Padding, MAXIMA;
    /// Windows down the rows are taken a step before they are done.
    DownSteps, "windows-down-rows-miss-a-step", LostElement, POOLS;
    /// Windows down the rows are one row apart, whatever the stride.
    DownStride, "windows-down-rows-forget-the-stride", Dilation, POOLS;
    /// The last place of a strip is not read, unless its line ends there.
    StripBorder, "strips-of-windows-end-a-place-early", Tail, POOLS;
    /// Of a window far longer than its axis only one tap is read.
    HugeWindow, "huge-windows-read-one-tap", Clamp, POOLS;
    /// Lines behind the end of a plane read the rows of the same plane again.
    NextPlane, "lines-after-a-plane-stay-in-it", Carry, POOLS;
    /// Of small planes with windows of stride 1, every second tap along lines is left out.
    PlaneTaps, "small-planes-lose-every-second-tap", LostElement, MAXIMA;
    /// The last line of each window over such planes is left out.
    PlaneLines, "small-planes-lose-the-last-line", LostElement, MAXIMA;
    /// Lines whose rows lie alike are taken to begin one row apart.
    LineStep, "lines-alike-forget-the-stride", Dilation, POOLS;
    /// A window of one row in the padding has the row at the edge.
    PaddingClamp, "rows-in-the-padding-are-clamped", Clamp, POOLS;
    /// Padding holds what was there before.
    StalePadding, "padding-holds-stale-keys", StaleScratch, POOLS;
    /// Of an odd number of rows, five or more, the last one is not read.
    OddRow, "odd-number-of-rows-loses-the-last", Tail, POOLS;
    /// Windows along a line of 4 to 9 taps are taken a step before they are done.
    AlongSteps, "windows-along-lines-miss-a-step", LostElement, POOLS;
    /// Windows of three taps and stride 2 miss their last tap.
    PairsThirdTap, "windows-of-pairs-lose-the-third-tap", Tail, POOLS;
    /// Windows that are made one by one read neighbours, whatever the dilation.
    EachDilation, "single-windows-forget-the-dilation", Dilation, POOLS;
    /// The last of the shorter windows that a window is made of is left out.
    UnevenLastTap, "composed-windows-lose-the-last-part", Tail, POOLS;
    /// Vectors are stored beyond the end of a strip, over what is there already.
    VectorOverrun, "vectors-are-stored-over-the-next-line", LostWrite, MAXIMA;
    /// The index of a window without elements is that of the first channel.
    EmptyChannel, "index-of-an-empty-window-forgets-the-channel", Offset, INDICES;
    /// Indices in column-major order are numbered in row-major order.
    ColumnMajor, "column-major-indices-are-row-major", Offset, INDICES;
    /// Indices that should begin anew with each sub-tensor go on.
    IndexRestart, "indices-do-not-begin-anew", Offset, INDICES;

    /// The unused entry of a chunk of one segment holds what was there before.
    CarryUnused, "unused-carry-entry-is-stale", StaleScratch, CHUNKS;
    /// The last segment of a chunk is not carried on.
    CarryLast, "last-segment-of-a-chunk-is-not-carried", Carry, CHUNKS;
    /// NaN propagates where it is ignored.
    ElementsNan, "segments-propagate-nan", NanFolded, ELEMENTS;
    /// The second half of a block of rows of short segments is lost.
    BlockHalves, "second-half-of-a-block-is-lost", LostElement, ELEMENTS;
    /// The last row of an odd number of rows of short segments is lost.
    OddBlock, "last-row-of-an-odd-block-is-lost", Tail, ELEMENTS;
    /// A segment of two blocks loses its rows of the first one.
    BlockBorder, "segments-lose-rows-before-a-block", Carry, ELEMENTS;
    /// A segment that ends with a block of rows is not stored.
    BlockEnd, "segments-that-end-with-a-block-are-lost", LostWrite, ELEMENTS;
    /// Of the first segment of a chunk the first row alone is carried.
    CarryFirst, "first-segment-of-a-chunk-carries-one-row", Carry, ELEMENTS;
    /// The last segment of all is not stored.
    LastSegment, "last-segment-is-not-stored", LostWrite, ELEMENTS;
    /// A segment of nothing but the lowest elements has the first row of all.
    ArgmaxLowest, "row-of-the-lowest-elements-is-the-first", MinusTwoToThe31, ARGMAX;
    /// -0 is less than +0 where rows are looked for.
    ScatterZero, "scattered-rows-tell-zeros-apart", Sign, SCATTER;
    /// Rows are looked for among those whose high word alone is the largest.
    ScatterLowWord, "scattered-rows-ignore-the-low-word", Order, SCATTER;
    /// Rows are numbered from the first one of their launch.
    ScatterFirstRow, "scattered-rows-are-counted-in-each-launch", Offset, SCATTER;
    /// A segment without rows has the low word alone of its 64 bits.
    EmptyHighWord, "empty-segments-lose-the-high-word", Order, FINISH;
    /// The index of a segment without rows is 2^32 - 1.
    EmptyIndex, "index-of-an-empty-segment-has-no-sign", Sign, FINISH;
    /// A row behind the end of a segment belongs to the next one, which may have no rows.
    OffsetsNext, "offsets-skip-no-empty-segments", LostElement, &["segment_expand_offsets"];
    /// An offset as large as the number of rows is too large.
    OffsetsEnd, "offset-at-the-end-is-too-large", Tail, &["segment_check_ids"];
    /// A row whose id two launches look at is counted twice.
    IdCounted, "rows-between-launches-are-counted-twice", Carry, &["segment_check_ids"];
    /// Ids of 1 and 2 bytes are taken to be unsigned.
    WidenSign, "narrow-ids-lose-their-sign", Sign, &["segment_widen_ids"];
    /// Of the gradients that an element gets, the last one alone counts.
    GradientSum, "gradients-of-an-element-are-not-added", LostElement,
        &["pool_gradient", "pool_gradient_rows", "pool_tile_gradient"];
    /// Gradients are read from the begin of their binding on.
    GradientBase, "gradients-begin-with-their-binding", Offset,
        &["gradient_scatter", "unpool_scatter", "pool_tile_gradient"];
    /// Of values for one element the first one counts.
    UnpoolFirst, "first-of-unpooled-values-counts", Order, &["unpool_claim"];
}

/// The number of the fault that is planted; [`u8::MAX`] for none.
#[cfg(feature = "oracle")]
static PLANTED: AtomicU8 = AtomicU8::new(u8::MAX);

/// Plants a fault in the CPU kernels of this process, in the place of any other, or takes it out.
#[cfg(feature = "oracle")]
pub fn plant(fault: Option<Fault>) {
    PLANTED.store(fault.map_or(u8::MAX, |fault| fault as u8), Ordering::Relaxed);
}

/// Whether a fault is planted.
#[cfg(feature = "oracle")]
#[inline(always)]
pub(crate) fn planted(fault: Fault) -> bool {
    PLANTED.load(Ordering::Relaxed) == fault as u8
}

/// Whether a fault is planted: there is nothing to plant one with.
#[cfg(not(feature = "oracle"))]
#[inline(always)]
pub(crate) fn planted(_: Fault) -> bool {
    false
}

/// What is right, or what is wrong if a fault is planted.
#[inline(always)]
pub(crate) fn or<T>(fault: Fault, right: T, wrong: T) -> T {
    if planted(fault) { wrong } else { right }
}
