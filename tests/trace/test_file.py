from __future__ import annotations

import contextlib
import json
import pickle
import tracemalloc
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tapeviz.errors import TapevizError
from tapeviz.trace import events as e
from tapeviz.trace.events import decode, encode
from tapeviz.trace.read import read
from tapeviz.trace.stored import file as tape_file
from tapeviz.trace.stored import limits
from tapeviz.trace.stored.file import Recording, load, save

BLOB = np.arange(6, dtype=np.float32).tobytes()
EVENTS: list[e.Event] = [
    e.Begin(e.FORMAT_VERSION, "2.21.0", "3.11"),
    e.SiteSeen(1, [("<module>", 1, -1, -1, -1)]),
    e.TensorSeen(1, "float32", [2, 3], at=0, nbytes=24),
    e.TensorSeen(2, "string", [1], text=["café\n∂"]),
    e.OpRan(1, "Exp", [1], [3], site=1),
    e.Ended("finished"),
]
RECORDING = Recording("y = tf.exp(x)  # ∂\n", "a.py", tuple(map(encode, EVENTS)), BLOB, ((1, "w"),))
NPY = b"\x93NUMPY"


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    path = tmp_path / "run.tape"
    save(RECORDING, path)
    return path


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewrite(path: Path, **changes: bytes) -> Path:
    """The same recording with members replaced; ``meta="…"`` stands for ``meta.json``."""
    names = {"meta": "meta.json", "events": "events.jsonl", "values": "values.npy"}
    contents = members(path) | {names[key]: value for key, value in changes.items()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return path


def with_event(path: Path, *lines: bytes) -> Path:
    return rewrite(path, events=b"\n".join(RECORDING.events) + b"\n" + b"\n".join(lines) + b"\n")


def test_what_is_saved_is_loaded(tape: Path) -> None:
    assert load(tape) == RECORDING
    trace = read(map(decode, load(tape).events), RECORDING.blob, RECORDING.source, "a.py")
    assert trace.value(next(iter(trace.tensors))).tolist() == [[0, 1, 2], [3, 4, 5]]  # type: ignore[union-attr]


def test_the_parts_are_plain_json_and_npy(tape: Path) -> None:
    parts = members(tape)
    assert set(parts) == {"meta.json", "events.jsonl", "values.npy"}
    assert json.loads(parts["meta.json"])["format"] == tape_file.FORMAT
    assert json.loads(parts["events.jsonl"].splitlines()[0])["e"] == "begin"
    (path := tape.parent / "values.npy").write_bytes(parts["values.npy"])
    assert np.load(path, allow_pickle=False).tobytes() == BLOB


def test_the_folder_of_the_snippet_stays_out(tmp_path: Path) -> None:
    named = replace(RECORDING, filename="/home/ada/lab/a.py")
    save(named, tmp_path / "run.tape")
    assert load(tmp_path / "run.tape").filename == "a.py"
    assert b"ada" not in b"".join(members(tmp_path / "run.tape").values())


def test_nothing_is_a_recording_too(tmp_path: Path) -> None:
    save(Recording("", "", (), b""), tmp_path / "x.tape")
    assert load(tmp_path / "x.tape") == Recording("", "", (), b"")


def test_one_recording_is_always_the_same_file(tape: Path, tmp_path: Path) -> None:
    save(RECORDING, tmp_path / "again.tape")
    assert (tmp_path / "again.tape").read_bytes() == tape.read_bytes()


def test_a_recording_is_written_as_every_file_is(tape: Path) -> None:
    link = tape.parent / "link.tape"
    link.symlink_to(tape)
    save(Recording("", "", (), b""), link)
    assert link.is_symlink()
    assert load(tape) == Recording("", "", (), b"")
    with pytest.raises(TapevizError, match="cannot write"):
        save(RECORDING, tape.parent / "missing" / "x.tape")


def test_a_file_cut_at_any_byte_is_refused(tape: Path) -> None:
    whole = tape.read_bytes()
    for length in range(0, len(whole), 7):
        tape.write_bytes(whole[:length])
        with pytest.raises(TapevizError):
            load(tape)


def test_a_file_with_any_byte_changed_is_refused_or_read_as_it_was(tape: Path) -> None:
    whole = bytearray(tape.read_bytes())
    for position in range(0, len(whole), 3):
        changed = bytearray(whole)
        changed[position] ^= 0xFF
        tape.write_bytes(changed)
        with contextlib.suppress(TapevizError):
            assert load(tape) == RECORDING


def test_what_is_no_recording_says_so(tmp_path: Path) -> None:
    for content in (b"", b"import os\n", b"PK\x05\x06" + bytes(18)):
        (tmp_path / "x.tape").write_bytes(content)
        with pytest.raises(TapevizError, match="not a tapeviz recording"):
            load(tmp_path / "x.tape")
    with pytest.raises(TapevizError, match="no such file"):
        load(tmp_path / "none.tape")
    with pytest.raises(TapevizError, match="no such file"):
        load(tmp_path)


class Exploit:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return Path.touch, (Path("/tmp/tapeviz-was-exploited"),)  # type: ignore[return-value]


def test_pickles_are_never_opened(tape: Path) -> None:
    pickled = tape.parent / "object.npy"
    np.save(pickled, np.array([Exploit()], dtype=object), allow_pickle=True)
    for content in (pickled.read_bytes(), pickle.dumps(Exploit())):
        with pytest.raises(TapevizError, match=r"values\.npy"):
            load(rewrite(tape, values=content))
    assert not Path("/tmp/tapeviz-was-exploited").exists()


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '|u1', 'fortran_order': False, 'shape': (999999999999999,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 12), }",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (-1,), }",
        "__import__('os').abort()",
        "(" * 3000,
    ],
)
def test_values_with_another_header_are_refused(tape: Path, header: str) -> None:
    text = header.encode().ljust(118) + b"\n"
    content = NPY + b"\x01\x00" + len(text).to_bytes(2, "little") + text + BLOB
    with pytest.raises(TapevizError, match=r"values\.npy"):
        load(rewrite(tape, values=content))


@pytest.mark.parametrize("name", ["../evil.py", "/etc/passwd", "meta.json/x", "extra.json"])
def test_another_member_is_refused_and_nothing_is_unpacked(tape: Path, name: str) -> None:
    with zipfile.ZipFile(tape, "a") as archive:
        archive.writestr(name, "x")
    with pytest.raises(TapevizError, match="not a tapeviz recording"):
        load(tape)
    assert list(tape.parent.iterdir()) == [tape]


def test_a_member_twice_or_missing_is_refused(tape: Path) -> None:
    parts = members(tape)
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(tape, "a") as archive:
        archive.writestr("meta.json", parts["meta.json"])
    with pytest.raises(TapevizError, match="not a tapeviz recording"):
        load(tape)
    with zipfile.ZipFile(tape, "w") as archive:
        archive.writestr("meta.json", parts["meta.json"])
    with pytest.raises(TapevizError, match="not a tapeviz recording"):
        load(tape)


def test_a_bomb_is_refused_before_it_goes_off(tape: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tape_file, "MEMBERS", dict.fromkeys(tape_file.MEMBERS, 1 << 20))
    bomb = rewrite(tape, values=members(tape)["values.npy"] + bytes(50 << 20))
    assert bomb.stat().st_size < 1 << 20
    tracemalloc.start()
    try:
        with pytest.raises(TapevizError, match="larger than it may be"):
            load(bomb)
        assert tracemalloc.get_traced_memory()[1] < 20 << 20, "it was unpacked"
    finally:
        tracemalloc.stop()


def test_a_bomb_that_lies_about_its_size_is_refused(tape: Path) -> None:
    bomb = rewrite(tape, events=b"{}" + bytes(20 << 20))
    content = bytearray(bomb.read_bytes())
    size = (20 << 20) + 2
    at = content.rindex(size.to_bytes(4, "little"))  # in the directory, at the end
    content[at : at + 4] = (100).to_bytes(4, "little")
    bomb.write_bytes(content)
    with pytest.raises(TapevizError):
        load(bomb)


def test_what_is_packed_too_well_is_refused_and_never_written(
    tape: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "UNPACKED_ANYWAY", 4 << 20)
    many = Recording("", "", (), bytes(9 << 20))
    save(many, tape)
    assert load(tape) == many
    with pytest.raises(TapevizError, match="packed smaller"):
        load(rewrite(tape))  # packs it


def test_another_compression_or_a_password_is_refused(tape: Path) -> None:
    parts = members(tape)
    with zipfile.ZipFile(tape, "w", zipfile.ZIP_BZIP2) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    with pytest.raises(TapevizError, match="compressed"):
        load(tape)
    save(RECORDING, tape)
    content = bytearray(tape.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + offset] |= 1  # "encrypted"
    tape.write_bytes(content)
    with pytest.raises(TapevizError, match="damaged"):
        load(tape)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"[]",
        b"NaN",
        b'{"e":"nothing"}',
        b'{"e":"op","id":"1","type":"Exp","inputs":[],"outputs":[]}',
        b'{"e":"op","id":2,"type":"Exp","inputs":[],"outputs":[],"attrs":{"x":NaN}}',
        b'{"e":"op","id":2,"type":"Exp","inputs":[],"outputs":[],"attrs":' + b"[" * 200_000 + b"}",
        b'{"e":"op","id":999999999999999999999999,"type":"Exp","inputs":[],"outputs":[]}',
        b'{"e":"record","id":4999999,"type":"f","inputs":[],"outputs":[],"first":-5}',
        b'{"e":"tensor","id":9,"dtype":"float32","shape":[1000000,1000000],"at":0,"nbytes":24}',
        b'{"e":"tensor","id":9,"dtype":"float32","shape":[6],"at":4,"nbytes":24}',
        b'{"e":"tensor","id":9,"dtype":"float32","shape":[6],"at":-9,"nbytes":24}',
        b'{"e":"tensor","id":9,"dtype":"float32","shape":[-1],"at":0,"nbytes":24}',
        b'{"e":"tensor","id":9,"dtype":"float32","at":0,"nbytes":24}',
        b'{"e":"tensor","id":9,"dtype":"object","shape":[3],"at":0,"nbytes":24}',
        b'{"e":"tensor","id":9,"dtype":"f4,f4","shape":[3],"at":0,"nbytes":24}',
        b'{"e":"tensor","id":9,"dtype":"string","shape":[1000000000],"text":["x"]}',
        b'{"e":"op","id":9,"type":"Neg","inputs":[9223372036854775808],"outputs":[8]}',
        b'{"e":"op","id":9,"type":"Neg","inputs":[8],"outputs":[-9223372036854775809]}',
        b'{"e":"ended","call":1,"results":[' + b"9" * 5_000 + b"]}",
        b'{"e":"tensor","id":9,"dtype":"float32","stats":[1]}',
        b'{"e":"tensor","id":9,"dtype":"float32","sample":[0,16,16]}',
        b'{"e":"tensor","id":9,"dtype":"float32","sample":[-4,1,1]}',
        b'{"e":"tensor","id":9,"dtype":"float32","sample":[0,1,0]}',
        b'{"e":"tensor","id":9,"dtype":"string","sample":[0,1,1]}',
        b'{"e":"tensor","id":9,"dtype":"float32","shape":' + str([1] * 99).encode() + b"}",
        b"\xff\xfe",
    ],
)
def test_a_line_that_is_no_sound_event_is_refused(tape: Path, line: bytes) -> None:
    with pytest.raises(TapevizError, match="event 7 is damaged"):
        load(with_event(tape, line, RECORDING.events[-1]))


def test_bodies_without_end_are_refused(tape: Path) -> None:
    line = b'{"e":"record","id":4999999,"type":"f","inputs":[],"outputs":[],"first":1}'
    with pytest.raises(TapevizError, match="bodies"):
        load(with_event(tape, *[line] * 20))


def test_too_many_or_too_long_events_are_refused(
    tape: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "EVENTS", 5)
    with pytest.raises(TapevizError, match="more than 5 events"):
        load(tape)
    monkeypatch.undo()
    monkeypatch.setattr(limits, "LINE_BYTES", 1000)
    monkeypatch.setattr(tape_file, "_CHUNK", 500)
    with pytest.raises(TapevizError, match="longer"):
        load(rewrite(tape, events=b"x" * 3000))


@pytest.mark.parametrize("meta", [b"", b"{}", b"[]", b"[" * 100_000, b'{"format":true}', b"\xff"])
def test_damaged_meta_is_refused(tape: Path, meta: bytes) -> None:
    with pytest.raises(TapevizError, match=r"meta\.json is damaged"):
        load(rewrite(tape, meta=meta))


def test_a_newer_format_asks_for_an_update(tape: Path) -> None:
    with pytest.raises(TapevizError, match="update tapeviz"):
        load(rewrite(tape, meta=b'{"format":99,"else":1}'))
    newer = encode(e.Begin(e.FORMAT_VERSION + 1, "3", "4"))
    with pytest.raises(TapevizError, match="update tapeviz"):
        load(rewrite(tape, events=newer + b"\n"))
