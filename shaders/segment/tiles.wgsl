// Chunks of rows are loaded into workgroup memory one tile after the other: neighbouring
// invocations read neighbouring elements, whichever they process afterwards, and store neighbouring
// results. segment/groups says how results are combined.
//
// `RUN` is the number of rows of a tile that an invocation processes. It is odd so that invocations
// use different banks of the memory. Kernels declare `read_row`.
import package::common::invocation::Invocation;
import package::segment::groups::{
    Place, Tail, end_chunk, join, no_rows, note_first, place_of, scan, store_ended, tail_before,
    tail_of_all
};
import package::segment::ids::{NO_SEGMENT, narrow_segment, wide_segment};
import kernel::{Held, read_row};
import generated::{RUN, WORKGROUP, params};

// The elements of a tile, and the segments of their rows; afterwards, the segments that end.
var<workgroup> segments: array<u32, RUN * WORKGROUP>;
var<workgroup> maxima: array<Held, RUN * WORKGROUP>;

fn visit(at: Invocation) {
    let place = place_of(at);
    // All tiles so far.
    var before = no_rows();
    for (var tile = 0u; tile < params.tiles; tile++) {
        read_tile(place, place.begin + tile * params.tile);
        workgroupBarrier();
        var own = run_tail(place);
        if place.run == 0u {
            own = join(before, own);
        }
        let first = scan(place, own);
        if place.run > 0u {
            before = tail_before(place, first);
        }
        end_segments(place, before);
        before = tail_of_all(place, first);
        workgroupBarrier();
        store_tile(place);
    }
    if place.run == 0u && place.begin < place.end {
        end_chunk(place, before);
    }
}

// Elements of a tile are numbered over [rows, columns of the workgroup]. An invocation reads and
// stores elements of its column, at a distance of as many rows as there are runs.
fn shared_element(place: Place, i: u32) -> u32 {
    return i * params.runs * params.width + place.local;
}

fn shared_row(place: Place, i: u32) -> u32 {
    return i * params.runs + place.run;
}

// The elements of an invocation's own run.
fn own_element(place: Place, i: u32) -> u32 {
    return (place.run * RUN + i) * params.width + place.lane;
}

// Loads depend on no condition, so that all of them are in flight together.
fn read_tile(place: Place, first: u32) {
    if place.run >= params.runs {
        return;
    }
    let last_row = params.rows - 1u;
    let column = min(place.column, params.columns - 1u);
    for (var i = 0u; i < RUN; i++) {
        let row = min(first + shared_row(place, i), last_row);
        maxima[shared_element(place, i)] = read_row(row, column);
    }
    if params.id_words == 1u {
        for (var i = 0u; i < RUN; i++) {
            let row = first + shared_row(place, i);
            let segment = narrow_segment(min(row, last_row));
            segments[shared_element(place, i)] = select(NO_SEGMENT, segment, row < place.end);
        }
    } else {
        for (var i = 0u; i < RUN; i++) {
            let row = first + shared_row(place, i);
            let segment = wide_segment(min(row, last_row));
            segments[shared_element(place, i)] = select(NO_SEGMENT, segment, row < place.end);
        }
    }
}

fn run_tail(place: Place) -> Tail {
    var tail = no_rows();
    if place.run < params.runs {
        for (var i = 0u; i < RUN; i++) {
            let element = own_element(place, i);
            tail = join(tail, Tail(segments[element], maxima[element]));
        }
    }
    return tail;
}

// A segment that ended before a row takes the row's place in the tile.
fn end_segments(place: Place, before: Tail) {
    if place.run >= params.runs {
        return;
    }
    var tail = before;
    for (var i = 0u; i < RUN; i++) {
        let element = own_element(place, i);
        let next = join(tail, Tail(segments[element], maxima[element]));
        note_first(place, tail.segment, next.segment);
        segments[element] = select(tail.segment, NO_SEGMENT, tail.segment == next.segment);
        maxima[element] = tail.held;
        tail = next;
    }
}

fn store_tile(place: Place) {
    if place.run >= params.runs {
        return;
    }
    for (var i = 0u; i < RUN; i++) {
        let element = shared_element(place, i);
        if segments[element] != NO_SEGMENT {
            store_ended(place, Tail(segments[element], maxima[element]));
        }
    }
}
