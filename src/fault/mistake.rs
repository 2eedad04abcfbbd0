//! The kinds of mistakes that faults stand for.

macro_rules! mistakes {
    ($($(#[doc = $doc:literal])+ $mistake:ident, $name:literal;)+) => {
        /// A kind of mistake of drivers, compilers and authors.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Mistake {
            $($(#[doc = $doc])+ $mistake,)+
        }

        impl Mistake {
            /// All kinds.
            pub const ALL: &'static [Self] = &[$(Self::$mistake),+];

            /// The name, as in reports.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$mistake => $name,)+ }
            }
        }
    };
}

mistakes! {
    /// A NaN is taken as a number, or a number as NaN, or a NaN keeps its bits.
    NanFolded, "NaN folded";
    /// The minimum is taken for the maximum, or what its keys are complemented by is lost.
    Extremum, "extremum";
    /// A subnormal number is flushed to zero.
    SubnormalFlushed, "subnormals flushed";
    /// A sign, of a number or of zero, is lost or misread.
    Sign, "sign";
    /// The lowest integer, or the lowest key, is mistaken for something else or for nothing.
    MinusTwoToThe31, "i32::MIN";
    /// A carry is lost: of an addition, or from one chunk, block or line to the next.
    Carry, "carry";
    /// A shift is by the wrong number of bits, or by the width of the word.
    Shift, "shift";
    /// The two words of 64 bits, or steps that depend on an order, change places.
    Order, "order";
    /// Unsigned words are compared as signed, or the reverse.
    SignedCompare, "signed comparison";
    /// An atomic maximum of unsigned words is taken as signed.
    SignedAtomic, "signed atomic";
    /// An element, word, row or tap within the data is left out.
    LostElement, "lost element";
    /// A store is lost, or overwrites what others have written.
    LostWrite, "lost write";
    /// The first or last item of something is left out, or one too many is taken.
    Tail, "tail";
    /// A read is not clamped to its end, or is clamped to the wrong one.
    Clamp, "clamp";
    /// Both arms of a choice are evaluated, and the wrong one is seen.
    SelectEvaluatesBoth, "both arms of select";
    /// Padding, or a window without elements, is misread.
    Padding, "padding";
    /// Taps or windows are as far apart as they should not be.
    Dilation, "dilation";
    /// Where something begins in its binding, its launch or its word is left out.
    Offset, "offset";
    /// A quotient or a remainder is wrong.
    Division, "division";
    /// A dimension of the grid is left out.
    Grid, "grid";
    /// Memory or state keeps what was there before.
    StaleScratch, "stale scratch";
    /// A barrier is lost, or a tree in workgroup memory is read too early.
    Barrier, "barrier";
    /// A loop is left too early.
    LoopLimit, "loop limit";
    /// Of equal elements the last one is found.
    LastOfTie, "last of a tie";
}
