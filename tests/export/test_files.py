from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from tapeviz.errors import TapevizError
from tapeviz.export import WRITERS, check_suffix, render, write_picture, writing

from .drawn import drawing


@pytest.mark.parametrize("suffix", WRITERS)
def test_every_suffix_writes_what_it_renders(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"picture.{suffix.upper()}"
    write_picture(drawing(), path)
    made = path.read_bytes()
    assert made
    assert suffix == "pdf" or made == render(drawing(), suffix)  # a PDF holds the time
    assert os.listdir(tmp_path) == [path.name]


def test_a_suffix_can_be_given_apart_from_the_name(tmp_path: Path) -> None:
    write_picture(drawing(), tmp_path / "picture", "svg")
    assert (tmp_path / "picture").read_bytes() == render(drawing(), ".svg")


@pytest.mark.parametrize("suffix", ["", ".bmp", "jpeg", "."])
def test_an_unknown_suffix_names_those_there_are(suffix: str) -> None:
    with pytest.raises(TapevizError, match="png, svg, pdf, dot, json"):
        check_suffix(suffix)


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan"), float("inf"), 1e9])
def test_a_scale_out_of_reach_is_refused(scale: float) -> None:
    with pytest.raises(TapevizError, match="scale"):
        render(drawing(), "svg", scale=scale)


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.svg").mkdir()
    with pytest.raises(TapevizError, match="is a folder"):
        write_picture(drawing(), tmp_path / "a.svg")


PAINTED = {"png", "pdf", "gif"}
"""The formats that Qt paints."""


def test_formats_that_are_not_painted_need_no_qt() -> None:
    code = (
        "import sys\n"
        "from tests.export.drawn import drawing\n"
        "from tapeviz.export import WRITERS, render\n"
        f"for suffix in WRITERS.keys() - {PAINTED}:\n"
        "    render(drawing(), suffix)\n"
        "assert not [name for name in sys.modules if name.startswith('PySide6')]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])


def test_missing_libraries_of_qt_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str, package: str) -> None:
        raise ImportError("libEGL.so.1: cannot open shared object file")

    monkeypatch.setattr(writing, "import_module", load)
    monkeypatch.setattr(writing, "missing_words", lambda _: "sudo apt install libegl1")
    with pytest.raises(TapevizError, match="apt install libegl1"):
        writing.render(drawing(), "png")
    monkeypatch.setattr(writing, "missing_words", lambda _: "")
    with pytest.raises(ImportError):
        writing.render(drawing(), "png")


def test_a_long_film_has_evenly_many_frames() -> None:
    assert writing.steps_filmed(3) == [0, 1, 2, 3]
    long = writing.steps_filmed(100_000)
    assert len(long) == writing.MOST_DRAWINGS
    assert (long[0], long[-1]) == (0, 100_000)
    assert len({b - a for a, b in pairwise(long)}) <= 2
