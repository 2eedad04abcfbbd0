// Numbers as elements of `f16` and `bf16`, which not every engine has arrays of.

/** Bits of the fraction, and the exponent of 1. */
const FORMATS = { f16: format(10, 15), bf16: format(7, 127) };

function format(digits, bias) {
    // For each exponent of an element, its last digit. Subnormal elements have that of the least normal one.
    const digit = Float64Array.from({ length: 2 * bias + 1 }, (_, exponent) => 2 ** (Math.max(exponent, 1) - bias - digits));
    return { digits, bias, digit, infinity: (2 * bias + 1) << digits };
}

const view = new DataView(new ArrayBuffer(8));

/** The bits of numbers, rounded to the nearest element, and to the even one of two. */
export function halfBits(type, numbers) {
    const { digits, bias, digit, infinity } = FORMATS[type];
    const all = new Uint16Array(numbers.length);
    for (let i = 0; i < all.length; i++) {
        const number = Number(numbers[i]);
        view.setFloat64(0, number);
        const high = view.getUint16(0);
        const sign = high & 0x8000;
        const exponent = Math.max(((high >> 4) & 0x7ff) - 1023 + bias, 1);
        if (number !== number) {
            all[i] = sign | infinity | (1 << (digits - 1));
        } else if (exponent > 2 * bias) {
            all[i] = sign | infinity;
        } else {
            // Exact, because the last digit is a power of two.
            const scaled = Math.abs(number) / digit[exponent];
            const below = Math.floor(scaled);
            const rest = scaled - below;
            const isUp = rest > 0.5 || (rest === 0.5 && below % 2 === 1);
            all[i] = sign | (((exponent - 1) << digits) + below + (isUp ? 1 : 0));
        }
    }
    return all;
}

/** The numbers that bits stand for. */
export function halfNumbers(type, bits) {
    const { digits, bias, digit } = FORMATS[type];
    const all = new Array(bits.length);
    for (let i = 0; i < all.length; i++) {
        const exponent = (bits[i] & 0x7fff) >> digits;
        const fraction = bits[i] & ((1 << digits) - 1);
        const sign = bits[i] & 0x8000 ? -1 : 1;
        if (exponent > 2 * bias) all[i] = fraction ? NaN : sign * Infinity;
        else all[i] = sign * (fraction + (exponent ? 1 << digits : 0)) * digit[exponent];
    }
    return all;
}
