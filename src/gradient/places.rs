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
    items: Vec<ItemAxis>,
    positions: Vec<Axis>,
    /// How many elements there are.
    elements: u64,
    /// Whether an item names its own element, by the position -1. There are no other positions.
    own: bool,
}

/// An axis of items. Only the first `bound` places along it may name an element.
#[derive(Clone, Copy, Debug)]
pub(super) struct ItemAxis {
    pub axis: Axis,
    pub bound: u64,
}

impl ItemAxis {
    /// Whether an outer axis goes on where this one ends, so that both count as one.
    pub fn continues(&self, outer: Self) -> bool {
        let all = |item: Self| item.bound == item.axis.size;
        all(*self) && all(outer) && outer.axis.pitch == self.axis.pitch * self.axis.size
    }
}

impl From<Axis> for ItemAxis {
    fn from(axis: Axis) -> Self {
        Self { axis, bound: axis.size }
    }
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
    pub(super) fn new<T: Into<ItemAxis>>(
        items: Vec<T>,
        positions: Vec<Axis>,
        elements: u64,
    ) -> Self {
        // An axis without bound whose size is 1 changes nothing.
        let items =
            items.into_iter().map(T::into).filter(|item| item.axis.size != 1 || item.bound == 0);
        let items = items.collect();
        let positions = positions.into_iter().filter(|axis| axis.size != 1).collect();
        Self { items, positions, elements, own: false }
    }

    /// As many elements as items. The position -1 names an item's own element.
    pub(super) fn own(elements: u64) -> Self {
        let axis = Axis { size: elements, pitch: 1 };
        Self { own: true, ..Self::new(vec![axis], Vec::new(), elements) }
    }

    /// The element of an item with a position, if it has one.
    fn element(&self, item: u64, position: i64) -> Option<u64> {
        // A negative position becomes larger than any number of elements.
        let position = (position as u64).wrapping_add(self.own.into());
        if position >= self.count() {
            return None;
        }
        let mut rest = item;
        let mut element = Axis::offset(&self.positions, position);
        for &ItemAxis { axis, bound } in self.items.iter().rev() {
            let at = rest % axis.size;
            element += at * axis.pitch;
            rest /= axis.size;
            if at >= bound {
                return None;
            }
        }
        Some(element)
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
        let size = result.element_type().size();
        let items = values.bytes().chunks_exact(size).zip(Ids::of(indices)?.iter());
        Tensor::filled(result.clone(), |bytes| {
            for (item, (value, position)) in items.enumerate() {
                if let Some(element) = self.element(item as u64, position) {
                    bytes[element as usize * size..][..size].copy_from_slice(value);
                }
            }
        })
    }

    /// Parts that do not share elements: how many, and the elements of one.
    fn parts(&self) -> (u64, u64) {
        match self.items.first() {
            Some(&ItemAxis { axis, bound })
                if bound == axis.size && axis.size * axis.pitch == self.elements =>
            {
                (axis.size, axis.pitch)
            }
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
    plan_all(inputs, of, Outputs::one(output.clone()), &[(places, duplicates)], target)
}

/// The same for several results, each with places of its own.
///
/// # Errors
/// [`Error::OverLimit`].
pub(super) fn plan_all(
    inputs: &[&TensorDesc],
    of: Items,
    outputs: Outputs<TensorDesc>,
    results: &[(&Places, Duplicates)],
    target: Target<'_>,
) -> Result<Plan> {
    let mut builder = Builder::new(inputs, outputs.clone(), Ranking::MAXIMUM, target);
    builder.element = inputs[of.values].element_type();
    let all_items = inputs[of.values].len() as u64;
    let index_item = inputs[of.indices].element_type().size() as u64;
    for (number, &(places, duplicates)) in results.iter().enumerate() {
        if outputs[number].is_empty() {
            continue;
        }
        let result = inputs.len() + number;
        builder.fill(result, 0)?;
        if all_items > 0 && places.count() > 0 {
            let (parts, elements) = places.parts();
            let items = all_items / parts;
            let at = At { of, result, index_item, places, winners: None, items, elements };
            at.push(&mut builder, parts, duplicates)?;
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
    /// Scratch: for each element of some parts the number of its item, from 1.
    winners: Option<usize>,
    /// Items and elements of a part.
    items: u64,
    elements: u64,
}

impl At<'_> {
    /// The launches of all parts.
    fn push(mut self, builder: &mut Builder<'_>, parts: u64, duplicates: Duplicates) -> Result<()> {
        let Self { places, items, elements, index_item, .. } = self;
        for (what, needed, limit, allowed) in [
            ("elements among which values are stored", elements, "32-bit number", 1 << 32),
            (
                "values that are stored among the same elements",
                items,
                "31-bit number",
                MAX_ELEMENTS,
            ),
            ("elements that positions count", places.count(), "31-bit number", MAX_ELEMENTS),
            ("storing by position", axis_count(places), "alternating axes", MAX_AXES as u64),
        ] {
            if needed > allowed {
                return Err(Error::OverLimit { what, needed, limit, allowed });
            }
        }
        let last_wins = duplicates == Duplicates::LastWins;
        let items_fit = builder.capacity(builder.item()).min(builder.capacity(index_item));
        let widest = if last_wins { builder.item().max(4) } else { builder.item() };
        let elements_fit = builder.capacity(widest);
        if items_fit.min(elements_fit) == 0 {
            return Err(builder
                .over_binding("a binding of one value and its position", widest.max(index_item)));
        }
        // Whole parts, as many as the bindings of a launch hold.
        let together = (elements_fit / elements).min(items_fit / items).clamp(1, parts);
        self.winners = last_wins.then(|| builder.scratch_words(together * elements));
        for part in (0..parts).step_by(together as usize) {
            if let Some(winners) = self.winners {
                builder.fill_repeated(winners, 0)?;
            }
            let (begin, end) = (part * elements, parts.min(part + together));
            // If a binding does not hold one part: some of its items and elements.
            for elements in some(begin..end * elements, elements_fit) {
                let items = some(part * items..end * items, items_fit);
                let launches =
                    items.map(|items| Launch { items, elements: elements.clone(), begin });
                if last_wins {
                    launches.clone().try_for_each(|launch| launch.push(builder, &self, true))?;
                }
                launches.clone().try_for_each(|launch| launch.push(builder, &self, false))?;
            }
        }
        Ok(())
    }
}

/// Some items, and the elements that they may name.
struct Launch {
    items: Range<u64>,
    elements: Range<u64>,
    /// The first element that has a winner in scratch.
    begin: u64,
}

impl Launch {
    fn params(&self, at: &At<'_>) -> Params {
        let mut axis = [[0; 4]; MAX_AXES];
        // The innermost axis comes first.
        let Places { items, positions, own, .. } = at.places;
        let items = items.iter().rev().copied();
        let all = items.chain(positions.iter().rev().copied().map(ItemAxis::from));
        let mut bounds = [[0; 4]; MAX_AXES / 4];
        for ((to, bound), from) in axis.iter_mut().zip(bounds.as_flattened_mut()).zip(all) {
            (*to, *bound) = (from.axis.packed(), from.bound.min(1 << 31) as u32);
        }
        Params {
            items: (self.items.end - self.items.start) as u32,
            first: (self.items.start % at.items) as u32,
            index_words: (at.index_item / 4) as u32,
            lowest: if *own { u32::MAX } else { 0 },
            positions: at.places.count() as u32,
            origin: (self.elements.start % at.elements) as u32,
            elements: (self.elements.end - self.elements.start) as u32,
            item_axes: at.places.items.len() as u32,
            axes: axis_count(at.places) as u32,
            axis,
            bounds,
            ..bytemuck::Zeroable::zeroed()
        }
    }

    /// Stores values at their positions or, with `claims`, finds the last item of each element.
    fn push(&self, builder: &mut Builder<'_>, at: &At<'_>, claims: bool) -> Result<()> {
        let Self { items, elements, .. } = self;
        let (count, all) = (items.end - items.start, elements.end - elements.start);
        let (indices, index_base) =
            builder.range_of(at.of.indices, items.start, count, at.index_item);
        let winners = at
            .winners
            .map(|winners| builder.range_of(winners, elements.start - self.begin, all, 4));
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

    /// Axes of 2^31 items and more, of which each launch takes some.
    #[test]
    fn items_of_long_axes_have_their_elements() {
        for size in [1 << 31, 1 << 32, (1 << 32) + 3] {
            let axis = |size, pitch| Axis { size, pitch };
            let places = Places::new(vec![axis(size, 2)], vec![axis(2, 1)], 2 * size);
            let of = Items { values: 1, indices: 0 };
            let (result, index_item, winners, places) = (2, 4, None, &places);
            let (items, elements) = (size, 2 * size);
            let at = At { of, result, index_item, places, winners, items, elements };
            let launch = Launch { items: 0..1000, elements: 0..2000, begin: 0 };
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
        let positions = vec![Axis { size: 1 << 33, pitch: 0 }];
        let places = Places::new(Vec::<Axis>::new(), positions, 1);
        let values = Tensor::from_slice([1], &[1.0f32]).unwrap();
        let result = TensorDesc::new(crate::ElementType::F32, [1]).unwrap();
        for (index, expected) in [(-1, 0.0), (7, 1.0)] {
            let indices = Tensor::from_slice([1], &[index]).unwrap();
            let found = places.store(&values, &indices, &result).unwrap();
            assert_eq!(found.to_vec::<f32>().unwrap(), [expected]);
        }
    }
}
