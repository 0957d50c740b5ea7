"""Explanations of what layers and models of Keras say of their inputs, arguments and weights."""

from __future__ import annotations

import ast

from ....text.names import called_name
from ..case import Case, Explain

_AXES = {
    "3": "samples, steps and features",
    "4": "samples, height, width and channels",
    "5": "samples, three of space, and channels",
}
"""The axes of the inputs of recurrent layers and convolutions of Keras."""
_RECURRENT = ("LSTM", "GRU", "SimpleRNN", "RNN", "ConvLSTM1D")


def shape_of_input(case: Case) -> str:
    """An input of another shape than the one that a model was built for."""
    wanted, got = case.match[1], case.match[2]
    said = f"The model that line {case.line} calls takes an input of shape {wanted}, and got one "
    said += f"of shape {got}. "
    if wanted.strip("(,)").count(",") == got.strip("(,)").count(","):
        return (
            f"{said}All axes but those with None have to be as long. Make the model for inputs of "
            f"this size, or bring the input to its own: pictures by tf.image.resize."
        )
    return (
        f"{said}The first axis, None, numbers the samples of a batch, and pictures have an axis "
        f"for channels at the end. x[tf.newaxis] adds an axis in front, x[..., tf.newaxis] at the "
        f"end."
    )


def layer_rank(case: Case) -> str:
    """An input of a Keras layer that has too few or too many axes."""
    layer, least, wanted, found, shape = case.match.groups()
    if (wanted, found) == ("3", "2") and _has_recurrent_layers(case):
        return (
            f"The layer {layer} that line {case.line} runs takes an input of 3 axes "
            f"({_AXES['3']}), and got one of shape {shape}. A recurrent layer before another one "
            f"has to hand on all of its steps: give it return_sequences=True. Else the axis of the "
            f"steps comes by x[:, tf.newaxis]."
        )
    axes = f" ({_AXES[wanted]})" if wanted in _AXES else ""
    if shape.startswith("(None"):
        return (
            f"The layer {layer} on line {case.line} takes an input of {wanted} axes{axes}"
            f"{' or more' if least else ''}, and got one of shape {shape}. None is the axis of the "
            f"samples, so another one is missing: write it into the shape of the input, as a 1 at "
            f"its end for the channel of grey pictures, or add it by a tf.keras.layers.Reshape."
        )
    return (
        f"The layer {layer} that line {case.line} runs takes an input of {wanted} axes{axes}"
        f"{' or more' if least else ''}, and got one of shape {shape}. "
        f"A single sample needs an axis for the batch in front: x[tf.newaxis]. "
        f"Other axes come by tf.reshape or tf.expand_dims."
    )


def _has_recurrent_layers(case: Case) -> bool:
    """Whether the text makes several recurrent layers."""
    return sum(called_name(call) in _RECURRENT for call in case.nodes(ast.Call)) > 1


LAYER_ERRORS: tuple[tuple[str, str | Explain], ...] = (
    (
        r"(?:Invalid input shape for input .*Expected shape |is incompatible with the layer: "
        r"expected shape=)(\(.*?\)), (?:but input has incompatible shape |found shape=)(\(.*?\))",
        shape_of_input,
    ),
    (
        r"of layer [\"']?(\w+)[\"']? is incompatible with the layer: expected (min_)?ndim=(\d+), "
        r"found ndim=(\d+)\. Full shape received: (\(.*?\))",
        layer_rank,
    ),
)
"""In the order in which they are asked: where two match a message, the first one answers."""
