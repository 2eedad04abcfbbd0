// The maxima of segments of rows whose ids ascend. A workgroup goes through a chunk of rows, for some
// of their columns. A segment that begins and ends within the chunk is stored. The first and the last
// segment of a chunk may continue in others: they go to the carry list, two rows for each chunk with
// ids of their own, which a later launch reduces in the same way. So the time does not depend on the
// length of segments, and no workgroup waits for another.
//
// The invocations of a column share the chunk: each has a run of neighbouring rows. For the segment
// that a run begins with, a scan finds the maximum of the runs before it.
//
// This file is shared by all such kernels. How they read rows is in segment/tiles and segment/blocks.
// They declare `Held`, a maximum in workgroup memory, whose zero is that of no rows, and for it
// `merge_if`, which leaves out what is before unless a condition holds, `store_result` and
// `store_carry`. The CPU's version is src/segment/chunks.rs.
import package::common::divide::quotient;
import package::common::invocation::{Invocation, group_number};
import package::segment::ids::NO_SEGMENT;
import kernel::{Held, merge_if, store_carry, store_result};
import generated::{WORKGROUP, params};

@group(0) @binding(6) var<storage, read_write> carry_ids: array<u32>;

// The place of an invocation.
struct Place {
    local: u32,
    // Its column, in the row and in the workgroup.
    column: u32,
    lane: u32,
    run: u32,
    chunk: u32,
    // The rows of the chunk; none if there is no such chunk, column or run.
    begin: u32,
    end: u32,
}

// Some rows: the segment of the last one, or NO_SEGMENT, and the maximum of that segment.
struct Tail {
    segment: u32,
    held: Held,
}

// Runs whose tails one invocation joins by itself. It is odd so that invocations use different banks of
// the memory.
const SHARE: u32 = 9u;

// A column has several shares only if it has more runs than a share. Then all columns have at most so
// many.
const SHARES: u32 = WORKGROUP / 4u;

// The tail of each run, joined with those before it in its share. Then two tables of the shares' tails:
// steps of the scan read one and write the other.
var<workgroup> tail_segments: array<u32, WORKGROUP + 2u * SHARES>;
var<workgroup> tail_maxima: array<Held, WORKGROUP + 2u * SHARES>;

// The first segment of the chunk.
var<workgroup> first_segment: u32;

fn place_of(at: Invocation) -> Place {
    // Workgroups are numbered over [chunks, parts of a row].
    let group = group_number(at);
    let chunk = quotient(group, params.by_parts);
    let part = group - chunk * params.by_parts.x;
    let run = quotient(at.local, params.by_width);
    let lane = at.local - run * params.width;
    let column = part * params.width + lane;
    var begin = 0u;
    var end = 0u;
    if chunk < params.chunks && column < params.columns && run < params.runs {
        begin = chunk * params.chunk;
        end = min(begin + params.chunk, params.rows);
    }
    return Place(at.local, column, lane, run, chunk, begin, end);
}

fn no_rows() -> Tail {
    return Tail(NO_SEGMENT, Held());
}

// Rows, with more rows after them, and whether the last segment of the first ones is still the last.
struct Joined {
    tail: Tail,
    goes_on: bool,
}

// Out-of-range ids, and rows of the carry list without an id, do not separate segments.
fn join_rows(before: Tail, after: Tail) -> Joined {
    let segment = select(after.segment, before.segment, after.segment == NO_SEGMENT);
    let goes_on = segment == before.segment;
    return Joined(Tail(segment, merge_if(before.held, after.held, goes_on)), goes_on);
}

fn join(before: Tail, after: Tail) -> Tail {
    return join_rows(before, after).tail;
}

fn tail_at(at: u32) -> Tail {
    return Tail(tail_segments[at], tail_maxima[at]);
}

fn set_tail(at: u32, tail: Tail) {
    tail_segments[at] = tail.segment;
    tail_maxima[at] = tail.held;
}

// The shares of a column.
fn count_shares() -> u32 {
    return (params.runs + SHARE - 1u) / SHARE;
}

// Joins each run with all before it in the chunk: first within each share, then the shares. So few
// invocations work. Returns where the table of the shares' results begins.
fn scan(place: Place, own: Tail) -> u32 {
    set_tail(place.local, own);
    workgroupBarrier();
    let shares = count_shares();
    // The first runs of a column have a share each.
    let has_share = place.run < shares;
    var tail = no_rows();
    if has_share {
        let begin = place.run * SHARE;
        let end = min(begin + SHARE, params.runs);
        for (var run = begin; run < end; run++) {
            let at = run * params.width + place.lane;
            tail = join(tail, tail_at(at));
            set_tail(at, tail);
        }
    }
    var first = WORKGROUP;
    if shares > 1u {
        if has_share {
            set_tail(first + place.local, tail);
        }
        for (var apart = 1u; apart < shares; apart *= 2u) {
            workgroupBarrier();
            if has_share && place.run >= apart {
                tail = join(tail_at(first + place.local - apart * params.width), tail);
            }
            first = 2u * WORKGROUP + SHARES - first;
            if has_share {
                set_tail(first + place.local, tail);
            }
        }
    }
    workgroupBarrier();
    return first;
}

// The runs before an invocation's own, from the results of a scan.
fn tail_before(place: Place, first: u32) -> Tail {
    let share = place.run / SHARE;
    var tail = no_rows();
    if place.run >= params.runs {
        return tail;
    }
    if share > 0u {
        tail = tail_at(first + (share - 1u) * params.width + place.lane);
    }
    if place.run % SHARE > 0u {
        tail = join(tail, tail_at(place.local - params.width));
    }
    return tail;
}

// All runs of an invocation's column.
fn tail_of_all(place: Place, first: u32) -> Tail {
    let shares = count_shares();
    let of_runs = (params.runs - 1u) * params.width;
    let of_shares = first + (shares - 1u) * params.width;
    return tail_at(select(of_runs, of_shares, shares > 1u) + place.lane);
}

// A segment with nothing before it is the first one of the chunk.
fn note_first(place: Place, segment: u32) {
    if segment != NO_SEGMENT && place.lane == 0u {
        first_segment = segment;
    }
}

// Stores a segment that has ended.
fn store_ended(place: Place, ended: Tail) {
    if params.last == 0u && ended.segment == first_segment {
        store_carry(2u * place.chunk, place.column, ended.held);
    } else {
        store_result(ended.segment, place.column, ended.held);
    }
}

// Ends the chunk with its last segment. One invocation of each column does this.
fn end_chunk(place: Place, last: Tail) {
    let some = last.segment != NO_SEGMENT;
    if params.last == 1u {
        if some {
            store_result(last.segment, place.column, last.held);
        }
        return;
    }
    let single = !some || last.segment == first_segment;
    if some {
        store_carry(2u * place.chunk + select(1u, 0u, single), place.column, last.held);
    }
    // One invocation writes the ids for all columns.
    if place.column == 0u {
        let entry = params.carry_ids_base + 2u * place.chunk;
        var first = NO_SEGMENT;
        if some {
            first = first_segment;
        }
        carry_ids[entry] = first;
        carry_ids[entry + 1u] = select(last.segment, NO_SEGMENT, single);
    }
}
