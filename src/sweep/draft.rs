//! A case whose elements are not drawn yet.

use super::aim::Aim;
use super::elements::{Style, tensor, with_parts, with_peaks};
use super::{Case, Kind, Narrow, Random, max_pool, reduce_max, segment_max};
use crate::error::Result;
use crate::operator::{Layout, Operator};
use crate::tensor::{ElementType, Tensor, TensorDesc};

/// How often a case is drawn anew because its plan lacks what it aims at. A draft takes a few
/// microseconds.
const MAX_TRIES: u64 = 10_000;

/// An operator with the types and shapes of its inputs.
pub(super) struct Draft {
    pub operator: Operator,
    pub data: TensorDesc,
    /// The ids of segments.
    pub ids: Option<Tensor>,
    /// Whether one invocation shall have as many rows as it may.
    pub long_chunks: bool,
}

impl Draft {
    fn random(
        random: &mut Random,
        kind: Kind,
        t: ElementType,
        budget: u64,
        aim: Option<Aim>,
    ) -> Result<Self> {
        match kind {
            Kind::ReduceMax => reduce_max::draft(random, t, budget, aim),
            Kind::MaxPool => max_pool::draft(random, t, budget, aim),
            Kind::SegmentMax => segment_max::draft(random, t, budget, aim),
        }
    }

    fn meets(&self, aim: Aim, narrow: &Narrow) -> bool {
        let Self { operator, data, ids, .. } = self;
        let (Operator::SegmentMax(op), Some(ids)) = (operator, ids) else {
            return aim.is_met(operator, &[data], narrow);
        };
        // Ids may say how many segments there are, or be wrong.
        let operator = op.checked(data, ids).unwrap_or_else(|_| op.clone()).into();
        aim.is_met(&operator, &[data, ids.desc()], narrow)
    }

    /// Limits that concern the draft.
    fn fit(&self, mut narrow: Narrow, random: &mut Random) -> Narrow {
        if self.long_chunks {
            narrow.target_parallelism = Some(1);
        }
        // Bindings that hold all data and ids narrow nothing.
        let data = self.data.byte_len() as u64;
        let ids = self.ids.as_ref().map_or(0, |ids| ids.bytes().len()) as u64;
        let bytes = data.max(ids);
        if narrow.max_binding_size.is_some() && ids > data + 512 && random.once_in(2) {
            // The data alone.
            narrow.max_binding_size = Some((data + ids) / 2);
            return narrow;
        }
        if narrow.max_binding_size.is_some_and(|size| size >= bytes) {
            let smaller = [516, 1000, 1024, 2044, 4096].into_iter().filter(|&size| size < bytes);
            let mut smaller: Vec<u64> = smaller.collect();
            // A few planes of a pool, which pieces begin among.
            if let Operator::MaxPool(op) = &self.operator {
                let planes = match op.get_layout() {
                    Layout::Ncx => self.data.shape()[0] * self.data.shape()[1],
                    Layout::Nxc => self.data.shape()[0],
                };
                let some = data / planes.max(1) as u64 * random.pick(&[2, 3, 5]) + 272;
                smaller.extend((some < bytes).then_some([some; 5]).into_iter().flatten());
            }
            narrow.max_binding_size = (!smaller.is_empty()).then(|| random.pick(&smaller));
        }
        narrow
    }

    /// A random style of elements.
    fn style(&self, kind: Kind, random: &mut Random) -> Style {
        match has_indices(&self.operator) {
            true if random.once_in(5) => Style::Ties,
            _ => Style::random(kind, random),
        }
    }

    /// Elements of a style.
    fn fill(&self, style: Style, random: &mut Random) -> Result<Tensor> {
        let data = tensor(self.data.element_type(), self.data.shape(), style, random)?;
        if style != Style::Peaks || data.is_empty() || random.once_in(8) {
            return Ok(data);
        }
        let places = match (&self.operator, &self.ids) {
            (Operator::ReduceMax(op), _) => reduce_max::places(op, &self.data, random)?,
            (Operator::MaxPool(op), _) => max_pool::places(op, &self.data, random)?,
            (_, Some(ids)) => segment_max::places(&self.data, ids, random),
            _ => Vec::new(),
        };
        with_peaks(&data, &places, random)
    }

    /// The case with random elements.
    pub fn case(&self, kind: Kind, narrow: Narrow, random: &mut Random) -> Result<Case> {
        let style = self.style(kind, random);
        let mut data = self.fill(style, random)?;
        if !data.is_empty() && random.once_in(3) {
            data = with_parts(kind, &data, random)?;
        }
        let tensors = [data].into_iter().chain(self.ids.clone()).collect();
        Ok(Case { operator: self.operator.clone(), tensors, narrow })
    }

    /// Adds the first case again with elements that show what is lost, and what is read from
    /// elsewhere: they ascend, descend, or have peaks at the ends of sets and of their parts.
    pub fn refill(&self, cases: &mut Vec<Case>, random: &mut Random) -> Result<()> {
        for style in [Style::Rising, Style::Falling, Style::Peaks] {
            if self.data.len() > 1 {
                let mut other = cases[0].clone();
                other.tensors[0] = self.fill(style, random)?;
                cases.push(other);
            }
        }
        Ok(())
    }
}

/// Whether positions are wanted, which ties show.
fn has_indices(operator: &Operator) -> bool {
    match operator {
        Operator::ReduceMax(_) => false,
        Operator::MaxPool(op) => op.get_indices().is_some(),
        Operator::SegmentMax(op) => op.get_indices().is_some(),
    }
}

/// A random draft, which meets its aim if there is one, and limits for it.
pub(super) fn draw(
    random: &mut Random,
    kind: Kind,
    t: ElementType,
    budget: u64,
    aim: Option<Aim>,
) -> Result<(Draft, Narrow)> {
    let Some(aim) = aim else {
        let draft = Draft::random(random, kind, t, budget, None)?;
        return Ok((draft, Narrow::random(random)));
    };
    let mut tries = 0;
    loop {
        let narrow = aim.narrow(random, tries);
        let budget = match narrow.max_binding_size {
            Some(_) => budget.max(4000),
            None => budget,
        };
        let draft = Draft::random(random, kind, t, budget, Some(aim))?;
        let narrow = draft.fit(narrow, random);
        if tries == MAX_TRIES || draft.meets(aim, &narrow) {
            return Ok((draft, narrow));
        }
        tries += 1;
    }
}

/// A size from 1 to `max`, at or next to the borders of what kernels take together: words,
/// blocks, tiles, rows that are unrolled, chunks and workgroups.
pub(super) fn near_border(random: &mut Random, max: u64) -> u64 {
    const UNITS: [u64; 14] = [1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128, 256, 512, 1024];
    let max = max.max(1);
    let units = UNITS.iter().filter(|&&unit| unit <= max).count();
    let unit = UNITS[random.below(units as u64) as usize];
    let size = unit * (1 + random.below((max / unit).min(6)));
    let size = match random.below(4) {
        0 => size - 1,
        1 => size + 1,
        _ => size,
    };
    size.clamp(1, max)
}
