// The maxima alone.
fn put(line: u32, targets: Targets, number: u32, keys: vec4<u32>) {
    put_keys(line, targets, number, keys);
}
