// A key of 64 bits, the low word first as in memory. 0 is the identity of the maximum.
alias Key = vec2<u32>;
const KEY_LOWEST: Key = vec2<u32>(0u, 0u);

fn key_max(a: Key, b: Key) -> Key {
    return select(a, b, b.y > a.y || (b.y == a.y && b.x > a.x));
}

fn key_above(a: Key, b: Key) -> bool {
    return a.y > b.y || (a.y == b.y && a.x > b.x);
}

fn key_equal(a: Key, b: Key) -> bool {
    return a.x == b.x && a.y == b.y;
}
