// Division by numbers that are known when a launch is planned: a product and a shift. A division
// takes drivers dozens of steps. Exact for numbers below 2^31.
//
// A divisor is (itself, m, s, 0) such that n / divisor is the high word of 2 n m, shifted by s.

fn quotient(n: u32, by: vec4<u32>) -> u32 {
    return high_product(n << 1u, by.y) >> by.z;
}

// For numbers below 2^15 and divisors of `small_divisor` (src/plan/divide.rs), which have another m and
// s: n m fits a word, and the quotient is n m, shifted by s.
fn small_quotient(n: u32, by: vec4<u32>) -> u32 {
    return (n * by.y) >> by.z;
}

fn quotients(n: vec4<u32>, by: vec4<u32>) -> vec4<u32> {
    return high_products(n << vec4<u32>(1u), by.y) >> vec4<u32>(by.z);
}

// The quotient of n * ratio and 2^64. The ratio has two words.
fn scaled(n: u32, low: u32, high: u32) -> u32 {
    let carry = high_product(n, low);
    let sum = low_product(n, high) + carry;
    return high_product(n, high) + select(0u, 1u, sum < carry);
}

// n * factor modulo `by`, which is above the factor and below 2^31. The ratio is 2^32 * factor / by. The
// quotient by it is right or 1 too small.
fn product_remainder(n: u32, factor: u32, ratio: u32, by: u32) -> u32 {
    let rest = low_product(n, factor) - low_product(high_product(n, ratio), by);
    return select(rest, rest - by, rest >= by);
}

// The low word of a product. The products of halves fit a word.
fn low_product(a: u32, b: u32) -> u32 {
    let high = (a >> 16u) * (b & 0xffffu) + (a & 0xffffu) * (b >> 16u);
    return (a & 0xffffu) * (b & 0xffffu) + (high << 16u);
}

fn high_product(a: u32, b: u32) -> u32 {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let middle = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
    let other = (a & 0xffffu) * (b >> 16u) + (middle & 0xffffu);
    return (a >> 16u) * (b >> 16u) + (middle >> 16u) + (other >> 16u);
}

fn high_products(a: vec4<u32>, b: u32) -> vec4<u32> {
    let half = vec4<u32>(0xffffu);
    let shift = vec4<u32>(16u);
    let low = (a & half) * (b & 0xffffu);
    let middle = (a >> shift) * (b & 0xffffu) + (low >> shift);
    let other = (a & half) * (b >> 16u) + (middle & half);
    return (a >> shift) * (b >> 16u) + (middle >> shift) + (other >> shift);
}
