"""Some lines of a text run alone, at their own line numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from tapeviz.analysis.findings import Fix
from tapeviz.document import Document
from tapeviz.document.pipeline import Stages
from tapeviz.document.text.parts import (
    LinePart,
    cell_at,
    fix_of_page,
    lines_alone,
    merge_fix,
    names_from_above,
)
from tapeviz.document.text.repairing import LONGEST_PAGE
from tapeviz.repair import Repaired
from tests.document.sample import SOURCE, SamplePipeline, make_stages, make_trace

CELLS = "import a\n# %% one\nb = 1\n\n    #%% two\nc = 2"


@pytest.mark.parametrize(
    ("line", "part"), [(1, (1, 1)), (2, (2, 4)), (4, (2, 4)), (5, (5, 6)), (6, (5, 6))]
)
def test_cells_begin_at_their_marks(line: int, part: LinePart) -> None:
    assert cell_at(CELLS, line) == part


def test_without_marks_there_are_no_cells() -> None:
    assert cell_at("a\n# 5 %% of it\n", 1) is None


@pytest.mark.parametrize(
    ("text", "part", "alone"),
    [
        ("a\nb\nc\nd", (2, 3), "\nb\nc\n"),
        ("if a:\n    b\n\n    c\nd", (2, 4), "if True:\n    b\n\n    c\n"),
        ("  a\n  b", (1, 2), "a\nb\n"),
        ("a", (1, 1), "a\n"),
    ],
)
def test_lines_keep_their_numbers_and_columns(text: str, part: LinePart, alone: str) -> None:
    assert lines_alone(text, part) == alone


@pytest.mark.parametrize(
    ("fixed", "whole", "part"),
    [
        ("\n\nB\nc\n", "a\n\nB\nc\nd\ne", (3, 4)),
        ("\n\nb\nb2\nc\n", "a\n\nb\nb2\nc\nd\ne", (3, 5)),
        ("\n\nc\n", "a\n\nc\nd\ne", (3, 3)),
        ("import x\n\n\nb\nc\n", "import x\na\n\nb\nc\nd\ne", (4, 5)),
        ("import x\n\n\nB\nc\n", "import x\na\n\nB\nc\nd\ne", (4, 5)),
        ("\n\nb\nc\nz\n", "a\n\nb\nc\nz\nd\ne", (3, 5)),
    ],
)
def test_a_fix_of_a_part_leaves_the_rest(fixed: str, whole: str, part: LinePart) -> None:
    assert merge_fix("a\n\nb\nc\nd\ne", (3, 4), fixed) == (whole, part)


@pytest.mark.parametrize(
    ("above", "part", "names"),
    [
        ("x = 1", "y = x", ["x"]),
        ("x = 1", "x += 1", ["x"]),
        ("x = 1", "x = 2\ny = x", []),
        ("x = 1", "y = x\nx = 2", ["x"]),
        ("import os", "os.getcwd()", ["os"]),
        ("def f(): pass\nclass C: pass", "f(C)", ["C", "f"]),
        ("import tensorflow as tf\nimport numpy as np", "tf.constant(np.pi)", []),
        ("w = 1", "def g(v):\n    w = 2\n    return w + v", []),
        ("w = 1", "def g(v):\n    def h():\n        return w * v\n    return h", ["w"]),
        ("w = 1", "h = lambda w: w\n[w for w in (1, 2)]", []),
        ("with open('f') as f:", "    y = 1", None),
        ("with open('f') as f:", "    y = f", None),
        ("x = 1", "print(unknown)", []),
        ("a line of prose", "y = x", None),
    ],
)
def test_names_that_only_lines_above_bind(above: str, part: str, names: list[str] | None) -> None:
    first = above.count("\n") + 2
    whole = f"{above}\n{part}\nz = 3"
    assert names_from_above(whole, (first, first + part.count("\n"))) == names


PAGE = "Why is it None?\nx = 1\ny = f(x)\nThanks\nz = 2\n"
RAN = "#¶ Why is it None?\nx = 1\ny = f(x)\n#¶ Thanks\nz = 2\n"


def test_the_fix_of_a_page_leaves_its_prose_as_it_was() -> None:
    fixed = RAN.replace("y = f(x)", "w = x\ny = f(w)")
    kept = PAGE.replace("y = f(x)", "w = x\ny = f(w)")
    assert fix_of_page(PAGE, RAN, fixed, (1, 4)) == kept
    assert fix_of_page(PAGE, RAN, "import a\n" + RAN, (1, 4)) == "import a\n" + PAGE
    assert fix_of_page(PAGE, RAN, RAN, (1,)) == RAN.replace("#¶ Why", "Why")


def test_a_fixed_page_that_would_run_otherwise_is_taken_as_it_was_tried(qtbot: QtBot) -> None:
    def mend(text: str) -> Repaired:
        return Repaired(RAN if text == PAGE else text, prose=(1, 4))

    def mend_anew(text: str) -> Repaired:
        made = text.replace("Why", "#¶ Why").replace("Thanks", "#¶ Thanks")
        return Repaired(made.replace("#¶ #¶", "#¶"), prose=(1, 4))

    fixed = RAN.replace("z = 2", "z = 3")
    for mended, wanted in ((mend, fixed), (mend_anew, PAGE.replace("z = 2", "z = 3"))):
        document = Document(SamplePipeline(), replace(make_stages(), repair=mended))
        document.open_source(PAGE, name="page.txt")
        document.run()
        qtbot.waitUntil(lambda known=document: known.text.repairs is not None)  # type: ignore[misc]
        qtbot.waitUntil(lambda known=document: not known.is_running)  # type: ignore[misc]
        document.trace = make_trace(RAN)
        assert document.repairing.fixed_text(Fix("three", "", fixed)) == (wanted, None)


def test_a_part_runs_alone_and_its_fix_goes_into_the_whole_text(qtbot: QtBot) -> None:
    pipeline = SamplePipeline()
    document = Document(pipeline, make_stages())
    text = "print(1)\n" + SOURCE + "print(2)\n"
    document.open_source(text)
    document.run((2, 9))
    qtbot.waitUntil(lambda: not document.is_running)
    assert pipeline.sources[-1] == "\n" + SOURCE
    assert not document.is_stale
    fixed = "\n" + SOURCE.replace("tf.reduce_mean(y)", "tf.reduce_sum(y)")
    whole, part = document.repairing.fixed_text(Fix("sum", "", fixed))
    assert whole == text.replace("reduce_mean", "reduce_sum")
    assert part == (2, 9)
    document.run()
    assert document.repairing.fixed_text(Fix("sum", "", "x")) == ("x", None)
    qtbot.waitUntil(lambda: not document.is_running)


def test_a_part_that_uses_names_from_above_runs_with_the_lines_above(qtbot: QtBot) -> None:
    pipeline = SamplePipeline()
    document = Document(pipeline, make_stages())
    document.open_source("n = 2\nprint(1)\nprint(n)\nprint(3)")
    document.run((3, 3))
    assert document.trouble == "Lines 1–3 run: lines 3–3 use n from above"
    qtbot.waitUntil(lambda: not document.is_running)
    assert pipeline.sources[-1] == "n = 2\nprint(1)\nprint(n)\n"
    assert document.part == (1, 3)


def test_a_cell_of_a_notebook_with_commands_runs_with_the_cells_above(qtbot: QtBot) -> None:
    pipeline = SamplePipeline()
    document = Document(pipeline, Stages())
    cells = "# %%\n%matplotlib inline\nn = 2\n# %%\n!ls\nprint(n)\n# %%\nprint(3)\n"
    document.open_source(cells)
    document.run((4, 6))
    assert document.trouble == "Lines 1–6 run: lines 4–6 use n from above"
    qtbot.waitUntil(lambda: not document.is_running)
    document.run((7, 8))
    assert document.trouble == "Lines 7–8 run alone"
    qtbot.waitUntil(lambda: not document.is_running)


def test_it_is_told_that_a_text_is_too_long_to_be_repaired(qtbot: QtBot) -> None:
    document = Document(SamplePipeline(), make_stages())
    document.open_source(">>> x = 1\n" * (LONGEST_PAGE // 10 + 1))
    document.repairing.repair()
    assert "repair" not in document.background.busy
    assert "runs as it was pasted" in document.trouble
