"""A notebook's code cells become one text; what is no notebook is said in one line."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from tapeviz.errors import TapevizError
from tapeviz.files.notebook import code_in, notebook_source, read_notebook
from tapeviz.repair import repair


def cell(source: str | list[str], kind: str = "code") -> dict[str, Any]:
    return {"cell_type": kind, "metadata": {}, "source": source}


def notebook(*cells: Any, **metadata: Any) -> str:
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


def test_code_cells_are_joined_in_order() -> None:
    text = notebook(
        cell("# A title", "markdown"),
        cell(["x = 1\n", "y = 2"]),
        cell(""),
        cell("z = x + y\n"),
        language_info={"name": "python"},
    )
    assert notebook_source(text) == "# %%\nx = 1\ny = 2\n\n# %%\nz = x + y\n"


def test_only_a_whole_notebook_is_read_as_such() -> None:
    assert code_in("\n" + notebook(cell("x = 1"))) == "# %%\nx = 1\n"
    for text in ('{"cells": 3}', notebook(cell("x = 1"))[:-9], "{'cells': 1}", "x = 1"):
        assert code_in(text) == text


def test_magics_are_left_to_repair_and_other_languages_become_comments() -> None:
    text = notebook(cell("%matplotlib inline\nx = 1"), cell("%%bash\nls"), cell("%%time\ny = 2"))
    source = notebook_source(text)
    assert "# %%bash\n# ls" in source
    found = repair(source)
    assert found.error is None
    assert ast.unparse(ast.parse(found.text)) == "x = 1\ny = 2"


def test_the_format_before_cells() -> None:
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": ["a = 1\n", "b = 2"]}]}]}
    assert notebook_source(json.dumps(old)) == "# %%\na = 1\nb = 2\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1", "not a notebook"),
        ("[" * 100_000, "not a notebook"),
        ("[]", "no cells"),
        ("{}", "no cells"),
        ('{"cells": 3}', "no cells"),
        ('{"cells": [3]}', "no object"),
        ('{"worksheets": [{"cells": 4}]}', "no cells"),
        (notebook(cell("words", "markdown")), "without code cells"),
        (notebook(cell([1, 2])), "no text"),  # type: ignore[list-item]
        (notebook(cell("x <- 1"), kernelspec={"language": "R"}), "a notebook in r"),
    ],
)
def test_what_is_no_notebook_is_said_in_one_line(text: str, words: str) -> None:
    with pytest.raises(TapevizError, match=words) as caught:
        notebook_source(text)
    assert "\n" not in str(caught.value)


def test_files(tmp_path: Path) -> None:
    good = tmp_path / "good.ipynb"
    good.write_text("\ufeff" + notebook(cell("s = 'ü'")), encoding="utf-8")
    assert read_notebook(good) == "# %%\ns = 'ü'\n"
    bad = tmp_path / "bad.ipynb"
    bad.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TapevizError, match=r"bad\.ipynb"):
        read_notebook(bad)
    with pytest.raises(TapevizError, match="cannot read"):
        read_notebook(tmp_path / "none.ipynb")
    with pytest.raises(TapevizError, match="cannot read"):
        read_notebook(tmp_path)
