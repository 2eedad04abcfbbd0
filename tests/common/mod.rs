//! What the integration tests share: random tensors, the naive oracle, devices.

#![allow(dead_code)]

pub mod pool;
pub mod segment;

use half::{bf16, f16};
use wgmax::{Device, ElementType, Nan, Tensor};

/// SplitMix64: enough for test data, and a seed that can be printed and used again.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// The seed of a run: `WGMAX_SEED`, or one of the clock's.
pub fn seed() -> u64 {
    let seed = match std::env::var("WGMAX_SEED") {
        Ok(text) => text.parse().expect("WGMAX_SEED is a number"),
        Err(_) => std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(1, |d| d.as_nanos() as u64),
    };
    println!("WGMAX_SEED={seed}");
    seed
}

/// The GPU to test on. Without one the test fails, unless `WGMAX_NO_GPU=1` says that none is wanted.
pub fn gpu() -> Option<Device> {
    match Device::gpu() {
        Ok(device) => {
            println!("on {}", device.info());
            Some(device)
        }
        Err(error) if std::env::var("WGMAX_NO_GPU").is_ok_and(|v| v == "1") => {
            println!("no GPU, as WGMAX_NO_GPU asks: {error}");
            None
        }
        Err(error) => panic!("{error} (set WGMAX_NO_GPU=1 to test without one)"),
    }
}

/// The bits that are hard for a type: NaN of either sign and several payloads,
/// infinities, zeros, subnormals, extremes.
fn hard_bits(t: ElementType) -> Vec<u64> {
    let float = |bits: u32, fraction: u32| -> Vec<u64> {
        let infinity = ((1u64 << (bits - 1)) - 1) >> fraction << fraction;
        let sign = 1u64 << (bits - 1);
        [
            infinity + 1,
            infinity | 1 << (fraction - 1),
            sign - 1,
            infinity,
            infinity - 1,
            0,
            1,
            (1 << fraction) - 1,
            1 << fraction,
        ]
        .into_iter()
        .flat_map(|b| [b, b | sign])
        .collect()
    };
    match t {
        ElementType::F32 => float(32, 23),
        ElementType::F64 => float(64, 52),
        ElementType::F16 => float(16, 10),
        ElementType::Bf16 => float(16, 7),
        ElementType::Bool => vec![0, 1],
        _ => {
            let bits = t.size() as u32 * 8;
            let all = u64::MAX >> (64 - bits);
            vec![0, 1, all, all >> 1, (all >> 1) + 1, all - 1, all & 0xffff_ffff]
        }
    }
}

/// The bits of -inf, or of the lowest element of a type without infinities: below or equal to
/// every other element, and what the neutral operator gives for an empty set.
pub fn maximum_of_nothing(t: ElementType) -> u64 {
    match t {
        ElementType::F32 => 0xff80_0000,
        ElementType::F64 => 0xfff0_0000_0000_0000,
        ElementType::F16 => 0xfc00,
        ElementType::Bf16 => 0xff80,
        ElementType::I8 => 0x80,
        ElementType::I16 => 0x8000,
        ElementType::I32 => 0x8000_0000,
        ElementType::I64 => 1 << 63,
        _ => 0,
    }
}

/// Random elements. `style` 0: any bits; 1: hard bits only; 2: numbers without NaN;
/// 3: nothing but the lowest element (-inf for floats); 4: nothing but NaN where there is one.
pub fn tensor(t: ElementType, shape: &[usize], style: u64, random: &mut Random) -> Tensor {
    let n: usize = shape.iter().product();
    let hard = hard_bits(t);
    let lowest = maximum_of_nothing(t);
    let mut bytes = Vec::with_capacity(n * t.size());
    for _ in 0..n {
        let mut bits = match style {
            1 => random.pick(&hard),
            3 => lowest,
            4 => hard[random.below(6.min(hard.len() as u64)) as usize],
            _ if random.below(64) == 0 && style == 0 => random.pick(&hard),
            _ => random.next(),
        };
        if t == ElementType::Bool {
            bits &= 1;
        }
        if style == 2 && value(t, bits).is_none() {
            bits = 0;
        }
        bytes.extend_from_slice(&bits.to_le_bytes()[..t.size()]);
    }
    Tensor::from_bytes(t, shape, &bytes).unwrap()
}

/// A number that orders as elements do; `None` for NaN. Written without keys, on purpose.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub enum Value {
    Int(i128),
    Float(f64),
}

pub fn value(t: ElementType, bits: u64) -> Option<Value> {
    let float = |v: f64| (!v.is_nan()).then_some(Value::Float(v));
    match t {
        ElementType::F32 => float(f32::from_bits(bits as u32).into()),
        ElementType::F64 => float(f64::from_bits(bits)),
        ElementType::F16 => float(f16::from_bits(bits as u16).to_f64()),
        ElementType::Bf16 => float(bf16::from_bits(bits as u16).to_f64()),
        ElementType::I8 => Some(Value::Int((bits as u8 as i8).into())),
        ElementType::I16 => Some(Value::Int((bits as u16 as i16).into())),
        ElementType::I32 => Some(Value::Int((bits as u32 as i32).into())),
        ElementType::I64 => Some(Value::Int((bits as i64).into())),
        _ => Some(Value::Int((bits & (u64::MAX >> (64 - t.size() * 8))).into())),
    }
}

pub fn bits_at(t: &Tensor, i: usize) -> u64 {
    let size = t.element_type().size();
    let mut bits = [0; 8];
    bits[..size].copy_from_slice(&t.bytes()[i * size..(i + 1) * size]);
    u64::from_le_bytes(bits)
}

pub fn greater(a: Value, b: Value) -> bool {
    match (a, b) {
        // +0 ranks above -0 where no index is asked for.
        (Value::Float(a), Value::Float(b)) if a == 0.0 && b == 0.0 => {
            !a.is_sign_negative() && b.is_sign_negative()
        }
        _ => a > b,
    }
}

pub fn quiet_nan(t: ElementType) -> u64 {
    match t {
        ElementType::F32 => 0x7fc0_0000,
        ElementType::F64 => 0x7ff8_0000_0000_0000,
        ElementType::F16 => 0x7e00,
        _ => 0x7fc0,
    }
}

/// ReduceMax from its definition: for every output position, look at every
/// input position that agrees with it on the kept axes.
pub fn reduce_oracle(input: &Tensor, axes: &[usize], nan: Nan, empty: u64) -> Vec<u64> {
    let (t, shape) = (input.element_type(), input.shape());
    let kept: Vec<usize> = (0..shape.len()).filter(|a| !axes.contains(a)).collect();
    let outputs: usize = kept.iter().map(|&a| shape[a]).product();
    let mut best: Vec<Option<(Value, u64)>> = vec![None; outputs];
    let mut nans = vec![false; outputs];
    for i in 0..input.len() {
        let mut rest = i;
        let mut at = vec![0; shape.len()];
        for a in (0..shape.len()).rev() {
            at[a] = rest % shape[a];
            rest /= shape[a];
        }
        let out = kept.iter().fold(0, |o, &a| o * shape[a] + at[a]);
        let bits = bits_at(input, i);
        match value(t, bits) {
            None => nans[out] = true,
            Some(v) if best[out].is_none_or(|(b, _)| greater(v, b)) => best[out] = Some((v, bits)),
            Some(_) => {}
        }
    }
    best.into_iter()
        .zip(nans)
        .map(|(best, any_nan)| match (best, any_nan, nan) {
            (_, true, Nan::Propagate) | (None, true, Nan::Ignore) => quiet_nan(t),
            (Some((_, bits)), _, _) => bits,
            (None, false, _) => empty,
        })
        .collect()
}
