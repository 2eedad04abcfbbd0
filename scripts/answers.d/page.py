"""The page: a table of counts, then each case in which answers differ."""

import html

import specs
from cases import TOPICS

ENOUGH = 12  # elements of an answer that the page shows
END = {"python": "; print(y)", "js": " console.log(await y.data());", "rust": ' println!("{y:?}");'}
OPERATOR = {"reduce": "maximum", "arg": "position of the maximum", "pool": "windows", "where": "positions in windows", "segment": "segments"}
SIGN = {"agrees": "✓", "differs": "≠", "open": "·", "refuses": "–"}
STYLE = """
:root { color-scheme: light dark; --text: #1c2024; --soft: #5b6470; --line: #d8dde3; --back: #fff; --head: #f3f5f7;
  --agrees: #d9f2e1; --some: #fdf0cf; --differs: #fbdcd9; --open: #e8ebef; }
@media (prefers-color-scheme: dark) { :root { --text: #e4e7eb; --soft: #a0a8b3; --line: #353b43; --back: #15181c; --head: #1f2429;
  --agrees: #173d27; --some: #453812; --differs: #4d211e; --open: #2a3037; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); max-width: 72rem; margin: 0 auto; padding: 1rem; }
h2 { margin-top: 3rem; border-bottom: 1px solid var(--line); } h3 { margin: 2rem 0 .3rem; font-size: 1rem; }
p, li { max-width: 50rem; } small, .soft { color: var(--soft); } a { color: inherit; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { border: 1px solid var(--line); padding: .3rem .5rem; text-align: left; vertical-align: top; font-weight: normal; }
th { background: var(--head); } .counts th:first-child { position: sticky; left: 0; min-width: 6.5rem; font-weight: 600; }
.counts td { min-width: 4.6rem; font-variant-numeric: tabular-nums; } .counts small { display: block; font-size: .75rem; line-height: 1.35; white-space: nowrap; }
.agrees { background: var(--agrees); } .some { background: var(--some); } .differs { background: var(--differs); } .open, .refuses { background: var(--open); }
.who { display: inline-block; border-radius: .3rem; padding: 0 .4rem; margin: .1rem .2rem .1rem 0; }
code, pre { font: 13px/1.45 ui-monospace, monospace; } code { overflow-wrap: anywhere; }
pre { background: var(--head); padding: .6rem; overflow-x: auto; margin: .3rem 0 .8rem; } details { margin: .4rem 0; } summary { cursor: pointer; }
.case { table-layout: fixed; } .case th:first-child { width: 28%; } .case th:nth-child(2) { width: 24%; } .case td { overflow-wrap: anywhere; }
@media (max-width: 40rem) { body { font-size: 15px; } }
"""
text = html.escape


def shown(lines, language):
    return [*lines[:-1], lines[-1] + END[language]]


def line_of(values, case, shape=None, type=None):
    some = ", ".join(values[:ENOUGH]) + (f", … ({len(values)} elements)" if len(values) > ENOUGH else "")
    some = some if len(values) == 1 else f"[{some}]"
    odd = f" of shape {shape}" if shape is not None else ""
    return (f"{type} " if type and type != case["type"] and case["operator"] not in ("arg", "where") else "") + some + odd


def key(found, case, shapes):
    """An answer as the table of a case names it."""
    if found == "undefined" or found == "an error":
        return found
    if found.get("none"):
        return "absent"
    if "crash" in found:
        return "the process ends or hangs"
    if "varies" in found:
        return "another answer each time"
    if "error" in found:
        return "an error"
    return line_of(found["values"], case, found["shape"] if len(shapes) > 1 else None, found.get("type"))


def input_of(case):
    shape = "" if len(case["shape"]) == 1 and case["shape"] != [0] else f" of shape {case['shape']}"
    hidden = ("ceil", "auto", "id_type") + (() if case["operator"] in ("pool", "where") else ("kernel",))
    plain = {"strides": {1}, "dilations": {1}, "pads": {0}}
    parts = [f"{k} {v}" for k, v in case["attributes"].items() if k not in hidden and not (k in plain and set(v) <= plain[k])]
    parts += [w for w, on in (("ceil", case["attributes"].get("ceil")), (case["attributes"].get("auto"), case["attributes"].get("auto"))) if on]
    return line_of(case["input"], case) + shape, ", ".join(parts)


def differ(case):
    """Whether libraries give different answers."""
    if any(a["verdict"] == "differs" for a in case["answers"].values()):
        return True
    return len({key(a, case, ()) for a in case["answers"].values() if a["verdict"] not in ("none", "refuses")}) > 1


def article(case, report):
    answers = case["answers"]
    asked = {report["libraries"][n]["specification"] for n, a in answers.items() if a["verdict"] != "none"}
    given = {name: spec for name, spec in case["specifications"].items() if name in asked}
    shapes = {tuple(s for s in a["shape"] if s != 1) for a in answers.values() if "shape" in a}
    rows = {}
    for name, spec in given.items():
        rows.setdefault(key(spec["answer"], case, shapes), ([], []))[0].append(name)
    for name, found in answers.items():
        if found["verdict"] != "none":
            rows.setdefault(key(found, case, shapes), ([], []))[1].append(name)
    short = lambda name: report["specifications"][name].split(" (")[0].split("'s ")[0].removesuffix(" reference")
    lines = []
    for answer, (by, gave) in sorted(rows.items(), key=lambda row: row[0] == "undefined"):
        who = " ".join(f'<span class="who {answers[n]["verdict"]}">{SIGN[answers[n]["verdict"]]} {text(n)}</span>' for n in gave)
        lines.append(f"<tr><td><code>{text(answer)}</code></td><td>{text(', '.join(map(short, by)))}</td><td>{who}</td></tr>")
    clauses = {c: None for spec in given.values() for c in spec["clauses"]}
    still_open = {o: None for spec in given.values() for o in spec["open"]}
    notes = "".join(f"<li>{text(c)}.</li>" for c in clauses)
    notes += "".join(f"<li>Not every specification defines {text(o)}.</li>" for o in still_open)
    messages = "".join(f"<li>{text(n)}: <code>{text(a.get('error') or a['crash'])}</code></li>" for n, a in answers.items() if "error" in a or "crash" in a)
    pre = "".join(f"<p>{text(n)} {report['libraries'][n]['version']}</p><pre>{text(chr(10).join(a['reproducer']))}</pre>"
                  for n, a in answers.items() if "reproducer" in a)
    what, attributes = input_of(case)
    return (f'<article id="{case["id"]}"><h3>{text(case["what"])} <small><a href="#{case["id"]}">{case["id"]}</a></small></h3>'
            f"<p>{OPERATOR[case['operator']]} of {case['type']} <code>{text(what)}</code>{'; ' + text(attributes) if attributes else ''}</p>"
            f'<table class="case"><tr><th>answer</th><th>specified by</th><th>given by</th></tr>{"".join(lines)}</table>'
            + (f"<details><summary>clauses</summary><ul>{notes}</ul></details>" if notes else "")
            + (f"<details><summary>messages</summary><ul>{messages}</ul></details>" if messages else "")
            + (f"<details><summary>reproducers</summary>{pre}</details>" if pre else "") + "</article>")


def counts(report, name, topic):
    found = [c["answers"][name] for c in report["cases"] if c["topic"] == topic]
    number = {v: sum(a["verdict"] == v for a in found) for v in ("agrees", "differs", "open", "refuses", "none")}
    number["ends"] = sum("crash" in a for a in found)
    return number


def cell(report, name, topic):
    n = counts(report, name, topic)
    judged = n["agrees"] + n["differs"]
    kind = "open" if not judged else "agrees" if not n["differs"] else "some" if n["agrees"] else "differs"
    words = [("open", "undefined"), ("refuses", "refused"), ("none", "absent"), ("ends", "ended")]
    small = "".join(f"<small>{n[k]} {w}</small>" for k, w in words if n[k])
    share = f"{n['agrees']} of {judged}" if judged else "–"
    return f'<td class="{kind}">{share}{small}</td>'


def page(report):
    libraries, cases = report["libraries"], report["cases"]
    apart = [c for c in cases if differ(c)]
    head = "".join(f'<th><a href="#{t}">{text(w)}</a></th>' for t, w in TOPICS.items())
    table = "".join(f"<tr><th>{text(n)}</th>{''.join(cell(report, n, t) for t in TOPICS)}</tr>" for n in libraries)
    who = "".join(f"<tr><td>{text(n)}</td><td>{l['version']}</td><td>{text(report['specifications'][l['specification']])}</td></tr>" for n, l in libraries.items())
    body = ""
    for topic, word in TOPICS.items():
        here = [c for c in cases if c["topic"] == topic]
        same = ", ".join(c["what"] for c in here if c not in apart)
        body += f'<h2 id="{topic}">{text(word)}</h2><p class="soft">{sum(c in apart for c in here)} of {len(here)} cases have more than one answer.'
        body += f" Cases with one answer: {text(same)}.</p>" if same else "</p>"
        body += "".join(article(c, report) for c in apart if c["topic"] == topic)
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Maxima: who answers what</title><style>{STYLE}</style>
<h1>Maxima: who answers what</h1>
<p>{len(cases)} small inputs, given to {len({n.split(",")[0] for n in libraries})} libraries on {len(libraries)} backends; {len(apart)} have more than one answer. Each library is
compared with its own documentation. If that does not define a result, no answer counts as different.
<code>scripts/answers</code> makes this page and <a href="answers.json">answers.json</a>.</p>
<div class="wide"><table class="counts"><tr><th>library</th>{head}</tr>{table}</table></div>
<h2>How to read it</h2>
<ul>
<li>“2 of 3”: the specification defines the answer of 3 cases to which the library gave one, and 2 of these are as specified. The other
cases are counted below: undefined; refused (an error instead of a value, mostly for a type without a kernel); absent (the library
has no such operator, type or attribute). “Ended”: the process crashed or hung; such a case is in another count, too.</li>
<li>The specified answer is computed from the definition: the largest element of each set, window or segment. The clauses of a case say
what a specification adds for NaN, empty sets, ties and ids; without a clause, such a result is undefined.</li>
<li>Answers are compared bit for bit, with three exceptions: a NaN is a NaN whatever its bits; +0 and -0 in a set leave the sign of the
result undefined unless a clause decides; sizes of 1 in a shape, and the integer type of positions, do not count.</li>
<li>Each case runs three times, in one process for each library; ids out of range run in a second one. “Another answer each time”:
the three answers differ.</li>
<li>In a case: <span class="who agrees">✓ as specified</span> <span class="who differs">≠ not as specified</span>
<span class="who open">· undefined</span> <span class="who refuses">– refused</span></li>
<li>All ran on one x86-64 processor. The GPU backends ran on software adapters: wgmax on Mesa's lavapipe, Chromium on
SwiftShader. ONNX Runtime Web runs nodes without a WebGPU kernel on the CPU.</li>
<li>A reproducer for ONNX models begins with a line for a shell, which writes the model. Reproducers for Rust leave out the imports.</li>
</ul>
<div class="wide"><table><tr><th>library</th><th>version</th><th>compared with</th></tr>{who}</table></div>
{body}
</html>
"""


# The rows of README.md's table: a library, the backend that it is compared with, and whether a backend of the library takes
# a caller's wgpu or WebGPU buffers, by its documentation: ONNX Runtime Web has Tensor.fromGpuBuffer, tfjs takes WebGPUData,
# OpenVINO's remote tensors are OpenCL's, DirectX's and VAAPI's, burn-wgpu's init_device shares a device, not buffers.
ROWS = [("wgmax, wgpu", "wgmax, CPU", "yes"), ("PyTorch", None, "no"), ("JAX", None, "no"), ("ONNX Runtime", None, "–"),
        ("ONNX Runtime Web, WebGPU", "ONNX Runtime Web, wasm", "yes"), ("OpenVINO", None, "no"),
        ("tfjs, WebGL", None, "yes"), ("burn, flex", None, "device only")]
COLUMNS = {"NaN": ["nan"], "-0": ["zero"], "subnormals, infinities": ["subnormal", "infinity"], "types": ["types"], "positions": ["positions"],
           "windows": ["windows"], "empty sets": ["empty"], "ids": ["ids"]}


def markdown(report):
    """The table of README.md."""
    lines = [f"| library | {' | '.join(COLUMNS)} | embeddable | same as its CPU backend |", "| --- |" + " --- |" * (len(COLUMNS) + 2)]
    for library, other, embeds in (row for row in ROWS if row[0] in report["libraries"]):
        cells = []
        for topics in COLUMNS.values():
            found = [counts(report, library, topic) for topic in topics]
            right, wrong = (sum(n[v] for n in found) for v in ("agrees", "differs"))
            cells.append(f"{right}/{right + wrong}" if right + wrong else "–")
        cells.append(embeds)
        both = [(c["answers"][library], c["answers"][other]) for c in report["cases"]] if other else []
        both = [(a["values"], b["values"]) for a, b in both if "values" in a and "values" in b]
        cells.append(f"{sum(a == b for a, b in both)}/{len(both)}" if both else "")
        lines.append(f"| {library} | {' | '.join(cells)} |")
    return "\n".join(lines)
