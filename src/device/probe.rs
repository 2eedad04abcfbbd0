//! A few launches that show whether a device computes correctly.

use std::fmt;

use half::{bf16, f16};

use super::Device;
use crate::base::error::Result;
use crate::operator::{MaxPool, MaxPoolBackward, Operator, ReduceMax, SegmentMax};
use crate::tensor::compare::{Comparison, compare};
use crate::tensor::key::{Extremum, Nan};
use crate::tensor::{Element, ElementType, Tensor};

/// What [`Device::probe`] found.
#[derive(Debug)]
#[non_exhaustive]
pub struct Probe {
    /// All checks, in the order in which they ran.
    pub checks: Vec<ProbeCheck>,
}

/// One check of a [`Probe`].
#[derive(Debug)]
#[non_exhaustive]
pub struct ProbeCheck {
    /// What is checked, such as "NaN, infinities and zeros of f32".
    pub name: &'static str,
    /// The operator that ran.
    pub operator: Operator,
    /// The comparison of each result with the correct one, or the error of the device.
    pub outcome: Result<Vec<Comparison>>,
}

impl Probe {
    /// Whether all results were correct, bit for bit.
    pub fn is_right(&self) -> bool {
        self.findings().next().is_none()
    }

    /// The checks that failed.
    pub fn findings(&self) -> impl Iterator<Item = &ProbeCheck> {
        self.checks.iter().filter(|check| !check.is_right())
    }
}

impl ProbeCheck {
    /// Whether all results were correct, bit for bit.
    pub fn is_right(&self) -> bool {
        self.outcome.as_ref().is_ok_and(|results| results.iter().all(Comparison::is_equal))
    }
}

impl fmt::Display for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let findings = self.findings().count();
        write!(f, "{} checks, {findings} failed", self.checks.len())?;
        self.findings().try_for_each(|check| write!(f, "\n{check}"))
    }
}

impl fmt::Display for ProbeCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): ", self.name, self.operator.name())?;
        match &self.outcome {
            Err(error) => write!(f, "{error}"),
            Ok(results) => match results.iter().find(|result| !result.is_equal()) {
                Some(result) => write!(f, "{result}"),
                None => f.write_str("right"),
            },
        }
    }
}

impl Device {
    /// Runs small operators with known results, and compares bit for bit: NaN, infinities and
    /// zeros; elements of 8, 16 and 64 bits; long loops; workgroup memory and barriers; atomics;
    /// sums of gradients. An app may call this at its start, and use another device if a check
    /// fails. `wgmax verify` takes minutes and finds more.
    ///
    /// It takes milliseconds, and some 100 ms more if pipelines are not compiled yet.
    ///
    /// ```
    /// use wgmax::Device;
    ///
    /// let device = Device::auto()?;
    /// let probe = device.probe()?;
    /// assert!(probe.is_right(), "{} computes wrong: {probe}", device.info());
    /// # Ok::<(), wgmax::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::WouldBlock`](crate::Error::WouldBlock) for a GPU in a browser, and
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) of the host. An error of the device is a
    /// finding.
    pub fn probe(&self) -> Result<Probe> {
        self.block_on(self.probe_async())
    }

    /// As [`Device::probe`], without blocking.
    ///
    /// # Errors
    /// As [`Device::probe`].
    pub async fn probe_async(&self) -> Result<Probe> {
        let mut checks = Vec::new();
        for Case { name, operator, inputs, expected } in cases()? {
            let outcome = self.compared(&operator, &inputs, &expected).await;
            checks.push(ProbeCheck { name, operator, outcome });
        }
        Ok(Probe { checks })
    }

    async fn compared(
        &self,
        operator: &Operator,
        inputs: &[Tensor],
        expected: &[Tensor],
    ) -> Result<Vec<Comparison>> {
        let mut uploaded = Vec::new();
        for input in inputs {
            uploaded.push(self.upload_async(input).await?);
        }
        let results = self.run_async(operator, uploaded.iter().collect::<Vec<_>>()).await?;
        let mut compared = Vec::new();
        for (result, expected) in results.iter().zip(expected) {
            compared.push(compare(&result.download_async().await?, expected)?);
        }
        Ok(compared)
    }
}

struct Case {
    name: &'static str,
    operator: Operator,
    inputs: Vec<Tensor>,
    expected: Vec<Tensor>,
}

fn tensor<T: Element>(shape: &[usize], elements: &[T]) -> Result<Tensor> {
    Tensor::from_slice(shape, elements)
}

/// Numbers below `limit`, in scattered order.
fn scattered(count: usize, limit: usize) -> impl Iterator<Item = usize> {
    (0..count).map(move |i| (i * 7919 + i / 13) % limit)
}

fn cases() -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    let mut add = |name, operator: Operator, inputs, expected| {
        cases.push(Case { name, operator, inputs, expected });
    };
    let rows = || ReduceMax::new().axes([1]);

    let (inf, nan) = (f32::INFINITY, f32::from_bits(0xff81_2345));
    let (small, quiet) = (f32::from_bits(1), f32::from_bits(0x7fc0_0000));
    let floats = [
        [1.0, nan, inf],
        [-0.0, 0.0, -small],
        [-inf, -inf, -inf],
        [small, 0.0, -1.0],
        [-f32::MAX, -inf, -3.0],
    ];
    let input = tensor(&[5, 3], floats.as_flattened())?;
    let maxima = tensor(&[5], &[quiet, 0.0, -inf, small, -3.0])?;
    add("NaN, infinities and zeros of f32", rows().into(), vec![input.clone()], vec![maxima]);
    let minima = tensor(&[5], &[1.0, -small, -inf, -1.0, -inf])?;
    let operator = rows().extremum(Extremum::Minimum).nan(Nan::Ignore).into();
    add("minima of f32 without NaN", operator, vec![input], vec![minima]);

    let halves = [1.5f32, -2.0, 65504.0, -0.0, 0.0, -6e-8, -7.0, -8.0, -7.5];
    let f16s = halves.map(f16::from_f32);
    let found = [65504.0, 0.0, -7.0];
    let expected = tensor(&[3], &found.map(f16::from_f32))?;
    add("packed f16", rows().into(), vec![tensor(&[3, 3], &f16s)?], vec![expected]);
    let columns = ReduceMax::new().axes([0]).indices(ElementType::I32);
    let input = tensor(&[3, 3], &halves.map(bf16::from_f32))?;
    let expected = tensor(&[3], &[1.5f32, 0.0, 65504.0].map(bf16::from_f32))?;
    let places = tensor(&[3], &[0i32, 1, 0])?;
    add("positions in columns of bf16", columns.into(), vec![input], vec![expected, places]);
    let bytes: Vec<u8> = scattered(7 * 37, 251).map(|byte| byte as u8).collect();
    let expected: Vec<u8> =
        bytes.chunks(37).map(|row| row.iter().copied().fold(0, u8::max)).collect();
    add(
        "packed u8",
        rows().into(),
        vec![tensor(&[7, 37], &bytes)?],
        vec![tensor(&[7], &expected)?],
    );

    let wide = [i64::MIN, -1, 0x1_0000_0000, 0xffff_ffff, -0x1_0000_0000, -0x1_0000_0001];
    let expected = tensor(&[3], &[-1i64, 0x1_0000_0000, -0x1_0000_0000])?;
    add("i64", rows().into(), vec![tensor(&[3, 2], &wide)?], vec![expected]);
    let doubles = [1.0f64, 1.0 + f64::EPSILON, -1.0, -1.0 - f64::EPSILON];
    let expected = tensor(&[2], &[doubles[1], doubles[2]])?;
    add("f64", rows().into(), vec![tensor(&[2, 2], &doubles)?], vec![expected]);

    let mut long = vec![0u32; 300_007];
    long[300_006] = u32::MAX;
    let expected = tensor(&[], &[u32::MAX])?;
    add("long loops", ReduceMax::new().into(), vec![tensor(&[300_007], &long)?], vec![expected]);

    let (rows, segments) = (3_001, 97);
    let values: Vec<i32> = scattered(rows, 100_003).map(|value| value as i32 - 50_000).collect();
    let data = tensor(&[rows], &values)?;
    for (name, operator, ids) in [
        (
            "a scan in workgroup memory",
            SegmentMax::sorted(),
            (0..rows).map(|i| i * segments / rows).collect(),
        ),
        ("atomics", SegmentMax::unsorted(), scattered(rows, segments).collect::<Vec<usize>>()),
    ] {
        let mut maxima = vec![(i32::MIN, -1i32); segments];
        for (row, (&id, &value)) in ids.iter().zip(&values).enumerate() {
            let max = &mut maxima[id];
            if max.1 < 0 || value > max.0 {
                *max = (value, row as i32);
            }
        }
        let ids: Vec<i32> = ids.iter().map(|&id| id as i32).collect();
        let (values, places): (Vec<i32>, Vec<i32>) = maxima.into_iter().unzip();
        let expected = vec![tensor(&[segments], &values)?, tensor(&[segments], &places)?];
        let operator = operator.num_segments(segments).indices(ElementType::I32);
        add(name, operator.into(), vec![data.clone(), tensor(&[rows], &ids)?], expected);
    }

    let side = 21;
    let picture: Vec<f32> = scattered(side * side, 997).map(|value| value as f32).collect();
    let pool = MaxPool::new([3, 3]).pads([1, 1], [1, 1]).indices(ElementType::I32);
    let at = |i: usize| (i / side, i % side);
    let near = |i: usize, j: usize| at(i).0.abs_diff(at(j).0) < 2 && at(i).1.abs_diff(at(j).1) < 2;
    let largest = |i: usize| {
        let window = (0..side * side).filter(|&j| near(i, j));
        window.fold(None, |best: Option<usize>, j| match best {
            Some(best) if picture[best] >= picture[j] => Some(best),
            _ => Some(j),
        })
    };
    let found: Vec<usize> = (0..side * side).filter_map(largest).collect();
    let shape = [1, 1, side, side];
    let maxima: Vec<f32> = found.iter().map(|&i| picture[i]).collect();
    let places: Vec<i32> = found.iter().map(|&i| i as i32).collect();
    let expected = vec![tensor(&shape, &maxima)?, tensor(&shape, &places)?];
    add("windows that share elements", pool.into(), vec![tensor(&shape, &picture)?], expected);

    let backward = MaxPoolBackward::new(MaxPool::new([3]));
    let data = tensor(&[1, 1, 5], &[0.0f32, 1.0, 2.0, 1.0, 0.0])?;
    // 1 + 2^-24 is rounded to the even neighbour, 1; and 1 + 2^-23 is exact.
    let gradient = tensor(&[1, 1, 3], &[1.0f32, f32::EPSILON / 2.0, f32::EPSILON])?;
    let expected = tensor(&[1, 1, 5], &[0.0, 0.0, 1.0 + f32::EPSILON, 0.0, 0.0])?;
    add("rounded sums", backward.into(), vec![data, gradient], vec![expected]);
    Ok(cases)
}
