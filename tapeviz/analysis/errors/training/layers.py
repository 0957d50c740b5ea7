"""Explanations of what layers and models of Keras say of their inputs, arguments and weights."""

from __future__ import annotations

import ast
import difflib
import re

from ....text.names import called_name
from ..case import Case, Explain

_SHAPES = r"(\[[\d, ?None]*\])"
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


LAYER_ERRORS: tuple[tuple[str, str | Explain], ...] = (
    (
        r"All `(inputs|outputs)` values must be KerasTensors\..*? invalid value <(\w+) name=",
        "Line {line} gives a model a layer, {1}, among its {0}, and not what it makes of an input. "
        "Call the layer on the tensor before it where it is made: "
        "tf.keras.layers.{1}(…)(x).",
    ),
    (
        r"All `(inputs|outputs)` values must be KerasTensors.*of type <class '[\w.]*EagerTensor",
        "Line {line} makes a model of a tensor that has values, among its {0}. The inputs are made "
        "by tf.keras.Input(shape), and the outputs by calling layers on these.",
    ),
    (
        r"(?:Invalid input shape for input .*Expected shape |is incompatible with the layer: "
        r"expected shape=)(\(.*?\)), (?:but input has incompatible shape |found shape=)(\(.*?\))",
        shape_of_input,
    ),
    (
        r"Unrecognized keyword arguments? passed to Model: \{.*'(input|output)':",
        "Line {line} makes a model and calls an argument {0}, which has an s at its end: "
        "tf.keras.Model(inputs=…, outputs=…).",
    ),
    (
        r"dimensions in the output is <= 0 due to downsampling in \w+\..*input shape "
        + _SHAPES
        + r"|Computed output size would be (?:zero or )?negative.*inputs shape=(\(.*?\))`",
        "On line {line} the filter of a layer is larger than its input, of shape {0}{1}. "
        "Make the kernel smaller, or add padding='same'; layers of pooling before it make the "
        "input smaller, too.",
    ),
    (
        r"weight list of length (\d+), but the layer was expecting (\d+) weights",
        "Line {line} sets {0} arrays as weights of a layer or model that has {1}. A layer that was "
        "not called yet has none. Call it first, and set as many arrays as get_weights() gives.",
    ),
    (
        r"No such layer: (?P<name>.+?)\. Existing layers are: \[(?P<names>.*?)\]",
        no_layer,
    ),
    (
        r"of layer [\"']?(\w+)[\"']? is incompatible with the layer: expected (min_)?ndim=(\d+), "
        r"found ndim=(\d+)\. Full shape received: (\(.*?\))",
        layer_rank,
    ),
)
"""In the order in which they are asked: where two match a message, the first one answers."""
