//! Draws drafts that meet their aims, and the elements of cases.

use wgmax::operator::{Operator, Scalar};
use wgmax::{ElementType, Result, Tensor};

use super::aim::Aim;
use super::draft::Draft;
use super::elements::{Style, tensor, with_parts, with_peaks};
use super::{Case, Kind, PlanOverrides, Random, gradient, max_pool, reduce_max, segment_max};

/// How often a case is drawn again if its plan does not meet the aim. A draft takes a few
/// microseconds.
const MAX_TRIES: u64 = 10_000;

/// A random draft, which meets its aim if there is one, and limits for it. Small workgroups, if
/// any, have the given size. In one of eight cases an initial value joins the sets.
pub(super) fn draw(
    random: &mut Random,
    kind: Kind,
    t: ElementType,
    budget: u64,
    aim: Option<Aim>,
    workgroup: Option<u32>,
) -> Result<(Draft, PlanOverrides)> {
    let draft = match kind {
        Kind::ReduceMax => reduce_max::draft,
        Kind::MaxPool => max_pool::draft,
        Kind::SegmentMax => segment_max::draft,
    };
    let mut tries = 0;
    let (mut draft, overrides) = loop {
        let Some(aim) = aim else {
            break (draft(random, t, budget, None)?, PlanOverrides::random(workgroup, random));
        };
        let overrides = aim.overrides(workgroup, random, tries);
        let budget = if overrides.max_binding_size.is_some() { budget.max(4000) } else { budget };
        let mut draft = draft(random, t, budget, Some(aim))?;
        if aim.kernel() == "join"
            && let Some(joins) = initial_of(&mut draft.operator)
        {
            *joins = Some(initial(t, random));
        }
        let overrides = draft.fit(overrides, random);
        if tries == MAX_TRIES || draft.meets(aim, &overrides) {
            break (draft, overrides);
        }
        tries += 1;
    };
    // The initial value has a stream of its own.
    let random = &mut Random::stream(random.0, t as u64);
    if random.once_in(8)
        && let Some(joins) = initial_of(&mut draft.operator)
    {
        let before = joins.replace(initial(t, random));
        // A plan with one more launch may be too long.
        if aim.is_some_and(|aim| !draft.meets(aim, &overrides))
            && let Some(joins) = initial_of(&mut draft.operator)
        {
            *joins = before;
        }
    }
    Ok((draft, overrides))
}

/// The initial value of an operator that may have one.
pub(super) fn initial_of(operator: &mut Operator) -> Option<&mut Option<Scalar>> {
    match operator {
        Operator::ReduceMax(op) if op.indices.is_none() => Some(&mut op.initial),
        Operator::MaxPool(op) if op.indices.is_none() => Some(&mut op.initial),
        Operator::SegmentMax(op) if op.indices.is_none() => Some(&mut op.initial),
        _ => None,
    }
}

/// A number that the type has.
fn initial(t: ElementType, random: &mut Random) -> Scalar {
    let float =
        random.pick(&[-1.0, -0.0, 0.0, 0.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 96.0]);
    let (small, large) = if t.size() == 1 { (-100, 100) } else { (-30_000, 30_000) };
    let integer = random.pick(&[small, -1, 0, 1, 7, large]);
    match t {
        ElementType::Bool => random.once_in(2).into(),
        _ if t.is_float() => float.into(),
        ElementType::I8 | ElementType::I16 | ElementType::I32 | ElementType::I64 => integer.into(),
        _ => integer.max(0).into(),
    }
}

impl Draft {
    /// A random style of elements.
    fn style(&self, kind: Kind, random: &mut Random) -> Style {
        match has_indices(&self.operator) {
            true if random.once_in(5) => Style::Ties,
            _ => Style::random(kind, random),
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
    pub fn case(&self, kind: Kind, overrides: PlanOverrides, random: &mut Random) -> Result<Case> {
        let style = self.style(kind, random);
        let mut data = self.fill(style, random)?;
        if !data.is_empty() && self.positions_of.is_none() && random.once_in(3) {
            data = with_parts(kind, &data, random)?;
        }
        let tensors =
            [self.oriented(data)?].into_iter().chain(self.others.iter().cloned()).collect();
        Ok(Case { operator: self.operator.clone(), tensors, overrides })
    }

    /// The case again with elements that show lost and foreign elements: they ascend, descend, or
    /// have peaks at the ends of sets and of their parts; with positions, also with few different
    /// ones. If only the status is checked, other ids are wrong.
    pub fn refill(&self, case: &Case, aim: Option<Aim>, random: &mut Random) -> Result<Vec<Case>> {
        use Style::{Falling, Peaks, Rising, Ties};
        let mut cases = Vec::new();
        if self.data.len() < 2 {
            return Ok(cases);
        }
        let pieces = self.in_pieces(aim, &case.overrides, random);
        let own: &[Style] = match has_indices(&self.operator) {
            true => &[Rising, Falling, Peaks, Ties],
            false => &[Rising, Falling, Peaks],
        };
        let again = pieces.iter().map(|overrides| (overrides, &[Falling, Peaks][..]));
        for (overrides, styles) in [(&case.overrides, own)].into_iter().chain(again) {
            for &style in styles {
                let mut other = Case { overrides: overrides.clone(), ..case.clone() };
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

/// Whether the operator finds positions. Ties show wrong ones.
fn has_indices(operator: &Operator) -> bool {
    match operator {
        Operator::ReduceMax(op) => op.indices.is_some(),
        Operator::MaxPool(op) => op.indices.is_some(),
        Operator::SegmentMax(op) => op.indices.is_some(),
        Operator::ScatterMax(op) => op.indices.is_some(),
        _ => true,
    }
}
