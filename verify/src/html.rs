//! The report as a single HTML page without references.
use maud::{DOCTYPE, Markup, PreEscaped, html};
use wgmax::{Comparison, DeviceBackend, DeviceInfo};

use crate::Kind;
use crate::finding::Finding;
use crate::heat::Heat;
use crate::judge::Difference;
use crate::memory::Memory;
use crate::report::{NO_ADAPTER, Report, VERSION};
use crate::score::{Cell, Score};
use crate::subject::Subject;
use crate::text::{count, list, size};

const STYLE: &str = include_str!("style.css");

/// The content of this page, and what else is known.
const PROVEN: &str = "This page compares devices with the definitions or with the CPU, on the \
    random cases below. wgmax-lab prove interprets the shaders of plans on the host. It shows, for \
    all inputs of these plans, which elements each maximum is taken from, which position is \
    stored, and which values each gradient sums. It assumes that the driver’s compiler is right; \
    this page tests that.";

/// The page.
pub fn page(report: &Report) -> String {
    let verdict = report.verdict();
    let title = match verdict {
        Some(true) => "wgmax verify: all equal",
        Some(false) => "wgmax verify: differences",
        None => "wgmax verify: stopped",
    };
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { "wgmax verify" }
                p.soft {
                    "ReduceMax, MaxPool and SegmentMax on this machine’s devices, "
                    "compared bit for bit on random cases."
                }
                p.verdict.bad[verdict == Some(false)] { (report.summary()) }
                p.soft { (PROVEN) }
                dl {
                    dt { "Command" } dd { code { (report.command) } }
                    dt { "Seed" } dd { (report.sweep.choice.seed) }
                    dt { "Version" } dd { "wgmax " (VERSION) }
                    dt { "System" } dd { (report.system) }
                }
                @for reason in &report.refused {
                    p.bad { "Not opened: " (reason) }
                }
                @if report.lacks_adapters() {
                    p { (NO_ADAPTER) }
                }
                (overview(report))
                @for (subject, score) in report.subjects() {
                    (self::subject(report, subject, score))
                }
                (memory_over_time(&report.sweep.memory))
            }
        }
    };
    page.into_string()
}

fn overview(report: &Report) -> Markup {
    html! {
        table.overview {
            thead { tr { th { "device" } th { "compared with" } th { "found" } } }
            tbody {
                @for (subject, score) in report.subjects() {
                    tr {
                        td { (subject.name) }
                        td { (subject.against) }
                        td.good[score.is_good()].bad[!score.is_good()] { (score.line()) }
                    }
                }
            }
        }
    }
}

fn subject(report: &Report, subject: &Subject, score: &Score) -> Markup {
    html! {
        h2 { (subject.name) }
        (device(subject.info(), &report.tuning_of(subject)))
        p { "Cases compared with " (subject.against) ":" }
        (matrix(score))
        p { "Cases that launched a kernel, by the element type of their data:" }
        (launched(score))
        @if let Some(line) = score.unreached() { p { (line) } }
        @for (reason, index) in &score.failures {
            p.bad { "Error, first at case " (index) ": " (reason) }
        }
        @if let Some((index, _)) = &score.given_up {
            p.bad { "No more cases after case " (index) "." }
        }
        @for finding in &score.findings { (self::finding(report, subject, finding)) }
    }
}

fn device(info: &DeviceInfo, tuning: &str) -> Markup {
    let limits = &info.limits;
    html! {
        dl {
            @if info.backend == DeviceBackend::Cpu {
                dt { "Kind" } dd { (info.name) }
            } @else {
                @if !info.driver.is_empty() { dt { "Driver" } dd { (info.driver) } }
                dt { "Kind" } dd { (info.kind) ", through " (info.backend) }
                dt { "Limits" }
                dd {
                    "workgroups of " (limits.workgroup_size) " invocations, "
                    (count(limits.max_workgroups_per_dimension)) " in each dimension, bindings of "
                    (size(limits.max_binding_size)) ", buffers of " (size(limits.max_buffer_size))
                    ", offsets that are multiples of " (limits.alignment) " bytes, "
                    (limits.max_storage_buffers) " storage buffers"
                }
            }
            dt { "Tuning" } dd { (tuning) }
        }
    }
}

/// A table of a class, with names in the first row and column.
fn table(
    class: Option<&str>,
    columns: &[&str],
    rows: impl Iterator<Item = (&'static str, Vec<Markup>)>,
) -> Markup {
    html! {
        div.wide {
            table class=[class] {
                thead { tr { @for name in columns { th { (name) } } } }
                tbody {
                    @for (name, cells) in rows {
                        tr { th { (name) } @for cell in cells { (cell) } }
                    }
                }
            }
        }
    }
}

fn matrix(score: &Score) -> Markup {
    let columns = [&["type"][..], &Kind::ALL.map(Kind::name)].concat();
    let cells = |t| Kind::ALL.map(|kind| cell(score.cells.get(&(kind, t)))).to_vec();
    table(Some("matrix"), &columns, score.types().into_iter().map(|t| (t.name(), cells(t))))
}

/// Kernels by element types.
fn launched(score: &Score) -> Markup {
    let types = score.types();
    let columns: Vec<&str> = ["kernel"].into_iter().chain(types.iter().map(|t| t.name())).collect();
    let count = |kernel, t| match score.launched.get(&(kernel, t)) {
        Some(cases) => html! { td { (cases) } },
        None => html! { td.none { "–" } },
    };
    let counts = |kernel| types.iter().map(|&t| count(kernel, t)).collect();
    table(None, &columns, score.kernels().into_iter().map(|kernel| (kernel, counts(kernel))))
}

fn cell(cell: Option<&Cell>) -> Markup {
    let Some(cell) = cell else { return html! { td.none { "–" } } };
    let bad = cell.mismatches + cell.failures > 0;
    html! {
        td.bad[bad] {
            (cell.cases)
            @if cell.mismatches > 0 { small { (cell.mismatches) " differ" } }
            @if cell.failures > 0 { small { (cell.failures) " in error" } }
        }
    }
}

fn finding(report: &Report, subject: &Subject, finding: &Finding) -> Markup {
    let small = &finding.small;
    html! {
        section.finding {
            h3 { (finding.title()) }
            @if !finding.again {
                p.bad { "It was right when it was run again: the results below were seen once." }
            }
            pre { (report.again(subject, finding)) }
            @for line in finding.sentences(subject) {
                p { (line) }
            }
            dl {
                dt { "Smallest case" } dd.values { (small.case) }
                @for (number, input) in small.case.tensors.iter().enumerate() {
                    dt { "Input " (number) } dd.values { (list(input)) }
                }
                dt { "As found" } dd.values { (finding.found.case) }
            }
            @for (result, comparison) in small.results() {
                p { strong { (small.name(result)) } " of the smallest case:" }
                @match comparison {
                    Some(comparison) => (differing(&comparison)),
                    None => p { "Type or shape not as expected." },
                }
            }
            div.pictures {
                (pictures(small, "Smallest case"))
                (pictures(&finding.found, "As found"))
            }
        }
    }
}

/// The first elements that differ.
fn differing(comparison: &Comparison) -> Markup {
    let digits = 2 * comparison.element_type.size();
    html! {
        div.wide {
            table {
                thead {
                    tr {
                        th { "at" } th { "expected" } th { "actual" }
                        th { "expected bits" } th { "actual bits" }
                    }
                }
                tbody {
                    @for m in &comparison.first {
                        tr {
                            td { (format!("{:?}", m.coordinates)) }
                            td { (m.b) } td.bad { (m.a) }
                            td.bits { (format!("0x{:0digits$x}", m.b_bits)) }
                            td.bits { (format!("0x{:0digits$x}", m.a_bits)) }
                        }
                    }
                }
            }
        }
        @if comparison.differing > comparison.first.len() {
            p.soft { "and " (comparison.differing - comparison.first.len()) " more" }
        }
    }
}

/// A picture of each result that differs.
fn pictures(difference: &Difference, what: &str) -> Markup {
    let heats = difference.results().into_iter().filter_map(|(result, _)| {
        let heat = Heat::new(&difference.actual[result], &difference.expected[result])?;
        Some((difference.name(result), heat))
    });
    html! {
        @for (name, heat) in heats {
            figure {
                (heat.picture())
                figcaption { (what) ", " (name) ": " (heat.caption()) "." }
            }
        }
    }
}

/// Resident memory over time, from 0 to its maximum.
fn memory_over_time(sampled: &Memory) -> Markup {
    let (Some(growth), Some(&(end, _))) = (sampled.growth(), sampled.samples().last()) else {
        return html! {};
    };
    let max = sampled.samples().iter().map(|&(_, bytes)| bytes).max().unwrap_or(0).max(1) as f64;
    let seconds = end.as_secs_f64().max(1e-9);
    let point = |at: f64, bytes: u64| {
        let (x, y) = (440.0 * at / seconds, 110.0 - 100.0 * bytes as f64 / max);
        format!("{:.1} {y:.1}", x + 1.0)
    };
    let points: Vec<String> =
        (sampled.samples().iter()).map(|(at, bytes)| point(at.as_secs_f64(), *bytes)).collect();
    html! {
        h2 { "Memory" }
        p { (growth.sentence()) }
        svg.memory viewBox="0 0 520 130" role="img" aria-label="Resident memory over time" {
            line x1="0" y1="110" x2="442" y2="110";
            line x1="0" y1="10" x2="442" y2="10";
            path d=(format!("M{}", points.join("L")));
            text x="448" y="14" { (format!("{:.0} MiB", max / f64::from(1 << 20))) }
            text x="448" y="114" { "0" }
            text x="0" y="126" { "0 s" }
            text x="442" y="126" text-anchor="end" { (format!("{seconds:.0} s")) }
        }
    }
}
