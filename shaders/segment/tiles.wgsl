// Chunks of rows are loaded into workgroup memory one tile after the other: neighbouring
// invocations read neighbouring elements, whichever they process afterwards, and store neighbouring
// results. segment/groups says how results are combined.
//
// `RUN` is the number of rows of a tile that an invocation processes. It is odd so that invocations
// use different banks of the memory. Kernels declare `read_from`, which reads an element of a row, given
// that of row 0, and `held_if`: a maximum if a condition holds, otherwise that of no rows.
import package::common::invocation::Invocation;
import package::segment::groups::{
    Place, Tail, end_chunk, join, join_rows, no_rows, note_first, place_of, scan, store_ended,
    tail_before, tail_of_all
};
import package::segment::ids::{NO_SEGMENT, Segment, narrow_segment, number_of, wide_segment};
import kernel::{Held, held_if, read_from};
import generated::{RUN, WORKGROUP, params};

// The elements of a tile, and the segments of their rows; afterwards, the segments that end.
var<workgroup> segments: array<u32, RUN * WORKGROUP>;
var<workgroup> maxima: array<Held, RUN * WORKGROUP>;

// A run's last segment, and the element with which that segment begins; NO_SEGMENT if there is none.
struct Run {
    tail: Tail,
    begin: u32,
}

fn visit(at: Invocation) {
    let place = place_of(at);
    // All tiles so far.
    var before = no_rows();
    for (var tile = 0u; tile < params.tiles; tile++) {
        read_tile(place, place.begin + tile * params.tile);
        workgroupBarrier();
        let run = read_run(place);
        var own = run.tail;
        if place.run == 0u {
            own = join(before, own);
        }
        let first = scan(place, own);
        if place.run > 0u {
            before = tail_before(place, first);
        }
        end_segments(place, before, run);
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
    return i * (params.runs * params.width) + place.local;
}

// The first element of an invocation's own run. The others are `params.width` apart.
fn own_element(place: Place) -> u32 {
    return place.run * (RUN * params.width) + place.lane;
}

// Loads depend on no condition, so that all of them are in flight together. Rows past the end repeat
// the last one, which changes no maximum.
fn read_tile(place: Place, first: u32) {
    if place.run >= params.runs {
        return;
    }
    let row = first + place.run;
    let last = max(place.end, 1u) - 1u;
    // The column's element of row 0.
    let element = params.base + min(place.column, params.columns - 1u);
    if params.id_words == 1u {
        for (var i = 0u; i < RUN; i++) {
            let at = min(row + i * params.runs, last);
            set_row(shared_element(place, i), narrow_segment(at), read_from(element, at));
        }
    } else {
        for (var i = 0u; i < RUN; i++) {
            let at = min(row + i * params.runs, last);
            set_row(shared_element(place, i), wide_segment(at), read_from(element, at));
        }
    }
}

fn set_row(element: u32, segment: Segment, held: Held) {
    segments[element] = number_of(segment);
    maxima[element] = held_if(held, segment.exists);
}

fn read_run(place: Place) -> Run {
    var run = Run(no_rows(), NO_SEGMENT);
    if place.run < params.runs {
        var element = own_element(place);
        for (var i = 0u; i < RUN; i++) {
            let next = join_rows(run.tail, Tail(segments[element], maxima[element]));
            run = Run(next.tail, select(element, run.begin, next.goes_on));
            element += params.width;
        }
    }
    return run;
}

// A segment that ended before a row takes the row's place in the tile.
fn end_segments(place: Place, before: Tail, run: Run) {
    if place.run >= params.runs {
        return;
    }
    let first = own_element(place);
    if before.segment == NO_SEGMENT {
        note_first(place, segment_from(first));
    }
    if run.begin == first {
        // One segment has all rows.
        end_before(first, before, before.segment == run.tail.segment);
        for (var i = 1u; i < RUN; i++) {
            segments[first + i * params.width] = NO_SEGMENT;
        }
        return;
    }
    var tail = before;
    var element = first;
    for (var i = 0u; i < RUN; i++) {
        let next = join_rows(tail, Tail(segments[element], maxima[element]));
        end_before(element, tail, next.goes_on);
        tail = next.tail;
        element += params.width;
    }
}

// The segment of the first row of a run that has one.
fn segment_from(first: u32) -> u32 {
    var segment = NO_SEGMENT;
    for (var i = 0u; i < RUN; i++) {
        let next = segments[first + i * params.width];
        segment = select(segment, next, segment == NO_SEGMENT);
    }
    return segment;
}

fn end_before(element: u32, tail: Tail, goes_on: bool) {
    segments[element] = select(tail.segment, NO_SEGMENT, goes_on);
    maxima[element] = tail.held;
}

fn store_tile(place: Place) {
    if place.begin >= place.end {
        return;
    }
    for (var i = 0u; i < RUN; i++) {
        let element = shared_element(place, i);
        let segment = segments[element];
        if segment != NO_SEGMENT {
            store_ended(place, Tail(segment, maxima[element]));
        }
    }
}
