// Copies contiguous elements to the places of a view. The memory between these places does not change.
// The CPU kernel is in src/plan/view.rs.
import package::common::block::{ELEMENT_BITS, PER_WORD};
import package::common::invocation::{Invocation, invocation_number};
import package::common::memory::memory_word;
import package::common::view::{ELEMENTS, memory_place};
import generated::{WORKGROUP, params, view};

@if(bits8 || bits16) @group(0) @binding(2) var<storage, read_write> result: array<atomic<u32>>;
@if(bits32 || bits64) @group(0) @binding(2) var<storage, read_write> result: array<u32>;

// Elements of an invocation: those of a word, or one of 64 bits.
@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    let word = invocation_number(at);
    if word < (view.len + PER_WORD - 1u) / PER_WORD {
        store(word);
    }
}

// Other elements of the word belong to other invocations, or to none.
@if(bits8 || bits16)
fn store(word: u32) {
    let bits = memory_word(params.base + word);
    let element = word * PER_WORD;
    if view.unit != ELEMENTS && element + PER_WORD <= view.len {
        atomicStore(&result[memory_place(element).at / PER_WORD], bits);
        return;
    }
    let mask = 0xffffffffu >> (32u - ELEMENT_BITS);
    for (var i = 0u; i < min(PER_WORD, view.len - element); i++) {
        let at = memory_place(element + i).at;
        let shift = (at % PER_WORD) * ELEMENT_BITS;
        let value = (bits >> (i * ELEMENT_BITS)) & mask;
        atomicAnd(&result[at / PER_WORD], ~(mask << shift));
        atomicOr(&result[at / PER_WORD], value << shift);
    }
}

@if(bits32)
fn store(word: u32) {
    result[memory_place(word).at] = memory_word(params.base + word);
}

@if(bits64)
fn store(word: u32) {
    let at = memory_place(word).at * 2u;
    result[at] = memory_word((params.base + word) * 2u);
    result[at + 1u] = memory_word((params.base + word) * 2u + 1u);
}
