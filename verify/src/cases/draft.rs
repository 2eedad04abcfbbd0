//! A case whose elements are not drawn yet.

use wgmax::operator::{Layout, Operator};
use wgmax::{Extremum, Result, Tensor, TensorDesc};

use super::aim::Aim;
use super::elements::mirrored;
use super::{PlanOverrides, Random};

/// An operator with the types and shapes of its inputs.
pub(super) struct Draft {
    pub operator: Operator,
    pub data: TensorDesc,
    /// The inputs after the first: ids of segments, gradients of maxima, or indices.
    pub others: Vec<Tensor>,
    /// Whether one invocation gets as many rows as possible.
    pub long_chunks: bool,
    /// The ids before some were made wrong, if only the status is checked.
    pub right_ids: Option<Vec<i64>>,
    /// The operator whose last result is the positions in the first input, if there are any.
    pub positions_of: Option<Box<Self>>,
}

impl Draft {
    pub fn new(operator: impl Into<Operator>, data: TensorDesc, others: Vec<Tensor>) -> Self {
        let (operator, long_chunks) = (operator.into(), false);
        Self { operator, data, others, long_chunks, right_ids: None, positions_of: None }
    }

    /// A gradient from positions, the last result of the draft.
    pub fn from_positions(
        operator: impl Into<Operator>,
        of: Self,
        positions: TensorDesc,
        gradient: Tensor,
    ) -> Self {
        let draft = Self::new(operator, positions, vec![gradient]);
        Self { positions_of: Some(Box::new(of)), ..draft }
    }

    pub(super) fn meets(&self, aim: Aim, overrides: &PlanOverrides) -> bool {
        let Self { operator, data, others, .. } = self;
        let inputs: Vec<&TensorDesc> =
            [data].into_iter().chain(others.iter().map(Tensor::desc)).collect();
        match (operator, &others[..]) {
            // Ids may determine how many segments there are, or be wrong.
            (Operator::SegmentMax(op), [ids]) => {
                let operator = op.checked(data, ids).unwrap_or_else(|_| op.clone()).into();
                aim.is_met(&operator, &inputs, overrides)
            }
            (operator, _) => aim.is_met(operator, &inputs, overrides),
        }
    }

    /// Limits for the draft.
    pub(super) fn fit(&self, mut overrides: PlanOverrides, random: &mut Random) -> PlanOverrides {
        if self.long_chunks {
            overrides.target_parallelism = Some(1);
        }
        // Bindings that hold all data and ids would not narrow anything.
        let (data, ids) = self.byte_lens();
        if overrides.max_binding_size.is_some_and(|size| size >= data.max(ids) || ids > data + 512)
        {
            overrides.max_binding_size = self.small_binding(random);
        }
        overrides
    }

    /// The bytes of the data and of the ids.
    fn byte_lens(&self) -> (u64, u64) {
        let ids = self.others.first().map_or(0, |ids| ids.bytes().len());
        (self.data.byte_len() as u64, ids as u64)
    }

    /// A binding that does not hold all data and ids; none for a few hundred bytes.
    fn small_binding(&self, random: &mut Random) -> Option<u64> {
        let (data, ids) = self.byte_lens();
        if ids > data + 512 && random.once_in(2) {
            // Only the data.
            return Some((data + ids) / 2);
        }
        if let Operator::MaxPool(op) = &self.operator
            && !random.once_in(3)
        {
            // A few planes, so that pieces begin within them.
            let planes = match op.layout {
                Layout::Ncx => self.data.shape()[0] * self.data.shape()[1],
                Layout::Nxc => self.data.shape()[0],
            };
            let some = data / planes.max(1) as u64 * random.pick(&[2, 3, 5]) + 272;
            if some < data {
                return Some(some);
            }
        }
        let sizes = [516, 1000, 1024, 2044, 4096];
        let smaller = sizes.iter().filter(|&&size| size < data.max(ids)).count() as u64;
        (smaller > 0).then(|| sizes[random.below(smaller) as usize])
    }

    /// The limits with bindings that cut the data or the ids into other pieces; the aim is still met.
    pub(super) fn in_pieces(
        &self,
        aim: Option<Aim>,
        overrides: &PlanOverrides,
        random: &mut Random,
    ) -> Option<PlanOverrides> {
        for _ in 0..8 {
            let size = self.small_binding(random)?;
            let other = PlanOverrides { max_binding_size: Some(size), ..overrides.clone() };
            if other != *overrides && aim.is_none_or(|aim| self.meets(aim, &other)) {
                return Some(other);
            }
        }
        None
    }

    /// The elements; mirrored for a minimum, because there a lost element shows if it is low.
    pub(super) fn oriented(&self, data: Tensor) -> Result<Tensor> {
        match self.operator.finds() {
            Extremum::Minimum if self.positions_of.is_none() => mirrored(&data),
            _ => Ok(data),
        }
    }
}
