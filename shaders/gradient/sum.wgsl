// Addition of floating-point numbers in integers, rounded to nearest, ties to even. Shaders cannot
// add floats if every bit counts: a driver may flush subnormal numbers, and need not support NaN
// and infinities.
//
// Sums have 32 bits, or 64 if the elements do; elements of 16 bits are widened, and sums are
// rounded once more at the end. A NaN becomes the type's canonical quiet NaN. The same in Rust is
// src/gradient/sum.rs.

@if(!float64) alias Sum = u32;
@if(!float64) const NOTHING: Sum = 0u;

// The low word first, as in memory.
@if(float64) alias Sum = vec2<u32>;
@if(float64) const NOTHING: Sum = vec2<u32>(0u, 0u);

// The sum of +0 and a number: -0 becomes +0.
@if(!float64)
fn first_sum(number: Sum) -> Sum {
    let magnitude = number & 0x7fffffffu;
    return select(select(number, 0u, magnitude == 0u), 0x7fc00000u, magnitude > 0x7f800000u);
}

@if(float64)
fn first_sum(number: Sum) -> Sum {
    let magnitude = number.y & 0x7fffffffu;
    if magnitude > 0x7ff00000u || (magnitude == 0x7ff00000u && number.x != 0u) {
        return vec2<u32>(0u, 0x7ff80000u);
    }
    return select(number, NOTHING, (magnitude | number.x) == 0u);
}

@if(!float64)
fn add_rounded(a: Sum, b: Sum) -> Sum {
    // Most elements are the maximum of at most one window: few invocations of a warp add two numbers.
    if a == NOTHING {
        return first_sum(b);
    }
    let is_less = (a & 0x7fffffffu) < (b & 0x7fffffffu);
    let large = select(a, b, is_less);
    let small = select(b, a, is_less);
    let top = large & 0x7fffffffu;
    let low = small & 0x7fffffffu;
    if top >= 0x7f800000u {
        let opposite = low == 0x7f800000u && large != small;
        return select(large, 0x7fc00000u, top > 0x7f800000u || opposite);
    }
    // Subnormal numbers have the exponent of the smallest normal ones.
    var exponent = max(top >> 23u, 1u);
    let apart = min(exponent - max(low >> 23u, 1u), 31u);
    let other = mantissa(low);
    let shifted = other >> apart;
    let lost = (shifted << apart) != other;
    let aligned = shifted | select(0u, 1u, lost);
    var bits = mantissa(top);
    if ((large ^ small) & 0x80000000u) == 0u {
        bits += aligned;
        if bits >= 0x8000000u {
            bits = (bits >> 1u) | (bits & 1u);
            exponent += 1u;
        }
    } else {
        bits -= aligned;
        if bits == 0u {
            return 0u;
        }
        let up = min(countLeadingZeros(bits) - 5u, exponent - 1u);
        bits <<= up;
        exponent -= up;
    }
    let rest = bits & 7u;
    let round = rest > 4u || (rest == 4u && (bits & 8u) != 0u);
    // The hidden bit increments the exponent, and so does a carry of rounding.
    let magnitude = ((exponent - 1u) << 23u) + (bits >> 3u) + select(0u, 1u, round);
    return (large & 0x80000000u) | min(magnitude, 0x7f800000u);
}

// With three more bits: the two after the last one, and whether any after these is set.
@if(!float64)
fn mantissa(magnitude: u32) -> u32 {
    return ((magnitude & 0x7fffffu) | select(0u, 0x800000u, magnitude >= 0x800000u)) << 3u;
}

@if(float64)
fn add_rounded(a: Sum, b: Sum) -> Sum {
    if all(a == NOTHING) {
        return first_sum(b);
    }
    let a_top = a.y & 0x7fffffffu;
    let b_top = b.y & 0x7fffffffu;
    let is_less = a_top < b_top || (a_top == b_top && a.x < b.x);
    let large = select(a, b, is_less);
    let small = select(b, a, is_less);
    let top = large.y & 0x7fffffffu;
    let low = small.y & 0x7fffffffu;
    if top >= 0x7ff00000u {
        let is_nan = top > 0x7ff00000u || large.x != 0u;
        let opposite = low == 0x7ff00000u && large.y != small.y;
        return select(large, vec2<u32>(0u, 0x7ff80000u), is_nan || opposite);
    }
    var exponent = max(top >> 20u, 1u);
    let apart = min(exponent - max(low >> 20u, 1u), 63u);
    let other = mantissa(small);
    let shifted = shift_right(other, apart);
    let lost = any(shift_left(shifted, apart) != other);
    let aligned = vec2<u32>(shifted.x | select(0u, 1u, lost), shifted.y);
    var bits = mantissa(large);
    if ((large.y ^ small.y) & 0x80000000u) == 0u {
        let sum = bits.x + aligned.x;
        bits = vec2<u32>(sum, bits.y + aligned.y + select(0u, 1u, sum < bits.x));
        if bits.y >= 0x1000000u {
            bits = vec2<u32>((bits.x >> 1u) | (bits.y << 31u) | (bits.x & 1u), bits.y >> 1u);
            exponent += 1u;
        }
    } else {
        let borrow = select(0u, 1u, bits.x < aligned.x);
        bits = vec2<u32>(bits.x - aligned.x, bits.y - aligned.y - borrow);
        if all(bits == vec2<u32>(0u)) {
            return bits;
        }
        let zeros = select(countLeadingZeros(bits.y), 32u + countLeadingZeros(bits.x), bits.y == 0u);
        let up = min(zeros - 8u, exponent - 1u);
        bits = shift_left(bits, up);
        exponent -= up;
    }
    let rest = bits.x & 7u;
    let round = select(0u, 1u, rest > 4u || (rest == 4u && (bits.x & 8u) != 0u));
    let kept = (bits.x >> 3u) | (bits.y << 29u);
    let magnitude_low = kept + round;
    let carry = select(0u, 1u, magnitude_low < round);
    let magnitude = ((exponent - 1u) << 20u) + (bits.y >> 3u) + carry;
    let sign = large.y & 0x80000000u;
    if magnitude >= 0x7ff00000u {
        return vec2<u32>(0u, sign | 0x7ff00000u);
    }
    return vec2<u32>(magnitude_low, sign | magnitude);
}

@if(float64)
fn mantissa(number: vec2<u32>) -> vec2<u32> {
    let magnitude = number.y & 0x7fffffffu;
    let high = (magnitude & 0xfffffu) | select(0u, 0x100000u, magnitude >= 0x100000u);
    return vec2<u32>(number.x << 3u, (high << 3u) | (number.x >> 29u));
}

// Shifts by 0 to 63 bits.
@if(float64)
fn shift_right(bits: vec2<u32>, by: u32) -> vec2<u32> {
    if by >= 32u {
        return vec2<u32>(bits.y >> (by - 32u), 0u);
    }
    // In two steps, since a shift by 32 would do nothing.
    return vec2<u32>((bits.x >> by) | ((bits.y << 1u) << (31u - by)), bits.y >> by);
}

@if(float64)
fn shift_left(bits: vec2<u32>, by: u32) -> vec2<u32> {
    if by >= 32u {
        return vec2<u32>(0u, bits.x << (by - 32u));
    }
    return vec2<u32>(bits.x << by, (bits.y << by) | ((bits.x >> 1u) >> (31u - by)));
}

// An element of 16 bits as a float of 32.
@if(float16)
fn widen(bits: u32) -> Sum {
    let sign = (bits & 0x8000u) << 16u;
    let magnitude = bits & 0x7fffu;
    if magnitude >= 0x7c00u {
        return sign | 0x7f800000u | (magnitude << 13u);
    }
    if magnitude >= 0x400u {
        return sign | ((magnitude << 13u) + (112u << 23u));
    }
    if magnitude == 0u {
        return sign;
    }
    let up = countLeadingZeros(magnitude) - 21u;
    return sign | ((113u - up) << 23u) | (((magnitude << up) & 0x3ffu) << 13u);
}

@if(float16)
fn narrow(sum: Sum) -> u32 {
    let sign = (sum >> 16u) & 0x8000u;
    let magnitude = sum & 0x7fffffffu;
    if magnitude > 0x7f800000u {
        return 0x7e00u;
    }
    if magnitude >= 113u << 23u {
        let normal = magnitude - (112u << 23u);
        return sign | min((normal + 0xfffu + ((normal >> 13u) & 1u)) >> 13u, 0x7c00u);
    }
    // A subnormal number, which has no hidden bit, is shifted out.
    let bits = (magnitude & 0x7fffffu) | 0x800000u;
    let down = min(126u - (magnitude >> 23u), 31u);
    let kept = bits >> down;
    let half = 1u << (down - 1u);
    let rest = bits - (kept << down);
    let round = rest > half || (rest == half && (kept & 1u) != 0u);
    return sign | (kept + select(0u, 1u, round));
}

@if(bfloat16)
fn widen(bits: u32) -> Sum {
    return bits << 16u;
}

@if(bfloat16)
fn narrow(sum: Sum) -> u32 {
    if (sum & 0x7fffffffu) > 0x7f800000u {
        return 0x7fc0u;
    }
    return (sum + 0x7fffu + ((sum >> 16u) & 1u)) >> 16u;
}
