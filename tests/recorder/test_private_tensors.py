"""Tensors that are made again from what was kept of them."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from tapeviz.recorder import private

NUMBERS = [
    *("bool", "int8", "int32", "int64", "uint8", "float16", "float32", "float64", "bfloat16"),
    *("complex64", "complex128"),
]


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_a_tensor_is_the_one_that_tf_constant_makes(dtype: str, shape: tuple[int, ...]) -> None:
    kind = tf.dtypes.as_dtype(dtype)
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(kind.as_numpy_dtype)
    known = tf.constant(array, kind)
    number, raw = kind.as_datatype_enum, array.tobytes()
    for made in (private.tensor_from(raw, number, shape), private.tensor_of_array(array, number)):
        assert (made.dtype, made.shape, made.device) == (known.dtype, known.shape, known.device)
        assert made.numpy().tobytes() == raw


def test_a_tensor_does_not_change_with_the_array_that_it_was_made_from() -> None:
    array = np.zeros(1024, np.float32)
    made = private.tensor_of_array(array, tf.float32.as_datatype_enum)
    array += 1.0
    assert not made.numpy().any()


def test_texts_make_a_tensor() -> None:
    made = private.tensor_of_array(np.array([b"a", b"bc"], object), tf.string.as_datatype_enum)
    assert made.numpy().tolist() == [b"a", b"bc"]
