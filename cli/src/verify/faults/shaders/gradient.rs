//! Faults in the kernel of gradients.

use super::{Mistake, ShaderFault};

const KERNELS: &[&str] = &["pool_gradient"];

/// In the order of the files in `shaders/`.
pub static FAULTS: &[ShaderFault] = &[
    ShaderFault {
        name: "last-window-of-an-element-is-lost",
        mistake: Mistake::Tail,
        kernels: KERNELS,
        find: "min(quotient(last, axis.by_stride) + 1u, axis.outputs)",
        replace: "min(quotient(last, axis.by_stride), axis.outputs)",
        report: None,
    },
    ShaderFault {
        name: "first-window-of-an-element-is-lost",
        mistake: Mistake::Tail,
        kernels: KERNELS,
        find: "let reached = max(last, axis.reach) - axis.reach;",
        replace: "let reached = max(last + 1u, axis.reach) - axis.reach;",
        report: None,
    },
    ShaderFault {
        name: "windows-without-elements-pass-gradients-on",
        mistake: Mistake::Padding,
        kernels: KERNELS,
        find: "found && (number >= inner || is_tap(i, j, k))",
        replace: "found",
        report: None,
    },
    ShaderFault {
        name: "gradients-base-is-left-out",
        mistake: Mistake::Offset,
        kernels: KERNELS,
        find: "gradient(params.gradient_base + window)",
        replace: "gradient(window)",
        report: None,
    },
    ShaderFault {
        name: "positions-base-is-left-out",
        mistake: Mistake::Offset,
        kernels: KERNELS,
        find: "indices[(params.index_base + window) * params.index_words]",
        replace: "indices[window * params.index_words]",
        report: None,
    },
    ShaderFault {
        name: "gradients-are-not-added",
        mistake: Mistake::LostElement,
        kernels: KERNELS,
        find: "sum = add(sum, gradient(",
        replace: "sum = add(NOTHING, gradient(",
        report: None,
    },
    ShaderFault {
        name: "sums-are-cut-off",
        mistake: Mistake::Tail,
        kernels: KERNELS,
        find: "let rest = bits & 7u;",
        replace: "let rest = 0u;",
        report: None,
    },
    ShaderFault {
        name: "ties-are-rounded-up",
        mistake: Mistake::Tail,
        kernels: KERNELS,
        find: "rest > 4u ||",
        replace: "rest >= 4u ||",
        report: None,
    },
    ShaderFault {
        name: "bits-beyond-the-sum-are-lost",
        mistake: Mistake::Carry,
        kernels: KERNELS,
        find: "select(0u, 1u, lost)",
        replace: "0u",
        report: None,
    },
    ShaderFault {
        name: "sums-of-subnormals-are-flushed",
        mistake: Mistake::SubnormalFlushed,
        kernels: KERNELS,
        find: "exponent - 1u);",
        replace: "exponent);",
        report: None,
    },
    ShaderFault {
        name: "infinities-of-both-signs-add-to-one",
        mistake: Mistake::NanFolded,
        kernels: KERNELS,
        find: "|| opposite",
        replace: "",
        report: None,
    },
    ShaderFault {
        name: "sum-of-equal-numbers-has-a-sign",
        mistake: Mistake::Sign,
        kernels: KERNELS,
        find: "return 0u;\n        }\n        let up",
        replace: "return large & 0x80000000u;\n        }\n        let up",
        report: None,
    },
];
