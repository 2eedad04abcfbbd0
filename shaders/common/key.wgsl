// A key: an unsigned integer that orders as its element does. 0 is the identity of the maximum.

@if(!bits64) alias Key = u32;
@if(!bits64) const KEY_LOWEST: Key = 0u;

// Two words, the low one first as in memory.
@if(bits64) alias Key = vec2<u32>;
@if(bits64) const KEY_LOWEST: Key = vec2<u32>(0u, 0u);

@if(!bits64)
fn key_max(a: Key, b: Key) -> Key {
    return max(a, b);
}

@if(bits64)
fn key_max(a: Key, b: Key) -> Key {
    return select(a, b, key_above(b, a));
}

@if(!bits64)
fn key_above(a: Key, b: Key) -> bool {
    return a > b;
}

@if(bits64)
fn key_above(a: Key, b: Key) -> bool {
    return a.y > b.y || (a.y == b.y && a.x > b.x);
}

@if(!bits64)
fn key_equal(a: Key, b: Key) -> bool {
    return a == b;
}

@if(bits64)
fn key_equal(a: Key, b: Key) -> bool {
    return a.x == b.x && a.y == b.y;
}
