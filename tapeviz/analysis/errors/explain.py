"""Explain exceptions: at most three plain sentences, and one on where the values were made."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from itertools import islice

from ...text.messages import first_words, raised_inside, without_colours
from ...text.names import calls_in, dotted
from ...text.source import SourceText
from ...trace.calls import Call
from ...trace.ids import CallId
from ...trace.model import Failure, Trace
from ..model import ExplainedError, Warned
from .case import Case, innermost_line, is_from, raised_by_called
from .python.modules import command_for
from .python.signatures import crossed_words
from .raised_inside import reached_words
from .table import explanations
from .tensors.operands import MOST_SHOWN, concerned, held_words, names_read
from .tensors.origins import is_about_values, made_words


def explained_errors(trace: Trace) -> tuple[ExplainedError, ...]:
    """Explain each exception that ended the snippet, or a block of a page, in their order."""
    return tuple(
        ExplainedError(
            each.type,
            each.message,
            innermost_line(trace, each),
            explain_error(trace, each),
            command=command_for(each),
        )
        for each in trace.failures
    )


def caught_errors(trace: Trace) -> Iterator[Warned]:
    """Warn of gradient calls that raised what the snippet caught: what came after went on without
    their gradients. One warning for each line."""
    raised = [call for call in trace.calls if call.error and not call.ended and call.is_direct]
    ended = _uncaught(trace, raised)
    lines: set[int] = set()
    for call in raised:
        if call.id in ended or not call.line or call.line in lines:
            continue
        lines.add(call.line)
        kind, _, message = call.error.partition(": ")
        words = explain_error(trace, Failure(kind, message, call.line, "", (call.line,)))
        yield Warned(
            "caught-error",
            call.line,
            f"The gradient that line {call.line} asks for was not computed: {call.method}() raised "
            f"{kind}, and the snippet caught it. {words or without_colours(message)}",
        )


def _uncaught(trace: Trace, raised: Sequence[Call]) -> Set[CallId]:
    """Find the calls whose exception ended the snippet, or a block of a page.

    An exception is recognised by its words and the lines that it came through; by its words alone
    if no call stands on one of these lines. ``raised``: the calls that raised.
    """
    found: set[CallId] = set()
    for failure in trace.failures:
        lines = {failure.line, *failure.lines, innermost_line(trace, failure)}
        alike = [call for call in raised if is_from(failure, call)]
        found.update(call.id for call in [c for c in alike if c.line in lines] or alike)
    return found


def explain_error(trace: Trace, failure: Failure | None = None) -> str:
    """Say what happened, why, and what to do; empty if the exception's own words must do.

    ``failure``: the one that ended the snippet unless another is given.
    """
    failure = failure or trace.failure
    if failure is None:
        return ""
    called = raised_by_called(failure, trace.filename)
    if called is not None:
        return _words_of_called(trace, failure, called)
    reached = reached_words(trace) if failure is trace.failure else ""
    said, inner = f"{failure.type}: {failure.message}", failure
    kind, message = raised_inside(failure.type, failure.message)
    if message != failure.message:
        inner = replace(failure, type=kind, message=message)
        # Some patterns look for lines of the stack.
        around = f"\n{said}" if "in user code:" in failure.message else ""
        said = f"{inner.type}: {inner.message}{around}"
    text, words = SourceText(trace.source), ""
    for pattern, explain in explanations():
        match = re.search(pattern, said, re.IGNORECASE | re.DOTALL)
        if match is None:
            continue
        case = Case(trace, inner, failure, text, match)
        if isinstance(explain, str):
            words = explain.format(*(group or "" for group in match.groups()), line=case.line)
        else:
            words = explain(case)
        if words:
            words = _with_values(case, words)
            words += made_words(case, words)
            break
    return " ".join(filter(None, (words, crossed_words(text, failure), reached)))


def _with_values(case: Case, words: str) -> str:
    """Put what the names in the expression that raised meant into the first sentence, if the words
    name none of them, or not both operands."""
    code = case.raised_at
    called = {dotted(call.func) for call in calls_in(code)}
    known = {name: case.held[name] for name in names_read(code) if name in case.held}
    functions = {name for name in called if name in known and known[name].takes} | {"range"}
    names = [*concerned(case, [name for name in known if name not in functions])]
    said = [name for name in names if re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", words)]
    if code is None or not is_about_values(case) or (said and " a value of shape" not in words):
        return words
    others = (
        each for each in held_words(case, code) if each.partition(" ")[0] in {*names} - {*said}
    )
    held = ", ".join(islice(others, MOST_SHOWN))
    first, stop, further = words.partition(". ")
    return f"{first.removesuffix('.')} ({held}).{stop[1:]}{further}" if held else words


def _words_of_called(trace: Trace, failure: Failure, called: Failure) -> str:
    """Words for the exception of Python code that an op called, from a dataset or a function."""
    said = first_words(called.message)
    raised = f"{called.type}: {said}" if said else called.type
    where = f" for line {failure.line}" if failure.line not in (0, called.line) else ""
    what = "the generator of a dataset" if "generator_py_func" in failure.message else "a function"
    words = f"TensorFlow ran {what} in Python{where}, and it raised {raised} on line {called.line}."
    return f"{words} {explain_error(trace, called)}".strip()
