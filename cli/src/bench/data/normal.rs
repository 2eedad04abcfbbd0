//! Standard normal numbers as numpy draws them: the ziggurat of 256 layers of equal area.

use super::generator::Generator;

/// The start of the tail.
const TAIL: f64 = 3.654152885361009;

/// The layers: the base with the tail, then the others by increasing width.
struct Layers {
    /// The width of each.
    x: [f64; 256],
    /// The density at each width.
    density: [f64; 256],
    /// The fraction of a layer's width that lies under the curve for certain.
    inside: [f64; 256],
}

impl Layers {
    fn new() -> Self {
        /// The area of each layer.
        const AREA: f64 = 0.004928673233974652;
        let mut x = [0.0; 256];
        let mut density = [1.0; 256];
        let mut width: f64 = TAIL;
        for i in (1..256).rev() {
            x[i] = width;
            density[i] = (-0.5 * width * width).exp();
            if i == 38 {
                // numpy's table is off by one unit in the last place here.
                density[i] = f64::from_bits(0x3FE5_AD29_ACC8_5C89);
            }
            width = (-2.0 * (AREA / width + density[i]).ln()).sqrt();
        }
        x[0] = AREA / density[255];
        let mut inside = [0.0; 256];
        inside[0] = x[255] / x[0];
        (2..256).for_each(|i| inside[i] = x[i - 1] / x[i]);
        Self { x, density, inside }
    }
}

/// `standard_normal` as doubles.
pub fn doubles(generator: &mut Generator) -> impl FnMut() -> f64 {
    const UNIT: f64 = (1u64 << 52) as f64;
    let layers = Layers::new();
    let width = layers.x.map(|x| x / UNIT);
    let inside = layers.inside.map(|fraction| (fraction * UNIT).round() as u64);
    move || loop {
        let bits = generator.u64();
        let layer = (bits & 0xFF) as usize;
        let position = bits >> 9 & ((1 << 52) - 1);
        let x = position as f64 * width[layer];
        let x = if bits >> 8 & 1 == 1 { -x } else { x };
        if position < inside[layer] {
            return x;
        }
        if layer == 0 {
            loop {
                let beyond = -(1.0 / TAIL) * (-generator.f64()).ln_1p();
                let height = -(-generator.f64()).ln_1p();
                if height + height > beyond * beyond {
                    let x = TAIL + beyond;
                    return if position >> 8 & 1 == 1 { -x } else { x };
                }
            }
        }
        let (above, below) = (layers.density[layer - 1], layers.density[layer]);
        if (above - below) * generator.f64() + below < (-0.5 * x * x).exp() {
            return x;
        }
    }
}

/// `standard_normal(dtype=float32)`.
pub fn floats(generator: &mut Generator) -> impl FnMut() -> f32 {
    const UNIT: f64 = (1u32 << 23) as f64;
    const TAIL_F32: f32 = TAIL as f32;
    const INVERSE: f32 = (1.0 / TAIL) as f32;
    let layers = Layers::new();
    let width = layers.x.map(|x| (x / UNIT) as f32);
    let density = layers.density.map(|d| d as f32);
    let inside = layers.inside.map(|fraction| (fraction * UNIT).round() as u32);
    move || loop {
        let bits = generator.u32();
        let layer = (bits & 0xFF) as usize;
        let position = bits >> 9;
        let x = position as f32 * width[layer];
        let x = if bits >> 8 & 1 == 1 { -x } else { x };
        if position < inside[layer] {
            return x;
        }
        if layer == 0 {
            loop {
                let beyond = -INVERSE * (-generator.f32()).ln_1p();
                let height = -(-generator.f32()).ln_1p();
                if height + height > beyond * beyond {
                    let x = TAIL_F32 + beyond;
                    return if position >> 8 & 1 == 1 { -x } else { x };
                }
            }
        }
        let height = (density[layer - 1] - density[layer]) * generator.f32() + density[layer];
        if f64::from(height) < (-0.5 * f64::from(x) * f64::from(x)).exp() {
            return x;
        }
    }
}
