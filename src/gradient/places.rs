//! Where the elements are that positions name, and which launches store there.

use super::params::{MAX_AXES, Params};
use super::scatter::{CLAIM, SCATTER, UNPOOL};
use crate::error::{Error, Result};
use crate::plan::{Builder, MAX_ELEMENTS, New, Plan, Region, Target, divisor};
use crate::tensor::key::Ranking;
use crate::tensor::{Tensor, TensorDesc};

/// An axis: how many there are, and how far apart they lie among the elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub size: u64,
    pub pitch: u64,
}

/// Which element a position names. Items, each with a position and a value, have axes of their own,
/// and positions count others. Both are in row-major order, the outermost axis first.
#[derive(Debug)]
pub(crate) struct Places {
    items: Vec<Axis>,
    positions: Vec<Axis>,
    /// The elements that there are.
    elements: u64,
}

/// Whether several items may have one element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Duplicates {
    /// None have.
    Absent,
    /// The value of the last of them is stored.
    LastWins,
}

impl Places {
    /// Leaves out axes of size 1.
    pub(super) fn new(items: Vec<Axis>, positions: Vec<Axis>, elements: u64) -> Self {
        let long = |axes: Vec<Axis>| axes.into_iter().filter(|axis| axis.size != 1).collect();
        Self { items: long(items), positions: long(positions), elements }
    }

    /// How many positions there are.
    fn count(&self) -> u64 {
        self.positions.iter().map(|axis| axis.size).product()
    }

    /// Stores the values of items where their positions say, the last one where several have one
    /// element, and zeros everywhere else.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(crate) fn store(
        &self,
        values: &Tensor,
        indices: &Tensor,
        result: &TensorDesc,
    ) -> Result<Tensor> {
        let offset = |axes: &[Axis], number: u64| {
            let (mut rest, mut offset) = (number, 0);
            for axis in axes.iter().rev() {
                offset += rest % axis.size * axis.pitch;
                rest /= axis.size;
            }
            offset
        };
        let (size, index_size) = (result.element_type().size(), indices.element_type().size());
        let count = self.count();
        let items = values.bytes().chunks_exact(size).zip(indices.bytes().chunks_exact(index_size));
        Tensor::filled(result.clone(), |bytes| {
            for (item, (value, index)) in items.enumerate() {
                let position = match index {
                    &[a, b, c, d] => i32::from_le_bytes([a, b, c, d]).into(),
                    _ => i64::from_le_bytes(index.try_into().unwrap_or_default()),
                };
                // What is negative is above every number of elements.
                let position = position as u64;
                if position < count {
                    let element =
                        offset(&self.items, item as u64) + offset(&self.positions, position);
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

/// The buffers of the plan: which of the inputs has the values, and which the positions.
#[derive(Clone, Copy)]
pub(super) struct Inputs {
    pub values: usize,
    pub indices: usize,
}

/// The plan that stores the values of items where their positions say, and zeros everywhere else.
///
/// # Errors
/// [`Error::OverLimit`].
pub(super) fn plan(
    inputs: &[&TensorDesc],
    of: Inputs,
    output: &TensorDesc,
    places: &Places,
    duplicates: Duplicates,
    target: Target<'_>,
) -> Result<Plan> {
    let mut builder = Builder::new(inputs, vec![output.clone()], Ranking::MAXIMUM, target);
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
    let at = At { of, result, index_item, places, winners: None };
    let items_fit = builder.capacity(builder.item()).min(builder.capacity(index_item));
    let elements_fit = builder.capacity(builder.item());
    if duplicates == Duplicates::Absent {
        let fit = (elements_fit / elements).min(items_fit / items).min(parts);
        if fit > 0 {
            for part in (0..parts).step_by(fit as usize) {
                let count = fit.min(parts - part);
                let launch = Launch {
                    first_item: part * items,
                    first: 0,
                    items: count * items,
                    first_element: part * elements,
                    origin: 0,
                    elements: count * elements,
                };
                launch.store(&mut builder, &at)?;
            }
            return Ok(builder.finish());
        }
    }
    // Some of the items, and some of the elements, a launch.
    let (winners, elements_fit) = match duplicates {
        Duplicates::Absent => (None, elements_fit),
        Duplicates::LastWins => {
            (Some(builder.scratch_words(elements)), elements_fit.min(builder.capacity(4)))
        }
    };
    if let Some(winners) = winners {
        builder.fill_repeated(winners, 0)?;
    }
    if items_fit.min(elements_fit) == 0 {
        return Err(builder.over_binding("an item", builder.item().max(index_item)));
    }
    let at = At { winners, ..at };
    for part in 0..parts {
        for origin in (0..elements).step_by(elements_fit as usize) {
            let launches = (0..items).step_by(items_fit as usize).map(|first| Launch {
                first_item: part * items + first,
                first,
                items: items_fit.min(items - first),
                first_element: part * elements + origin,
                origin,
                elements: elements_fit.min(elements - origin),
            });
            if winners.is_some() {
                launches.clone().try_for_each(|launch| launch.claim(&mut builder, &at))?;
            }
            launches.clone().try_for_each(|launch| launch.store(&mut builder, &at))?;
        }
    }
    Ok(builder.finish())
}

fn axis_count(places: &Places) -> u64 {
    (places.items.len() + places.positions.len()) as u64
}

/// What all launches of a plan bind.
struct At<'a> {
    of: Inputs,
    result: usize,
    /// Bytes of a position.
    index_item: u64,
    places: &'a Places,
    /// Scratch: for each element the number of its item, from 1.
    winners: Option<usize>,
}

/// Some items, and the elements that they may have.
#[derive(Clone, Copy)]
struct Launch {
    first_item: u64,
    /// The number of the first item within its part.
    first: u64,
    items: u64,
    first_element: u64,
    /// The number of the first element within its part.
    origin: u64,
    elements: u64,
}

impl Launch {
    fn params(&self, at: &At<'_>) -> Params {
        let mut axis = [[0; 4]; MAX_AXES];
        // From the innermost one on.
        let divisors = |axes: &[Axis]| {
            let divisors = axes.iter().rev().map(|axis| {
                let [by, multiplier, shift, _] = divisor(axis.size);
                [by, multiplier, shift, axis.pitch as u32]
            });
            divisors.collect::<Vec<_>>()
        };
        let items = divisors(&at.places.items);
        let all = [&items[..], &divisors(&at.places.positions)].concat();
        axis[..all.len()].copy_from_slice(&all);
        Params {
            items: self.items as u32,
            first: self.first as u32,
            value_base: 0,
            index_base: 0,
            index_words: (at.index_item / 4) as u32,
            positions: at.places.count() as u32,
            origin: self.origin as u32,
            elements: self.elements as u32,
            result_base: 0,
            winner_base: 0,
            item_axes: items.len() as u32,
            axes: all.len() as u32,
            axis,
        }
    }

    /// Finds the last item of each element.
    fn claim(&self, builder: &mut Builder<'_>, at: &At<'_>) -> Result<()> {
        let Some(winners) = at.winners else { return Ok(()) };
        let (indices, index_base) =
            builder.range_of(at.of.indices, self.first_item, self.items, at.index_item);
        let (winners, winner_base) =
            builder.range_of(winners, self.first_element, self.elements, 4);
        let launch = New {
            purpose: "the last item of each element",
            shader: builder.shader(&CLAIM),
            params: &Params { index_base, winner_base, ..self.params(at) },
            sources: vec![indices],
            results: vec![winners],
        };
        builder.push(launch, self.items)
    }

    /// Stores values where positions say.
    fn store(&self, builder: &mut Builder<'_>, at: &At<'_>) -> Result<()> {
        let (values, value_base) =
            builder.range(Region::all(at.of.values).after(self.first_item), self.items);
        let (indices, index_base) =
            builder.range_of(at.of.indices, self.first_item, self.items, at.index_item);
        let (result, result_base) =
            builder.range(Region::all(at.result).after(self.first_element), self.elements);
        let mut params = Params { value_base, index_base, result_base, ..self.params(at) };
        let mut sources = vec![values, indices];
        if let Some(winners) = at.winners {
            let (winners, winner_base) =
                builder.range_of(winners, self.first_element, self.elements, 4);
            params.winner_base = winner_base;
            sources.push(winners);
        }
        let shader = match at.winners {
            Some(_) => builder.shader(&UNPOOL).with("unpooled", true),
            None => builder.shader(&SCATTER),
        };
        let launch = New {
            purpose: "values, stored where their positions say",
            shader,
            params: &params,
            sources,
            results: vec![result],
        };
        builder.push(launch, self.items)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes of 2^32 and more, whose sets are taken some at a time.
    #[test]
    fn items_of_long_axes_have_their_elements() {
        for size in [1 << 31, 1 << 32, (1 << 32) + 3] {
            let axis = |size, pitch| Axis { size, pitch };
            let places = Places::new(vec![axis(size, 2)], vec![axis(2, 1)], 2 * size);
            let of = Inputs { values: 1, indices: 0 };
            let at = At { of, result: 2, index_item: 4, places: &places, winners: None };
            let launch = Launch {
                first_item: 0,
                first: 0,
                items: 1000,
                first_element: 0,
                origin: 0,
                elements: 2000,
            };
            let params = launch.params(&at);
            let positions: Vec<u32> = (0..1000).map(|i| i % 2).collect();
            for item in [0, 5, 999] {
                assert_eq!(params.element(item, &positions), Some(2 * item + item % 2), "{size}");
            }
        }
    }

    /// A negative position of 32 bits is that of no element, however many there are.
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
