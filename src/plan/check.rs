//! What every plan keeps to, whatever it was made for.

use super::{Limits, Plan, Range, Role};

impl Plan {
    /// Whether each launch stays in its buffers and within the limits that the plan was made for.
    /// Every plan does; this is how tests and fuzzing look.
    ///
    /// # Errors
    /// What is wrong, in a sentence.
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
            let most = limits.max_workgroups_per_dimension;
            if launch.grid.iter().any(|&groups| groups == 0 || groups > most) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::ReduceMax;
    use crate::tensor::{ElementType, TensorDesc};

    #[test]
    fn what_is_wrong_is_told() {
        let limits = Limits { max_binding_size: 1 << 20, ..Limits::cpu(4) };
        let input = TensorDesc::new(ElementType::F32, [100, 1000]).unwrap();
        let plan = ReduceMax::new().axes([1]).plan(&input, &limits).unwrap();
        plan.check(&limits).unwrap();
        let broken = |breaks: fn(&mut Plan)| {
            let mut plan = plan.clone();
            breaks(&mut plan);
            plan.check(&limits).unwrap_err()
        };
        let told = [
            (broken(|p| p.launches[0].sources[0].buffer = 9), "of no buffer"),
            (broken(|p| p.launches[0].sources[0].size = 0), "empty"),
            (broken(|p| p.launches[0].sources[0].offset = 4), "multiple of 16"),
            (broken(|p| p.launches[0].sources[0].offset = 16), "beyond a buffer"),
            (broken(|p| p.launches[0].results[0].size = 1 << 40), "beyond a buffer"),
            (broken(|p| p.launches[0].results[0].buffer = 0), "bound again"),
            (broken(|p| p.buffers[1].role = Role::Input), "an input is written"),
            (broken(|p| p.launches[0].grid[1] = 0), "a grid of"),
            (broken(|p| p.launches[0].shader.workgroup *= 2), "workgroups of"),
        ];
        for (reason, part) in told {
            assert!(reason.contains(part), "{reason}");
        }
        let smaller = Limits { max_binding_size: 1000, ..limits.clone() };
        assert!(plan.check(&smaller).unwrap_err().contains("larger than 1000"));
        let fewer = Limits { max_storage_buffers: 1, ..limits };
        assert!(plan.check(&fewer).unwrap_err().contains("2 storage buffers"));
    }
}
