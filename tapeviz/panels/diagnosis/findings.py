"""The card of a finding: the outcome of a gradient, the cause, and fixes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QEnterEvent, QGuiApplication, QKeyEvent

from ...analysis.alike import SourceResult, same_error_words, same_words, shared_title
from ...analysis.findings import Finding
from ...analysis.inside_words import runs_words, site_words, words_about_values
from ...analysis.model import ExplainedError, Warned
from ...analysis.rounds.call_sites import CallSite, SourceSeries
from ...analysis.rounds.over_time import trend_sentences
from ...analysis.rounds.round_words import numbers_words, rounds_words, series_words
from ...analysis.run_words import plain_message
from ...analysis.status import WORST_FIRST, joint_word, round_word, word_of
from ...analysis.warned_words import warned_title, warned_where
from ...document import Document
from ...document.background import are_same
from ...files.explanations import explanation, kinds
from ...trace.ids import CallId
from ..look import Theme
from ..rounds.sparkline import Sparkline
from ..widgets import Badge
from .cards import Asks, Card, FixList
from .gradients import MOST_ALIKE, Gradients


class FindingCard(Card):
    """One source of one call, or of all rounds of a call site. Clicked, it becomes the one that the
    graph shows.

    ``alike``: all sources that the card speaks for; ``split``: shows a card for each instead;
    ``is_harmless``: it does not flow in all rounds, as it should be.
    """

    def __init__(
        self,
        document: Document,
        theme: Theme,
        result: SourceResult,
        asks: Asks,
        alike: Sequence[SourceResult] = (),
        split: Callable[[], object] | None = None,
        is_harmless: bool = False,
    ) -> None:
        call, finding, series = result.call, result.finding, result.series
        state = "good" if finding.status == "flows" else "harmless" if is_harmless else "trouble"
        super().__init__(state, theme)
        self.call, self.finding, self.series = call, finding, series
        self.site = document.diagnosis.rounds.site_of(call.call.id) if series else None
        self._document, self._asks = document, asks
        self.line: Sparkline | None = None
        pill = word_of(finding)
        if self.site is not None and series is not None:
            pill = pill_words(self.site, series)
        name = document.links.name_of(call.call.sources[result.place])
        if call.call.is_forward:
            name = finding.source
        first = self.title = f"∂{finding.target} / ∂{name}"
        named = (document.links.name_of(call.call.sources[n.place]) for n in alike[:MOST_ALIKE])
        names = [*named, *[""] * (len(alike) - MOST_ALIKE)]  # those are only counted
        self._results, self._names = alike or (result,), names or [name]
        if alike and call.call.is_forward:
            self.title = f"∂ of {len(alike)} outputs / ∂{finding.source}"
        elif alike:
            self.title = shared_title(finding.target, names)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(f"{self.title}: {pill}")
        self.setAccessibleDescription(finding.message)
        self.add_title(self.title, Badge(finding.status, pill, theme, is_harmless))
        if name != finding.source and not alike:
            self.add_words(f"written as {finding.source}", "faint")
        if self.site is not None and series is not None:
            self._add_rounds(self.site, series)
        else:
            self._add_runs()
        if series is None or finding.status != "flows":
            self.add_words(finding.message)
        if finding.further:
            self.add_words(finding.further)
        if alike and finding.status != "flows":
            self.add_words(same_words(names))
        self._add_links(finding)
        number = series.telling if series is not None else 0
        self.column.addWidget(FixList(first, asks, theme, number))  # whose result a fix has
        self._gradients = Gradients(document, theme, self.title)
        self.column.addWidget(self._gradients)
        self._shown: tuple[Finding, ...] = ()
        """The findings whose gradients are shown."""
        self._show_gradients(0)
        if split is not None and alike:
            more = len(alike) - MOST_ALIKE
            words = f"and {more} more · show each" if more > 0 else "Show each"
            self.add_links((words, split, "A card for each source"))
        self.show_fixes(finding.fixes, finding.not_tried)

    def _add_runs(self) -> None:
        """Say which run of a compiled function the values of a gradient call in it are from."""
        trace, call = self._document.trace, self.call.call
        self._add_how_run(runs_words(trace, call))
        about_values = words_about_values(trace, call)
        if about_values:
            self.add_words(about_values)

    def _add_how_run(self, parts: Sequence[str]) -> None:
        if parts:
            words = " · ".join(parts)
            self.add_words(words[0].upper() + words[1:], "muted")

    def shows(self, call: CallId) -> bool:
        """Whether the card is about this call."""
        return call == self.call.call.id or (self.site is not None and self.site.round_of(call) > 0)

    def follow(self, current: CallId | None) -> None:
        """Mark the round that is shown, and show the gradients across the cut in it."""
        if self.site is None:
            return
        number = self.site.round_of(current) if current is not None else 0
        if self.line is not None:
            self.line.show_round(number)
        self._show_gradients(number)

    def _show_gradients(self, number: int) -> None:
        """The gradients of a round; of the round that says most, if nothing is cut in that one."""
        results = self._results
        if self.series is not None:
            number, results = self._cut_in(number) or (self.series.telling, results)
        findings = tuple(result.finding for result in results[:MOST_ALIKE])
        if not are_same(findings, self._shown):
            self._shown = findings
            self._gradients.show_results(results, self._names, number)

    def _cut_in(self, number: int) -> tuple[int, Sequence[SourceResult]] | None:
        """A round and the results of it, if each has a gradient across the cut, or a reason why it
        has none."""
        call = None
        if self.site is not None and number:
            call = self._document.diagnosis.call(self.site.calls[number - 1])
        if call is None:
            return None
        results = [replace(result, call=call) for result in self._results]
        if max(result.place for result in results) >= len(call.findings):
            return None
        findings = [result.finding for result in results]
        is_complete = all(each.across is not None or each.no_bridge for each in findings)
        return (number, results) if is_complete else None

    def _add_rounds(self, site: CallSite, series: SourceSeries) -> None:
        """The gradient's outcome over all rounds: in words, and as a line that takes clicks."""
        diagnosis = self._document.diagnosis
        self._add_how_run(site_words(self._document.trace, diagnosis, site))
        if series.is_troubled:
            words = series_words(diagnosis, site, series)
            self.add_words(f"{words[0].upper()}{words[1:]}.", "fixTitle")
        numbers = numbers_words(series)
        if numbers:
            self.add_words(numbers, "muted")
        ours = [result.series for result in self._results if result.series is not None]
        for sentence in trend_sentences(self._document.trace, diagnosis, site, ours):
            self.add_words(sentence)
        if np.isfinite(series.shown).any():
            marked = [n for n, s in enumerate(series.statuses, 1) if s not in ("flows", None)]
            self.line = Sparkline(series.shown, marked, self._theme.gradient, self._theme)
            self.line.setAccessibleName(f"{self.title} by round")
            self.line.round_picked.connect(self._show_round)
            self.column.addWidget(self.line)

    def _show_round(self, number: int) -> None:
        if self.site is not None:
            self._document.select_call(self.site.calls[number - 1])

    def mousePressEvent(self, event: object) -> None:
        self.show_call()

    def show_call(self) -> None:
        """Let the graph show the gradient call of the card, with what it is about selected."""
        current = self._document.current_call
        if current is None or not self.shows(current.call.id):
            self._document.select_call(self.call.call.id)
        self._document.selecting.select_nodes(self._nodes())

    def _nodes(self) -> frozenset[str]:
        """The nodes that the card is about: both ends of the cut, else the target."""
        links, cause = self._document.links, self.finding.cause
        if cause is not None:
            return links.nodes_of_cause(cause)
        node = links.node_of_tensor(self.call.call.targets[0].tensor)
        return frozenset((node,)) if node else frozenset()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.show_call()
        else:
            super().keyPressEvent(event)

    def enterEvent(self, event: QEnterEvent) -> None:
        self._document.selecting.hover(self._nodes())
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self._document.selecting.hover(frozenset())
        super().leaveEvent(event)

    def _add_links(self, finding: Finding) -> None:
        links: list[tuple[str, Callable[[], object], str]] = []
        cause = finding.cause
        if cause is not None:
            words = "Show the cut" if finding.status == "none" else "Show where"
            links.append((words, self._show_cut, "Zoom to where it happens"))
        elif finding.tensor is not None:
            links.append(("Show the flow", self._show_flow, "Step through this gradient"))
        line = cause.line if cause and cause.line else self.call.call.line
        if line:
            links.append((f"Line {line}", lambda: self._show_line(line), "Go to this line"))
        row = self.add_links(*links)
        if self.site is not None and self.series is not None:
            self._add_special(self.site, self.series)
        if cause is not None and cause.kind in kinds():
            self.add_explanation(row, explanation(cause.kind), self._asks)

    def _add_special(self, site: CallSite, series: SourceSeries) -> None:
        """A link to each round in which the trouble begins or ends; where all flows, words about
        the rounds of another shape, which the strip above the graph marks."""
        if not series.is_troubled:
            if site.odd_shapes:
                rounds = rounds_words(site.odd_shapes, len(site))
                self.add_words(f"Of another shape {rounds}", "muted")
            return
        links = [
            (f"Round {number}", partial(self._show_round, number), "Show this round")
            for number in series.begins_anew()
        ]
        self.add_rows_of_links(links)

    def _show_cut(self) -> None:
        self._document.select_call(self.call.call.id)
        if self.finding.cause is not None:
            self._document.selecting.show_cause(self.finding.cause)

    def _show_flow(self) -> None:
        self._document.select_call(self.call.call.id)
        nodes = {self._document.links.node_of_tensor(t) for t, _ in self.call.flow.walked}
        self._document.reveal_requested.emit(frozenset(node for node in nodes if node))

    def _show_line(self, line: int) -> None:
        self._document.select_call(self.call.call.id)
        self._document.selecting.go_to_line(line)


_MOST_LETTERS = 600
"""The letters of an exception's message that a card shows; all of it is in the output."""


class ErrorCard(Card):
    """A card about the exception that ended the snippet, or about those of several blocks of a page
    that are alike."""

    def __init__(
        self, document: Document, theme: Theme, errors: Sequence[ExplainedError], asks: Asks
    ) -> None:
        super().__init__("trouble", theme)
        error = errors[0]
        self.add_title(error.type, Badge("nonfinite", "error", theme))
        message = plain_message(error.message)
        if len(message) > _MOST_LETTERS:
            message = f"{message[:_MOST_LETTERS].rsplit(maxsplit=1)[0]} …"
        self.add_words(error.explanation or message)
        if error.explanation:
            self.add_words(message, "code")
        if same := same_error_words(errors):
            self.add_words(same)
        go = document.selecting.go_to_line
        lines = dict.fromkeys(each.line for each in errors if each.line)
        links = [(f"Line {line}", partial(go, line), "Go to this line") for line in lines]
        self.add_rows_of_links(links)
        if error.command:
            self.add_words(error.command, "command")
            copy = partial(QGuiApplication.clipboard().setText, error.command)
            self.add_links(
                ("Copy command", copy, "Paste it into a terminal, then run again"),
                ("Interpreters", asks.interpreter, "Choose one that has the package"),
            )
        self.column.addWidget(FixList("", asks, theme))
        self.show_fixes(error.fixes)


class WarningCard(Card):
    """A card about a number that looks right and is wrong."""

    def __init__(self, document: Document, theme: Theme, warned: Warned) -> None:
        super().__init__("warning", theme)
        title = warned_title(document.diagnosis, warned)
        self.setAccessibleName(f"Warning: {title}" if title else "Warning")
        if title:
            self.add_title(title, Badge("warning", "warning", theme))
        where = warned_where(document.diagnosis, warned)
        if where:
            self.add_words(f"{where[0].upper()}{where[1:]}", "muted")
        self.add_words(warned.message)
        links: list[tuple[str, Callable[[], object], str]] = []
        if warned.calls and len(document.diagnosis.calls) > 1:
            show = partial(document.select_call, warned.calls[0])
            links.append(("Show it", show, "Show this gradient in the graph"))
        line = warned.line
        if line:
            links.append(
                (f"Line {line}", lambda: document.selecting.go_to_line(line), "Go to this line")
            )
        if links:
            self.add_links(*links)


def pill_words(site: CallSite, series: SourceSeries) -> str:
    """``all 200 flow``, ``None in 30``, ``zero in 3 of 200`` where the others flow, ``170 of 200
    flow`` where the others have several troubles. Rounds that did not ask for the source do not
    count."""
    flowing = len(series.rounds_with("flows"))
    asked = len(series.statuses) - series.statuses.count(None)
    if flowing == asked:
        return f"all {flowing:,} flow"
    worst = next(status for status in WORST_FIRST if series.rounds_with(status))
    rounds = series.rounds_with(worst if flowing else series.usual)
    if flowing and flowing + len(rounds) < asked:
        return f"{flowing:,} of {asked:,} flow"
    of_all = f" of {asked:,}" if flowing else ""
    return (
        f"{joint_word(round_word(series, number) for number in rounds)} in {len(rounds):,}{of_all}"
    )
