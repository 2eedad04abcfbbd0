//! The kinds of mistakes that faults stand for.

macro_rules! mistakes {
    ($($(#[doc = $doc:literal])+ $mistake:ident, $name:literal;)+) => {
        /// A kind of mistake of drivers, compilers and authors.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Mistake {
            $($(#[doc = $doc])+ $mistake,)+
        }

        impl Mistake {
            /// The name, as in reports.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$mistake => $name,)+ }
            }
        }
    };
}

mistakes! {
    /// What is behind the last whole block, tile or pair is lost, or one too many is read.
    Tail, "tail";
    /// An element that is no tail is not read.
    LostElement, "lost element";
    /// Workgroup memory is read before others have written it.
    Barrier, "barrier";
    /// A position is clamped where it should not be, or not clamped.
    Clamp, "clamp";
    /// A carry between words, chunks or lines is lost.
    Carry, "carry";
    /// A test for NaN is taken to be false.
    NanFolded, "NaN folded";
    /// Subnormal numbers become zero.
    SubnormalFlushed, "subnormals flushed";
    /// An atomic maximum takes its operands as signed.
    SignedAtomic, "signed atomic";
    /// A comparison takes its operands as signed.
    SignedCompare, "signed comparison";
    /// The arm of a select that is not taken has an effect.
    SelectEvaluatesBoth, "both arms of select";
    /// A loop is left before its end.
    LoopLimit, "loop limit";
    /// Of equal elements the last one is found.
    LastOfTie, "last of a tie";
    /// Memory holds what was there before.
    StaleScratch, "stale scratch";
    /// A write to a word that others write to, too, is lost.
    LostWrite, "lost write";
    /// The lowest integer, and the lowest key.
    MinusTwoToThe31, "i32::MIN";
    /// A shift by the width of the word, or of the wrong kind.
    Shift, "shift";
    /// A division by an invariant number is off by one.
    Division, "division";
    /// The sign of a zero, a number or a key.
    Sign, "sign";
    /// Where a binding or a part of it begins.
    Offset, "offset";
    /// The order of words, elements or axes.
    Order, "order";
    /// Elements in the padding.
    Padding, "padding";
    /// The distance between the elements of a window.
    Dilation, "dilation";
    /// The number of an invocation or of a workgroup.
    Grid, "grid";
}
