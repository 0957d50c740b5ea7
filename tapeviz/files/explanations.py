"""The page that explains a kind of cause: two paragraphs and a tiny example."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from ..errors import TapevizError
from .resources import resource

_FENCE = "```"


@dataclass(frozen=True, slots=True)
class Explanation:
    """The page about a kind of cause. ``paragraphs``: what TensorFlow does and why, what to do.
    ``code``: a snippet to be run."""

    kind: str
    title: str
    paragraphs: tuple[str, ...]
    code: str


@cache
def kinds() -> tuple[str, ...]:
    """The kinds of causes that have a page, and ``errors``."""
    return tuple(sorted(path.stem for path in resource("explanations").glob("*.md")))


@cache
def explanation(kind: str) -> Explanation:
    """The page about a kind of cause (``assign``), or about ``errors``; else TapevizError."""
    if kind not in kinds():
        raise TapevizError(f"there is no explanation of {kind!r}")
    text = resource("explanations", f"{kind}.md").read_text(encoding="utf-8")
    prose, _, rest = text.partition(f"{_FENCE}python\n")
    heading, *paragraphs = (part.strip() for part in prose.split("\n\n") if part.strip())
    return Explanation(
        kind,
        heading.lstrip("# "),
        tuple(" ".join(paragraph.split()) for paragraph in paragraphs),
        rest.partition(_FENCE)[0],
    )
