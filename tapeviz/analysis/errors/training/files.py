"""Explain exceptions of files that are not there, and of models and checkpoints read from them.

The messages are those of TensorFlow 2.15 to 2.21, Keras 2 and 3, and of h5py.
"""

from __future__ import annotations

from ..case import Case, Explain
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


FILE_ERRORS: tuple[tuple[str, str | Explain], ...] = (
    (
        r"Failed to find any matching files for ([^\n]+)",
        "Line {line} restores the checkpoint {0}, and there is none of this name. "
        "tf.train.latest_checkpoint(folder) gives the name of the newest one in a folder. A name "
        "ends with the number of the save, as in ckpt-1, without .index behind it.",
    ),
    (
        r"FileNotFoundError: .*?unable to open file: name = '(.*?)'"
        r"|FileNotFoundError: .*'(.*?)'"
        r"|NotFoundError: (?:\{\{.*?\}\} ?)?(?:Error in user-defined function .*?Iterator::\S+: )?"
        r"([^;\n]+); No such file or directory",
        no_file,
    ),
    (
        r"File not found: filepath=(.+?)\. Please ensure|No file or directory found at ([^\n]+)",
        "Line {line} loads {0}{1}, and there is no such file in the folder that the snippet "
        "runs in. Give its whole path, or save the model there first.",
    ),
    (
        r"(?:Could not locate (?:class|function) '|Cannot deserialize object of type `"
        r"|Unknown (?P<kind>layer|loss function|metric function|optimizer|initializer|regularizer|"
        r"activation function): '?)(?P<name>\w+)",
        unknown_part,
    ),
    (
        r"File format not supported: filepath=(.+?)\. Keras 3",
        "Line {line} loads {0} by Keras 3, which reads files that end with .keras or .h5 only. A "
        "folder that tf.saved_model.save or Keras 2 wrote is loaded by tf.saved_model.load, or as "
        "a layer by keras.layers.TFSMLayer(folder, call_endpoint='serving_default').",
    ),
    (
        r"The filename must end in `(\.weights\.h5|\.keras)`\. Received: filepath=([^\n]+)",
        "Line {line} writes the file {1}, and the name of such a file ends with {0} in Keras 3. "
        "Give it that ending.",
    ),
    (
        r"Found zero restored functions for caller function",
        "Line {line} calls a function of a loaded SavedModel that was saved without a trace, and "
        "only traces are saved. Before tf.saved_model.save call it once on such an input, or give "
        "its tf.function an input_signature.",
    ),
    (
        r"SavedModel file does not exist at: (.*?)/\{saved_model",
        "Line {line} loads a SavedModel from the folder {0}, which has none. It is made by "
        "tf.saved_model.save or model.export; a .keras file is loaded by "
        "tf.keras.models.load_model.",
    ),
    (
        r"Python objects? that were not bound to checkpointed values"
        r"|Unresolved object in checkpoint",
        "What line {line} restores and what was saved do not have the same parts. Parts find each "
        "other by the names they have in tf.train.Checkpoint(name=…) and as attributes, so give "
        "the names that they had. tf.train.list_variables(path) shows what was saved.",
    ),
    (
        r"incompatible tensor with shape (\(.*?\)) when attempting to restore variable with shape "
        r"(\(.*?\)) and name (\S+?)\.?(?:\s|$)",
        "The checkpoint that line {line} restores has a value of shape {0} for {2}, whose shape is "
        "{1}. It was saved from a model of other sizes. Make the model as it was then.",
    ),
    (
        r"could not be loaded\..*variable\.shape=(\(.*?\)), Received: value\.shape=(\(.*?\))\. "
        r"Target variable: <(?:Keras)?Variable path=([\w/]+)",
        "The file that line {line} loads has weights of shape {1} for {2}, whose shape is {0}. It "
        "was saved from a model of other sizes. Make the model with the layers and sizes that it "
        "had then.",
    ),
    (
        r"shape of the target value in `variable\.assign\(value\)` must match\. "
        r"variable\.shape=(\(.*?\)), Received: value\.shape=(\(.*?\))",
        "Line {line} gives a variable of shape {0} a value of shape {1}. A variable keeps the "
        "shape that it was made with. Give a value of that shape, or make another variable.",
    ),
)
"""In the order in which they are asked: the first that has words is shown."""
