"""Operations on tensors for the recorder's own use: casts, and moved elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from .. import private


def wider(tensor: Any) -> Any:
    """The tensor in double precision, if it is of a real or complex dtype."""
    wide = private.WIDER.get(tensor._datatype_enum())
    return tensor if wide is None else tf.cast(tensor, tf.dtypes.as_dtype(wide))


def cast_like(tensor: Any, like: Any) -> Any:
    return tensor if tensor.dtype == like.dtype else tf.cast(tensor, like.dtype)


def cast_to(tensor: Any, dtype: Any) -> Any:
    return tf.cast(tensor, dtype)


def constant(array: Any, dtype: Any = None) -> Any:
    return tf.constant(array, dtype)


def as_tensor(value: Any) -> Any:
    return tf.convert_to_tensor(value)


def is_real(tensor: Any) -> bool:
    """Whether gradients exist for its dtype."""
    return bool(tensor.dtype.is_floating or tensor.dtype.is_complex)


def reshaped(tensor: Any, shape: Any) -> Any:
    return tensor if tensor.shape == shape else tf.reshape(tensor, shape)


def stacked(parts: Sequence[Any]) -> Any:
    return tf.stack(parts)


def picked(tensor: Any, places: Any) -> Any:
    """The elements with these flat numbers."""
    return tf.gather(tf.reshape(tensor, [-1]), places)


def with_part(tensor: Any, places: Any, part: Any) -> Any:
    """The tensor with a part, broadcast, at these flat numbers."""
    places = np.asarray(places)
    flat = tf.reshape(tf.broadcast_to(part, places.shape), [-1])
    new = tf.tensor_scatter_nd_update(tf.reshape(tensor, [-1]), places.reshape(-1, 1), flat)
    return tf.reshape(new, tensor.shape)


def float_dtype_among(values: Sequence[Any]) -> Any:
    """The dtype of the first tensor of real numbers; None if there is none."""
    for value in values:
        if private.is_tensor_like(value) and tf.as_dtype(value.dtype).is_floating:
            return tf.as_dtype(value.dtype)
    return None


def variable_of(state: Any) -> Any:
    """A variable that holds this, for an op that wants a handle."""
    return tf.Variable(state, trainable=False)
