"""Explain losses whose labels and predictions do not fit each other."""

from __future__ import annotations

from ..case import Case, Explain
from ..tensors.operands import read_shape

_SHAPE = r"(\(.*?\))"


def class_numbers(case: Case) -> str:
    """A sparse cross-entropy whose labels are not the predictions without their last axis."""
    labels, outputs = filter(None, case.match.groups())
    axes = len(read_shape(outputs)) - len(read_shape(labels))
    remedies = {
        -1: "The two seem to stand in each other's place: give them by name, as in labels=y.",
        0: "One-hot rows belong into the loss without sparse in its name.",
        1: "Look which of the two has a wrong number of rows.",
    }
    return (
        f"The loss on line {case.line} got labels of shape {labels} and predictions of shape "
        f"{outputs}. A sparse cross-entropy takes one class number for each row of predictions, so "
        f"labels have one axis less. "
        + remedies.get(axes, "A layer such as Flatten or GlobalAveragePooling2D takes axes away.")
    )


LOSS_ERRORS: tuple[tuple[str, str | Explain], ...] = (
    (
        rf"labels\.shape={_SHAPE} (?:of rank \d+ )?and logits\.shape={_SHAPE}"
        rf"|(?:`target\.ndim - 1`\. Received|up until the last dimension): target\.shape={_SHAPE}, "
        rf"output\.shape={_SHAPE}",
        class_numbers,
    ),
    (
        rf"in categorical_crossentropy.*Shapes {_SHAPE} and {_SHAPE} are incompatible",
        "The loss on line {line} got labels of shape {0} and predictions of shape {1}, and "
        "compares them element by element. For labels that are class numbers take the sparse "
        "variant (SparseCategoricalCrossentropy), else give both one shape.",
    ),
    (
        rf"(?:same shape|same rank \(ndim\))\. Received: target\.shape={_SHAPE}, "
        rf"output\.shape={_SHAPE}",
        "The loss on line {line} got labels of shape {0} and predictions of shape {1}, and "
        "compares them element by element. Give both one shape; for labels that are class "
        "numbers take the loss with Sparse in its name.",
    ),
    (
        rf"`logits` and `labels` must have the same shape, received \({_SHAPE} vs {_SHAPE}\)",
        "The loss on line {line} got logits of shape {0} and labels of shape {1}, and compares "
        "them element by element. Give both one shape, as by tf.reshape or tf.one_hot.",
    ),
    (
        r"Received a label value of (-?\d+) which is outside the valid range of \[0, (\d+)\)",
        "Line {line} got the label {0}, and with {1} outputs labels run from 0 to one less. "
        "A sparse cross entropy takes the number of the right output, counted from 0. "
        "Give the last layer as many units as there are classes, or count labels from 0.",
    ),
)
"""In the order in which they are asked: the first that has words is shown."""
