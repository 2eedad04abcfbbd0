//! Faults of compilers, drivers and other implementations of the operators, as changes of a text.

use crate::mutator::Mutant;

struct Known {
    name: &'static str,
    find: &'static str,
    replace: &'static str,
    /// The report of it.
    _report: &'static str,
}

const KNOWN: &[Known] = &[
    Known {
        name: "NaN is optimised away",
        find: "let nan = (bits & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u);",
        replace: "let nan = vec4<bool>(false);",
        _report: "https://github.com/GPUOpen-Drivers/llpc/pull/704",
    },
    Known {
        name: "subnormals are read as zero",
        find: "return rotated(words ^ flipped, ranking.nan_above);",
        replace: "let flushed = select(words, words & vec4<u32>(0x80000000u), (words & \
            vec4<u32>(0x7f800000u)) == vec4<u32>(0u));\n    return rotated(flushed ^ flipped, \
            ranking.nan_above);",
        _report: "https://github.com/gpuweb/gpuweb/issues/4149",
    },
    Known {
        name: "-0 is +0",
        find: "return rotated(words ^ flipped, ranking.nan_above);",
        replace: "let zero = words == vec4<u32>(0x80000000u);\n    let bits = select(words ^ flipped, \
            positive, zero);\n    return rotated(bits, ranking.nan_above);",
        _report: "https://github.com/WebKit/WebKit/pull/63326",
    },
    Known {
        name: "the lowest integer is one more",
        find: "return words ^ (SIGN_BITS ^ vec4<u32>(ranking.complement));",
        replace: "return max(words ^ (SIGN_BITS ^ vec4<u32>(ranking.complement)), vec4<u32>(1u));",
        _report: "https://github.com/tenstorrent/tt-metal/issues/44750",
    },
    Known {
        name: "unsigned words are compared as signed",
        find: "return Acc(max(a.w, b.w));",
        replace: "return Acc(vec4<u32>(max(vec4<i32>(a.w), vec4<i32>(b.w))));",
        _report: "https://github.com/shader-slang/slang/issues/4102",
    },
    Known {
        name: "a shift by the width of the word",
        find: "return select(vec4<u32>(0xffffffffu) << shift, vec4<u32>(0u), shift >= \
            vec4<u32>(32u));",
        replace: "return vec4<u32>(0xffffffffu) << (shift & vec4<u32>(31u));",
        _report: "https://github.com/HansKristian-Work/vkd3d-proton/pull/399",
    },
    Known {
        name: "a carry is lost",
        find: "let middle = (a >> 16u) * (b & 0xffffu) + (low >> 16u);",
        replace: "let middle = (a >> 16u) * (b & 0xffffu);",
        _report: "https://github.com/NVIDIA/cutlass/issues/3492",
    },
    Known {
        name: "a barrier is lost",
        find: "    hold(at.local, found);\n    workgroupBarrier();\n",
        replace: "    hold(at.local, found);\n",
        _report: "https://github.com/gfx-rs/wgpu/issues/3181",
    },
    Known {
        name: "the second dimension of the grid is left out",
        find: "return at.group.x + at.grid.x * (at.group.y + at.grid.y * at.group.z);",
        replace: "return at.group.x + at.grid.x * (at.grid.y * at.group.z);",
        _report: "https://github.com/microsoft/onnxruntime/pull/23637",
    },
    Known {
        name: "the last of equal elements wins",
        find: "let first = vector_equal(rank, state.best) & (at < state.at);",
        replace: "let first = vector_equal(rank, state.best) & (at > state.at);",
        _report: "https://github.com/pytorch/pytorch/issues/93630",
    },
    Known {
        name: "the atomic maximum is signed",
        find: "atomicMax(&items[item + params.word], word);",
        replace: "atomicMax(&items[item + params.word], u32(max(i32(word), 0)));",
        _report: "https://github.com/CHIP-SPV/chipStar/pull/1290",
    },
];

/// The faults.
pub fn mutants() -> Vec<Mutant> {
    let mutant = |known: &Known| Mutant {
        file: known.name.to_string(),
        declaration: known.find.to_string(),
        at: (0, known.find.len()),
        with: known.replace.to_string(),
        rule: "known",
    };
    KNOWN.iter().map(mutant).collect()
}
