"""Explain imports of modules that are not there."""

from __future__ import annotations

import re

from ....trace.model import Failure
from ....wording import install_command
from ..case import Case

NO_MODULE = r"(?:ModuleNotFoundError|ImportError): No module named '([\w.]+)'"
PACKAGES = {
    **{
        name: name
        for name in (
            *("bokeh", "einops", "gensim", "gpflow", "graphviz", "gym", "gymnasium", "imageio"),
            *("ipywidgets", "jax", "lightgbm", "librosa", "matplotlib", "nltk", "numba", "pandas"),
            *("plotly", "psutil", "pydot", "requests", "scipy", "seaborn", "spacy", "statsmodels"),
            *("sympy", "torch", "torchvision", "tqdm", "transformers", "wandb", "xgboost"),
        )
    },
    "Crypto": "pycryptodome",
    "PIL": "pillow",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "distutils": "setuptools",
    "dotenv": "python-dotenv",
    "keras_cv": "keras-cv",
    "keras_hub": "keras-hub",
    "keras_nlp": "keras-nlp",
    "keras_tuner": "keras-tuner",
    "kerastuner": "keras-tuner",
    "mpl_toolkits": "matplotlib",
    "pylab": "matplotlib",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "sonnet": "dm-sonnet",
    "tensorflow_datasets": "tensorflow-datasets",
    "tensorflow_hub": "tensorflow-hub",
    "tensorflow_io": "tensorflow-io",
    "tensorflow_model_optimization": "tensorflow-model-optimization",
    "tensorflow_probability": "tensorflow-probability[tf]",
    "tensorflow_text": "tensorflow-text",
    "tf_keras": "tf-keras",
    "yaml": "pyyaml",
}
"""Modules, and the packages that they are installed with."""
_PART_OF_KERAS = (
    r"((?:tensorflow\.)?keras\.(?:layers|losses|metrics|models|optimizers|utils))\."
    r"(?:advanced_activations|convolutional|core|embeddings|experimental|merge|noise"
    r"|normalization|np_utils|pooling|recurrent|wrappers|(?:ada|sgd|rms)\w*)$"
)
"""Modules within those of Keras whose names are of one piece now (Keras 2.6 and later)."""
_OF_COLAB = "google.colab"


def no_module(case: Case) -> str:
    """A module whose package is not installed, or a part that an installed package does not have:
    Python names the first module of a dotted name that it does not find."""
    name, line = case.match[1], case.failure.line
    leave_out = f"leave line {line} out if the gradient does not need it."
    if name == _OF_COLAB:
        return (
            f"Line {line} needs {name}, which is there in notebooks on Google Colab only. "
            "Leave out this line and what uses it, and put files of yours in place of its files."
        )
    owner, _, part = name.rpartition(".")
    shadow = f"No module named '{name}'; '{owner}' is not a package"
    if owner and shadow in case.failure.message:
        return (
            f"Line {line} needs the module {name}, and the {owner} that Python finds first is a "
            f"single file, which has no modules in it. Often this is a file {owner}.py of your own "
            f"beside the snippet, which hides the package: give it another name."
        )
    of_keras = re.match(_PART_OF_KERAS, name)
    if of_keras:
        return (
            f"Keras has no module {name}, which line {line} imports from: it was part of an older "
            f"version. What stood in such parts is imported from {of_keras[1]} itself."
        )
    if name == "keras.preprocessing.text":
        return (
            f"Keras 3 has the module {name}, which line {line} imports from, under the name of "
            f"tensorflow alone. Write tensorflow.{name} in its place."
        )
    if owner == "tensorflow" or owner.startswith("tensorflow."):
        return (
            f"This TensorFlow ({case.trace.tensorflow}) has no module {name}. "
            f"It was part of an older version, or it has moved. "
            f"Look for its present name, or {leave_out}"
        )
    if owner:
        return (
            f"The installed {owner} has no module {part}: it was part of another version, or has "
            f"moved. Look for its present name, or {leave_out}"
        )
    package = PACKAGES.get(name)
    missing = f"Line {line} needs the module {name}, which is not installed in the Python that "
    if package:
        return (
            f"{missing}runs the snippet. Install it there (pip install {package}), choose an "
            f"interpreter that has it, or {leave_out}"
        )
    beside = (
        f"put it into {case.failure.folder}" if case.failure.folder else "put it beside the snippet"
    )
    if not case.failure.is_saved:
        beside = "save the snippet in its folder"
    return (
        f"{missing}runs the snippet. If it is a file of yours, {name}.py, {beside}. "
        f"If it is a package, install it there (pip install {name}), or choose an interpreter that "
        f"has it."
    )


def command_for(failure: Failure) -> str:
    """The shell command that installs the module that was missing: empty if that may be no
    package of its own, or none was missing."""
    match = re.match(NO_MODULE, f"{failure.type}: {failure.message}")
    package = PACKAGES.get(match[1]) if match else None
    return install_command(failure.python or "python", [package]) if package else ""
