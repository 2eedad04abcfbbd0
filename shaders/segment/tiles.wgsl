// Chunks of rows that go through workgroup memory, a tile after the other: neighbouring invocations
// read neighbouring elements, whatever part of them they look at afterwards, and store neighbouring
// results. segment/groups says what becomes of them.
//
// The kernels declare `RUN`, the rows of a tile that an invocation looks at, which is odd so that
// invocations use different banks of the memory, and `read_row`.
import package::common::divide::quotient;
import package::common::invocation::Invocation;
import package::segment::groups::{
    Place, Tail, end_chunk, join, no_rows, note_first, place_of, scan, store_ended, tail_before,
    tail_of_all
};
import package::segment::ids::{NO_SEGMENT, row_segment};
import package::segment::params::params;
import kernel::{Held, RUN, lowest, read_row};
import generated::WORKGROUP;

// The elements of a tile, and the segments of their rows; afterwards, what has ended where.
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
    if place.run == 0u && place.column < params.columns && place.begin < place.end {
        end_chunk(place, before);
    }
}

// Elements of a tile are numbered over [rows, columns of the workgroup].
fn row_of(element: u32) -> u32 {
    return quotient(element, params.by_width);
}

fn column_of(place: Place, element: u32) -> u32 {
    return place.column - place.lane + element - row_of(element) * params.width;
}

fn read_tile(place: Place, first: u32) {
    let rows = min(params.tile, place.end - min(first, place.end));
    for (var i = 0u; i < RUN; i++) {
        let element = i * WORKGROUP + place.local;
        let row = row_of(element);
        let column = column_of(place, element);
        segments[element] = NO_SEGMENT;
        if row < rows && column < params.columns {
            segments[element] = row_segment(first + row);
            maxima[element] = read_row(first + row, column);
        }
    }
}

fn element_of(place: Place, row: u32) -> u32 {
    return (place.run * RUN + row) * params.width + place.lane;
}

fn run_tail(place: Place) -> Tail {
    var tail = no_rows();
    if place.run < params.runs {
        for (var row = 0u; row < RUN; row++) {
            let element = element_of(place, row);
            tail = join(tail, Tail(segments[element], maxima[element]));
        }
    }
    return tail;
}

// Where a segment ended before a row, it takes the row's place in the tile.
fn end_segments(place: Place, before: Tail) {
    var tail = before;
    if place.run < params.runs {
        for (var row = 0u; row < RUN; row++) {
            let element = element_of(place, row);
            let next = join(tail, Tail(segments[element], maxima[element]));
            note_first(place, tail.segment, next.segment);
            segments[element] = select(tail.segment, NO_SEGMENT, tail.segment == next.segment);
            maxima[element] = tail.held;
            tail = next;
        }
    }
}

fn store_tile(place: Place) {
    for (var i = 0u; i < RUN; i++) {
        let element = i * WORKGROUP + place.local;
        if segments[element] != NO_SEGMENT {
            let ended = Tail(segments[element], maxima[element]);
            store_ended(place, column_of(place, element), ended);
        }
    }
}
