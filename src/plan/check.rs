//! The rules for every plan.

use super::{Limits, Plan, Range, Role};

impl Plan {
    /// Checks that each launch stays within its buffers and within `limits`. Tests and fuzzing check
    /// every plan.
    ///
    /// # Errors
    /// The broken rule, as a sentence.
    #[doc(hidden)]
    pub fn check(&self, limits: &Limits) -> Result<(), String> {
        for (i, launch) in self.launches.iter().enumerate() {
            let wrong =
                |what: String| Err(format!("launch {i} ({}): {what}", launch.shader.label()));
            for (what, range) in (launch.sources.iter().map(|range| ("source", range)))
                .chain(launch.results.iter().map(|range| ("result", range)))
            {
                if let Err(reason) = self.check_range(range, limits) {
                    return wrong(format!("a {what}, {range:?}, {reason}"));
                }
            }
            // A dispatch may not bind one buffer as readable and as writable, or as writable twice.
            for (at, result) in launch.results.iter().enumerate() {
                let others = launch.results[..at].iter().chain(&launch.sources);
                if others.into_iter().any(|other| other.buffer == result.buffer) {
                    return wrong(format!("buffer {} is a result and bound again", result.buffer));
                }
                if self.buffers[result.buffer].role == Role::Input {
                    return wrong("an input is written".to_string());
                }
            }
            let bound = launch.sources.len() + launch.results.len();
            if bound as u64 > limits.max_storage_buffers.into() {
                return wrong(format!("{bound} storage buffers"));
            }
            let max = limits.max_workgroups_per_dimension;
            if launch.grid.iter().any(|&groups| groups == 0 || groups > max) {
                return wrong(format!("a grid of {:?}", launch.grid));
            }
            if launch.shader.workgroup > limits.workgroup_size {
                return wrong(format!("workgroups of {}", launch.shader.workgroup));
            }
        }
        Ok(())
    }

    fn check_range(&self, range: &Range, limits: &Limits) -> Result<(), String> {
        let Some(buffer) = self.buffers.get(range.buffer) else {
            return Err("is of no buffer".to_string());
        };
        if range.size == 0 {
            return Err("is empty".to_string());
        }
        if !range.offset.is_multiple_of(limits.alignment) {
            return Err(format!("does not begin at a multiple of {}", limits.alignment));
        }
        // Buffers are padded to a block, and a result of bytes is written in words.
        let size = buffer.size.next_multiple_of(16);
        if range.offset.checked_add(range.size).is_none_or(|end| end > size) {
            return Err(format!("reaches beyond a buffer of {} bytes", buffer.size));
        }
        if range.size > limits.max_binding_size {
            return Err(format!("is larger than {} bytes", limits.max_binding_size));
        }
        Ok(())
    }
}
