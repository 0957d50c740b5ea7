"""Files of text as Python reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tapeviz.errors import TapevizError
from tapeviz.files.source import encoded, read_text

LATIN = "# -*- coding: latin-1 -*-\né = 1\n"


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("é = 1\r\n".encode(), "é = 1\n"),
        (b"\xef\xbb\xbfx = 1\n", "x = 1\n"),
        (LATIN.encode("latin-1"), LATIN),
        (b"# coding: klingon\nx = 1\n", "# coding: klingon\nx = 1\n"),
        (b"", ""),
    ],
)
def test_the_characters(tmp_path: Path, raw: bytes, text: str) -> None:
    path = tmp_path / "snippet.py"
    path.write_bytes(raw)
    assert read_text(path) == text
    path.write_bytes(encoded(text))
    assert read_text(path) == text


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    path = tmp_path / "snippet.py"
    with pytest.raises(TapevizError, match=r"cannot read .*: there is no such file"):
        read_text(path)
    with pytest.raises(TapevizError, match="choose a file in it"):
        read_text(tmp_path)
    path.write_bytes(b"caf\xe9 = 1\n")
    with pytest.raises(TapevizError, match="not UTF-8"):
        read_text(path)
    for codec in ("rot13", "undefined", "punycode"):
        path.write_bytes(f"# coding: {codec}\nx = 1\n".encode())
        with pytest.raises(TapevizError, match="not UTF-8"):
            read_text(path)
    for codec in ("ascii", "rot13"):
        with pytest.raises(TapevizError, match="coding line"):
            encoded(f"# coding: {codec}\né = 1\n")
    with pytest.raises(TapevizError, match="line 2 has half of a character"):
        encoded("x = 1\ny = '\ud83d'\n")
