"""Explain exceptions about what Keras 3 renamed, dropped or does not take."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Collection, Mapping

from ..case import Case

# The functions whose names differ: tf.keras has the short one and keras the long one (Keras 3.0 to
# 3.15); the classes have one name in all versions.
_LOSSES = (
    ("mse", "mean_squared_error", "MeanSquaredError"),
    ("mae", "mean_absolute_error", "MeanAbsoluteError"),
    ("mape", "mean_absolute_percentage_error", "MeanAbsolutePercentageError"),
    ("msle", "mean_squared_logarithmic_error", "MeanSquaredLogarithmicError"),
    ("kld", "kl_divergence", "KLDivergence"),
    ("kullback_leibler_divergence", "kl_divergence", "KLDivergence"),
    ("logcosh", "log_cosh", "LogCosh"),
)
_NO_SESSION = "Operations run at once: leave the session out and use values directly."
_PHASE = "Call the model with training=True or training=False."
_ANY_MODULE = ""
_INSTEAD: Mapping[str, Mapping[str, str]] = {
    "losses": {
        "cosine_proximity": "Use cosine_similarity.",
        "Reduction": "Give the word itself, such as reduction='sum', or None for no reduction.",
        "softmax_cross_entropy": "Use tf.nn.softmax_cross_entropy_with_logits(labels, logits).",
        "sparse_softmax_cross_entropy": "Use tf.nn.sparse_softmax_cross_entropy_with_logits.",
        "sigmoid_cross_entropy": "Use tf.nn.sigmoid_cross_entropy_with_logits(labels, logits).",
        "absolute_difference": "Use the class MeanAbsoluteError.",
        "log_loss": "Use the class BinaryCrossentropy.",
        "huber_loss": "Use the class Huber.",
        "hinge_loss": "Use the class Hinge.",
    },
    "metrics": {
        "cosine_proximity": "Use the class CosineSimilarity.",
        "accuracy": "Use the class Accuracy.",
        "mean": "Use the class Mean.",
        "auc": "Use the class AUC.",
    },
    "backend": {
        "gradients": "Use tf.GradientTape and its gradient method.",
        "function": "Call the model on a tensor, or put tf.function before a Python function.",
        "get_session": _NO_SESSION,
        "set_session": _NO_SESSION,
        "learning_phase": _PHASE,
        "set_learning_phase": _PHASE,
    },
    "layers": {
        "merge": "Use the layer that does it, such as tf.keras.layers.Concatenate.",
        "CuDNNLSTM": "Use tf.keras.layers.LSTM.",
        "CuDNNGRU": "Use tf.keras.layers.GRU.",
    },
    "utils": {
        "np_utils": "Its functions, such as to_categorical, stand in tf.keras.utils itself.",
        "multi_gpu_model": "Make and compile the model in "
        "tf.distribute.MirroredStrategy().scope().",
    },
    _ANY_MODULE: {"experimental": "Look for the name without experimental."},
}
"""By the module that lacks a name what does its work: the same name means something else in another
module, as ``mean`` in ``metrics`` and in ``backend``."""


_OF_KERAS_3 = frozenset({"KerasTensor", "distribution", "dtype_policies", "ops", "tree"})
"""Names in ``keras`` itself that Keras 2 has not (2.15 and 3.0 to 3.15)."""


_UNDER_TF_ALONE: Mapping[str, Collection[str]] = {
    "layers": ("RandomHeight", "RandomWidth", "ThresholdedReLU"),
    "image": (
        *("DirectoryIterator", "ImageDataGenerator", "Iterator", "NumpyArrayIterator"),
        *("apply_affine_transform", "apply_brightness_shift", "apply_channel_shift"),
        *("random_brightness", "random_channel_shift", "random_rotation", "random_shear"),
        *("random_shift", "random_zoom"),
    ),
    "sequence": ("TimeseriesGenerator", "make_sampling_table", "skipgrams"),
}
"""The names that modules of ``tf.keras`` have and those of ``keras`` lack, by module
(``keras_export("keras._legacy.…")``, Keras 3.0 to 3.15)."""
_OPTIMIZERS = {
    name.lower(): name
    for name in (
        *("Adadelta", "Adagrad", "Adam", "Adamax", "AdamW", "Ftrl", "Lion", "Nadam", "RMSprop"),
        "SGD",
    )
}


def missing_name(case: Case) -> str:
    """A function or class that a module of Keras does not have."""
    module, name = case.match["module"], case.match["name"]
    if name in _OF_KERAS_3 and module in ("keras", "tensorflow.keras"):
        return (
            f"Line {case.line} uses {name} of Keras 3, and Keras 2 is installed, which has none. "
            f"Use the function of tf that does the same, or TensorFlow 2.16 and later, which come "
            f"with Keras 3."
        )
    owner, is_under_tf = module.rpartition(".")[2], _is_under_tf(module)
    public = module.replace("keras.api.", "keras.")  # as Keras 3.0 to 3.8 call themselves
    advice = _INSTEAD.get(owner, {}).get(name, "") or _INSTEAD[_ANY_MODULE].get(name, "")
    is_of_backend = owner == "backend" and not advice and "_v2" not in module
    if (is_of_backend or name in _UNDER_TF_ALONE.get(owner, ())) and not is_under_tf:
        what = "the functions of the backend" if is_of_backend else name
        return (
            f"Keras 3, which line {case.line} uses, has {what} under the name of tensorflow alone. "
            f"Write tensorflow.{public} in place of {public}."
        )
    shown = f"{'tf.keras' if is_under_tf else 'keras'}.{owner}"
    if owner == "optimizers" and name.lower() in _OPTIMIZERS and name.islower():
        advice = f"The class is spelt with capital letters: {_OPTIMIZERS[name]}."
    if present := present_name(module, name):
        advice = f"The same function is called {shown}.{present[0]} there, and its class "
        advice += f"{present[1]} in all versions."
    version = "Keras 2" if "_v2" in module else "Keras 3"
    said = f"{version}, which line {case.line} uses, has no {name} in {shown}. {advice}"
    return said if advice else ""


def present_name(module: str, name: str) -> tuple[str, str] | None:
    """The name that a function of Keras's losses has in this module, which lacks ``name``, and that
    of its class; None if it is no such function."""
    is_under_tf = _is_under_tf(module)
    if module.rpartition(".")[2] not in ("losses", "metrics"):
        return None
    for short, long, loss in _LOSSES:
        present = short if is_under_tf else long
        if name in (short, long) and name != present:
            return present, loss
    return None


def _is_under_tf(module: str) -> bool:
    return "_tf_keras" in module or module.startswith("tensorflow")


def unknown_identifier(case: Case) -> str:
    """``loss="mean_sqared_error"``: a word that Keras 3 does not know."""
    return unknown_word(case, case.match[1].removesuffix(" function"), case.match[2])


def unknown_word(case: Case, what: str, name: str) -> str:
    """Words for an optimizer, a loss or what else ``what`` says that Keras does not know."""
    plural = {"loss": "losses"}.get(what, f"{what}s")
    written = (each.lineno for each in case.nodes(ast.Constant) if each.value == name)
    near, line = near_word(name), next(written, case.line)
    return (
        f"Keras knows no {what} by the name {name}, which line {line} has. Names are looked up in "
        f"tf.keras.{plural}, as they are spelt there. "
        f"{f'Write {near}' if near else 'Correct the spelling'}, or give the function or an object "
        f"of the class in place of the word."
    )


def near_word(name: str) -> str:
    """The word of Keras that is spelt most like one that it does not know; empty if none is."""
    known = {*_WORDS, *_OPTIMIZERS, *(word for names in _LOSSES for word in names[:2])}
    return "".join(difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.75))


_WORDS = (
    *("accuracy", "auc", "binary_accuracy", "categorical_accuracy", "precision", "recall"),
    *("sparse_categorical_accuracy", "binary_crossentropy", "categorical_crossentropy", "huber"),
    *("sparse_categorical_crossentropy", "cosine_similarity", "hinge", "poisson", "elu", "gelu"),
    *("leaky_relu", "linear", "relu", "selu", "sigmoid", "softmax", "softplus", "swish", "tanh"),
    *("glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "random_normal", "zeros"),
)
"""Metrics, losses, activations and initializers that Keras 2.15 to 3.15 find by their names."""


_IN_PLACE: Mapping[str, str] = {
    "fit_generator": "fit, which takes generators and datasets, too",
    "evaluate_generator": "evaluate, which takes generators and datasets, too",
    "predict_generator": "predict, which takes generators and datasets, too",
    "predict_classes": "np.argmax(model.predict(x), axis=-1)",
    "predict_proba": "predict, which gives what the last layer gives",
}
"""Methods of models that Keras dropped (TensorFlow 2.6 and later)."""
_MODELS = ("Sequential", "Functional", "Model")


def old_method(case: Case) -> str:
    """A method that models of Keras had, called of a model or of a class that the text derives from
    one."""
    name, owner = case.match["name"], case.match["owner"]
    if owner not in _MODELS and owner not in case.text.classes_from(_MODELS):
        return ""
    return (
        f"Line {case.line} calls {name} of a model, which models of Keras have no longer. "
        f"Use {_IN_PLACE[name]}."
    )


OLD_METHOD = rf"'(?P<owner>\w+)' object has no attribute '(?P<name>{'|'.join(_IN_PLACE)})'"


def unknown_rank(case: Case) -> str:
    """A layer was given a tensor of which not even the number of axes is known."""
    # In a dataset's map or while a model is built the op is not recorded: the text has it.
    is_from_python = "py_function(" in case.text.text or "numpy_function(" in case.text.text
    said = (
        "tf.numpy_function and tf.py_function run Python code, and TensorFlow cannot know the "
        "shape of what comes back"
        if is_from_python
        else "TensorFlow knows it only while the program runs"
    )
    return (
        f"A layer on line {case.line} has to know how many axes its input has, and the "
        f"shape of this one is not known while the graph is built: {said}. "
        f"Say it: y.set_shape([None, 3]) or y = tf.ensure_shape(y, [None, 3]), with your numbers, "
        f"just after the tensor is made."
    )
