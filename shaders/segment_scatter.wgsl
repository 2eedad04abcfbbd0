// The maxima of segments of rows in any order: an invocation walks down a run of
// rows and keeps what neighbours of one id have together; then the items, which
// all share, take the maximum. Keys of several words need a launch for each: what
// a launch finds are the maxima of a word among the rows that have the maxima of
// the words before it. The last word can be the complement of the row.
@group(0) @binding(2) var<storage, read_write> items: array<atomic<u32>>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let group = id.x + grid.x * (id.y + grid.y * id.z);
    let number = group * WORKGROUP + local;
    let run = quotient(number, params.by_columns);
    if run >= params.runs {
        return;
    }
    let column = number - run * params.columns;
    let begin = run * params.run;
    let end = min(begin + params.run, params.rows);

    var best = 0u;
    var some = false;
    var current = row_id(begin);
    for (var row = begin; row < end; row++) {
        let next = row_id(row);
        if next != current {
            give(current, column, best, some);
            best = 0u;
            some = false;
            current = next;
        }
        if next != NONE {
            let key = candidate_key(load_one(params.base + row * params.inner + column));
            if has_words(key, item_of(next, column)) {
                best = max(best, word_of(key, params.first_row + row));
                some = true;
            }
        }
    }
    give(current, column, best, some);
}

fn item_of(id: u32, column: u32) -> u32 {
    return (params.result_base + id * params.inner + column) * params.item_words;
}

fn give(id: u32, column: u32, word: u32, some: bool) {
    if some {
        let item = item_of(id, column);
        atomicMax(&items[item + params.word], word);
        if MARKS && params.word == 0u {
            atomicMax(&items[item + params.item_words - 1u], 1u);
        }
    }
}
