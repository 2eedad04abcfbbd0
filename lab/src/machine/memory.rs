//! The buffers of a plan, and what a launch binds of them.

use std::collections::HashMap;
use std::mem::discriminant;

use anyhow::{Result, bail};
use wgmax::wgpu::naga::AtomicFunction;

use super::choice::Sets;
use super::shade::{Shade, UNWRITTEN};
use super::sum::Sums;
use super::value::{LANES, Lane32};
use crate::keys::Ranking;

/// The order of the workgroups of a launch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    Ascending,
    Descending,
}

/// What an invocation does to a word of a buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Act {
    Load,
    /// Also by an atomic store or exchange.
    Store,
    Maximum,
    Minimum,
    Sum,
    /// Sets or clears these bits.
    Set(u32),
    Clear(u32),
}

impl Act {
    /// What an atomic function does with a value.
    pub fn of_atomic(function: &AtomicFunction, value: u32) -> Self {
        match function {
            AtomicFunction::Max => Self::Maximum,
            AtomicFunction::Min => Self::Minimum,
            AtomicFunction::Add => Self::Sum,
            AtomicFunction::InclusiveOr => Self::Set(value),
            AtomicFunction::And => Self::Clear(!value),
            _ => Self::Store,
        }
    }

    /// The bits that it sets or clears.
    fn bits(self) -> Option<u32> {
        match self {
            Self::Set(bits) | Self::Clear(bits) => Some(bits),
            _ => None,
        }
    }
}

/// The buffers of a plan, in words. Each begins at an address of its own.
pub struct Memory {
    buffers: Vec<Vec<u32>>,
    addresses: Vec<u64>,
    pub order: Order,
    /// What a strict machine knows of them.
    pub shadow: Shadow,
}

/// A part of a buffer that a launch binds.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    pub buffer: usize,
    /// In words, both.
    pub first: usize,
    pub len: usize,
}

/// What the invocations of a warp do in one step: each loads or stores neighbouring words.
pub struct Access {
    /// The byte that each invocation begins with.
    pub addresses: [u64; LANES],
    /// The invocations that take part.
    pub lanes: u32,
    /// The bytes of each.
    pub bytes: u64,
    pub is_store: bool,
}

impl Memory {
    pub fn new(buffers: Vec<Vec<u32>>) -> Self {
        let addresses = buffers.iter().scan(0, |end, buffer| {
            let begin = *end;
            *end = (begin + 4 * buffer.len() as u64).next_multiple_of(4096);
            Some(begin)
        });
        let addresses = addresses.collect();
        Self { buffers, addresses, order: Order::Ascending, shadow: Shadow::default() }
    }

    pub fn words(&self, buffer: usize) -> &[u32] {
        &self.buffers[buffer]
    }

    /// A word of a binding.
    pub fn word(&self, binding: Binding, at: u32) -> u32 {
        self.buffers[binding.buffer][binding.first + at as usize]
    }

    /// A word to store to.
    pub fn word_mut(&mut self, binding: Binding, at: u32) -> &mut u32 {
        &mut self.buffers[binding.buffer][binding.first + at as usize]
    }

    /// An access to a binding, from words on.
    pub fn access(
        &self,
        binding: Binding,
        at: &Lane32,
        lanes: u32,
        words: usize,
        is_store: bool,
    ) -> Access {
        let first = self.addresses[binding.buffer] + 4 * binding.first as u64;
        let addresses = at.map(|at| first + 4 * u64::from(at));
        Access { addresses, lanes, bytes: 4 * words as u64, is_store }
    }
}

/// What words of buffers stand for, and who used them.
#[derive(Default)]
pub struct Shadow {
    pub shades: Vec<Vec<Shade>>,
    uses: Vec<Vec<Use>>,
    /// The bits that each invocation of the launch set or cleared, of the words of buffers.
    bits: HashMap<(usize, usize, u32), u32>,
    /// The number of the launch.
    launch: u32,
    pub sets: Sets,
    pub sums: Sums,
    /// Where elements became mixed.
    pub reasons: Vec<String>,
    /// How elements become keys.
    pub ranking: Option<Ranking>,
}

/// The uses of a word in a launch.
#[derive(Clone, Copy)]
struct Use {
    launch: u32,
    by: u32,
    first: Act,
    /// Whether another invocation used it too; whether one did something else than `first`.
    several: bool,
    differs: bool,
    /// Whether all uses set or clear bits; the bits that any invocation uses, and those that several use.
    by_bits: bool,
    once: u32,
    twice: u32,
}

impl Default for Use {
    fn default() -> Self {
        let (several, differs, by_bits) = (false, false, true);
        Self { launch: 0, by: 0, first: Act::Load, several, differs, by_bits, once: 0, twice: 0 }
    }
}

impl Memory {
    /// Begins to follow what words stand for: nobody has written any.
    pub fn follow(&mut self) {
        let words = || self.buffers.iter().map(Vec::len);
        self.shadow.shades = words().map(|len| vec![[UNWRITTEN; 4]; len]).collect();
        self.shadow.uses = words().map(|len| vec![Use::default(); len]).collect();
    }
}

impl Shadow {
    /// The next launch begins.
    pub fn begin_launch(&mut self) {
        self.launch += 1;
        self.bits.clear();
    }

    /// What a word of a binding stands for.
    pub fn shade(&mut self, binding: Binding, at: u32) -> &mut Shade {
        &mut self.shades[binding.buffer][binding.first + at as usize]
    }

    /// Notes that an invocation uses a word. No barrier orders the invocations of several
    /// workgroups, and our kernels have none that orders accesses to buffers within one. So what
    /// several invocations do to a word must give the same in any order: all load, all do the same
    /// commutative operation, or each sets and clears bits of its own.
    pub fn note(&mut self, binding: Binding, at: u32, by: u32, act: Act) -> Result<()> {
        let launch = self.launch;
        let place = binding.first + at as usize;
        let word = &mut self.uses[binding.buffer][place];
        if word.launch != launch {
            *word = Use { launch, by, first: act, ..Use::default() };
        }
        word.several |= word.by != by;
        word.differs |= discriminant(&word.first) != discriminant(&act);
        match act.bits() {
            Some(bits) => {
                let own = self.bits.entry((binding.buffer, place, by)).or_default();
                let new = bits & !*own;
                *own |= new;
                word.twice |= word.once & new;
                word.once |= new;
            }
            None => word.by_bits = false,
        }
        let commutes = !word.differs && act != Act::Store;
        if word.several && !commutes && !(word.by_bits && word.twice == 0) {
            bail!(
                "invocations {} and {by} both use word {at} of buffer {}, and one stores to it",
                word.by,
                binding.buffer
            );
        }
        Ok(())
    }
}
