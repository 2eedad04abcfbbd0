// The maximum of each of many short rows: an invocation has neighbouring rows, so that it reads
// contiguous memory. Every row is whole blocks (16 bytes) and begins with one, and the results
// begin with a word. The CPU kernel is that of reduce/rows.
import package::common::block::{Acc, BLOCK, acc_add, acc_fold};
import package::common::invocation::{Invocation, invocation_number};
import package::common::key::Key;
import package::common::source::source_block;
import package::common::store::{PER_STORE, store_keys};
import package::reduce::rows::result;
import generated::{WORKGROUP, params};

fn row_key(row: u32) -> Key {
    let blocks = params.len / BLOCK;
    var block = params.base / BLOCK + row * blocks;
    // Blocks beyond the row are clamped and read again, which changes no maximum.
    let last = block + blocks - 1u;
    var acc = Acc();
    loop {
        let w0 = source_block(block);
        let w1 = source_block(min(block + 1u, last));
        let w2 = source_block(min(block + 2u, last));
        let w3 = source_block(min(block + 3u, last));
        acc = acc_add(acc_add(acc_add(acc_add(acc, w0), w1), w2), w3);
        block += 4u;

        // Tested at the end: software adapters run a loop's body once more after the last
        // invocation has left it.
        continuing {
            break if block > last;
        }
    }
    return acc_fold(acc);
}

@compute @workgroup_size(WORKGROUP)
fn main(at: Invocation) {
    let first = invocation_number(at) * params.chunk;
    let end = min(first + params.chunk, params.rows);
    for (var row = first; row < end; row += PER_STORE) {
        var found: array<Key, PER_STORE>;
        for (var i = 0u; i < PER_STORE; i++) {
            found[i] = row_key(min(row + i, end - 1u));
        }
        let word = (params.result_base + row) / PER_STORE;
        store_keys(word, found, 0u, min(PER_STORE, end - row));
    }
}
