"""Sizes of docks, without a window."""

from __future__ import annotations

import pytest

from tapeviz.app.sizes import (
    GAPS,
    GRAPH,
    LEAST_NARROW,
    LEAST_SOURCE,
    DockSizes,
    SizesByHand,
    has_drawer,
    is_narrow,
    sizes_by_content,
)

FIVE_STEPS = 215


@pytest.mark.parametrize(("width", "height"), [(960, 430), (1024, 600), (1440, 800), (1920, 980)])
@pytest.mark.parametrize("source", [410, 600, 790])
def test_each_dock_has_room_and_the_graph_keeps_its_own(
    width: int, height: int, source: int
) -> None:
    sizes = sizes_by_content(width, height, source, FIVE_STEPS)
    modest = sizes_by_content(width, height, source, FIVE_STEPS, graph=700)
    least = LEAST_NARROW if is_narrow(width) else LEAST_SOURCE
    assert sizes.source <= max(0.4 * width, least) + 1
    if width >= 1440:
        graph = width - sizes.source - sizes.diagnosis - GAPS
        assert graph >= 0.35 * width
        assert sizes.source >= min(source, 0.4 * width) - 1
        assert width - modest.source - modest.diagnosis - GAPS >= min(700, 0.42 * width)
        assert modest.source >= LEAST_SOURCE or modest.source >= source
        assert sizes.source >= min(source, LEAST_SOURCE)
        assert height - sizes.below >= 0.6 * height
    beside = 0 if is_narrow(width) else sizes.diagnosis
    assert width - sizes.source - beside - GAPS >= GRAPH
    assert sizes.source >= min(source, 0.4 * width) or not is_narrow(width)
    assert sizes.below >= FIVE_STEPS or height < 540
    assert height - sizes.below > 230


def test_only_small_windows_fold_the_panels_below() -> None:
    assert has_drawer(1024, 600)
    assert not has_drawer(1440, 800)
    assert not has_drawer(1024, 980)


def test_sizes_by_hand_are_kept_for_windows_of_that_size() -> None:
    kept, sizes = SizesByHand(), DockSizes(500, 300, 250, 600, 310)
    kept.keep(1440, 800, sizes)
    assert kept.of(1440, 800) == sizes
    assert kept.of(1420, 830) == sizes
    assert kept.of(1440, 900) is None
    again = SizesByHand(kept.text())
    assert again.of(1440, 800) == sizes
    again.forget(1440, 800)
    assert again.of(1440, 800) is None
    assert SizesByHand("[[[1440, 800], [500, 300, 250, 600]]]").of(1440, 800) is not None
    assert SizesByHand("no sizes").of(1, 1) is None
    assert SizesByHand('[[["a", 2], 3]]').of(1, 1) is None
