"""The gallery of examples: its texts, its order, and how one is found by its name."""

from __future__ import annotations

import pytest

from tapeviz.errors import TapevizError
from tapeviz.files.examples import Example, default_example, example, examples

ALL = [each.name for each in examples()]


@pytest.mark.parametrize("each", examples(), ids=lambda each: each.name)
def test_text(each: Example) -> None:
    """A title of one line that fits a menu, then a sentence or two, then code of moderate width."""
    assert 0 < len(each.title) <= 60
    assert not each.title.endswith(".")
    assert each.about.endswith(".")
    assert max(map(len, each.text.splitlines())) <= 100


def test_the_gallery_is_the_folder() -> None:
    folder = default_example().path.parent
    assert sorted(ALL) == sorted(path.stem for path in folder.glob("*.py"))
    assert len({each.title for each in examples()}) == len(ALL)


def test_the_default_is_the_slice_assign() -> None:
    assert default_example() is example("slice_assign")


def test_a_misspelt_name_gets_its_neighbours() -> None:
    with pytest.raises(TapevizError, match=r"did you mean slice_assign"):
        example("slice_asign")
    with pytest.raises(TapevizError, match="tapeviz examples lists them"):
        example("qqqqqq")
