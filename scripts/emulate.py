"""Counts vector instructions in a binary for AArch64, by the source files that have loops for vectors. Fails if a
file has none of full width that chooses a maximum or compares.

    scripts/emulate.py BINARY
"""

import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOLS = "aarch64-linux-gnu-"
# Maxima, and comparisons with the choices that follow them, of vectors of 16 or 8 bytes.
CHOICE = re.compile(
    r"^\s*([0-9a-f]+):\s+(?:umaxp?|smaxp?|umaxv|cmhi|cmhs|cmgt|bsl|bit|bif)\s+\S*?"
    r"\.(?:(16b|8h|4s|2d)|(8b|4h|2s))\b"
)


def lines_of(command, text=None):
    done = subprocess.run(
        [TOOLS + command[0], *command[1:]], input=text, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout.splitlines()


def main():
    binary = sys.argv[1]
    found = [CHOICE.match(line) for line in lines_of(["objdump", "-d", "--no-show-raw-insn", binary])]
    widths = {int(match[1], 16): bool(match[2]) for match in found if match}
    # For each address: itself, then the places in the text, from the innermost inlined call outwards.
    addresses = "\n".join(f"{address:x}" for address in widths)
    files = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("src/**/*.rs") if "Loop for" in path.read_text()}
    if not files:
        sys.exit("no file of src has a loop that is inlined for vectors")
    counts, address, counted = collections.defaultdict(lambda: [0, 0]), None, set()
    for line in lines_of(["addr2line", "-a", "-i", "-e", binary], addresses):
        if line.startswith("0x"):
            address, counted = int(line, 16), set()
            continue
        _, inside, file = line.rpartition("/src/")
        file = "src/" + file.split(":")[0]
        if inside and file in files and file not in counted:
            counted.add(file)
            counts[file][not widths[address]] += 1
    print(f"{'maxima, comparisons and choices':40} {'16 bytes':>9} {'8 bytes':>9}")
    for file in sorted(files):
        print(f"{file:40} {counts[file][0]:9} {counts[file][1]:9}")
    missing = [file for file in sorted(files) if not counts[file][0]]
    if missing:
        sys.exit(f"no vectors of full width: {', '.join(missing)}")


main()
