"""Damaged recordings, notebooks and pastes: a sentence, or the rest of it shown; never a crash."""

from __future__ import annotations

import json
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[2]))

from tapeviz.errors import TapevizError
from tapeviz.files.examples import examples
from tapeviz.files.notebook import read_notebook
from tapeviz.repair import repair
from tapeviz.trace.stored.file import load, save
from tests.soak.figures import LONG, SEED, count, print_detail, print_row
from tests.soak.mutate import mutated
from tests.soak.swept import sweep

RECORDINGS = sorted((Path(__file__).parents[1] / "recordings").glob("*.tape"))
SECONDS = 600 if LONG else 100
DEBRIS = (
    ">>> ", "... ", "In [3]: ", "Out[3]: ", "```python", "```", "Run Code", "\t", " ", "  ",
    "\u00a0", "\u201c", "\u2019", "\\", "try:", "1. ", "12 ", "| ", "$ ", "# ", '"' * 3, "'" * 3,
    "(", ")", "[", "]", "else:", "def f(", "\ud800", "\x00", "\x0c", "a" * 2000, "&lt;", "<br>",
    "\r", "：", "with",
)  # fmt: skip


def changed_text(text: str, random: Random) -> str:
    """Text as a page may give it: pieces of markup, lost indentation, lines gone or twice."""
    lines = text.split("\n")
    for _ in range(random.randint(1, 12)):
        at = random.randrange(len(lines))
        how = random.randrange(7)
        if how == 0:
            lines[at] = random.choice(DEBRIS) + lines[at]
        elif how == 1:
            place = random.randrange(len(lines[at]) + 1)
            lines[at] = lines[at][:place] + random.choice(DEBRIS) + lines[at][place:]
        elif how == 2:
            lines[at] = lines[at].lstrip()
        elif how == 3 and len(lines) > 1:
            del lines[at]
        elif how == 4:
            lines.insert(at, random.choice(lines))
        elif how == 5:
            lines[at] = lines[at][: len(lines[at]) // 2]
        else:
            lines.insert(at, random.choice(DEBRIS))
    return "\n".join(lines)


def changed_bytes(raw: bytes, random: Random) -> bytes:
    """A file with bytes changed, gone or twice."""
    data = bytearray(raw)
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(data) + 1)
        how = random.randrange(4)
        if how == 0 and at < len(data):
            data[at] = random.randrange(256)
        elif how == 1:
            del data[at : at + random.choice((1, 10, 1000))]
        elif how == 2:
            data[at:at] = data[: random.choice((1, 10, 1000))]
        else:
            del data[at:]
    return bytes(data)


def recording(random: Random, folder: Path) -> None:
    path = folder / "changed.tape"
    if random.random() < 0.15:
        path.write_bytes(changed_bytes(random.choice(RECORDINGS).read_bytes(), random))
    else:
        save(mutated(load(random.choice(RECORDINGS)), random), path)
    sweep(path)


def notebook(random: Random, folder: Path) -> None:
    cells = [
        {"cell_type": kind, "source": part.splitlines(keepends=True), "metadata": {}}
        for kind in ("code", "markdown")
        for part in random.choice(TEXTS).split("\n\n")
    ]
    book = {"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}
    if random.random() < 0.5:
        cell = random.choice(cells)
        cell[random.choice(list(cell))] = random.choice((None, 1, [], {}, "x", [1], [None]))
    raw = json.dumps(book).encode()
    path = folder / "changed.ipynb"
    path.write_bytes(changed_bytes(raw, random) if random.random() < 0.7 else raw)
    repair(read_notebook(path))


def paste(random: Random, folder: Path) -> None:
    repair(changed_text(random.choice(TEXTS), random))


TEXTS = [example.text for example in examples()]
KINDS: dict[str, tuple[Callable[[Random, Path], None], int, int]] = {
    "damaged .tape": (recording, 6_000, 300),
    "damaged .ipynb": (notebook, 2_000, 100),
    "pastes": (paste, 2_000, 100),
}


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        for what, (attempt, whole, part) in KINDS.items():
            tried = failed = refused = 0
            slowest, until = 0.0, time.monotonic() + SECONDS
            for number in range(count(whole, part)):
                if time.monotonic() > until:
                    break
                seed = f"{SEED}-{what}-{number}"
                began = time.process_time()
                tried += 1
                try:
                    attempt(Random(seed), Path(name))
                except TapevizError:
                    refused += 1
                except Exception:
                    failed += 1
                    print_detail(f"{seed}: {traceback.format_exc()}")
                slowest = max(slowest, time.process_time() - began)
            print_row(what, tried, failed, f"slowest {slowest:.1f} s of CPU; {refused:,} refused")


if __name__ == "__main__":
    main()
