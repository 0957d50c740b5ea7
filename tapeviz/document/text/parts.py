"""Make a text that runs some lines of another alone, at the same line numbers."""

from __future__ import annotations

import dis
import re
import textwrap
from collections.abc import Callable, Collection, Iterator
from difflib import SequenceMatcher
from types import CodeType

LinePart = tuple[int, int]
"""The first and the last line, from 1."""
ALWAYS_THERE = frozenset(("tf", "np", "keras"))
MOST_NAMES = 3
"""Names that the status line lists, at most."""
_CELL = re.compile(r"\s*#\s*%%")


def cell_at(source: str, line: int) -> LinePart | None:
    """The lines of the ``# %%`` cell that a line is in; None when the text has no cells."""
    lines = source.split("\n")
    marks = [number for number, text in enumerate(lines, start=1) if _CELL.match(text)]
    if not marks:
        return None
    first = max((mark for mark in marks if mark <= line), default=1)
    last = min((mark - 1 for mark in marks if mark > line), default=len(lines))
    return first, max(first, last)


def names_from_above(source: str, part: LinePart) -> list[str] | None:
    """The names that a part reads, and that only lines above it bind, sorted; None where the text
    up to the part's end does not compile.

    ``tf``, ``np`` and ``keras`` do not count: a snippet has them without an import.
    """
    first, last = part
    lines = source.split("\n")
    try:
        own = _compiled(textwrap.dedent("\n".join(lines[first - 1 : last])))
        above = _compiled("\n".join(lines[: first - 1]))
        _compiled("\n".join(lines[:last]))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    bound = {name for is_read, name in _names(above) if not is_read}
    return sorted((_unbound(own) & bound) - ALWAYS_THERE)


def part_with_names(
    source: str, part: LinePart, repair: Callable[[str], str]
) -> tuple[LinePart, str]:
    """The lines to run for a part, which are those above as well if it uses names from there; and
    the words that say so.

    ``repair``: repairs a text line by line, as one with commands of a notebook is when it runs.
    """
    first, last = part
    names = names_from_above(source, part)
    if names is None:
        names = names_from_above(repair("\n".join(source.split("\n")[:last])), part)
    if not names:
        return part, f"Lines {first}–{last} run alone"
    used = ", ".join(names[:MOST_NAMES]) + (" …" if len(names) > MOST_NAMES else "")
    return (1, last), f"Lines 1–{last} run: lines {first}–{last} use {used} from above"


def _compiled(text: str) -> CodeType:
    return compile(text, "<part>", "exec", dont_inherit=True)


def _names(code: CodeType) -> Iterator[tuple[bool, str]]:
    """(is read, name) for each name of a module's code, in the order of the text."""
    for made in dis.get_instructions(code):
        if made.opname in ("LOAD_NAME", "LOAD_GLOBAL", "STORE_NAME", "STORE_GLOBAL"):
            yield made.opname.startswith("LOAD"), str(made.argval)


def _unbound(code: CodeType) -> set[str]:
    """The names that module code reads before it binds them, or in a function and binds nowhere."""
    bound: set[str] = set()
    unbound: set[str] = set()
    for is_read, name in _names(code):
        if not is_read:
            bound.add(name)
        elif name not in bound:
            unbound.add(name)
    waiting = [inner for inner in code.co_consts if isinstance(inner, CodeType)]
    while waiting:
        inner = waiting.pop()
        own = {name for is_read, name in _names(inner) if not is_read}
        unbound |= {name for is_read, name in _names(inner) if is_read} - own - bound
        waiting += [deeper for deeper in inner.co_consts if isinstance(deeper, CodeType)]
    return unbound


def fix_of_page(page: str, ran: str, fixed: str, prose: Collection[int]) -> str:
    """Lay a fix into a page whose prose ran as comments: the fixed text, with the page's own lines
    of prose.

    ``ran``: the page as it ran, line by line; ``prose``: numbers (from 1) of its lines of prose.
    """
    own, lines, result = page.split("\n"), ran.split("\n"), fixed.split("\n")
    changes = SequenceMatcher(None, lines, result, autojunk=False).get_opcodes()
    for tag, begin, end, at, _ in changes:
        for index in range(begin, min(end, len(own))) if tag == "equal" else ():
            if index + 1 in prose:
                result[at + index - begin] = own[index]
    return "\n".join(result)


def lines_alone(source: str, part: LinePart) -> str:
    """The part's lines with empty lines in place of those before it.

    Lines that are all indented stand in an ``if True:`` on the line before, so that their columns
    stay; in line 1 there is no room for it, and they move to the left.
    """
    first, last = part
    lines = source.split("\n")[first - 1 : last]
    margins = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    margin = min(margins, default=0)
    before = [""] * (first - 1)
    if margin and before:
        before[-1] = "if True:"
    elif margin:
        lines = textwrap.dedent("\n".join(lines)).split("\n")
    return "\n".join([*before, *lines]) + "\n"


def merge_fix(source: str, part: LinePart, fixed: str) -> tuple[str, LinePart]:
    """The whole text with what a fix changed in the text of its part, and the part's lines then.

    ``fixed`` is :func:`lines_alone` after the fix. Lines outside the part stay; what the fix put
    before the part comes in at the top.
    """
    first, last = part
    ran, changed = lines_alone(source, part).split("\n"), fixed.split("\n")
    whole = source.split("\n")
    changes = SequenceMatcher(None, ran, changed, autojunk=False).get_opcodes()
    for tag, i, j, k, m in reversed(changes):
        if tag == "equal":
            continue
        begin, end = (0, 0) if j < first else (max(i, first - 1), min(j, last))
        end = max(begin, end)
        whole[begin:end] = changed[k:m]
        last += m - k - (end - begin)
        first += (m - k) if j < first else 0
    return "\n".join(whole), (first, last)
