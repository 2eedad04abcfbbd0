//! Several plans as one.

use super::{Buffer, Launch, Plan, Role};
use crate::tensor::{Outputs, TensorDesc, View};

/// The source of an input of the second plan.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Feed {
    /// A result of the first plan.
    Result(usize),
    /// An input of both plans.
    Input,
}

/// One of several plans. Tensors are numbered: first the inputs of the chain, then the results of steps.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub plan: Plan,
    /// The tensors that it reads, and those that it writes.
    pub inputs: Vec<usize>,
    pub outputs: Vec<usize>,
}

impl Plan {
    /// This plan followed by another one, which reads some of its results. The inputs are those of
    /// this plan, then those of the other plan that are not results of this one. The results are those
    /// of the other plan.
    pub(crate) fn then(self, other: Self, feeds: &[Feed]) -> Self {
        debug_assert_eq!(feeds.len(), other.inputs.len());
        let mut inputs: Vec<View> = self.inputs.iter().map(View::from).collect();
        let own = inputs.len();
        let count = own + feeds.iter().filter(|feed| matches!(feed, Feed::Input)).count();
        let mut fed = Vec::new();
        for (feed, desc) in feeds.iter().zip(&other.inputs) {
            match *feed {
                Feed::Result(number) => fed.push(count + number),
                Feed::Input => {
                    fed.push(inputs.len());
                    inputs.push(desc.into());
                }
            }
        }
        let first = count + self.outputs.len();
        let outputs = other.outputs.clone();
        let results = outputs.iter().enumerate().map(|(i, desc)| (first + i, desc.into()));
        let results: Vec<(usize, View)> = results.collect();
        let step = |plan: Self, inputs, first| {
            let outputs = (first..first + plan.outputs.len()).collect();
            Step { plan, inputs, outputs }
        };
        let steps = vec![step(self, (0..own).collect(), count), step(other, fed, first)];
        Self { outputs, ..Self::chain(inputs, steps, &results) }
    }

    /// The plan of several steps. `results` are the numbers of the tensors that become results, and their
    /// views. Steps share scratch.
    pub(crate) fn chain(inputs: Vec<View>, steps: Vec<Step>, results: &[(usize, View)]) -> Self {
        let mut tensors = Tensors::new(inputs.len(), results, &steps);
        let mut launches = Vec::new();
        for (number, step) in steps.into_iter().enumerate() {
            let plan = step.plan;
            let mut own = Vec::with_capacity(plan.buffers.len());
            let (given, made) = (step.inputs.len(), plan.outputs.len());
            for (i, buffer) in plan.buffers.iter().enumerate() {
                own.push(match i.checked_sub(given) {
                    None => tensors.buffer[step.inputs[i]],
                    Some(result) if result < made => {
                        tensors.make(step.outputs[result], buffer.size)
                    }
                    Some(_) => tensors.take(buffer.size),
                });
            }
            launches.extend(plan.launches.into_iter().map(|mut launch| {
                launch.renumber(|buffer| own[buffer]);
                launch
            }));
            tensors.end(number, &own[given + made..]);
        }
        let views = || inputs.iter().chain(results.iter().map(|(_, view)| view));
        let role = |i| if i < inputs.len() { Role::Input } else { Role::Output };
        let buffers = views().enumerate();
        let buffers =
            buffers.map(|(i, view)| Buffer { role: role(i), size: view.byte_len() as u64 });
        let scratch = tensors.scratch.iter().map(|&size| Buffer { role: Role::Scratch, size });
        let desc = |view: &View| view.desc().clone();
        let outputs: Vec<TensorDesc> = results.iter().map(|(_, view)| desc(view)).collect();
        Self {
            buffers: buffers.chain(scratch).collect(),
            launches,
            outputs: Outputs::unnamed(outputs),
            views: match views().all(View::is_contiguous) {
                true => Vec::new(),
                false => views().cloned().collect(),
            },
            inputs: inputs.iter().map(desc).collect(),
        }
    }
}

/// The buffers of the tensors of a chain.
struct Tensors {
    /// The buffer of each tensor; [`NONE`] before a step writes it.
    buffer: Vec<usize>,
    /// The last step that reads each tensor.
    last: Vec<usize>,
    /// The number of the first scratch buffer, the bytes of each, and which are free.
    first: usize,
    scratch: Vec<u64>,
    free: Vec<usize>,
}

const NONE: usize = usize::MAX;

impl Tensors {
    fn new(inputs: usize, results: &[(usize, View)], steps: &[Step]) -> Self {
        let made = steps.iter().flat_map(|step| &step.outputs);
        let count = made.fold(inputs, |count, &tensor| count.max(tensor + 1));
        let mut buffer: Vec<usize> = (0..inputs).collect();
        buffer.resize(count, NONE);
        for (i, (tensor, _)) in results.iter().enumerate() {
            buffer[*tensor] = inputs + i;
        }
        let mut last = vec![0; count];
        for (number, step) in steps.iter().enumerate() {
            step.inputs.iter().for_each(|&tensor| last[tensor] = number);
        }
        let first = inputs + results.len();
        Self { buffer, last, first, scratch: Vec::new(), free: Vec::new() }
    }

    /// The buffer of a tensor that a step writes.
    fn make(&mut self, tensor: usize, bytes: u64) -> usize {
        if self.buffer[tensor] == NONE {
            self.buffer[tensor] = self.take(bytes);
        }
        self.buffer[tensor]
    }

    /// A scratch buffer: the smallest free one that is large enough, or else the largest, enlarged.
    fn take(&mut self, bytes: u64) -> usize {
        let size = |&i: &usize| self.scratch[self.free[i] - self.first];
        let found = (0..self.free.len()).filter(|i| size(i) >= bytes).min_by_key(size);
        let Some(found) = found.or_else(|| (0..self.free.len()).max_by_key(size)) else {
            self.scratch.push(bytes);
            return self.first + self.scratch.len() - 1;
        };
        let buffer = self.free.swap_remove(found);
        let size = &mut self.scratch[buffer - self.first];
        *size = bytes.max(*size);
        buffer
    }

    /// Ends a step: frees its own scratch, and tensors that no later step reads.
    fn end(&mut self, step: usize, own: &[usize]) {
        self.free.extend_from_slice(own);
        for (&buffer, last) in self.buffer.iter().zip(&mut self.last) {
            if buffer != NONE && buffer >= self.first && *last <= step {
                self.free.push(buffer);
                *last = NONE;
            }
        }
    }
}

impl Launch {
    /// Renumbers the buffers.
    fn renumber(&mut self, number: impl Fn(usize) -> usize) {
        for range in self.sources.iter_mut().chain(&mut self.results) {
            range.buffer = number(range.buffer);
        }
    }
}
