"""Say in words how a run ended, and what became of its gradients: terminal, window and page share
them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from textwrap import dedent

import numpy as np

from ..text.line_words import ranges_in_words, ranges_of
from ..text.messages import without_colours, without_node_names
from ..text.source import holds_code
from ..trace.calls import Check
from ..trace.ids import TensorId
from ..trace.model import Trace
from ..trace.stats import Array
from .alike import SourceResult
from .findings import Finding, Fix
from .rounds.round_words import numbers_words

_TRACED = "in user code:\n"
_TRACED_FRAME = re.compile(
    r'\s*File ".*", line (?P<line>\d+), in (?P<name>\S+)(?:  (?P<mark>\*+))?\s*$'
)
_NO_NAME = re.compile(r"(\[Op:\w+\]) name:\s*\Z")
NO_CODE = "The text has no line of Python code, so nothing ran."
_IN_A_LINE = 4
"""Elements of a value that stand in one line."""
SkippedParts = Sequence[tuple[int, int, str]]
"""First line, last line, and why they were left out."""


def skipped_words(skipped: SkippedParts, blocks: int) -> str:
    """``5 of 6 blocks of code run · line 102 left out: …``; empty when nothing was left out."""
    if not skipped:
        return ""
    parts = [f"{blocks - len(skipped)} of {blocks} blocks of code run"]
    return " · ".join([*parts, *(part_words(*part) for part in skipped)])


def part_words(first: int, last: int, why: str) -> str:
    """``lines 102–104 left out: …``."""
    return f"{ranges_in_words([(first, last)])} left out: {why}"


def repair_words(repairs: Iterable[tuple[int, str]], most: int | None = None) -> Iterator[str]:
    """Tell each kind of repair with its lines, in the order of its first: ``lines 2, 5–9: …``.

    ``repairs``: line (0: the whole text) and what was done; ``most``: ranges of lines for a kind.
    """
    lines: dict[str, list[int]] = {}
    for line, what in repairs:
        lines.setdefault(what, []).append(line)
    for what, numbers in lines.items():
        where = f"{ranges_in_words(ranges_of(numbers), most)}: " if numbers[0] else ""
        yield where + what


def ran_no_code(trace: Trace) -> bool:
    """Whether the text that ran had only comments, as a page without any code has."""
    return bool(trace.source) and not trace.ops and not holds_code(trace.source)


def ended_well(trace: Trace) -> bool:
    """Whether the snippet came to its end, or left by ``sys.exit`` with status 0."""
    ending = trace.ending
    if trace.failure is not None:
        return False
    return ending.how == "finished" or (ending.how == "exit" and ending.detail in ("", "0"))


def ending_words(trace: Trace) -> str:
    """How a run ended that did not come to its end: ``stopped at line 5, after 744 steps``.

    A step is a gradient call at the place that asked most often. Empty where the run finished.
    """
    how, detail = trace.ending.how, trace.ending.detail
    if how in ("finished", ""):
        return ""
    if how not in ("interrupted", "timeout"):
        return f"{how}: {detail}" if detail else how
    words = f"stopped at {detail}" if detail.startswith("line ") else detail or "stopped"
    counts: Counter[int] = Counter()
    for call in trace.calls:
        counts[call.site.line] += call.ran if call.traced else 1
    steps = max(counts.values(), default=0)
    return f"{words}, after {steps:,} steps" if steps > 1 else words


def fix_words(fix: Fix, number: int = 0) -> str:
    """Say which gradient the result of a fix is: ``in the first call``, ``in round 7``; empty where
    there is only one. ``number``: the round of a loop that the finding is of, 0 outside."""
    if fix.is_of_first_call:
        return "in the first call"
    return f"in round {number:,}" if number else ""


def bridge_heading(finding: Finding, in_round: int = 0) -> str:
    """The heading above the gradient across the cut; ``in_round``: of a loop, 0 outside of one."""
    estimated = ", estimated (straight-through)," if finding.is_estimated else ""
    when = f" in round {in_round:,}" if in_round else ""
    return f"Across the cut{estimated} it would be{when}:"


def check_words(check: Check) -> str:
    """How a gradient across a cut compares with finite differences of what was recorded."""
    if check.error is None:
        return f"not checked: {check.words}"
    if check.agrees:
        return f"agrees with finite differences to {max(check.error, 1e-12):.0e}"
    return f"finite differences give another number: {check.error:.0%} off"


def trust_words(finding: Finding) -> str:
    """How far to trust the gradient across a cut: how it compares, and what it holds fixed."""
    check = check_words(finding.check) if finding.check is not None else ""
    return "; ".join(filter(None, (check, finding.held)))


def plain_message(message: str) -> str:
    """Take from an exception's message what TensorFlow and Keras put around it.

    The runtime begins with ``{{function_node …}}`` and ends with the op and the name that the call
    gave it, mostly an empty one (``raise_from_not_ok_status`` in ``framework/ops.py``). AutoGraph
    begins with "in user code:" and the frames of the traced functions (``autograph/impl/api.py``,
    the same from 2.15 to 2.21), those of the snippet marked ``*``; of these the innermost follows
    what was said. Of several lines of numbers, as Keras prints arguments, and of several frames in
    packages ``…`` is left.
    """
    message = _NO_NAME.sub(r"\1", without_node_names(without_colours(message)))
    if message.startswith(_TRACED):
        message = _said_while_tracing(message) or message
    return _LINES_OF_NUMBERS.sub("    …\n", _FRAMES_IN_PACKAGES.sub("    …\n", message)).strip()


_LINES_OF_NUMBERS = re.compile(r"(?:^[ \[\]().,+e-]*\d[ \d\[\]().,+e-]*\n\n?){4,}", re.MULTILINE)
_FRAMES_IN_PACKAGES = re.compile(
    r'(?:^ *File "(?=[^"\n]*[/\\](?:site|dist)-packages[/\\])[^\n]*\n'
    r"(?: {4}(?! *File )[^\n]*\n)*\n?){2,}",
    re.MULTILINE,
)


def _said_while_tracing(message: str) -> str:
    lines = message.removeprefix(_TRACED).strip("\n").splitlines()
    where, place = "", 0
    while place + 1 < len(lines) and (frame := _TRACED_FRAME.match(lines[place])):
        if frame["mark"] == "*":
            where = f"(line {frame['line']}, in {frame['name']}: {lines[place + 1].strip()})"
        place += 2
    said = dedent("\n".join(lines[place:])).strip()
    said = re.sub(r"^[\w.]+: ", "", said)
    return "\n".join(filter(None, (said, where)))


def gradient_in_a_line(trace: Trace, finding: Finding) -> str:
    """The gradient that came out, else the one across the cut; empty if there is neither."""
    if finding.bridged_value is not None:
        return number_in_a_line(trace, finding.bridged_value)
    tensor = finding.bridged if finding.tensor is None else finding.tensor
    return "" if tensor is None else number_in_a_line(trace, tensor)


def result_in_a_line(trace: Trace, result: SourceResult) -> str:
    """The gradient of a source, or the one across its cut; over several rounds the first and last
    number of what flows."""
    finding = result.finding
    if result.series is not None and finding.across is None:
        return numbers_words(result.series)
    return gradient_in_a_line(trace, finding)


def number_in_a_line(trace: Trace, number: TensorId | Array) -> str:
    """A few elements as they are; more as Euclidean norm and shape: ``norm 0.0123, [8, 8]``."""
    if not isinstance(number, np.ndarray):
        tensor = trace.fetched.get(number, number)
        value, stats, known = trace.value(tensor), trace.stats(tensor), trace.tensors.get(tensor)
        if value is None:
            shape = list(known.shape or ()) if known is not None else []
            norm = stats.norm_words if stats is not None else ""
            return f"{norm}, {shape}" if norm else f"{shape}"
        number = value
    if number.size <= _IN_A_LINE or number.dtype.kind not in "fc":
        return " ".join(np.array2string(number, threshold=_IN_A_LINE, edgeitems=1).split())
    length = float(np.linalg.norm(number.reshape(-1).astype(np.complex128)))
    return f"norm {length:.4g}, {list(number.shape)}"


def tracing_words(trace: Trace) -> str:
    """Say which line of a run under way made TensorFlow trace a function, until that asks for a
    gradient."""
    return f"tracing line {max(trace.traced)}" if trace.traced and not trace.calls else ""
