"""Repair a pasted text, and carry a fix of what ran over to the page."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ...analysis.findings import Fix
from ...repair import Repaired
from .parts import LinePart, fix_of_page, merge_fix

if TYPE_CHECKING:
    from ..document import Document

LONGEST_PAGE = 300_000
"""Characters of a text that is repaired, at most: Python parses without releasing its lock, so a
longer text would freeze the window."""


class Repairing:
    """Repairs the text of one document, in the background."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._runs_then = False

    def repair(self) -> None:
        """Repair the text; :attr:`Text.repairs_changed` is emitted when it is done. Of one that is
        too long for that the user is told."""
        source = self._document.text.source
        if len(source) <= LONGEST_PAGE:
            work = partial(self._document.stages.repair, source)
            self._document.background.submit("repair", work, partial(self._take, source))
        else:
            self._document.say(
                f"A text of {len(source):,} characters runs as it was pasted: up to "
                f"{LONGEST_PAGE:,} are looked through for prompts and other marks of a page"
            )

    def repaired(self, source: str) -> str:
        """A text as it would run; one that is too long for that as it is."""
        is_long = len(source) > LONGEST_PAGE
        return source if is_long else self._document.stages.repair(source).text

    def postpone_run(self) -> bool:
        """Let the document run when the repair under way is done; returns False without one."""
        self._runs_then = "repair" in self._document.background.busy
        return self._runs_then

    def _take(self, source: str, repairs: Repaired) -> None:
        document = self._document
        if source != document.text.source:  # it was edited meanwhile
            self.repair()
            return
        document.text.take_repairs(repairs)
        if self._runs_then:
            document.run(document.part)

    def look_for_left_out(self) -> None:
        """Find the parts of a page that was opened or typed that will be left out when it runs."""
        text = self._document.text
        source = text.source
        if text.repairs is not None or len(source) > LONGEST_PAGE:
            return

        def take(found: Repaired) -> None:
            is_page = bool(found.skipped or found.prose)
            if is_page and source == text.source and text.repairs is None:
                text.take_repairs(replace(found, text=source, repairs=(), error=None))

        work = partial(self._document.stages.repair, source)
        self._document.background.submit("look", work, take)

    def fixed_text(self, fix: Fix) -> tuple[str, LinePart | None]:
        """The whole text after a fix of the last run, and the part of it to run again."""
        document = self._document
        if document.part is None:
            return self._fixed_page(fix), None
        return merge_fix(document.text.ran, document.part, fix.text)

    def _fixed_page(self, fix: Fix) -> str:
        """The fix of a whole text. Prose of a page stays as it was if the page then runs as the
        fix did."""
        document = self._document
        page, repairs = document.text.ran, document.text.repairs
        if repairs is None or document.is_outdated:
            return fix.text
        prose = {*repairs.prose}
        for first, last, _ in repairs.skipped:
            prose.update(range(first, last + 1))
        text = fix_of_page(page, document.trace.source, fix.text, prose)
        return text if document.stages.repair(text).text == fix.text else fix.text
