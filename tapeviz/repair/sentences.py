"""Tell whether a line that does not parse is a sentence, and no mistyped code."""

from __future__ import annotations

import builtins
import difflib
import keyword
import re
from collections.abc import Sequence
from itertools import pairwise

from .folding import fold

PROVIDED = frozenset({"tf", "np", "keras", "tensorflow", "numpy"})
"""Names that code has without binding them."""

_STRING = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'")
_FOREIGN = re.compile(r"[^\W\d_a-zA-Z]")
_BULLET = re.compile(r"^\s*(?:[-*+•·◦▪●○■□►▶➢✓–—]|\(?\d{1,3}[.)、]|#{1,6}|>)\s+(?=\S)")
_WORD = r"[A-Za-z]+(?:['’-][A-Za-z]+)*"
_PLAIN = re.compile(r"^\(?(?:[aI]|[A-Za-z]['’]?[A-Za-z][A-Za-z'’-]*)[.:;!?)]*$")
_SIGNS = re.compile(r"[=()\[\]{}*/+<>%&|^~@\\_\d]|\w\.\w")
_LABEL = re.compile(r"\s*([A-Za-z]\w*)(?:[ -][A-Za-z]\w*){0,4}\s?:(?!=)")
_FOOTER = re.compile(
    r"\s*(?:(?:asked|answered|edited|modified|posted|viewed|active)\s.*\d.*"
    r"|\d[\d.,k+ ]*(?!(?:if|and|or|in|is|not|else)\b)[A-Za-z]{3,}[A-Za-z ]*"
    r"|\d[\d.,k]* (?:gold|silver|bronze) badges?.*"
    r"|@[\w-]+[,:]?\s+(?!(?:def|class)\b)[A-Za-z]+[,.:;!?]*\s+[A-Za-z].*)\s*$",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[A-Za-z`)\"”][.!?]\s*$")
_CALL = re.compile(r"\w\(")
_URL = re.compile(r"^\s*(?:https?://|www\.)\S+\s*$")
_LATEX = re.compile(r"\$|\\[A-Za-z]{2,}")
_INLINE_CODE = re.compile(r"(?<!`)`[^`]+`(?!`)")
_SLASHES = re.compile(r"^\s*(?:`|//|/\w|/\*|\*/|<!--|-->|</?[a-z][a-z0-9]*[\s>/])")

# The start of a line of code, whatever follows.
CODE_START = re.compile(
    r"""^\s*(?:
    [A-Za-z_][\w.]*(?:\[[^\]]*\])?(?:\s*,\s*[A-Za-z_][\w.]*)*\s*(?:[-+*/@%&|^]|//|\*\*)?=(?!=)\s*\S
    |(?:with|for|while|if|elif|def|class|import|from|return|print|assert|del|else|try|except|raise
       |lambda|global|yield|async|await|pass|break|continue|finally|nonlocal|not)\b
    |[A-Za-z_][\w.]*[(\[]
    |[@)\]}]
    )""",
    re.VERBOSE,
)
_ASSIGNS = re.compile(r"^\s*[A-Za-z_][\w.]*(?:\[[^\]]*\])?\s*[-+*/]?=(?!=)")
_KEYWORDS = frozenset(keyword.kwlist)
_TYPED = sorted((_KEYWORDS | {"print", "case", "match"}) - {"is", "in", "as", "or", "if"})
_BUILTINS = frozenset(dir(builtins))
_OPENERS = re.compile(
    r"""the|an?|this|that|these|those|here|there|we|you|it|he|she|they|but|so|then|thus|hence|however
    |because|see|maybe|perhaps|also|now|finally|please|let|what|why|how|when|where|which|who
    |who's|i|i'm|it's|let's|my|our|your|their|its|both|each|every|all|any|some|suppose|consider""",
    re.VERBOSE,
)
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}")


def is_prose(line: str, names: frozenset[str]) -> bool:
    """Whether a line that does not parse is a sentence; ``names``: the names of the code."""
    if _URL.match(line) or _SLASHES.match(line):
        return True
    bullet = _BULLET.match(line)
    text = line[bullet.end() :].replace("**", "").replace("`", "") if bullet else line
    bare = _STRING.sub(" ", fold(_INLINE_CODE.sub("code", text)))
    if _LATEX.search(bare) and not (CODE_START.match(bare) or mistyped_keyword(_first_word(bare))):
        return True
    if _FOREIGN.search(bare):
        return not _starts_code(bare[: _first_foreign(bare)], names)
    return _is_english(bare, names, is_item=bullet is not None)


def _first_word(bare: str) -> str:
    found = re.search(_WORD, bare)
    return found[0] if found else ""


def _first_foreign(bare: str) -> int:
    found = _FOREIGN.search(bare)
    return found.start() if found else len(bare)


def _starts_code(head: str, names: frozenset[str]) -> bool:
    """Whether the text before the first foreign letter is code, with a remark after it."""
    if _ASSIGNS.match(head):
        return True
    if not CODE_START.match(head):
        return False
    first = re.match(r"\s*([A-Za-z_]\w*)", head)
    if first and first[1] in _KEYWORDS | {"print"}:
        return True
    # `tf.GradientTape() …` in a sentence names a function; `tape.gradient(loss, x) …` calls it.
    return bool(set(re.findall(r"\w+", head)) & (names - PROVIDED))


def _is_english(bare: str, names: frozenset[str], *, is_item: bool) -> bool:
    pairs = plain_pairs(bare)
    words = re.findall(_WORD, bare)
    if _is_cut_off(bare, names):
        return True
    if not words:
        return False
    if _FOOTER.match(bare) or _is_labelled(bare, names):
        return True
    if CODE_START.match(bare):
        return pairs >= 4 and not _ASSIGNS.match(bare)
    if len(words) > 1 and _SENTENCE_END.search(bare) and not (_assigns(bare) or _CALL.search(bare)):
        return True
    if any(word in _KEYWORDS for word in words) and pairs < 2 and words[0].islower():
        return bool(_OPENERS.fullmatch(words[0])) and len(words[0]) > 1 and not _assigns(bare)
    if pairs >= 3 or (is_item and pairs >= 1) or _opens_sentence(bare, words[0], names, pairs):
        return True
    if _lacks_code(bare, names):
        return True
    if _SIGNS.search(bare):
        return pairs == 2 and (words[0][0].isupper() or bool(_SENTENCE_END.search(bare)))
    if len(words) == 1:
        return words[0][0].isupper() and bare.rstrip()[-1] in ":.!?…" and words[0] not in names
    return mistyped_keyword(words[0]) is None and (pairs >= 2 or not _names_code(words, names))


def plain_pairs(bare: str) -> int:
    """How often two plain words are separated only by a space, which code never does."""
    plain = [
        bool(_PLAIN.match(part)) and part.strip(".,:;!?()") not in _KEYWORDS
        for part in bare.split()
    ]
    return sum(1 for pair in pairwise(plain) if all(pair))


def _opens_sentence(bare: str, first: str, names: frozenset[str], pairs: int) -> bool:
    """Whether the first word is one that begins sentences, not mistyped statements."""
    if first in names or not _OPENERS.fullmatch(first.lower()) or _assigns(bare):
        return False
    return pairs > 0 or (len(first) > 1 and bare.strip() != first)


def opens_sentence(word: str) -> bool:
    """Whether a word is one that begins sentences: ``this``, ``then``."""
    return _OPENERS.fullmatch(word.lower()) is not None


def _assigns(bare: str) -> bool:
    """Whether there is an ``=`` outside all brackets."""
    while (inner := _BRACKETS.sub("", bare)) != bare:
        bare = inner
    return "=" in bare


def _is_cut_off(bare: str, names: frozenset[str]) -> bool:
    """Whether a line is the rest of a sentence that the page broke: ``: GradientTape``."""
    rest = re.fullmatch(r"\s*[)\]}]?[:,;.]+\s*([A-Za-z_][\w.]*)?\s*", bare)
    return rest is not None and not set((rest[1] or "").split(".")) & (names | _KEYWORDS)


def _is_labelled(bare: str, names: frozenset[str]) -> bool:
    """Whether a line is a labelled value without names, calls or assignments:
    ``shape: (3, 2), dtype: float32``."""
    label = _LABEL.match(bare)
    if label is None or label[1] in _KEYWORDS or mistyped_keyword(label[1]):
        return False
    value = bare[label.end() :].strip()
    if not value or value.endswith(":") or re.search(r"=|\w\(", value):
        return False
    return not set(re.findall(r"\w+", value)) & names


def _lacks_code(bare: str, names: frozenset[str]) -> bool:
    """Whether a line of several words has no name of the code, no call and no assignment."""
    words = re.findall(r"[^\W\d]\w*", bare)
    if len(words) < 2 or re.search(r"=|\w\(", bare) or mistyped_keyword(words[0]):
        return False
    return not any((word in names and word != "a") or _is_letter(word) for word in words)


def _names_code(words: Sequence[str], names: frozenset[str]) -> bool:
    """Whether words may be a mistyped statement: ``prnt loss``."""
    return words[0] in _TYPED or any(word in names or _is_letter(word) for word in words)


def _is_letter(word: str) -> bool:
    """Whether a word is a single letter, like a name, other than ``a``, ``A`` and ``I``."""
    return len(word) == 1 and word not in "aAI"


def mistyped_keyword(word: str) -> str | None:
    """The keyword (or ``print``) that a word is a misspelling of; None if it is none."""
    if word in _BUILTINS or word in _TYPED:
        return None
    for known in _KEYWORDS:
        if sorted(known) == sorted(word) and known != word:
            return known
    near = difflib.get_close_matches(word, _TYPED, n=1, cutoff=0.75)
    return near[0] if near else None
