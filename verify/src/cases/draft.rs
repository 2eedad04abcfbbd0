//! A case whose elements are not drawn yet.

use wgmax::operator::{Layout, Operator};
use wgmax::{ElementType, Extremum, Result, Tensor, TensorDesc};

use super::aim::Aim;
use super::elements::{Style, mirrored, tensor, with_parts, with_peaks};
use super::{Case, Kind, Narrow, Random, gradient, max_pool, reduce_max, segment_max};

/// How often a case is drawn anew because its plan lacks what it aims at. A draft takes a few
/// microseconds.
const MAX_TRIES: u64 = 10_000;

/// An operator with the types and shapes of its inputs.
pub(super) struct Draft {
    pub operator: Operator,
    pub data: TensorDesc,
    /// The inputs behind the first one: ids of segments, gradients of maxima, or indices.
    pub others: Vec<Tensor>,
    /// Whether one invocation shall have as many rows as it may.
    pub long_chunks: bool,
    /// The ids before some were made wrong, where a status alone is looked for.
    pub right_ids: Option<Vec<i64>>,
    /// What gives the positions that the first input holds, if it does, as its last result.
    pub positions_of: Option<Box<Self>>,
}

impl Draft {
    pub fn new(operator: impl Into<Operator>, data: TensorDesc, others: Vec<Tensor>) -> Self {
        let (operator, long_chunks) = (operator.into(), false);
        Self { operator, data, others, long_chunks, right_ids: None, positions_of: None }
    }

    /// A gradient from the positions that a draft gives, its last result.
    pub fn from_positions(
        operator: impl Into<Operator>,
        of: Self,
        positions: TensorDesc,
        gradient: Tensor,
    ) -> Self {
        let draft = Self::new(operator, positions, vec![gradient]);
        Self { positions_of: Some(Box::new(of)), ..draft }
    }

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
        let Self { operator, data, others, .. } = self;
        let inputs: Vec<&TensorDesc> =
            [data].into_iter().chain(others.iter().map(Tensor::desc)).collect();
        match (operator, &others[..]) {
            // Ids may say how many segments there are, or be wrong.
            (Operator::SegmentMax(op), [ids]) => {
                let operator = op.checked(data, ids).unwrap_or_else(|_| op.clone()).into();
                aim.is_met(&operator, &inputs, narrow)
            }
            (operator, _) => aim.is_met(operator, &inputs, narrow),
        }
    }

    /// Limits that concern the draft.
    fn fit(&self, mut narrow: Narrow, random: &mut Random) -> Narrow {
        if self.long_chunks {
            narrow.target_parallelism = Some(1);
        }
        // Bindings that hold all data and ids narrow nothing.
        let (data, ids) = self.byte_lens();
        if narrow.max_binding_size.is_some_and(|size| size >= data.max(ids) || ids > data + 512) {
            narrow.max_binding_size = self.small_binding(random);
        }
        narrow
    }

    /// The bytes of the data and of the ids.
    fn byte_lens(&self) -> (u64, u64) {
        let ids = self.others.first().map_or(0, |ids| ids.bytes().len());
        (self.data.byte_len() as u64, ids as u64)
    }

    /// A binding that does not hold all data and ids. There is none for a few hundred bytes.
    fn small_binding(&self, random: &mut Random) -> Option<u64> {
        let (data, ids) = self.byte_lens();
        if ids > data + 512 && random.once_in(2) {
            // The data alone.
            return Some((data + ids) / 2);
        }
        if let Operator::MaxPool(op) = &self.operator
            && !random.once_in(3)
        {
            // A few planes, which pieces begin among.
            let planes = match op.get_layout() {
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

    /// The same limits with bindings that cut the data or the ids into other pieces, such that the
    /// aim stays.
    fn in_pieces(&self, aim: Option<Aim>, narrow: &Narrow, random: &mut Random) -> Option<Narrow> {
        for _ in 0..8 {
            let size = self.small_binding(random)?;
            let other = Narrow { max_binding_size: Some(size), ..narrow.clone() };
            if other != *narrow && aim.is_none_or(|aim| self.meets(aim, &other)) {
                return Some(other);
            }
        }
        None
    }

    /// A random style of elements.
    fn style(&self, kind: Kind, random: &mut Random) -> Style {
        match has_indices(&self.operator) {
            true if random.once_in(5) => Style::Ties,
            _ => Style::random(kind, random),
        }
    }

    /// The elements, mirrored where the minimum is wanted: what shows a lost element there is low.
    fn oriented(&self, data: Tensor) -> Result<Tensor> {
        match self.operator.extremum() {
            Extremum::Minimum if self.positions_of.is_none() => mirrored(&data),
            _ => Ok(data),
        }
    }

    /// Elements of a style, or positions of elements of this style.
    fn fill(&self, style: Style, random: &mut Random) -> Result<Tensor> {
        if let Some(of) = &self.positions_of {
            return gradient::positions(of, of.oriented(of.fill(style, random)?)?, random);
        }
        let data = tensor(self.data.element_type(), self.data.shape(), style, random)?;
        if style != Style::Peaks || data.is_empty() || random.once_in(8) {
            return Ok(data);
        }
        let forward = gradient::forward(&self.operator);
        let places = match (forward.as_ref().unwrap_or(&self.operator), &self.others[..]) {
            (Operator::ReduceMax(op), _) => reduce_max::places(op, &self.data, random),
            (Operator::MaxPool(op), _) => max_pool::places(op, &self.data, random),
            (Operator::SegmentMax(_), [ids, ..]) => segment_max::places(&self.data, ids, random),
            _ => Vec::new(),
        };
        with_peaks(&data, &places, random)
    }

    /// The case with random elements.
    pub fn case(&self, kind: Kind, narrow: Narrow, random: &mut Random) -> Result<Case> {
        let style = self.style(kind, random);
        let mut data = self.fill(style, random)?;
        if !data.is_empty() && self.positions_of.is_none() && random.once_in(3) {
            data = with_parts(kind, &data, random)?;
        }
        let tensors =
            [self.oriented(data)?].into_iter().chain(self.others.iter().cloned()).collect();
        Ok(Case { operator: self.operator.clone(), tensors, narrow })
    }

    /// The case again with elements that show what is lost, and what is read from elsewhere: they
    /// ascend, descend, or have peaks at the ends of sets and of their parts; with few different
    /// ones, where positions are wanted. Where a status alone is looked for, with other wrong ids.
    pub fn refill(&self, case: &Case, aim: Option<Aim>, random: &mut Random) -> Result<Vec<Case>> {
        use Style::{Falling, Peaks, Rising, Ties};
        let mut cases = Vec::new();
        if self.data.len() < 2 {
            return Ok(cases);
        }
        let pieces = self.in_pieces(aim, &case.narrow, random);
        let own: &[Style] = match has_indices(&self.operator) {
            true => &[Rising, Falling, Peaks, Ties],
            false => &[Rising, Falling, Peaks],
        };
        let again = pieces.iter().map(|narrow| (narrow, &[Falling, Peaks][..]));
        for (narrow, styles) in [(&case.narrow, own)].into_iter().chain(again) {
            for &style in styles {
                let mut other = Case { narrow: narrow.clone(), ..case.clone() };
                match (&self.others[..], &self.right_ids) {
                    ([ids, ..], Some(right)) => {
                        other.tensors[1] = segment_max::wrong(random, right, ids.element_type())?;
                    }
                    _ => other.tensors[0] = self.oriented(self.fill(style, random)?)?,
                }
                cases.push(other);
            }
        }
        Ok(cases)
    }
}

/// Whether positions are wanted, which ties show.
fn has_indices(operator: &Operator) -> bool {
    match operator {
        Operator::ReduceMax(op) => op.get_indices().is_some(),
        Operator::MaxPool(op) => op.get_indices().is_some(),
        Operator::SegmentMax(op) => op.get_indices().is_some(),
        _ => true,
    }
}

/// A random draft, which meets its aim if there is one, and limits for it, with small workgroups of
/// a size if there shall be any.
pub(super) fn draw(
    random: &mut Random,
    kind: Kind,
    t: ElementType,
    budget: u64,
    aim: Option<Aim>,
    workgroup: Option<u32>,
) -> Result<(Draft, Narrow)> {
    let Some(aim) = aim else {
        let draft = Draft::random(random, kind, t, budget, None)?;
        return Ok((draft, Narrow::random(workgroup, random)));
    };
    let mut tries = 0;
    loop {
        let narrow = aim.narrow(workgroup, random, tries);
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

/// The minimum in one of three cases.
pub(super) fn extremum(random: &mut Random) -> Extremum {
    if random.once_in(3) { Extremum::Minimum } else { Extremum::Maximum }
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

/// As [`near_border`]; every other size is whole blocks of so many elements, which are rare among
/// random sizes and have kernels of their own, and every fourth one element more or less.
pub(super) fn near_blocks(random: &mut Random, max: u64, block: u64) -> u64 {
    let size = near_border(random, max);
    let whole = size.next_multiple_of(block);
    match random.below(8) {
        0..=3 => whole,
        4 => whole + 1,
        5 => whole - 1,
        _ => size,
    }
}
