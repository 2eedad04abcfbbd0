//! MaxPool in pieces: ranges of its results, with what their windows look at; and ranges of the windows
//! themselves where one of them is too large.

use std::borrow::Cow;
use std::ops::Range;

use super::Work;
use super::boxes::Part;
use super::combine::{Joined, Positions, bits, exceeds, join};
use super::window::Places;
use crate::error::Result;
use crate::operator::{Indices, MaxPool, Window};
use crate::plan::{Limits, Plan, pool};
use crate::tensor::key::{Keyed, with_keyed};
use crate::tensor::{ElementType, Tensor, TensorDesc};

pub(super) struct Pool<'a> {
    operator: &'a MaxPool,
    /// The operator with indices that are positions in a piece.
    local: MaxPool,
    input: &'a Tensor,
    windows: Vec<Window>,
    values: Joined,
    positions: Option<Positions>,
    places: Places,
    /// Which results have had an element; only where windows are cut.
    seen: Vec<bool>,
}

#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// The results.
    pub part: Part,
    /// The elements of their windows, along each spatial axis.
    pub taps: Vec<Range<u64>>,
    /// The taps are not all.
    partial: bool,
    /// An earlier piece has other taps of the same windows.
    later: bool,
}

impl<'a> Pool<'a> {
    pub(super) fn new(operator: &'a MaxPool, input: &'a Tensor) -> Result<Self> {
        let outputs = operator.infer(input.desc())?;
        let indices = Indices { element_type: ElementType::I32, ..Indices::default() };
        Ok(Self {
            operator,
            local: operator.clone().indices(operator.get_indices().map(|_| indices)),
            input,
            windows: operator.windows(input.desc())?,
            values: Joined::zeroed(&outputs[0])?,
            positions: outputs.get(1).map(Positions::none).transpose()?,
            places: Places::new(operator, input.desc())?,
            seen: Vec::new(),
        })
    }

    /// A piece, of whose taps those are left out that lie in the padding for all of its windows.
    fn trimmed(&self, mut piece: Piece) -> Piece {
        let outputs = &piece.part.0[self.operator.first_spatial()..];
        for ((taps, window), outputs) in piece.taps.iter_mut().zip(&self.windows).zip(outputs) {
            *taps = window.trim(outputs, taps);
        }
        piece
    }

    /// Pieces that a piece might be cut into, those first that are read best.
    fn cuts(&self, piece: &Piece) -> Vec<[Piece; 2]> {
        let axes = (0..piece.part.0.len()).filter(|&axis| piece.part.0[axis].len() > 1);
        let mut cuts: Vec<[Piece; 2]> = axes
            .map(|axis| piece.part.halves(axis).map(|part| Piece { part, ..piece.clone() }))
            .collect();
        // The outermost axis, so that earlier taps lie before later ones.
        if let Some(axis) = piece.taps.iter().position(|taps| taps.end - taps.start > 1) {
            let taps = &piece.taps[axis];
            let middle = taps.start + (taps.end - taps.start).div_ceil(2);
            cuts.push([(taps.start..middle, false), (middle..taps.end, true)].map(
                |(taps, second)| {
                    let mut half = Piece { partial: true, ..piece.clone() };
                    half.later |= second;
                    half.taps[axis] = taps;
                    half
                },
            ));
        }
        cuts.into_iter().map(|halves| halves.map(|half| self.trimmed(half))).collect()
    }

    fn land_as<T: Keyed>(&mut self, piece: &Piece, results: &[Tensor]) {
        let nan = self.operator.get_nan();
        let runs = piece.part.runs(self.values.desc.shape());
        let from = bits::<T>(&results[0]);
        let values = self.values.bits_mut::<T>();
        if !piece.partial {
            runs.iter().for_each(|(at, part)| values[at].copy_from_slice(&from[part]));
            if let Some(positions) = &mut self.positions {
                let found = self.places.of(&self.windows, piece).positions(&results[1]);
                runs.iter().for_each(|(at, part)| positions.at[at].copy_from_slice(&found[part]));
            }
            return;
        }
        let located = self.places.of(&self.windows, piece);
        let found = results.get(1).map(|local| located.positions(local));
        self.seen.resize(values.len(), false);
        for (at, part) in runs.iter().flat_map(|(at, part)| at.zip(part)) {
            let (has, first) = (located.is_inside(part), !self.seen[at]);
            self.seen[at] |= has;
            let takes = match has {
                // The first piece brings what a window without elements has.
                false => !piece.later,
                true if first => true,
                true if found.is_some() => exceeds::<T>(from[part], values[at], nan),
                true => {
                    join::<T>(&mut values[at..=at], &from[part..=part], nan);
                    false
                }
            };
            if takes {
                values[at] = from[part];
                if let (Some(positions), Some(found)) = (&mut self.positions, &found) {
                    positions.at[at] = found[part];
                }
            }
        }
    }
}

impl Work for Pool<'_> {
    type Piece = Piece;

    fn whole(&self) -> Option<Piece> {
        let piece = Piece {
            part: Part::whole(self.values.desc.shape()),
            taps: self.windows.iter().map(|window| 0..window.kernel).collect(),
            partial: false,
            later: false,
        };
        (!self.values.desc.is_empty()).then(|| self.trimmed(piece))
    }

    fn cut(&self, piece: &Piece) -> Option<[Piece; 2]> {
        let whole = self.bytes(piece);
        let larger = |halves: &[Piece; 2]| halves.iter().map(|half| self.bytes(half)).max();
        let mut cuts = self.cuts(piece);
        let sizes: Vec<u64> = cuts.iter().filter_map(larger).collect();
        // The first that leaves little more than half, or else the one that leaves least.
        let good = sizes.iter().position(|&size| size <= whole / 5 * 3);
        let least = || (0..sizes.len()).min_by_key(|&i| sizes[i]).filter(|&i| sizes[i] < whole);
        good.or_else(least).map(|i| cuts.swap_remove(i))
    }

    fn bytes(&self, piece: &Piece) -> u64 {
        let item = self.input.element_type().size();
        let result = item + if self.positions.is_some() { 4 } else { 0 };
        (self.places.source(&self.windows, piece).len() * item + piece.part.len() * result) as u64
    }

    fn plan(&self, piece: &mut Piece, limits: &Limits) -> Result<Plan> {
        let element_type = self.input.element_type();
        let source = self.places.source(&self.windows, piece);
        let input = TensorDesc::new(element_type, source.shape())?;
        let mut outputs = vec![TensorDesc::new(element_type, piece.part.shape())?];
        if self.positions.is_some() {
            outputs.push(TensorDesc::new(ElementType::I32, piece.part.shape())?);
        }
        let spatial = piece.part.0[self.operator.first_spatial()..].iter().zip(&piece.taps);
        let windows: Vec<Window> = self
            .windows
            .iter()
            .zip(spatial)
            .map(|(window, (outputs, taps))| window.part(outputs, taps))
            .collect();
        pool::plan(&self.local, &input, outputs, &windows, limits)
    }

    fn inputs<'a>(&'a self, piece: &'a Piece) -> Vec<Cow<'a, [u8]>> {
        let runs = self.places.source(&self.windows, piece).runs(self.input.shape());
        vec![runs.gather(self.input.bytes(), self.input.element_type().size())]
    }

    fn land(&mut self, piece: &Piece, results: &[Tensor]) {
        with_keyed!(self.input.element_type(), T => self.land_as::<T>(piece, results));
    }

    fn finish(self) -> Result<Vec<Tensor>> {
        let mut results = vec![self.values.finish()?];
        if let Some(positions) = self.positions {
            results.push(positions.finish()?);
        }
        Ok(results)
    }
}
