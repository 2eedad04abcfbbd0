//! Runs plans on the machine.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::{Context, Result};
use wgmax::plan::{Launch, Plan, Shader};
use wgmax::{Tensor, View};

use crate::machine::{Binding, Memory, Program, Watch};

/// Workgroups that run at the same time.
const SIDE: usize = 8;

/// The content of buffers before anything is stored: neither zeros nor the lowest element.
pub const STALE: u32 = 0xa5c3_5a3c;

/// Runs a plan on inputs in memory, with the programs that `program` has for its shaders. Returns
/// the buffers, and calls `after` after each launch.
pub fn run<W: Watch>(
    plan: &Plan,
    inputs: &[(Tensor, View)],
    program: impl FnMut(&Shader) -> Result<Arc<Program>>,
    watch: &mut W,
    after: impl FnMut(&Launch, &mut W),
) -> Result<Memory> {
    let mut memory = memory(plan, inputs);
    run_in(plan, &mut memory, SIDE, program, watch, after)?;
    Ok(memory)
}

/// The buffers of a plan before its first launch.
pub fn memory(plan: &Plan, inputs: &[(Tensor, View)]) -> Memory {
    let buffers = plan.buffer_bytes().enumerate().map(|(i, bytes)| {
        // A whole number of blocks, as devices have them.
        let mut words = vec![STALE; bytes.next_multiple_of(16) as usize / 4];
        if let Some((input, _)) = inputs.get(i) {
            bytemuck::cast_slice_mut(&mut words)[..input.bytes().len()]
                .copy_from_slice(input.bytes());
        }
        words
    });
    Memory::new(buffers.collect())
}

/// Runs a plan, with `side` workgroups at the same time.
pub fn run_in<W: Watch>(
    plan: &Plan,
    memory: &mut Memory,
    side: usize,
    mut program: impl FnMut(&Shader) -> Result<Arc<Program>>,
    watch: &mut W,
    mut after: impl FnMut(&Launch, &mut W),
) -> Result<()> {
    for launch in plan.launches() {
        let program = program(launch.shader()).with_context(|| launch.label())?;
        let params = [(0, launch.params())].into_iter().chain(launch.view_params()).collect();
        program
            .run(launch.grid(), side, &params, &bindings(launch), memory, watch)
            .with_context(|| launch.label())?;
        after(launch, watch);
    }
    Ok(())
}

/// The bindings of a launch, as words. Sources that are read in blocks are bound as whole blocks.
fn bindings(launch: &Launch) -> HashMap<u32, Binding> {
    let bindings = launch.bindings().map(|(number, buffer, offset, bytes)| {
        let multiple = if number == 1 && !launch.shader().words { 16 } else { 4 };
        let len = bytes.next_multiple_of(multiple) as usize / 4;
        (number, Binding { buffer, first: offset as usize / 4, len })
    });
    bindings.collect()
}

/// Reads the programs of shaders, each once.
pub fn programs() -> impl FnMut(&Shader) -> Result<Arc<Program>> {
    let mut known = HashMap::new();
    move |shader| {
        if !known.contains_key(shader) {
            known.insert(*shader, Arc::new(Program::new(&shader.source())?));
        }
        Ok(Arc::clone(&known[shader]))
    }
}
