from __future__ import annotations

import pytest

from tapeviz.scene.text import ELLIPSIS, FACES, clean, fit, shorten, text_width


def test_mono_is_as_wide_as_its_characters_are_many() -> None:
    width = text_width("m", "mono", 13)
    assert text_width("x[:2,:2] ← patch", "mono", 13) == pytest.approx(16 * width)


def test_width_grows_with_size_and_text() -> None:
    assert text_width("Mean", "sans", 22) == pytest.approx(2 * text_width("Mean", "sans", 11))
    assert text_width("iii", "sans", 11) < text_width("mmm", "sans", 11)


def test_the_words_of_the_drawing_are_in_the_table() -> None:
    for face in FACES.values():
        assert set("∂x′ · 2×3 ← ‖ḡ‖ … –Σ") <= set(face.advances) | {"ḡ"}


def test_cjk_is_one_em_and_combining_marks_are_nothing() -> None:
    assert text_width("梯度", "sans", 10) == pytest.approx(20)
    assert text_width("e\u0301", "sans", 10) == text_width("e", "sans", 10)


def test_clean_removes_what_files_cannot_hold() -> None:
    assert clean("a\x00b\x1b[0m\ud800\ufffe") == "ab[0m"
    assert clean("a\nb\tc\u2028d") == "a b c d"


@pytest.mark.parametrize("side", ["middle", "end"])
@pytest.mark.parametrize("width", [0, 9, 30, 80, 300])
def test_fit_never_exceeds_the_width(side: str, width: float) -> None:
    text = "resnet50/conv2_block1_1_conv/kernel"
    fitted = fit(text, "mono", 13, width, side)  # type: ignore[arg-type]
    if width >= text_width(ELLIPSIS, "mono", 13):
        assert text_width(fitted, "mono", 13) <= width
    assert fitted == text or ELLIPSIS in fitted


def test_fit_keeps_what_fits_whole() -> None:
    assert fit("loss", "mono", 13, 100) == "loss"


def test_middle_keeps_both_ends() -> None:
    fitted = fit("abcdefghijklmnopqrstuvwxyz", "mono", 10, 60)
    assert fitted.startswith("abc")
    assert fitted.endswith("z")


def test_shorten_counts_the_ellipsis() -> None:
    assert len(shorten("a" * 50, 28)) == 28
    assert shorten("a" * 28, 28) == "a" * 28


def test_a_text_without_its_end_is_shortened_there() -> None:
    assert shorten("for i, expert in enumerate(ex…", 20) == "for i, expert in en…"


def test_a_shortened_name_keeps_what_tells_it_from_others() -> None:
    names = [f"message_passing{end}.update.kernel" for end in ("", "_1", "_12")]
    shown = [shorten(name, 24) for name in names]
    assert shown == [
        "message_p….update.kernel",
        "message…_1.update.kernel",
        "messag…_12.update.kernel",
    ]
    assert shorten("bottleneck … conv2d_transpose", 24) == "bottleneck … conv2d_tra…"
    assert shorten("sequential … sequential_3", 16) == "sequ… … seque…_3"
    assert shorten("for mp in (self.mp1, self.mp2)", 24) == "for mp in (s…, self.mp2)"
