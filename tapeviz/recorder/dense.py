"""Make one dense tensor of a gradient, whatever TensorFlow gave."""

from __future__ import annotations

from typing import Any

from . import private


class Densifier:
    """Sums each IndexedSlices once."""

    def __init__(self) -> None:
        self._summed: dict[tuple[int, int], Any] = {}

    def dense(self, gradient: Any) -> Any:
        """The gradient as one tensor; None for None.

        IndexedSlices are summed into a dense tensor, once, also where their values are
        IndexedSlices or ragged. A ragged or sparse one gives its values. A Python or NumPy number,
        which TensorFlow passes on as a ``tf.custom_gradient`` function returned it (2.15-2.21),
        keeps its precision: a Python float becomes a float64.
        """
        if type(gradient) is private.EagerTensor:  # nearly all of them
            return gradient
        if isinstance(gradient, private.NUMBERS):
            return private.tensor_of_number(gradient)
        if not is_sparse(gradient):
            values = private.values_of(gradient)
            return gradient if values is None else values
        values = self.dense(gradient.values) if is_sparse(gradient.values) else gradient.values
        flat = private.values_of(values)
        numbers = values if flat is None else flat
        if type(numbers) is not private.EagerTensor or gradient.dense_shape is None:
            return numbers
        key = (numbers._id, gradient.indices._id)
        if key not in self._summed:
            slices = private.IndexedSlices(values, gradient.indices, gradient.dense_shape)
            self._summed[key] = self.dense(private.dense(slices))
        return self._summed[key]


def is_sparse(gradient: Any) -> bool:
    """Whether a gradient is IndexedSlices."""
    return isinstance(gradient, private.IndexedSlices)
