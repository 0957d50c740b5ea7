"""The explanations of losses whose labels and predictions do not fit each other."""

from __future__ import annotations

from ..case import Explain

LOSS_ERRORS: tuple[tuple[str, str | Explain], ...] = (
    (
        r"`labels\.shape\.rank` must equal `logits\.shape\.rank - 1`\. Received: "
        r"labels\.shape=(\(\d+, \d+\)) of rank 2 and logits\.shape=(\(\d+,\)) of rank 1",
        "The loss on line {line} got labels of shape {0} and logits of shape {1}. Labels of a "
        "sparse cross-entropy have one axis less than logits: the two seem to stand in each "
        "other's place. Give them by name, as in labels=y, logits=z.",
    ),
    (
        r"`labels\.shape\.rank` must equal `logits\.shape\.rank - 1`\. Received: "
        r"labels\.shape=(\(.*?\)) of rank \d+ and logits\.shape=(\(.*?\)) of",
        "The loss on line {line} got labels of shape {0} and logits of shape {1}. A sparse "
        "cross-entropy takes one class number for each row of logits, so labels have one axis "
        "less. One-hot rows belong into the loss without sparse in its name.",
    ),
    (
        r"Argument `output` must have rank \(ndim\) `target\.ndim - 1`\. Received: "
        r"target\.shape=(\(\w+, \w.*?\)), output\.shape=\1",
        "The loss on line {line} got labels and predictions of one shape, {0}. A sparse "
        "cross-entropy takes one class number for each row of predictions, so labels have one axis "
        "less. One-hot rows belong into the loss without sparse in its name.",
    ),
    (
        r"Argument `output` must have rank \(ndim\) `target\.ndim - 1`\. Received: "
        r"target\.shape=(\(.*?\)), output\.shape=(\(.*?\))",
        "The loss on line {line} got labels of shape {0} and predictions of shape {1}. A sparse "
        "cross-entropy takes one class number for each row of predictions, so predictions have one "
        "axis more. A layer such as Flatten or GlobalAveragePooling2D takes axes away.",
    ),
    (
        r"in categorical_crossentropy.*Shapes (\(.*?\)) and (\(.*?\)) are incompatible",
        "The loss on line {line} got labels of shape {0} and predictions of shape {1}, and "
        "compares them element by element. For labels that are class numbers take the sparse "
        "variant (SparseCategoricalCrossentropy), else give both one shape.",
    ),
    (
        r"`labels\.shape` must equal `logits\.shape` except for the last dimension\. Received: "
        r"labels\.shape=(\(.*?\)) and logits\.shape=(\(.*?\))",
        "The loss on line {line} got labels of shape {0} and logits of shape {1}. A sparse "
        "cross-entropy takes one class number for each row of logits, so the labels have the "
        "shape of the logits without the last axis. Look which of the two has a wrong number of "
        "rows; labels that are one-hot rows belong into the loss without sparse in its name.",
    ),
    (
        r"Received a label value of (-?\d+) which is outside the valid range of \[0, (\d+)\)",
        "Line {line} got the label {0}, and with {1} outputs labels run from 0 to one less. "
        "A sparse cross entropy takes the number of the right output, counted from 0. "
        "Give the last layer as many units as there are classes, or count labels from 0.",
    ),
    (
        r"`logits` and `labels` must have the same shape, received \((\(.*?\)) vs (\(.*?\))\)",
        "The loss on line {line} got logits of shape {0} and labels of shape {1}, and compares "
        "them element by element. Give both one shape, as by tf.reshape or tf.one_hot.",
    ),
    (
        r"must have the same shape up until the last dimension: target\.shape=(\(.*?\)), "
        r"output\.shape=(\(.*?\))",
        "The loss on line {line} got labels of shape {0} and predictions of shape {1}. A sparse "
        "cross-entropy takes one class number for each row of predictions. "
        "Look which of the two has a wrong number of rows.",
    ),
    (
        r"must have the same shape\. Received: target\.shape=(\(.*?\)), output\.shape=(\(.*?\))",
        "The loss on line {line} got labels of shape {0} and predictions of shape {1}, and "
        "compares them element by element. Give both one shape; for labels that are class "
        "numbers take the loss with Sparse in its name.",
    ),
)
