"""Which of a snippet's settings must be there before TensorFlow is."""

from __future__ import annotations

import pytest

from tapeviz.kernel.import_settings import import_settings

OFF = {"TF_ENABLE_ONEDNN_OPTS": "0"}


@pytest.mark.parametrize(
    ("source", "settings"),
    [
        ("import os\nos.environ['TF_ENABLE_ONEDNN_OPTS'] = '0'\nimport tensorflow as tf", OFF),
        ("from os import environ\nenviron['TF_ENABLE_ONEDNN_OPTS'] = '0'", OFF),
        ("import os\nos.environ.setdefault('TF_ENABLE_ONEDNN_OPTS', '0')", OFF),
        ("import tensorflow as tf, os\nos.environ['TF_ENABLE_ONEDNN_OPTS'] = '0'", {}),
        ("from keras import ops\nos.environ['TF_ENABLE_ONEDNN_OPTS'] = '0'", {}),
        ("import os\nos.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'", {}),
        ("# TF_ENABLE_ONEDNN_OPTS is not set", {}),
        ("x = {}\nx['TF_ENABLE_ONEDNN_OPTS'] = '0'", {}),
        ("os.environ['TF_ENABLE_ONEDNN_OPTS'] = '0", {}),
    ],
)
def test_settings(source: str, settings: dict[str, str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("TF_ENABLE_ONEDNN_OPTS", raising=False)
    assert import_settings(source) == settings


def test_what_is_so_already_needs_no_other_process(monkeypatch: pytest.MonkeyPatch):
    source = "import os\nos.environ['TF_ENABLE_ONEDNN_OPTS'] = '0'"
    monkeypatch.setenv("TF_ENABLE_ONEDNN_OPTS", "0")
    assert import_settings(source) == {}
    monkeypatch.setenv("TF_ENABLE_ONEDNN_OPTS", "1")
    assert import_settings(source) == OFF
    assert import_settings("import os\nos.environ.setdefault('TF_ENABLE_ONEDNN_OPTS', '0')") == {}
