// naga takes a barrier that some invocations may not reach; browsers do not.
@group(0) @binding(0) var<storage, read_write> result: array<u32>;

@compute @workgroup_size(64)
fn main() {
    if result[0] == 1u {
        workgroupBarrier();
    }
}
