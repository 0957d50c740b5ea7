"""Choose the cards of a diagnosis: which there are, in which order, and how each is made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from itertools import chain

from ...analysis.alike import (
    SourceResult,
    alike_errors,
    alike_results,
    harmless_places,
    reported_in_order,
)
from ...analysis.findings import Finding, Fix
from ...analysis.model import ExplainedError, Warned
from ...document import Document
from ...trace.ids import CallId
from ..look import Theme
from .cards import Asks, Card
from .findings import ErrorCard, FindingCard, WarningCard


@dataclass(frozen=True)
class WantedCard:
    """A card to show.

    ``made_from``: the objects whose content the card shows; while they are the same objects, the
    card stays, and ``fixes`` and ``not_tried`` are shown on it as they come. ``sources``: how many
    sources share the card.
    """

    made_from: tuple[object, ...]
    make: Callable[[], Card]
    fixes: tuple[Fix, ...] = ()
    not_tried: str = ""
    sources: int = 1

    @property
    def key(self) -> tuple[int, ...]:
        return (*map(id, self.made_from), self.sources)


class CardChooser:
    """Chooses the cards for a document's diagnosis. Sources with the same outcome share a card,
    until the user asks for a card each; ``changed`` is called then."""

    def __init__(self, document: Document, asks: Asks, changed: Callable[[], object]) -> None:
        self._document, self._asks, self._changed = document, asks, changed
        self._split: set[tuple[CallId, str]] = set()
        """(call, first source) of the cards that the user split into a card for each source."""

    def share_again(self) -> None:
        """Let sources with the same outcome share a card again: the cards are of another run."""
        self._split.clear()

    def choose(self, theme: Theme) -> tuple[int, Iterator[WantedCard]]:
        """The number of cards, and the cards in their order. There may be thousands: each is chosen
        when the iterator comes to it."""
        diagnosis = self._document.diagnosis
        alike = {id(group): alike_results(diagnosis, group) for group in diagnosis.groups}
        count = len(alike_errors(diagnosis)) + len(diagnosis.warnings)
        for results in chain.from_iterable(alike.values()):
            count += len(results) if self._is_split(results) else 1
        return count, self._in_order(theme, alike)

    def _in_order(
        self, theme: Theme, alike: dict[int, list[Sequence[SourceResult]]]
    ) -> Iterator[WantedCard]:
        """``alike``: by the id of a call or call site, its sources grouped by their outcome."""
        document, diagnosis = self._document, self._document.diagnosis
        for errors in alike_errors(diagnosis):
            make = partial(ErrorCard, document, theme, errors, self._asks)
            made_from: list[object] = [document.trace, theme]
            for error in errors:
                made_from += _all_but_fixes(error)
            fixes = tuple(fix for error in errors for fix in error.fixes)
            yield WantedCard(tuple(made_from), make, fixes)
        for reported in reported_in_order(diagnosis, document.showing.mended):
            if isinstance(reported, Warned):
                make_warning = partial(WarningCard, document, theme, reported)
                yield WantedCard((document.trace, theme, reported), make_warning)
            else:
                is_calm = not reported.is_troubled
                harmless = frozenset() if is_calm else harmless_places(diagnosis, reported)
                for results in alike[id(reported)]:
                    yield from self._of_sources(theme, results, results[0].place in harmless)

    def _is_split(self, alike: Sequence[SourceResult]) -> bool:
        """Whether sources with the same outcome have a card each."""
        first = alike[0]
        return len(alike) == 1 or (first.call.call.id, first.finding.source) in self._split

    def _of_sources(
        self, theme: Theme, alike: Sequence[SourceResult], is_harmless: bool
    ) -> Iterator[WantedCard]:
        """A card for sources with the same outcome, or for each of them."""
        is_split = self._is_split(alike)
        for result in alike if is_split else alike[:1]:
            shared = () if is_split else alike
            made_from: list[object] = [self._document.trace, theme]
            for each in (alike[0], alike[-1]) if shared else (result,):
                made_from += (each.call.call, each.place, each.series)
                made_from += _all_but_fixes(each.finding)
            make = partial(self._finding_card, theme, result, shared, is_harmless)
            finding, number = result.finding, max(len(shared), 1)
            yield WantedCard(tuple(made_from), make, finding.fixes, finding.not_tried, number)

    def _finding_card(
        self, theme: Theme, result: SourceResult, alike: Sequence[SourceResult], is_harmless: bool
    ) -> FindingCard:
        def split() -> None:
            self._split.add((result.call.call.id, result.finding.source))
            self._changed()

        return FindingCard(self._document, theme, result, self._asks, alike, split, is_harmless)


def _all_but_fixes(found: Finding | ExplainedError) -> list[object]:
    """The fields of a finding or an error without its fixes, which come later."""
    names = (field.name for field in fields(found))
    return [getattr(found, name) for name in names if name not in ("fixes", "not_tried")]
