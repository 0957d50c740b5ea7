"""Boxes whose values are not exactly those of the run: each kind has a sign of its own."""

from __future__ import annotations

import pytest

from tapeviz.analysis.inside_words import DOUBT_WORDS, Doubt
from tapeviz.layout.model import Rect
from tapeviz.scene.captions import legend_of
from tapeviz.scene.model import Box
from tapeviz.scene.parts.boxes import box_primitives, outer_rect
from tapeviz.scene.parts.doubts import LEGEND_WORDS
from tapeviz.scene.primitives import Path
from tapeviz.scene.sheet import legend_sample
from tapeviz.scene.theme import THEMES


def _box(doubt: Doubt) -> Box:
    return Box("op:1", Rect(0, 0, 100, 50), "rounded", "Mul", "2×3", doubt=doubt)


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_each_doubt_has_a_sign_of_its_own_on_the_box_and_in_the_legend(theme: object) -> None:
    drawn = set()
    for doubt in DOUBT_WORDS:
        box = _box(doubt)
        paths = [
            primitive for primitive in box_primitives(box, theme) if isinstance(primitive, Path)
        ]  # type: ignore[arg-type]
        assert f"doubt-{doubt}" in {path.role for path in paths}
        drawn.add(tuple(path.outline for path in paths if path.role == "doubt-stroke"))
        assert outer_rect(box).left < box.rect.left
        (entry,) = legend_of((), [box])
        (disc, *_) = legend_sample(entry.state, 0.0, 0.0, theme)  # type: ignore[arg-type]
        assert isinstance(disc, Path)
        assert disc.role == f"doubt-{doubt}"
    assert len(drawn) == len(LEGEND_WORDS) == len(DOUBT_WORDS)


def test_an_exact_value_has_no_sign() -> None:
    roles = {
        getattr(primitive, "role", "") for primitive in box_primitives(_box(""), THEMES["light"])
    }
    assert not [role for role in roles if role.startswith("doubt")]
    assert legend_of((), [_box("")]) == ()
