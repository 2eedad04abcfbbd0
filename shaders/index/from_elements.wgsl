// The candidates are the elements of the source themselves.
fn positions_of(element: vec4<u32>, there: vec4<bool>) -> vec4<u32> {
    return select(vec4<u32>(NONE), element, there);
}
