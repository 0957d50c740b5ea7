from __future__ import annotations

from dataclasses import fields

import pytest

from tapeviz.scene.theme import THEMES, Theme, contrast, mix

TEXTS = {
    "text": "background panel window op_fill variable_fill group_fill constant_fill accent_fill "
    "gradient_fill",
    "text_muted": "background panel window op_fill variable_fill group_fill constant_fill "
    "gradient_fill",
    "gradient_text": "background panel op_fill gradient_fill",
    "trouble_text": "background panel trouble_fill",
    "warning_text": "background panel warning_fill",
    "accent_text": "background panel accent_fill",
    "success_text": "background panel success_fill",
    "on_accent": "accent",
    "code_keyword": "panel trouble_fill accent_fill",
    "code_string": "panel trouble_fill accent_fill",
    "code_number": "panel trouble_fill accent_fill",
    "code_comment": "panel",
}
LINES = ("gradient", "cut", "trouble", "warning", "accent", "variable_stroke", "bridge")


@pytest.mark.parametrize("theme", THEMES.values(), ids=lambda theme: theme.name)
@pytest.mark.parametrize("role", TEXTS)
def test_text_reads_on_every_ground_that_it_stands_on(theme: Theme, role: str) -> None:
    for ground in TEXTS[role].split():
        ratio = contrast(getattr(theme, role), getattr(theme, ground))
        assert ratio >= 4.5, f"{role} on {ground}: {ratio:.2f}"


@pytest.mark.parametrize("theme", THEMES.values(), ids=lambda theme: theme.name)
@pytest.mark.parametrize("role", LINES)
def test_lines_that_carry_meaning_stand_out(theme: Theme, role: str) -> None:
    assert contrast(getattr(theme, role), theme.background) >= 2.9


def test_contrast_of_black_on_white_is_21() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


def test_mix_is_linear_between_its_ends() -> None:
    assert mix("#000000", "#ffffff", 0) == "#000000"
    assert mix("#000000", "#ffffff", 1) == "#ffffff"
    assert mix("#000000", "#ff0000", 0.5) == "#800000"


def test_every_colour_is_six_hex_digits() -> None:
    for theme in THEMES.values():
        for field in fields(Theme):
            value = getattr(theme, field.name)
            if field.name not in ("name", "is_dark"):
                assert value[0] == "#"
                assert len(value) == 7
                int(value[1:], 16)
