// The maximum of each contiguous row, or of each of some pieces of it, and with `positions` also
// its position. The CPU kernel is in src/reduce/rows.rs.
//
// A unit is one piece of one row. 2^`threads_log2` invocations share a unit, and the results of a
// workgroup's units fill whole words.
//
// With positions, an invocation keeps the largest rank so far and its block, and searches only the
// elements of that block. So it does little more than without positions.
import package::common::block::{Acc, BLOCK, acc_add_with, acc_add_some, acc_fold, acc_keys, acc_of};
import package::common::divide::quotient;
import package::common::element::kernel_ranking;
import package::common::invocation::{Invocation, group_number};
import package::common::key::{KEY_LOWEST, Key, key_above, key_equal, key_max};
@if(positions) import package::common::rank::key_rank;
import package::common::source::{source_block, source_len};
import package::common::store::{PER_STORE, store_keys};
import package::reduce::positions::{NO_PLACE, store_position};
import generated::{Ranking, WORKGROUP, params};

@group(0) @binding(2) var<storage, read_write> result: array<u32>;

var<workgroup> keys: array<Key, WORKGROUP>;
var<workgroup> places: array<u32, WORKGROUP>;

@if(!positions) alias Found = Key;

// The largest of some elements, and its place in the row. Among equal elements, the one with the
// smaller place wins.
@if(positions)
struct Found {
    key: Key,
    place: u32,
}

// The state after some blocks.
@if(!positions) alias State = Acc;

// The largest rank so far, and the block that has it.
@if(positions)
struct State {
    rank: Key,
    block: u32,
}

@if(!positions)
fn begin_with(block: u32) -> State {
    return Acc();
}

@if(positions)
fn begin_with(block: u32) -> State {
    return State(KEY_LOWEST, block);
}

// What decides between elements, in variables: drivers may fetch uniforms in a loop each time.
@if(!positions) alias Rules = Ranking;

@if(positions)
struct Rules {
    ranking: Ranking,
    // Whether the last of equal elements counts, not the first.
    last: bool,
}

@if(!positions)
fn rules() -> Rules {
    return kernel_ranking();
}

@if(positions)
fn rules() -> Rules {
    return Rules(kernel_ranking(), params.positions.tie_mask != 0u);
}

// Adds a block: `block` is its number in the source.
@if(!positions)
fn add(state: State, words: vec4<u32>, by: Rules, block: u32) -> State {
    return acc_add_with(state, words, by);
}

@if(positions)
fn add(state: State, words: vec4<u32>, by: Rules, block: u32) -> State {
    return note(state, acc_of(words, by.ranking), by, block);
}

// Adds the elements first <= i < end of a block.
@if(!positions)
fn add_some(state: State, words: vec4<u32>, by: Rules, block: u32, first: u32, end: u32) -> State {
    return acc_add_some(state, words, first, end);
}

@if(positions)
fn add_some(state: State, words: vec4<u32>, by: Rules, block: u32, first: u32, end: u32) -> State {
    return note(state, acc_add_some(Acc(), words, first, end), by, block);
}

// Adds the elements start <= i < end of the source that a block has.
fn add_end(state: State, by: Rules, block: u32, start: u32, end: u32) -> State {
    let words = source_block(block);
    let first = block * BLOCK;
    if first >= start && end - first >= BLOCK {
        return add(state, words, by, block);
    }
    return add_some(state, words, by, block, max(start, first) - first, min(BLOCK, end - first));
}

@if(positions)
fn note(best: State, acc: Acc, by: Rules, block: u32) -> State {
    let rank = key_rank(acc_fold(acc), by.ranking);
    let takes = select(key_above(rank, best.rank), !key_above(best.rank, rank), by.last);
    return State(select(best.rank, rank, takes), select(best.block, block, takes));
}

// The result of an invocation without elements.
@if(!positions)
fn nothing() -> Found {
    return KEY_LOWEST;
}

@if(positions)
fn nothing() -> Found {
    return Found(KEY_LOWEST, NO_PLACE);
}

// The largest element of a piece of a row, whose first element has the place `skipped`.
@if(!positions)
fn found_in(state: State, start: u32, end: u32, skipped: u32) -> Found {
    return acc_fold(state);
}

@if(positions)
fn found_in(best: State, start: u32, end: u32, skipped: u32) -> Found {
    var found = Found(KEY_LOWEST, NO_PLACE);
    let candidates = acc_keys(acc_of(source_block(best.block), kernel_ranking()));
    let by = rules();
    for (var i = 0u; i < BLOCK; i++) {
        let element = best.block * BLOCK + i;
        let place = (element - start + skipped) ^ params.positions.tie_mask;
        let inside = (element >= start) & (element < end);
        // The first of equal elements, or the last.
        let takes = inside & (by.last | (found.place == NO_PLACE))
            & key_equal(key_rank(candidates[i], by.ranking), best.rank);
        found = Found(
            select(found.key, candidates[i], takes),
            select(found.place, place, takes),
        );
    }
    return found;
}

fn unit_found(unit: u32, lane: u32) -> Found {
    let row = quotient(unit, params.by_splits);
    let skipped = (unit - row * params.by_splits.x) * params.chunk;
    let start = params.base + row * params.len + skipped;
    let end = start + min(params.chunk, params.len - skipped);

    // Only the blocks at the ends may be shared with neighbours. Between them are whole blocks, with
    // four loads in flight. An invocation with a single block takes it before the loops, so that all
    // blocks of a short row are loaded at once. Drivers fetch the descriptor of a source before a loop
    // only if the shader uses its length.
    let last = min(end / BLOCK, source_len());
    let step = 1u << params.threads_log2;
    let by = rules();
    var block = start / BLOCK + lane;
    if block * BLOCK >= end {
        return nothing();
    }
    var state = begin_with(block);
    if block * BLOCK < start || (block + step) * BLOCK >= end {
        state = add_end(state, by, block, start, end);
        block += step;
    }
    while block + 3u * step < last {
        let w0 = source_block(block);
        let w1 = source_block(block + step);
        let w2 = source_block(block + 2u * step);
        let w3 = source_block(block + 3u * step);
        state = add(state, w0, by, block);
        state = add(state, w1, by, block + step);
        state = add(state, w2, by, block + 2u * step);
        state = add(state, w3, by, block + 3u * step);
        block += 4u * step;
    }
    if block + step < last {
        let w0 = source_block(block);
        let w1 = source_block(block + step);
        state = add(state, w0, by, block);
        state = add(state, w1, by, block + step);
        block += 2u * step;
    }
    if block < last {
        state = add(state, source_block(block), by, block);
        block += step;
    }
    if block * BLOCK < end {
        state = add_end(state, by, block, start, end);
    }
    return found_in(state, start, end, skipped);
}

@if(!positions)
fn hold(local: u32, found: Found) {
    keys[local] = found;
}

@if(positions)
fn hold(local: u32, found: Found) {
    keys[local] = found.key;
    places[local] = found.place;
}

@if(!positions)
fn held(local: u32) -> Found {
    return keys[local];
}

@if(positions)
fn held(local: u32) -> Found {
    return Found(keys[local], places[local]);
}

@if(!positions)
fn merge(a: Found, b: Found) -> Found {
    return key_max(a, b);
}

@if(positions)
fn merge(a: Found, b: Found) -> Found {
    let ranking = kernel_ranking();
    let rank = key_rank(a.key, ranking);
    let other = key_rank(b.key, ranking);
    let takes = key_above(other, rank) | (key_equal(other, rank) & (b.place < a.place));
    return Found(select(a.key, b.key, takes), select(a.place, b.place, takes));
}

@if(!positions)
fn store_place(unit: u32, found: Found) {}

@if(positions)
fn store_place(unit: u32, found: Found) {
    let place = found.place ^ params.positions.tie_mask;
    store_position(unit, quotient(unit, params.by_splits) * params.len + place, place);
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    let group = group_number(at);
    let shift = params.threads_log2;
    let threads = 1u << shift;
    let units = WORKGROUP >> shift;
    let total = params.rows * params.by_splits.x;
    // The first word may begin with results of an earlier launch.
    let lead = params.result_base % PER_STORE;
    // Before the first unit this wraps around to a large number.
    let unit = group * units + (at.local >> shift) - lead;
    let lane = at.local & (threads - 1u);

    var found: Found;
    if unit < total {
        found = unit_found(unit, lane);
    }
    hold(at.local, found);
    workgroupBarrier();
    // Eight results become one, so that 256 invocations wait four times.
    for (var left = threads; left > 1u; left = max(left / 8u, 1u)) {
        let step = max(left / 8u, 1u);
        if lane < step {
            for (var other = lane + step; other < left; other += step) {
                found = merge(found, held(at.local - lane + other));
            }
            hold(at.local, found);
        }
        workgroupBarrier();
    }

    if lane == 0u && unit < total {
        store_place(unit, found);
    }
    let word = group * (units / PER_STORE) + at.local;
    if at.local < units / PER_STORE && word * PER_STORE < total + lead {
        var stored: array<Key, PER_STORE>;
        for (var i = 0u; i < PER_STORE; i++) {
            stored[i] = keys[(at.local * PER_STORE + i) << shift];
        }
        let begin = select(0u, lead, word == 0u);
        let end = min(PER_STORE, total + lead - word * PER_STORE);
        store_keys(params.result_base / PER_STORE + word, stored, begin, end);
    }
}
