// Numbers as elements of `f16` and `bf16`, which not every engine has arrays of.

/** Bits of the fraction, and the exponent of 1. */
const FORMATS = { f16: [10, 15], bf16: [7, 127] };

const view = new DataView(new ArrayBuffer(8));

/** The bits of numbers, rounded to the nearest element, and to the even one of two. */
export function halfBits(type, numbers) {
    const [digits, bias] = FORMATS[type];
    const infinity = (2 * bias + 1) << digits;
    return Uint16Array.from(numbers, (number) => {
        view.setFloat64(0, number);
        const high = view.getUint16(0);
        const sign = high & 0x8000;
        if (Number.isNaN(number)) return sign | infinity | (1 << (digits - 1));
        // Subnormal elements have the exponent of the least normal one.
        const exponent = Math.max(((high >> 4) & 0x7ff) - 1023, 1 - bias);
        if (exponent > bias) return sign | infinity;
        // In units of an element's last digit: exact, because it is a power of two.
        const scaled = Math.abs(number) * 2 ** (digits - exponent);
        const below = Math.floor(scaled);
        const rest = scaled - below;
        const isUp = rest > 0.5 || (rest === 0.5 && below % 2 === 1);
        return sign | (((exponent + bias - 1) << digits) + below + (isUp ? 1 : 0));
    });
}

/** The numbers that bits stand for. */
export function halfNumbers(type, bits) {
    const [digits, bias] = FORMATS[type];
    return Array.from(bits, (element) => {
        const exponent = (element & 0x7fff) >> digits;
        const fraction = element & ((1 << digits) - 1);
        const sign = element & 0x8000 ? -1 : 1;
        if (exponent > 2 * bias) return fraction ? NaN : sign * Infinity;
        const digit = 2 ** (Math.max(exponent, 1) - bias - digits);
        return sign * (fraction + (exponent ? 1 << digits : 0)) * digit;
    });
}
