//! Fills that show every wrong set: if a plan loses an element of a set, or takes one from outside of it,
//! at least one fill has a wrong result.
//!
//! A plan only moves elements and takes maxima. A lost element shows if it is far above the others of its
//! set: then the result is low. A foreign element shows if it is above all elements of the set. So elements
//! are coloured such that no two of a set have the same colour. Each colour has two fills in which its
//! elements are high: they ascend in one and descend in the other. A foreign element meets at most one high
//! element of the set, and is above it in one of the two fills.

use wgmax::operator::Operator;
use wgmax::{ElementType, Extremum, Result};

use super::Case;
use super::elements::{mirrored, number};
use crate::oracle;

/// Larger cases and larger sets get only random elements.
const ELEMENTS: usize = 2048;
const COLOURS: usize = 32;

/// The case with two fills for each colour of its elements. A scatter's data and updates are coloured
/// together. There are no fills for gradients, for wrong ids, and for sets that are too large.
pub(super) fn listed(case: &Case) -> Result<Vec<Case>> {
    let (operator, counts) = case.resolved()?;
    let filled: &[usize] = if matches!(operator, Operator::ScatterMax(_)) { &[0, 2] } else { &[0] };
    let elements = filled.iter().map(|&input| case.tensors[input].len()).sum();
    if elements > ELEMENTS || !counts {
        return Ok(Vec::new());
    }
    let Some(sets) = oracle::sets(&operator, &case.inputs())? else { return Ok(Vec::new()) };
    let Some(colours) = coloured(&sets, elements) else { return Ok(Vec::new()) };
    let count = colours.iter().max().map_or(0, |&max| max + 1);
    let fill = |colour: usize, descends: bool| {
        let t = case.tensors[0].element_type();
        let mut bits = (0..elements).map(|i| match colours[i] == colour {
            true => high(t, if descends { elements - 1 - i } else { i }, elements),
            false => number(t, 0),
        });
        let mut other = case.clone();
        for &input in filled {
            let shape = case.tensors[input].shape();
            let tensor = oracle::tensor(t, shape, bits.by_ref().take(case.tensors[input].len()))?;
            other.tensors[input] = match case.operator.finds() {
                Extremum::Minimum => mirrored(&tensor)?,
                Extremum::Maximum => tensor,
            };
        }
        Ok(other)
    };
    (0..count)
        .flat_map(|colour| [(colour, false), (colour, true)])
        .map(|(c, d)| fill(c, d))
        .collect()
}

/// The bits of the high element of this rank. Ranks are as far apart as the type allows.
fn high(t: ElementType, rank: usize, ranks: usize) -> u64 {
    let upper = 1u64 << 63;
    number(t, upper + (upper / ranks as u64) * rank as u64 + (upper / ranks as u64 - 1))
}

/// A colour for each element, such that no set has one twice; `None` if that takes too many colours.
fn coloured(sets: &[Vec<usize>], elements: usize) -> Option<Vec<usize>> {
    let mut sets_of = vec![Vec::new(); elements];
    for (number, set) in sets.iter().enumerate() {
        set.iter().for_each(|&element| sets_of[element].push(number));
    }
    let mut taken = vec![0u32; sets.len()];
    let colours = sets_of.iter().map(|sets| {
        let used = sets.iter().fold(0, |used, &set| used | taken[set]);
        let colour = (!used).trailing_zeros();
        (colour < COLOURS as u32).then(|| {
            sets.iter().for_each(|&set| taken[set] |= 1 << colour);
            colour as usize
        })
    });
    colours.collect()
}

#[cfg(test)]
mod tests {
    use wgmax::operator::{MaxPool, ReduceMax};
    use wgmax::{Device, Run, Tensor};

    use super::*;
    use crate::cases::PlanOverrides;

    fn case(
        operator: impl Into<wgmax::operator::Operator>,
        t: ElementType,
        shape: &[usize],
    ) -> Case {
        let len = shape.iter().product::<usize>() * t.size();
        let tensors = vec![Tensor::from_bytes(t, shape, &vec![0; len]).unwrap()];
        Case { operator: operator.into(), tensors, overrides: PlanOverrides::default() }
    }

    /// Each element of a window is lost once, and each element outside is taken once: both show in all
    /// types. Foreign ones do not if the type has only two values, or fewer values than elements.
    #[test]
    fn every_lost_and_foreign_element_shows() {
        for t in ElementType::ALL {
            let case = case(MaxPool::new([2, 3]), t, &[1, 1, 4, 6]);
            let sets = oracle::sets(&case.operator, &case.inputs()).unwrap().unwrap();
            let fills = listed(&case).unwrap();
            assert_eq!(fills.len(), 12, "{t}");
            let bits = |fill: &Case, set: &mut dyn Iterator<Item = usize>| -> Vec<u8> {
                let elements: Vec<usize> = set.collect();
                let bytes = fill.tensors[0].bytes().chunks(t.size());
                let bytes: Vec<&[u8]> = bytes.collect();
                let chosen = elements.iter().flat_map(|&i| bytes[i].to_vec()).collect::<Vec<u8>>();
                let one = Tensor::from_bytes(t, [elements.len()], &chosen).unwrap();
                let found = ReduceMax::new().run(&Device::cpu(), &one).unwrap();
                found[0].bytes().to_vec()
            };
            for set in &sets {
                for element in 0..24 {
                    let others = || set.iter().copied().filter(|&other| other != element);
                    let shows = fills.iter().any(|fill| {
                        let with = bits(fill, &mut others().chain([element]));
                        bits(fill, &mut others()) != with
                    });
                    assert!(shows || t == ElementType::Bool && !set.contains(&element), "{t}");
                }
            }
        }
    }

    /// The sets of a gradient are not listed.
    #[test]
    fn gradients_have_no_lists() {
        let (pool, t) = (MaxPool::new([2, 3]), ElementType::F32);
        let mut case = case(wgmax::operator::MaxPoolBackward::new(pool), t, &[1, 1, 4, 6]);
        case.tensors.push(Tensor::from_bytes(t, [1, 1, 3, 4], &[0; 48]).unwrap());
        assert!(listed(&case).unwrap().is_empty());
    }

    #[test]
    fn large_sets_are_left_to_chance() {
        let reduce = ReduceMax::new().axes([1]);
        assert_eq!(listed(&case(reduce.clone(), ElementType::F32, &[3, 32])).unwrap().len(), 64);
        assert!(listed(&case(reduce, ElementType::F32, &[3, 33])).unwrap().is_empty());
    }
}
