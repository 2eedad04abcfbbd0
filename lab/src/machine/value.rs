//! Values of all invocations that run in lock step.

use std::rc::Rc;

use wgmax::wgpu::naga::{GlobalVariable, Handle, LocalVariable};

/// Invocations that step together on the machine that is modelled.
pub const LANES: usize = 32;

/// A word of each invocation of a warp.
pub type Lane32 = [u32; LANES];

/// Words of all warps; of a value with several scalars, the first scalar's, then the next one's.
pub type Words = Rc<Vec<Lane32>>;

/// Which invocations run: a bit each, a word a warp.
#[derive(Clone, Debug)]
pub struct Mask(pub Vec<u32>);

impl Mask {
    pub fn none(warps: usize) -> Self {
        Self(vec![0; warps])
    }

    pub fn is_none(&self) -> bool {
        self.0.iter().all(|&lanes| lanes == 0)
    }

    pub fn count(&self, warp: usize) -> u32 {
        self.0[warp].count_ones()
    }

    /// The warps with any invocation.
    pub fn warps(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().filter(|(_, lanes)| **lanes != 0).map(|(warp, _)| warp)
    }

    /// Those for which a condition holds, and the others.
    pub fn split(&self, condition: &[Lane32]) -> (Self, Self) {
        let mut yes = self.clone();
        for (lanes, condition) in yes.0.iter_mut().zip(condition) {
            let bits = condition.iter().enumerate();
            *lanes &= bits.fold(0, |all, (lane, &bit)| all | u32::from(bit != 0) << lane);
        }
        let no = self.without(&yes);
        (yes, no)
    }

    pub fn with(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a | b).collect())
    }

    pub fn without(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a & !b).collect())
    }
}

/// The invocations of a warp that run.
pub fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 == 1)
}

/// The variable that a pointer points into.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Base {
    Global(Handle<GlobalVariable>),
    /// A variable of a function that runs, by its depth among those.
    Local(usize, Handle<LocalVariable>),
}

/// What an expression is at this moment.
#[derive(Clone, Debug, Default)]
pub enum Slot {
    #[default]
    Empty,
    /// The scalars of a value.
    Value(Words),
    /// A variable, and the word in it of each invocation.
    Pointer(Base, Words),
}
