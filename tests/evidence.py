"""A cause that says what a test wants."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from tapeviz.analysis.findings import Cause, Evidence, Finding


@dataclass(frozen=True, slots=True)
class Said(Evidence):
    """Says ``words``, with the name of the source in place of ``{}``."""

    kind: ClassVar[str] = "said"
    words: str

    def sentence(self, cause: Cause, target: str, source: str) -> str:
        return self.words.replace("{}", source)


def saying(finding: Finding, words: str) -> Finding:
    """The finding with this message."""
    cause = finding.cause or Cause(Said(words), 0, "")
    return replace(finding, cause=replace(cause, evidence=Said(words)))
