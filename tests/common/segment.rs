//! SegmentMax from its definition: each segment looks at each of its rows.

use super::{bits_at, greater, quiet_nan, value};
use wgmax::{ElementType, Nan, Tensor};

/// The maxima of the segments, +0 above -0; the same as the first of equal ones has
/// them; and the rows of those, or -1.
pub struct Found {
    pub values: Vec<u64>,
    pub first_values: Vec<u64>,
    pub rows: Vec<i64>,
}

/// `members`: the rows of each segment, ascending.
pub fn segment_oracle(data: &Tensor, members: &[Vec<usize>], nan: Nan, empty: u64) -> Found {
    let t = data.element_type();
    let inner: usize = data.shape()[1..].iter().product();
    let mut found = Found { values: Vec::new(), first_values: Vec::new(), rows: Vec::new() };
    for mine in members {
        for column in 0..inner {
            let mut largest: Option<u64> = None;
            let mut first: Option<(u64, usize)> = None;
            let mut nan_row = None;
            for &row in mine {
                let bits = bits_at(data, row * inner + column);
                let Some(v) = value(t, bits) else {
                    nan_row = nan_row.or(Some(row));
                    continue;
                };
                if largest.is_none_or(|b| greater(v, value(t, b).unwrap())) {
                    largest = Some(bits);
                }
                if first.is_none_or(|(b, _)| v > value(t, b).unwrap()) {
                    first = Some((bits, row));
                }
            }
            let is_nan = nan_row.is_some() && (nan == Nan::Propagate || largest.is_none());
            let (bits, first_bits, row) = match (is_nan, largest, first) {
                (true, ..) => (quiet_nan(t), quiet_nan(t), nan_row.unwrap() as i64),
                (false, Some(bits), Some((first, row))) => (bits, first, row as i64),
                _ => (empty, empty, -1),
            };
            found.values.push(bits);
            found.first_values.push(first_bits);
            found.rows.push(row);
        }
    }
    found
}

/// The rows of each segment, by ids; those of other ids are left out.
pub fn members_by_id(ids: &[i64], segments: usize) -> Vec<Vec<usize>> {
    let mut members = vec![Vec::new(); segments];
    for (row, &id) in ids.iter().enumerate() {
        if let Some(mine) = usize::try_from(id).ok().and_then(|id| members.get_mut(id)) {
            mine.push(row);
        }
    }
    members
}

/// Ids as a tensor of `i32` or `i64`.
pub fn ids_tensor(t: ElementType, ids: &[i64]) -> Tensor {
    match t {
        ElementType::I32 => {
            let narrow: Vec<i32> = ids.iter().map(|&id| id as i32).collect();
            Tensor::from_slice([ids.len()], &narrow).unwrap()
        }
        _ => Tensor::from_slice([ids.len()], ids).unwrap(),
    }
}
