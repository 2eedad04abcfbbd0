//! The texts of the plain shaders.

use std::fmt::Write;

use super::Shape;

/// The maximum number of source blocks for a block of the result: each has a line of text.
const MAX_READS: u64 = 64;

const HEAD: &str = "
struct Params {
    // Blocks of the result, or of the source if there is no result.
    blocks: u32,
    // Distance between the first blocks of two workgroups.
    group: u32,
    // Distance between the first blocks of two invocations of a workgroup.
    local: u32,
    // An invocation's blocks end `end` times its number, plus `length`, after the first block of
    // its workgroup.
    end: u32,
    length: u32,
    // Distance between two blocks of an invocation.
    step: u32,
    // How many blocks of the result have one more source block.
    rest: u32,
    unused: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> result: array<vec4<u32>>;
";

const RANGE: &str = "
    let begin = group.x * params.group;
    var i = begin + local * params.local;
    let end = min(begin + local * params.end + params.length, params.blocks);
    let step = params.step;
";

fn main_text(workgroup: u32, body: &str) -> String {
    format!(
        "{HEAD}
@compute @workgroup_size({workgroup})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {{
{RANGE}{body}}}"
    )
}

/// Reads all blocks. It writes only if their maximum has an unlikely value, so that no compiler
/// removes the reads.
pub fn read(shape: Shape) -> String {
    let mut body = String::new();
    let unroll = shape.unroll;
    let each = |body: &mut String, text: &dyn Fn(u32) -> String| {
        (0..unroll).for_each(|k| body.push_str(&text(k)));
    };
    each(&mut body, &|k| format!("    var m{k} = vec4<u32>(0u);\n"));
    let _ =
        writeln!(body, "    for (; i + {}u * step < end; i += {unroll}u * step) {{", unroll - 1);
    each(&mut body, &|k| format!("        m{k} = max(m{k}, source[i + {k}u * step]);\n"));
    body.push_str(
        "    }\n    for (; i < end; i += step) {\n        m0 = max(m0, source[i]);\n    }\n",
    );
    (1..unroll).for_each(|k| body.push_str(&format!("    m0 = max(m0, m{k});\n")));
    body.push_str(
        "    if all(m0 == vec4<u32>(1u, 2u, 3u, 4u)) {\n        result[0] = m0;\n    }\n",
    );
    main_text(shape.workgroup, &body)
}

/// Each block of the result is the maximum of `reads` blocks of the source, whose distance is the
/// length of the result. With `rest`, the first blocks of the result have one more.
pub fn copy(shape: Shape, reads: u64, rest: bool) -> String {
    let mut body = String::new();
    let block = |body: &mut String, k: u32| {
        let at = format!("i + {k}u * step");
        let first = if reads == 0 { "vec4<u32>(0u)".into() } else { format!("source[{at}]") };
        let _ = writeln!(body, "        var m{k} = {first};");
        for j in 1..reads.min(MAX_READS) {
            let _ =
                writeln!(body, "        m{k} = max(m{k}, source[{at} + {j}u * params.blocks]);");
        }
        if rest {
            let _ = writeln!(
                body,
                "        if {at} < params.rest {{\n            m{k} = max(m{k}, source[{at} + {reads}u * params.blocks]);\n        }}"
            );
        }
    };
    let unroll = shape.unroll;
    let _ =
        writeln!(body, "    for (; i + {}u * step < end; i += {unroll}u * step) {{", unroll - 1);
    (0..unroll).for_each(|k| block(&mut body, k));
    (0..unroll).for_each(|k| body.push_str(&format!("        result[i + {k}u * step] = m{k};\n")));
    body.push_str("    }\n    for (; i < end; i += step) {\n");
    block(&mut body, 0);
    body.push_str("        result[i] = m0;\n    }\n");
    main_text(shape.workgroup, &body)
}
