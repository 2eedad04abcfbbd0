// Where the maxima are: of equal ones the first in the order of memory.
const NONE: u32 = 0xffffffffu;

// Four keys, and the positions in the source that they are at.
struct Found {
    keys: vec4<u32>,
    at: vec4<u32>,
}

struct One {
    key: u32,
    at: u32,
}

fn find(row: Row, across: Across, at: i32, beside: u32) -> Found {
    let inside = row.inside && u32(at) < across.count;
    let first = (row.at + u32(at) * across.pitch + beside) * BLOCK;
    let positions = vec4<u32>(first) + vec4<u32>(0u, 1u, 2u, 3u);
    return Found(along(row, across, at, beside), select(vec4<u32>(NONE), positions, inside));
}

fn ranks(keys: vec4<u32>) -> vec4<u32> {
    return vec4<u32>(rank_one(keys.x), rank_one(keys.y), rank_one(keys.z), rank_one(keys.w));
}

fn better(a: Found, b: Found) -> Found {
    let ra = ranks(a.keys);
    let rb = ranks(b.keys);
    let above = (rb > ra) | ((rb == ra) & (b.at < a.at));
    return Found(select(a.keys, b.keys, above), select(a.at, b.at, above));
}

fn better_one(a: One, b: One) -> One {
    let ra = rank_one(a.key);
    let rb = rank_one(b.key);
    let above = rb > ra || (rb == ra && b.at < a.at);
    return One(select(a.key, b.key, above), select(a.at, b.at, above));
}

fn one(found: Found, i: u32) -> One {
    return One(found.keys[i], found.at[i]);
}

fn together(a: One, b: One, c: One, d: One) -> Found {
    return Found(vec4<u32>(a.key, b.key, c.key, d.key), vec4<u32>(a.at, b.at, c.at, d.at));
}
