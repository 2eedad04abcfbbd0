//! Runs a plan by the kernels' twins, on all cores.

pub(crate) mod simd;

use crate::error::Result;
use crate::plan::{Plan, Role};
use crate::tensor::Tensor;

/// Runs a plan on a host tensor. `after` sees the result's buffer after every launch.
pub(crate) fn execute(
    plan: &Plan,
    input: &Tensor,
    mut after: impl FnMut(usize, &[u8]),
) -> Result<Tensor> {
    let mut scratch: Vec<Vec<u64>> = plan
        .buffers
        .iter()
        .map(|b| match b.role {
            Role::Scratch => vec![0u64; (b.size as usize).div_ceil(8)],
            _ => Vec::new(),
        })
        .collect();
    Tensor::build(plan.output.clone(), |output| {
        for (i, launch) in plan.launches.iter().enumerate() {
            let target = launch.result.buffer;
            let mut taken = std::mem::take(&mut scratch[target]);
            {
                let source: &[u8] = match &launch.source {
                    None => &[],
                    Some(range) => {
                        let bytes = match plan.buffers[range.buffer].role {
                            Role::Input => input.bytes(),
                            _ => bytemuck::cast_slice(&scratch[range.buffer]),
                        };
                        // Device buffers are padded, the host's tensors are not.
                        let end = (range.offset + range.size).min(bytes.len() as u64);
                        &bytes[range.offset as usize..end as usize]
                    }
                };
                let result: &mut [u8] = match plan.buffers[target].role {
                    Role::Output => output,
                    _ => bytemuck::cast_slice_mut(&mut taken),
                };
                let end = (launch.result.offset + launch.result.size).min(result.len() as u64);
                let part = &mut result[launch.result.offset as usize..end as usize];
                launch.params.run_twin(&launch.shader, source, part);
                after(i, result);
            }
            scratch[target] = taken;
        }
        Ok(())
    })
}
