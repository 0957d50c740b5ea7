"""Write an answer to paste: Markdown, and the same as HTML with the picture in it."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import replace
from html import escape

from ..analysis.model import CallDiagnosis, Diagnosis
from ..export.shared_page import PageCard, PageTable
from ..repair.page import PAGE_MARK
from ..scene.text import clean
from ..trace.model import Trace
from .cards import cards, group_cards
from .page import page_lines

_SIGNS = {
    "cut": "✂ the gradient is cut here",
    "trouble": "⚠ it goes wrong here",
    "error": "✕ this line raised",
}


def answer(trace: Trace, diagnosis: Diagnosis, shown: CallDiagnosis | None) -> str:
    """Markdown with the cause, the code with the cut marked, what the gradient would be, and fixes
    as diffs.

    It is about the gradients of the call ``shown``; about those of the whole run where the run
    raised or no call is shown.
    """
    return "\n\n".join(_parts(trace, diagnosis, shown)) + "\n"


def _parts(trace: Trace, diagnosis: Diagnosis, shown: CallDiagnosis | None) -> Iterator[str]:
    made = _cards(trace, diagnosis, shown)
    for card in made:
        if card.title:
            yield f"**{_plain(card.title)}** is **{_plain(card.badge)}**" + (
                f" (line {card.line})." if card.line else "."
            )
        yield from (_plain(words) for words in card.words)
        yield from (part for table in card.tables if (part := _table(table)))
    yield _fenced("python", code_marked(trace, diagnosis, shown))
    for card in made:
        for fix in card.fixes:
            lines = "\n".join(f"{sign}{code}".rstrip() for sign, code in fix.lines if sign != "⋯")
            after = f" After it the gradient is `{fix.value}`." if fix.value else ""
            yield f"{_plain(fix.title)}:{after}"
            yield _fenced("diff", lines)
    version = f"TensorFlow {trace.tensorflow}, Python {trace.python}" if trace.tensorflow else ""
    yield f"<sub>Run and traced with tapeviz{f' · {version}' if version else ''}</sub>"


def _cards(trace: Trace, diagnosis: Diagnosis, shown: CallDiagnosis | None) -> tuple[PageCard, ...]:
    if shown is None or diagnosis.error is not None:
        return cards(trace, diagnosis)
    troubled = tuple(finding for finding in shown.findings if finding.status != "flows")
    asked = replace(shown, findings=troubled or shown.findings)
    return tuple(group_cards(trace, diagnosis, asked))


def code_marked(trace: Trace, diagnosis: Diagnosis, shown: CallDiagnosis | None) -> str:
    """The source, with a comment behind each line at which a gradient is cut or was asked for. Of
    a page the prose stands in comments, so that the answer's code runs."""
    made = []
    source = trace.source.rstrip("\n").split("\n")
    for written, line in zip(source, page_lines(trace, diagnosis, shown), strict=True):
        is_prose = written.startswith(PAGE_MARK)
        code = f"#{written.removeprefix(PAGE_MARK)}" if is_prose else written.rstrip()
        words = [words for name, words in _SIGNS.items() if name in line.marks]
        words += [f"→ {line.badge}"] if line.badge else []
        made.append(f"{code}  # {', '.join(words)}" if words else code)
    return "\n".join(made)


def answer_html(markdown: str, png: bytes) -> str:
    """The answer for programs that take rich text: its text as it stands, below the picture."""
    picture = base64.b64encode(png).decode()
    return (
        f'<p><img alt="The op graph" src="data:image/png;base64,{picture}"></p>'
        f"<pre>{escape(markdown)}</pre>"
    )


def _table(table: PageTable) -> str:
    if not table.rows:
        return f"{table.heading}: {table.note}" if table.note else ""
    rows = [", ".join(row) for row in table.rows]
    note = f" ({table.note})" if table.note else ""
    return f"{_plain(table.heading)}{_plain(note)}:\n\n" + _fenced("", "\n".join(rows))


def _fenced(language: str, text: str) -> str:
    """A fence longer than any run of backticks in the text."""
    longest = max((len(run) for run in _runs(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _runs(text: str) -> list[str]:
    return [run for run in "".join(c if c == "`" else " " for c in text).split() if run]


def _plain(text: str) -> str:
    """Words in which Markdown finds nothing to format."""
    return "".join(f"\\{char}" if char in "\\`*_<>[]|" else char for char in clean(text))
