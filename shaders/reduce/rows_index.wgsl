// The maximum of each contiguous row, or of each of `splits` pieces of it, and where it is. Units
// and workgroups are as in reduce/rows. The CPU kernel is in src/reduce/index.rs.
//
// An invocation keeps the largest rank so far, and the block that has it; only of that block it
// looks at the elements one by one. So it does little more than without positions.
import package::common::block::{Acc, BLOCK, acc_add, acc_add_by, acc_add_some, acc_fold, acc_keys};
import package::common::element::kernel_ranking;
import package::common::invocation::{Invocation, group_number};
import package::common::key::{KEY_LOWEST, Key, key_above, key_equal, key_rank};
import package::common::source::{source_block, source_len};
import package::common::store::{PER_STORE, store_keys};
import package::reduce::positions::{NO_PLACE, store_position};
import generated::{WORKGROUP, params};

@group(0) @binding(2) var<storage, read_write> result: array<u32>;

var<workgroup> keys: array<Key, WORKGROUP>;
var<workgroup> places: array<u32, WORKGROUP>;

// The largest rank so far, and the block that has it.
struct Best {
    rank: Key,
    block: u32,
}

// An element: its key, and its place in the row, by which the smaller one counts.
struct Found {
    key: Key,
    place: u32,
}

fn note(best: Best, acc: Acc, block: u32) -> Best {
    let rank = key_rank(acc_fold(acc));
    // Of equal ones the first, or the last.
    let last = params.positions.mirror != 0u;
    let takes = select(key_above(rank, best.rank), !key_above(best.rank, rank), last);
    return Best(select(best.rank, rank, takes), select(best.block, block, takes));
}

fn unit_found(unit: u32, lane: u32) -> Found {
    let row = unit / params.splits;
    let skipped = (unit % params.splits) * params.chunk;
    let start = params.base + row * params.len + skipped;
    let end = start + min(params.chunk, params.len - skipped);

    // As in reduce/rows.
    let first = start / BLOCK;
    let last = min(end / BLOCK, source_len());
    let step = params.threads_per_row;
    let ranking = kernel_ranking();
    var block = first + lane;
    if block * BLOCK >= end {
        return Found(KEY_LOWEST, NO_PLACE);
    }
    let skip = select(0u, start % BLOCK, lane == 0u);
    let some = acc_add_some(Acc(), source_block(block), skip, min(BLOCK, end - block * BLOCK));
    var best = note(Best(KEY_LOWEST, block), some, block);
    block += step;
    while block + 3u * step < last {
        let w0 = source_block(block);
        let w1 = source_block(block + step);
        let w2 = source_block(block + 2u * step);
        let w3 = source_block(block + 3u * step);
        best = note(best, acc_add_by(Acc(), w0, ranking), block);
        best = note(best, acc_add_by(Acc(), w1, ranking), block + step);
        best = note(best, acc_add_by(Acc(), w2, ranking), block + 2u * step);
        best = note(best, acc_add_by(Acc(), w3, ranking), block + 3u * step);
        block += 4u * step;
    }
    while block * BLOCK < end {
        best = note(best, acc_add_some(Acc(), source_block(block), 0u, end - block * BLOCK), block);
        block += step;
    }

    let candidates = acc_keys(acc_add(Acc(), source_block(best.block)));
    var found = Found(KEY_LOWEST, NO_PLACE);
    for (var i = 0u; i < BLOCK; i++) {
        let element = best.block * BLOCK + i;
        let place = (element - start + skipped) ^ params.positions.mirror;
        let inside = element >= start && element < end;
        if inside && place < found.place && key_equal(key_rank(candidates[i]), best.rank) {
            found = Found(candidates[i], place);
        }
    }
    return found;
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    let group = group_number(at);
    let units = WORKGROUP / params.threads_per_row;
    let total = params.rows * params.splits;
    // As in reduce/rows.
    let skew = params.result_base % PER_STORE;
    let unit = group * units + at.local / params.threads_per_row - skew;
    let lane = at.local % params.threads_per_row;

    var found = Found(KEY_LOWEST, NO_PLACE);
    if unit < total {
        found = unit_found(unit, lane);
    }
    keys[at.local] = found.key;
    places[at.local] = found.place;
    workgroupBarrier();
    for (var step = params.threads_per_row / 2u; step > 0u; step /= 2u) {
        if lane < step {
            let mine = key_rank(keys[at.local]);
            let other = key_rank(keys[at.local + step]);
            let place = places[at.local + step];
            let first = key_equal(other, mine) && place < places[at.local];
            if key_above(other, mine) || first {
                keys[at.local] = keys[at.local + step];
                places[at.local] = place;
            }
        }
        workgroupBarrier();
    }

    if lane == 0u && unit < total {
        let row = unit / params.splits;
        let place = places[at.local] ^ params.positions.mirror;
        store_position(unit, row * params.len + place, place);
    }
    let word = group * (units / PER_STORE) + at.local;
    if at.local < units / PER_STORE && word * PER_STORE < total + skew {
        var stored: array<Key, PER_STORE>;
        for (var i = 0u; i < PER_STORE; i++) {
            stored[i] = keys[(at.local * PER_STORE + i) * params.threads_per_row];
        }
        let begin = select(0u, skew, word == 0u);
        let end = min(PER_STORE, total + skew - word * PER_STORE);
        store_keys(params.result_base / PER_STORE + word, stored, begin, end);
    }
}
