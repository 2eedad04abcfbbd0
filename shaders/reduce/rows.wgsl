// The maximum of each contiguous row, or of each of `splits` pieces of it.
//
// A unit is one piece of one row. `threads_per_row` invocations share a unit, and a workgroup
// holds WORKGROUP / threads_per_row units, whose results fill whole words. The CPU kernel is in
// src/reduce/rows.rs.
import package::common::block::{Acc, BLOCK, acc_add_by, acc_add_some, acc_fold};
import package::common::element::kernel_ranking;
import package::common::invocation::{Invocation, group_number};
import package::common::key::{KEY_LOWEST, Key, key_max};
import package::common::source::{source_block, source_len};
import package::common::store::{PER_STORE, store_keys};
import generated::{WORKGROUP, params};

@group(0) @binding(2) var<storage, read_write> result: array<u32>;

var<workgroup> keys: array<Key, WORKGROUP>;

fn unit_key(unit: u32, lane: u32) -> Key {
    let row = unit / params.splits;
    let skipped = (unit % params.splits) * params.chunk;
    let start = params.base + row * params.len + skipped;
    let end = start + min(params.chunk, params.len - skipped);

    // The blocks at the ends may be shared with neighbours: the first one is one of the blocks with
    // which invocations begin, the last one of those with which they end. Between them are whole
    // blocks, four loads in flight. Drivers fetch the descriptor of a source before a loop only
    // if its length is asked for.
    let first = start / BLOCK;
    let last = min(end / BLOCK, source_len());
    let step = params.threads_per_row;
    let ranking = kernel_ranking();
    var acc: Acc;
    var block = first + lane;
    if block * BLOCK < end {
        let skip = select(0u, start % BLOCK, lane == 0u);
        acc = acc_add_some(acc, source_block(block), skip, min(BLOCK, end - block * BLOCK));
        block += step;
    }
    while block + 3u * step < last {
        let w0 = source_block(block);
        let w1 = source_block(block + step);
        let w2 = source_block(block + 2u * step);
        let w3 = source_block(block + 3u * step);
        acc = acc_add_by(acc, w0, ranking);
        acc = acc_add_by(acc, w1, ranking);
        acc = acc_add_by(acc, w2, ranking);
        acc = acc_add_by(acc, w3, ranking);
        block += 4u * step;
    }
    while block * BLOCK < end {
        acc = acc_add_some(acc, source_block(block), 0u, end - block * BLOCK);
        block += step;
    }
    return acc_fold(acc);
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    let group = group_number(at);
    let units = WORKGROUP / params.threads_per_row;
    let total = params.rows * params.splits;
    // The first word may begin with results of an earlier launch.
    let skew = params.result_base % PER_STORE;
    // Before the first unit this wraps around to a large number.
    let unit = group * units + at.local / params.threads_per_row - skew;
    let lane = at.local % params.threads_per_row;

    var key = KEY_LOWEST;
    if unit < total {
        key = unit_key(unit, lane);
    }
    keys[at.local] = key;
    workgroupBarrier();
    for (var step = params.threads_per_row / 2u; step > 0u; step /= 2u) {
        if lane < step {
            keys[at.local] = key_max(keys[at.local], keys[at.local + step]);
        }
        workgroupBarrier();
    }

    let word = group * (units / PER_STORE) + at.local;
    if at.local < units / PER_STORE && word * PER_STORE < total + skew {
        var found: array<Key, PER_STORE>;
        for (var i = 0u; i < PER_STORE; i++) {
            found[i] = keys[(at.local * PER_STORE + i) * params.threads_per_row];
        }
        let begin = select(0u, skew, word == 0u);
        let end = min(PER_STORE, total + skew - word * PER_STORE);
        store_keys(params.result_base / PER_STORE + word, found, begin, end);
    }
}
