"""Explain losses whose labels and predictions do not fit each other."""

from __future__ import annotations

from ..case import Case
from ..tensors.operands import read_shape


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


def element_by_element(case: Case) -> str:
    """A loss that compares labels and predictions of one shape, and got two shapes."""
    labels, outputs = (read_shape(shape) for shape in case.match.groups())
    remedy = "Give both one shape, or look what each axis of them means."
    if labels[:1] == outputs[:1] and (*labels, 1) == outputs:
        remedy = "Give the labels an axis at the end: y[..., None], or tf.expand_dims(y, -1)."
    elif labels[:1] == outputs[:1] and labels == (*outputs, 1):
        remedy = "Take the last axis of the labels away: tf.squeeze(y, -1)."
    elif len(labels) < len(outputs) or labels == (*outputs[:-1], 1):
        remedy = (
            f"For labels that are class numbers take the sparse variant of the loss, "
            f"SparseCategoricalCrossentropy, or give tf.one_hot(y, {outputs[-1]})."
        )
    elif labels[:-1] == outputs[:-1]:
        remedy = f"Give the last layer {labels[-1]} units, as many as the labels have columns."
    return (
        f"The loss on line {case.line} got labels of shape {case.match[1]} and predictions of "
        f"shape {case.match[2]}, and compares them element by element. {remedy}"
    )
