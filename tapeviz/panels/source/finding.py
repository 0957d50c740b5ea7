"""Find and replace in a text; positions as Qt counts them."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRegularExpression, QRegularExpressionMatch

MOST = 10_000
"""Matches that are counted."""


@dataclass(frozen=True, slots=True)
class SearchTerm:
    """The words to find in a text. ``is_pattern``: the words are a regular expression, else they
    stand for themselves."""

    words: str
    is_pattern: bool = False
    minds_case: bool = False

    def expression(self) -> QRegularExpression:
        words = self.words if self.is_pattern else QRegularExpression.escape(self.words)
        option = QRegularExpression.PatternOption
        options = option.MultilineOption
        if not self.minds_case:
            options |= option.CaseInsensitiveOption
        return QRegularExpression(words, options)

    @property
    def trouble(self) -> str:
        """Why the pattern cannot be read; empty when it can."""
        expression = self.expression()
        return "" if expression.isValid() else expression.errorString()


def matches(text: str, sought: SearchTerm) -> list[QRegularExpressionMatch]:
    """The places where ``text`` has what is sought, the first :data:`MOST`; empty ones do not
    count."""
    expression = sought.expression()
    if not sought.words or not expression.isValid():
        return []
    found: list[QRegularExpressionMatch] = []
    walk = expression.globalMatch(text)
    while walk.hasNext() and len(found) < MOST:
        match = walk.next()
        if match.capturedLength():
            found.append(match)
    return found


def replacement(match: QRegularExpressionMatch, words: str, sought: SearchTerm) -> str:
    r"""The text that takes a match's place: for a pattern ``\1`` is its first group, ``\0`` all of
    it, ``\n`` and ``\t`` a line's end and a tab."""
    if not sought.is_pattern:
        return words
    made, place = [], 0
    while place < len(words):
        following = words[place + 1 : place + 2]
        if words[place] == "\\" and following:
            plain = {"n": "\n", "t": "\t"}.get(following, following)
            made.append(match.captured(int(following)) if following.isdecimal() else plain)
            place += 2
        else:
            made.append(words[place])
            place += 1
    return "".join(made)
