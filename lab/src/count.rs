//! What the warps of launches load, store, compute and wait for.

use std::collections::BTreeMap;

use anyhow::Result;

use crate::cache::{Cache, SECTOR};
use crate::machine::{Access, Watch, lanes};

/// Bytes of the cache that workgroups share if they run at the same time.
const NEAR: u64 = 128 << 10;

/// Bytes of the cache that all workgroups share.
const FAR: u64 = 4 << 20;

/// Sums over the warps of a launch.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Bytes that a warp uses in a step, and the bytes of the sectors that hold these.
    pub used: u64,
    pub requested: u64,
    /// Bytes between the far cache and memory.
    pub memory: u64,
    /// Results of arithmetic, of one component for a warp, and those that are the same for a workgroup.
    pub operations: u64,
    pub common: u64,
    /// How often a warp waits for loads, and these loads.
    pub waits: u64,
    pub loads: u64,
    /// Steps in which a warp uses workgroup memory.
    pub steps: u64,
    /// Barriers that a warp waits at.
    pub barriers: u64,
    /// Iterations of loops: those of invocations that run, and all of their warps'.
    pub iterations: u64,
    pub slots: u64,
    /// Invocations of the grid, and of a workgroup.
    pub invocations: u64,
    pub workgroup: usize,
    /// The workgroup memory of a workgroup, in bytes.
    pub workgroup_bytes: usize,
}

impl Counts {
    pub fn add(&mut self, other: &Self) {
        self.used += other.used;
        self.requested += other.requested;
        self.memory += other.memory;
        self.operations += other.operations;
        self.common += other.common;
        self.waits += other.waits;
        self.loads += other.loads;
        self.steps += other.steps;
        self.barriers += other.barriers;
        self.iterations += other.iterations;
        self.slots += other.slots;
        self.invocations += other.invocations;
    }
}

/// Counts while a machine runs.
pub struct Counter {
    pub counts: Counts,
    /// The operations of each function.
    pub functions: BTreeMap<String, u64>,
    near: Cache,
    far: Cache,
    begins: Vec<u64>,
    sectors: Vec<u64>,
}

impl Counter {
    pub fn new() -> Self {
        Self {
            counts: Counts::default(),
            functions: BTreeMap::new(),
            near: Cache::new(NEAR),
            far: Cache::new(FAR),
            begins: Vec::new(),
            sectors: Vec::new(),
        }
    }

    /// The counts since the last call.
    pub fn take(&mut self) -> Counts {
        std::mem::take(&mut self.counts)
    }

    /// The bytes that are not yet written to memory.
    pub fn rest(&self) -> u64 {
        self.far.dirty() * SECTOR
    }
}

impl Watch for Counter {
    const TIMED: bool = true;

    fn access(&mut self, access: &Access) {
        self.begins.clear();
        self.begins.extend(lanes(access.lanes).map(|lane| access.addresses[lane]));
        self.begins.sort_unstable();
        self.sectors.clear();
        let mut end = 0;
        for &begin in &self.begins {
            // A load of several invocations counts once.
            let first = begin.max(end);
            end = end.max(begin + access.bytes);
            self.counts.used += end.saturating_sub(first);
            for sector in begin / SECTOR..=(begin + access.bytes - 1) / SECTOR {
                if self.sectors.last().is_none_or(|&last| last < sector) {
                    self.sectors.push(sector);
                }
            }
        }
        self.counts.requested += SECTOR * self.sectors.len() as u64;
        for &sector in &self.sectors {
            // Stores pass through the near cache, and loads that hit it end there.
            if access.is_store || !self.near.touch(sector, false).hit {
                let effect = self.far.touch(sector, access.is_store);
                let loaded = !effect.hit && !access.is_store;
                let moved = u64::from(loaded) + u64::from(effect.written_back);
                self.counts.memory += SECTOR * moved;
            }
        }
    }

    fn launch(&mut self, invocations: u64, workgroup: usize, bytes: usize) {
        self.counts.invocations += invocations;
        (self.counts.workgroup, self.counts.workgroup_bytes) = (workgroup, bytes);
    }

    fn wait(&mut self, loads: u32, warps: u64) {
        self.counts.waits += warps;
        self.counts.loads += warps * u64::from(loads);
    }

    fn workgroup_steps(&mut self, steps: u64) {
        self.counts.steps += steps;
    }

    fn barrier(&mut self, warps: u64) {
        self.counts.barriers += warps;
    }

    fn operations(&mut self, function: &str, results: u64, common: u64) {
        self.counts.common += common;
        match self.functions.get_mut(function) {
            Some(all) => *all += results,
            None => drop(self.functions.insert(function.to_string(), results)),
        }
        self.counts.operations += results;
    }

    fn iteration(&mut self, running: u32, began: u32) -> Result<()> {
        self.counts.iterations += u64::from(running);
        self.counts.slots += u64::from(began);
        Ok(())
    }

    fn side_by_side(&mut self) {
        self.near.clear();
    }
}
