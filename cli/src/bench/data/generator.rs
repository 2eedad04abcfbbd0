//! The random numbers of numpy's `default_rng(seed)`, bit for bit: its seed sequence, PCG64
//! (PCG XSL RR 128/64), and its bounded integers.

/// numpy's default generator.
pub struct Generator {
    state: u128,
    increment: u128,
    /// The high half of the last 64 bits, which 32-bit draws use second.
    half: Option<u32>,
}

impl Generator {
    const MULTIPLIER: u128 = 0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645;

    pub fn new(seed: u32) -> Self {
        let [a, b, c, d] = seed_words(seed);
        let wide = |high: u64, low: u64| u128::from(high) << 64 | u128::from(low);
        let mut generator = Self { state: 0, increment: wide(c, d) << 1 | 1, half: None };
        generator.step();
        generator.state = generator.state.wrapping_add(wide(a, b));
        generator.step();
        generator
    }

    fn step(&mut self) {
        self.state = self.state.wrapping_mul(Self::MULTIPLIER).wrapping_add(self.increment);
    }

    pub fn u64(&mut self) -> u64 {
        self.step();
        ((self.state >> 64) as u64 ^ self.state as u64).rotate_right((self.state >> 122) as u32)
    }

    /// Half of 64 bits, the low one first. The other half is kept for the next call, also across
    /// calls of `u64`.
    pub fn u32(&mut self) -> u32 {
        self.half.take().unwrap_or_else(|| {
            let bits = self.u64();
            self.half = Some((bits >> 32) as u32);
            bits as u32
        })
    }

    /// A number in [0, 1).
    pub fn f32(&mut self) -> f32 {
        (self.u32() >> 8) as f32 * (1.0 / (1 << 24) as f32)
    }

    /// A number in [0, 1).
    pub fn f64(&mut self) -> f64 {
        (self.u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A number from 0 to `max`, by Lemire's method.
    pub fn up_to(&mut self, max: u32) -> u32 {
        let Some(count) = max.checked_add(1) else { return self.u32() };
        let draw = |generator: &mut Self| u64::from(generator.u32()) * u64::from(count);
        let mut product = draw(self);
        if (product as u32) < count {
            let threshold = (u32::MAX - max) % count;
            while (product as u32) < threshold {
                product = draw(self);
            }
        }
        (product >> 32) as u32
    }

    /// `Generator.shuffle` of a one-dimensional array. It draws as many bits as the bound has,
    /// until they do not exceed it.
    pub fn shuffle<T>(&mut self, elements: &mut [T]) {
        for i in (1..elements.len()).rev() {
            let mask = u32::MAX >> (i as u32).leading_zeros();
            let j = loop {
                let j = (self.u32() & mask) as usize;
                if j <= i {
                    break j;
                }
            };
            elements.swap(i, j);
        }
    }
}

/// `SeedSequence(seed).generate_state(4, uint64)`.
fn seed_words(seed: u32) -> [u64; 4] {
    const POOL: usize = 4;
    let hash = |value: u32, constant: &mut u32, multiplier: u32| {
        let value = value ^ *constant;
        *constant = constant.wrapping_mul(multiplier);
        let value = value.wrapping_mul(*constant);
        value ^ value >> 16
    };
    let mut constant = 0x43B0_D7E5;
    let mut enter = |value: u32| hash(value, &mut constant, 0x931E_8875);
    let mut pool = [seed, 0, 0, 0].map(&mut enter);
    for from in 0..POOL {
        for to in (0..POOL).filter(|&to| to != from) {
            let other = enter(pool[from]);
            let mixed =
                pool[to].wrapping_mul(0xCA01_F9DD).wrapping_sub(other.wrapping_mul(0x4973_F715));
            pool[to] = mixed ^ mixed >> 16;
        }
    }
    let mut constant = 0x8B51_F9DD;
    let mut leave = |i: usize| u64::from(hash(pool[i % POOL], &mut constant, 0x58F3_8DED));
    std::array::from_fn(|i| leave(2 * i) | leave(2 * i + 1) << 32)
}
