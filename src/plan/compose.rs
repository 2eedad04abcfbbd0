//! Two plans one after the other.

use super::{Buffer, Launch, Plan, Role};

/// Where an input of the second plan comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Feed {
    /// A result of the first plan.
    Result(usize),
    /// An input of both plans together.
    Input,
}

impl Plan {
    /// This plan and then another one, which takes some of its results. The inputs of both are the
    /// inputs of this one, and those that the other one takes beside its results; the results are
    /// those of the other one.
    pub(crate) fn then(self, other: Self, feeds: &[Feed]) -> Self {
        debug_assert_eq!(feeds.len(), other.inputs.len());
        let mut inputs = self.inputs;
        let (own_inputs, own_outputs) = (inputs.len(), self.outputs.len());
        let mut own = self.buffers.into_iter();
        let mut buffers: Vec<Buffer> = own.by_ref().take(own_inputs).collect();
        let mut others = other.buffers.into_iter();
        // The numbers of the other plan's buffers.
        let mut other_at = Vec::new();
        let mut fed = Vec::new();
        for ((feed, buffer), desc) in feeds.iter().zip(others.by_ref()).zip(other.inputs) {
            match *feed {
                Feed::Input => {
                    other_at.push(buffers.len());
                    buffers.push(buffer);
                    inputs.push(desc);
                }
                Feed::Result(number) => {
                    fed.push((other_at.len(), number));
                    other_at.push(usize::MAX);
                }
            }
        }
        for buffer in others.by_ref().take(other.outputs.len()) {
            other_at.push(buffers.len());
            buffers.push(buffer);
        }
        // What was a result is scratch now, as what was scratch.
        let first_own = buffers.len();
        buffers.extend(own.map(|buffer| Buffer { role: Role::Scratch, ..buffer }));
        for (input, number) in fed {
            debug_assert!(number < own_outputs);
            other_at[input] = first_own + number;
        }
        for buffer in others {
            other_at.push(buffers.len());
            buffers.push(buffer);
        }
        let own_at =
            |buffer| if buffer < own_inputs { buffer } else { first_own + buffer - own_inputs };
        let mut launches = self.launches;
        launches.iter_mut().for_each(|launch| launch.renumber(own_at));
        let mut behind = other.launches;
        behind.iter_mut().for_each(|launch| launch.renumber(|buffer| other_at[buffer]));
        launches.append(&mut behind);
        Self { buffers, launches, inputs, outputs: other.outputs, views: Vec::new() }
    }
}

impl Launch {
    /// Gives the buffers other numbers.
    fn renumber(&mut self, number: impl Fn(usize) -> usize) {
        for range in self.sources.iter_mut().chain(&mut self.results) {
            range.buffer = number(range.buffer);
        }
    }
}
