"""Places in the snippet."""

from __future__ import annotations

from dataclasses import dataclass

from ..text.source import TextSpan
from .ids import SiteId


@dataclass(frozen=True, slots=True)
class StackFrame:
    """One Python frame of the snippet; columns 0-based in characters, -1 unknown."""

    function: str
    line: int
    column: int = -1
    end_line: int = -1
    end_column: int = -1

    @property
    def span(self) -> TextSpan:
        """The expression that ran, in the snippet's text."""
        return TextSpan(self.line, self.column, self.end_line, self.end_column)


@dataclass(frozen=True, slots=True)
class Site:
    """The place in the snippet at which something happened: its frames, innermost first."""

    id: SiteId
    frames: tuple[StackFrame, ...] = ()

    @property
    def line(self) -> int:
        """The innermost line, 1-based; 0 outside the snippet."""
        return self.frames[0].line if self.frames else 0


NOWHERE = Site(SiteId(0))
