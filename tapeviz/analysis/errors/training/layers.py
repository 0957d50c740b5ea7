"""Explanations of what layers and models of Keras say of their inputs, arguments and weights."""

from __future__ import annotations

import ast
import difflib
import re

from ....text.names import called_name
from ..case import Case

_AXES = {
    "3": "samples, steps and features",
    "4": "samples, height, width and channels",
    "5": "samples, three of space, and channels",
}
"""The axes of the inputs of recurrent layers and convolutions of Keras."""
_OF_ONE_CHANNEL = {"2": "single numbers", "3": "series of single numbers"}
_RECURRENT = ("LSTM", "GRU", "SimpleRNN", "RNN", "ConvLSTM1D")
_FEW_NAMES = 8


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
    channel = _OF_ONE_CHANNEL.get(wanted, "grey pictures")
    if shape.startswith("(None"):
        return (
            f"The layer {layer} on line {case.line} takes an input of {wanted} axes{axes}"
            f"{' or more' if least else ''}, and got one of shape {shape}. None is the axis of the "
            f"samples, so another one is missing: write it into the shape of the input, as a 1 at "
            f"its end for {channel}, or add it by a tf.keras.layers.Reshape."
        )
    return (
        f"The layer {layer} that line {case.line} runs takes an input of {wanted} axes{axes}"
        f"{' or more' if least else ''}, and got one of shape {shape}. "
        f"A single sample needs an axis for the batch in front: x[tf.newaxis]. "
        f"A batch of {channel} needs one at the end: x[..., tf.newaxis]."
    )


def _has_recurrent_layers(case: Case) -> bool:
    """Whether the text makes several recurrent layers."""
    return sum(called_name(call) in _RECURRENT for call in case.nodes(ast.Call)) > 1


def no_layer(case: Case) -> str:
    """A name that none of a model's layers has; of many names those near to it and the last."""
    name, line = case.match["name"], case.line
    names = re.findall(r"'([^']*)'", case.match["names"])
    if len(names) <= _FEW_NAMES:
        has = f"its layers are {', '.join(names)}"
    else:
        near = difflib.get_close_matches(name, names)
        has = f"none of its {len(names)} layers has that name; "
        has += f"near to it are {', '.join(near)}, and " if near else ""
        has += f"the last ones are {', '.join(names[-3:])}"
    return (
        f"Line {line} asks a model for a layer {name}, and {has}. Keras numbers layers that were "
        f"given no name, so these names change from run to run. Name the layer where it is made, "
        f"name='{name}', or print [layer.name for layer in model.layers]."
    )
