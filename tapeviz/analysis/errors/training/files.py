"""Explain exceptions of files that are not there, and of models and checkpoints read from them.

The messages are those of TensorFlow 2.15 to 2.21, Keras 2 and 3, and of h5py.
"""

from __future__ import annotations

import re

from ..case import Case
from .keras import unknown_word


def no_file(case: Case) -> str:
    """A file that is not there, and the folder in which it was looked for."""
    name, folder = next(filter(None, case.match.groups()), ""), case.failure.folder
    if not name:
        return f"Line {case.line} opens a file whose name is empty. Give it the path of the file."
    where = f"It was looked for in {folder}. " if folder else ""
    begin = f"Line {case.line} opens the file {name}, which is not there. {where}"
    if folder and not case.failure.is_saved:
        return (
            f"{begin}A text that is not saved runs in an empty folder: save it beside the file, "
            "write the whole path, or put values of the same shape in the file's place."
        )
    return f"{begin}Write the whole path, or put values of the same shape in its place."


def unknown_part(case: Case) -> str:
    """A class or function that a saved model names and the program does not have; Keras 2 says the
    same of a word that it does not know (``deserialize_keras_object``, 2.15)."""
    name, kind = case.match["name"], case.match["kind"]
    if kind is not None and "load" not in case.code and "from_" not in case.code:
        return unknown_word(case, kind.removesuffix(" function"), name)
    return (
        f"Line {case.line} makes a model or layer from its description, which names {name}, and "
        f"Keras cannot find that class or function. Define or import it, and name it there: "
        f"load_model(path, custom_objects={{'{name}': {name}}})."
    )


def other_weights(case: Case) -> str:
    """Weights in a file whose shapes are not those of the model: Keras 3; Keras 2."""
    found = {key[:3]: shape for key, shape in case.match.groupdict().items() if shape}
    if not re.search("load|restore|read", case.code):
        return ""
    own, other = found["own"], found["was"]
    return (
        f"The file that line {case.line} loads has a weight of shape {other} where this model has "
        f"one of shape {own}, so it was saved from a model whose layers have other sizes. Build "
        f"the model as it was when it was saved; for a new last layer load before it is added."
    )
