//! The elements that positions name, and the launches that store values there.

use std::ops::Range;

use super::params::{MAX_AXES, Params};
use super::scatter::{CLAIM, SCATTER, UNPOOL};
use crate::base::error::{Error, Result};
pub(super) use crate::plan::Axis;
use crate::plan::{Builder, LaunchDesc, MAX_ELEMENTS, Plan, Region, Target};
use crate::segment::Ids;
use crate::tensor::key::Ranking;
use crate::tensor::{Outputs, Tensor, TensorDesc};

/// Which element a position names. Items, each with a position and a value, have axes of their own;
/// positions count along others. Both are in row-major order, the outermost axis first.
#[derive(Debug)]
pub(crate) struct Places {
    items: Vec<Axis>,
    positions: Vec<Axis>,
    /// How many elements there are.
    elements: u64,
}

/// Whether several items may name one element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Duplicates {
    /// None do.
    Absent,
    /// The value of the last of them is stored.
    LastWins,
}

impl Places {
    /// Drops axes of size 1.
    pub(super) fn new(items: Vec<Axis>, positions: Vec<Axis>, elements: u64) -> Self {
        let long = |axes: Vec<Axis>| axes.into_iter().filter(|axis| axis.size != 1).collect();
        Self { items: long(items), positions: long(positions), elements }
    }

    /// How many positions there are.
    fn count(&self) -> u64 {
        self.positions.iter().map(|axis| axis.size).product()
    }

    /// Stores the values of items at their positions, and zeros everywhere else. If several items
    /// name one element, the last value is stored.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn store(
        &self,
        values: &Tensor,
        indices: &Tensor,
        result: &TensorDesc,
    ) -> Result<Tensor> {
        let (size, count) = (result.element_type().size(), self.count());
        let items = values.bytes().chunks_exact(size).zip(Ids::of(indices)?.iter());
        Tensor::filled(result.clone(), |bytes| {
            for (item, (value, position)) in items.enumerate() {
                // A negative position becomes larger than any number of elements.
                let position = position as u64;
                if position < count {
                    let element = Axis::offset(&self.items, item as u64)
                        + Axis::offset(&self.positions, position);
                    bytes[element as usize * size..][..size].copy_from_slice(value);
                }
            }
        })
    }

    /// Parts that do not share elements: how many, and the elements of one.
    fn parts(&self) -> (u64, u64) {
        match self.items.first() {
            Some(first) if first.size * first.pitch == self.elements => (first.size, first.pitch),
            _ => (1, self.elements),
        }
    }
}

/// The buffers of the plan: the input with the values, and the one with the positions.
#[derive(Clone, Copy)]
pub(super) struct Items {
    pub values: usize,
    pub indices: usize,
}

/// The plan that stores the values of items at their positions, and zeros everywhere else.
///
/// # Errors
/// [`Error::OverLimit`].
pub(super) fn plan(
    inputs: &[&TensorDesc],
    of: Items,
    output: &TensorDesc,
    places: &Places,
    duplicates: Duplicates,
    target: Target<'_>,
) -> Result<Plan> {
    let mut builder = Builder::new(inputs, Outputs::one(output.clone()), Ranking::MAXIMUM, target);
    builder.element = output.element_type();
    if output.is_empty() {
        return Ok(builder.finish());
    }
    let result = inputs.len();
    builder.fill(result, 0)?;
    let all_items = inputs[of.values].len() as u64;
    if all_items == 0 || places.count() == 0 {
        return Ok(builder.finish());
    }
    let (parts, elements) = places.parts();
    let items = all_items / parts;
    for (what, needed, limit, allowed) in [
        ("elements among which values are stored", elements, "32-bit number", 1 << 32),
        ("values that are stored among the same elements", items, "31-bit number", MAX_ELEMENTS),
        ("elements that positions count", places.count(), "31-bit number", MAX_ELEMENTS),
        ("storing by position", axis_count(places), "alternating axes", MAX_AXES as u64),
    ] {
        if needed > allowed {
            return Err(Error::OverLimit { what, needed, limit, allowed });
        }
    }
    let index_item = inputs[of.indices].element_type().size() as u64;
    let items_fit = builder.capacity(builder.item()).min(builder.capacity(index_item));
    let mut elements_fit = builder.capacity(builder.item());
    // Whole parts, as many as the bindings of a launch hold.
    let mut together = (elements_fit / elements).min(items_fit / items).max(1);
    let mut winners = None;
    if duplicates == Duplicates::LastWins {
        let scratch = builder.scratch_words(elements);
        builder.fill_repeated(scratch, 0)?;
        elements_fit = elements_fit.min(builder.capacity(4));
        (winners, together) = (Some(scratch), 1);
    }
    if items_fit.min(elements_fit) == 0 {
        return Err(builder.over_binding(
            "a binding of one value and its position",
            builder.item().max(index_item),
        ));
    }
    let at = At { of, result, index_item, places, winners, items, elements };
    for part in (0..parts).step_by(together as usize) {
        let end = parts.min(part + together);
        // Or some of the items, and some of the elements, of one part.
        let elements = some(part * elements..end * elements, elements_fit);
        for elements in elements {
            let items = some(part * items..end * items, items_fit);
            let launches = items.map(|items| Launch { items, elements: elements.clone() });
            if winners.is_some() {
                launches.clone().try_for_each(|launch| launch.push(&mut builder, &at, true))?;
            }
            launches.clone().try_for_each(|launch| launch.push(&mut builder, &at, false))?;
        }
    }
    Ok(builder.finish())
}

/// Cuts a range into ranges of at most `fit`.
fn some(all: Range<u64>, fit: u64) -> impl Iterator<Item = Range<u64>> + Clone {
    all.clone().step_by(fit as usize).map(move |first| first..all.end.min(first + fit))
}

fn axis_count(places: &Places) -> u64 {
    (places.items.len() + places.positions.len()) as u64
}

/// What all launches of a plan bind.
struct At<'a> {
    of: Items,
    result: usize,
    /// Bytes of a position.
    index_item: u64,
    places: &'a Places,
    /// Scratch: for each element the number of its item, from 1.
    winners: Option<usize>,
    /// Items and elements of a part.
    items: u64,
    elements: u64,
}

/// Some items, and the elements that they may name.
struct Launch {
    items: Range<u64>,
    elements: Range<u64>,
}

impl Launch {
    fn params(&self, at: &At<'_>) -> Params {
        let mut axis = [[0; 4]; MAX_AXES];
        // The innermost axis comes first.
        let Places { items, positions, .. } = at.places;
        let all = items.iter().rev().chain(positions.iter().rev());
        for (to, from) in axis.iter_mut().zip(all) {
            *to = from.packed();
        }
        Params {
            items: (self.items.end - self.items.start) as u32,
            first: (self.items.start % at.items) as u32,
            index_words: (at.index_item / 4) as u32,
            positions: at.places.count() as u32,
            origin: (self.elements.start % at.elements) as u32,
            elements: (self.elements.end - self.elements.start) as u32,
            item_axes: items.len() as u32,
            axes: axis_count(at.places) as u32,
            axis,
            ..bytemuck::Zeroable::zeroed()
        }
    }

    /// Stores values at their positions or, with `claims`, finds the last item of each element.
    fn push(&self, builder: &mut Builder<'_>, at: &At<'_>, claims: bool) -> Result<()> {
        let Self { items, elements } = self;
        let (count, all) = (items.end - items.start, elements.end - elements.start);
        let (indices, index_base) =
            builder.range_of(at.of.indices, items.start, count, at.index_item);
        let winners = at.winners.map(|winners| builder.range_of(winners, elements.start, all, 4));
        let winner_base = winners.as_ref().map_or(0, |&(_, base)| base);
        let winners = winners.map(|(winners, _)| winners);
        let params = Params { index_base, winner_base, ..self.params(at) };
        if claims {
            let launch = LaunchDesc {
                purpose: "the last item of each element",
                shader: builder.shader(&CLAIM),
                params: &params,
                sources: vec![indices],
                results: winners.into_iter().collect(),
            };
            return builder.push(launch, count);
        }
        let (values, value_base) =
            builder.range(Region::all(at.of.values).after(items.start), count);
        let (result, result_base) =
            builder.range(Region::all(at.result).after(elements.start), all);
        let launch = LaunchDesc {
            purpose: "values, stored where their positions say",
            shader: match winners {
                Some(_) => builder.shader(&UNPOOL).with("unpooled", true),
                None => builder.shader(&SCATTER),
            },
            params: &Params { value_base, result_base, ..params },
            sources: [values, indices].into_iter().chain(winners).collect(),
            results: vec![result],
        };
        builder.push(launch, count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes of 2^32 and more. Their sets are taken some at a time.
    #[test]
    fn items_of_long_axes_have_their_elements() {
        for size in [1 << 31, 1 << 32, (1 << 32) + 3] {
            let axis = |size, pitch| Axis { size, pitch };
            let places = Places::new(vec![axis(size, 2)], vec![axis(2, 1)], 2 * size);
            let of = Items { values: 1, indices: 0 };
            let (result, index_item, winners, places) = (2, 4, None, &places);
            let (items, elements) = (size, 2 * size);
            let at = At { of, result, index_item, places, winners, items, elements };
            let launch = Launch { items: 0..1000, elements: 0..2000 };
            let params = launch.params(&at);
            let positions: Vec<u32> = (0..1000).map(|i| i % 2).collect();
            for item in [0, 5, 999] {
                assert_eq!(params.element(item, &positions), Some(2 * item + item % 2), "{size}");
            }
        }
    }

    /// A negative position of 32 bits names no element, however many there are.
    #[test]
    fn negative_positions_are_left_out() {
        let places = Places {
            items: vec![],
            positions: vec![Axis { size: 1 << 33, pitch: 0 }],
            elements: 1,
        };
        let values = Tensor::from_slice([1], &[1.0f32]).unwrap();
        let result = TensorDesc::new(crate::ElementType::F32, [1]).unwrap();
        for (index, expected) in [(-1, 0.0), (7, 1.0)] {
            let indices = Tensor::from_slice([1], &[index]).unwrap();
            let found = places.store(&values, &indices, &result).unwrap();
            assert_eq!(found.to_vec::<f32>().unwrap(), [expected]);
        }
    }
}
