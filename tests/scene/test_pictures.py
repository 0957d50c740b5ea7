from __future__ import annotations

import numpy as np
import pytest

from tapeviz.scene.parts.numbers import (
    array_text,
    gradient_text,
    rounded_text,
    scalar_text,
    type_text,
)
from tapeviz.scene.parts.pictures import (
    cells_of,
    cells_of_tensor,
    picture_of,
    picture_of_tensor,
)
from tapeviz.trace.ids import TensorId
from tapeviz.trace.model import Trace
from tapeviz.trace.values import measure

from ..traces import tensor_of


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float32(2709), "2709.0"),
        (np.float32(1.2e-5), "1.2e-05"),
        (np.float32(1 / 3), "0.33333334"),
        (np.float64(1 / 3), "0.333333"),
        (np.int64(-12), "-12"),
        (np.float32("nan"), "nan"),
        (np.bool_(True), "True"),
        (np.complex64(1 + 2j), "(1+2j)"),
        ("a rather long sentence", "'a rather lo…'"),
        (b"\xff", "'\ufffd'"),
    ],
)
def test_scalar_text(value: object, text: str) -> None:
    assert scalar_text(value) == text


def test_array_text_is_compact_or_nothing() -> None:
    assert array_text(np.array([2], np.int32)) == "[2]"
    assert array_text(np.array([[0, 0], [0, 1]])) == "[[0,0],[0,1]]"
    assert array_text(np.array([0.1, 2.0], np.float32)) == "[0.1,2]"
    assert array_text(np.arange(100)) == ""


def test_type_text() -> None:
    assert type_text("float32", (2, 3)) == "float32 2×3"
    assert type_text("float32", ()) == "float32"


def test_gradient_text_is_elements_then_constant_then_norm() -> None:
    def text(array: np.ndarray) -> str:
        return gradient_text(array, measure(array))

    assert text(np.float32([[1, 2], [1, 2]])) == "[[1,2],[1,2]]"
    assert text(np.full((5, 5), 0.25, np.float32)) == "all 0.25"
    assert text(np.arange(100.0)) == "norm 573"
    assert text(np.array([*range(99), np.nan])) == "NaN"
    assert gradient_text(None, None) == ""


def test_small_arrays_are_shown_element_by_element() -> None:
    picture = picture_of(np.array([[0.0, 1.0], [2.0, 4.0]]))
    assert picture is not None
    assert picture.rows == ((0.0, 0.25), (0.5, 1.0))


def test_larger_arrays_are_averaged_over_equal_blocks() -> None:
    array = np.arange(16 * 32, dtype=np.float32).reshape(16, 32)
    picture = picture_of(array)
    assert picture is not None
    blocks = array.reshape(8, 2, 8, 4).mean(axis=(1, 3))
    expected = (blocks - blocks.min()) / (blocks.max() - blocks.min())
    assert np.allclose(np.array(picture.rows, float), expected, atol=1e-4)


@pytest.mark.parametrize("shape", [(7,), (1000,), (3, 7), (7, 3), (9, 1), (2, 3, 4), (4, 5, 5, 3)])
def test_cells_of_a_shape_are_those_of_its_picture(shape: tuple[int, ...]) -> None:
    picture = picture_of(np.random.default_rng(0).normal(size=shape))
    assert picture is not None
    assert (len(picture.rows), len(picture.rows[0])) == cells_of(shape)
    assert max(cells_of(shape) or ()) <= 8


@pytest.mark.parametrize("array", [np.float32(1), np.zeros((0, 3)), np.array(["a", "b"])])
def test_no_picture_of_scalars_nothing_and_text(array: np.ndarray) -> None:
    assert picture_of(array) is None


def test_not_finite_is_marked_and_the_rest_is_scaled() -> None:
    picture = picture_of(np.array([1.0, np.nan, 3.0, np.inf]))
    assert picture is not None
    assert picture.rows == ((0.0, None, 1.0, None),)
    everything = picture_of(np.full(3, np.nan))
    assert everything is not None
    assert everything.rows == ((None, None, None),)


def test_extreme_floats_do_not_overflow() -> None:
    picture = picture_of(np.array([-1.7e308, 0.0, 1.7e308]))
    assert picture is not None
    assert picture.rows == ((0.0, 0.5, 1.0),)


def test_equal_elements_and_zeros_differ() -> None:
    ones, zeros = picture_of(np.ones((2, 2))), picture_of(np.zeros((2, 2)))
    assert ones is not None
    assert zeros is not None
    assert ones.rows[0][0] == 0.5
    assert zeros.rows[0][0] == 0.0


def test_a_chip_has_as_many_digits_as_it_has_room_for() -> None:
    values = np.array([0.12573022, -0.13210486, 0.64042264], np.float32)
    assert array_text(values) == ""
    text = rounded_text(values)
    assert text == "[0.13,-0.13,0.64]"
    assert rounded_text(np.array([0.5, 0.25], np.float32)) == "[0.5,0.25]"
    assert rounded_text(np.arange(40.0)) == ""
    assert rounded_text(np.array([123456, 7654321, 1234567])) == ""


def test_a_large_tensor_has_the_picture_of_its_sample() -> None:
    large, small, unseen = map(TensorId, (1, 2, 3))
    shapes = {large: (100, 400), small: (2, 2), unseen: (100, 400)}
    sample = np.arange(256, dtype=np.float32).reshape(16, 16)
    trace = Trace(
        "",
        tensors={tensor: tensor_of(shape) for tensor, shape in shapes.items()},
        blob=np.ones(4, np.float32).tobytes() + sample.tobytes(),
        places={small: 0},
        samples={large: (16, 16, 16)},
    )
    assert cells_of_tensor(large, trace) == (8, 8)
    assert picture_of_tensor(large, trace) == picture_of(sample)
    assert cells_of_tensor(small, trace) == (2, 2)
    assert picture_of_tensor(small, trace) == picture_of(np.ones((2, 2)))
    assert cells_of_tensor(unseen, trace) is picture_of_tensor(unseen, trace) is None
