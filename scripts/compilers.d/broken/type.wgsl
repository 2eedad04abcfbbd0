@group(0) @binding(0) var<storage, read_write> result: array<u32>;

@compute @workgroup_size(64)
fn main() {
    result[0] = 1i;
}
