// A key of 32 bits or fewer. 0 is the identity of the maximum.
alias Key = u32;
const KEY_LOWEST: Key = 0u;

fn key_max(a: Key, b: Key) -> Key {
    return max(a, b);
}

fn key_above(a: Key, b: Key) -> bool {
    return a > b;
}

fn key_equal(a: Key, b: Key) -> bool {
    return a == b;
}
