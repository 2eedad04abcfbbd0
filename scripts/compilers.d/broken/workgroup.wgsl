// More invocations than WebGPU's default limits allow.
@compute @workgroup_size(512)
fn main() {}
