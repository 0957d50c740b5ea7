"""A Markdown file of snippets in, the snippets out.

Each snippet is a fenced block of Python under a heading that names it. The heading may end with
the command line's arguments, as code: ``## reads its arguments `--rate 0.5` ``.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from ..sampling import sampled
from .snippets import Snippet

FOLDER = Path(__file__).with_name("corpus")
_SNIPPET = re.compile(
    r"^## (?P<name>[^\n`]+?)(?: `(?P<arguments>[^\n`]*)`)?\n+```python\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


def read_corpus(path: Path) -> list[Snippet]:
    """The snippets of one file, in their order, each named with the file's kind before it."""
    text = path.read_text(encoding="utf-8")
    found = [
        Snippet(
            f"{path.stem}: {match['name']}",
            match["text"],
            tuple(shlex.split(match["arguments"] or "")),
        )
        for match in _SNIPPET.finditer(text)
    ]
    assert len(found) == text.count("```python\n"), f"a snippet of {path.name} has no heading"
    return found


def corpus() -> list[Snippet]:
    """A sample of the corpus; all of it takes ten minutes."""
    found = [each for path in sorted(FOLDER.glob("*.md")) for each in read_corpus(path)]
    return sampled(found, 60)
