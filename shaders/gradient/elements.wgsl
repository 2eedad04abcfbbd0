// The gradients of windows, and their sums, in the layout of memory.
import kernel::{gradient_word, result};
@if(bits16) import package::gradient::sum::{Sum, widen};
@if(!bits16) import package::gradient::sum::Sum;

@if(bits16)
fn gradient(number: u32) -> Sum {
    return widen((gradient_word(number / 2u) >> ((number % 2u) * 16u)) & 0xffffu);
}

@if(bits32)
fn gradient(number: u32) -> Sum {
    return gradient_word(number);
}

@if(bits64)
fn gradient(number: u32) -> Sum {
    return vec2<u32>(gradient_word(number * 2u), gradient_word(number * 2u + 1u));
}

@if(bits32)
fn store_sum(element: u32, sum: Sum) {
    result[element] = sum;
}

@if(bits64)
fn store_sum(element: u32, sum: Sum) {
    result[element * 2u] = sum.x;
    result[element * 2u + 1u] = sum.y;
}
