"""Write and read ``.tape`` files: raw events and values, nothing derived.

A ``.tape`` is a zip of ``meta.json`` (what was run), ``events.jsonl`` (one event a line) and
``values.npy`` (the blob, one-dimensional uint8). Nothing in it is ever executed or unpickled, and
whatever is wrong with one ends in a :class:`TapevizError` before it can fill the memory.
"""

from __future__ import annotations

import io
import itertools
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePath
from typing import IO

import msgspec
import numpy as np

from ...errors import TapevizError, reading_words
from ...files.whole import write_whole
from ..lines import PackedLines
from . import limits
from .soundness import Soundness, UnsoundRecording

FORMAT = 1
META, EVENTS, VALUES = "meta.json", "events.jsonl", "values.npy"
MEMBERS = {META: limits.META_BYTES, EVENTS: limits.EVENTS_BYTES, VALUES: limits.VALUES_BYTES}
"""The members of a file; nothing else may be in it."""
_CHUNK = limits.MEBIBYTE
_NPY_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '\|u1', 'fortran_order': (?:False|True), "
    rb"'shape': \((?P<size>[0-9]{1,12}),\), \} *\n",
    re.DOTALL,
)
_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Recording:
    """One run as it was recorded.

    ``source``: the text that ran (after its repairs, each ``(line, what)``); ``skipped``: parts of
    a pasted page that were left out, each ``(line, last line, why)``; ``blocks``: how many pieces
    of code the page had (1: a program); ``events``: JSON lines without line ends; ``blob``: the
    values that travelled.
    """

    source: str
    filename: str
    events: PackedLines | tuple[bytes, ...]
    blob: bytes
    repairs: tuple[tuple[int, str], ...] = ()
    skipped: tuple[tuple[int, int, str], ...] = ()
    blocks: int = 1


class _Meta(msgspec.Struct, frozen=True):
    format: int
    source: str
    filename: str
    repairs: list[tuple[int, str]] = []
    # Written for pages only: the file of a program stays as older versions wrote it.
    skipped: list[tuple[int, int, str]] | msgspec.UnsetType = msgspec.UNSET
    blocks: int | msgspec.UnsetType = msgspec.UNSET


class _Version(msgspec.Struct, frozen=True):
    format: int


class _Damaged(Exception):
    """A fault in the file; the message continues "… cannot be read: "."""


def save(recording: Recording, path: str | Path) -> None:
    """Write a ``.tape`` file: whole, or not at all. Raises :class:`TapevizError`."""
    write_whole(Path(path), partial(_write, recording))


def load(path: str | Path) -> Recording:
    """Read a ``.tape`` file. Raises :class:`TapevizError` for anything that is not a sound one."""
    path = Path(path)
    try:
        if not path.is_file():
            raise _Damaged("there is no such file")
        if path.stat().st_size > limits.FILE_BYTES:
            raise _Damaged("it is larger than a recording may be (2 GiB)")
        with zipfile.ZipFile(path) as archive:
            most = limits.TIMES_UNPACKED * path.stat().st_size
            members = _members(archive, max(limits.UNPACKED_ANYWAY, most))
            meta = _meta(archive, members[META])
            blob = _blob(archive, members[VALUES])
            events = PackedLines(_events(archive, members[EVENTS], Soundness(len(blob)).check))
            return Recording(
                meta.source,
                meta.filename,
                events,
                blob,
                repairs=tuple(meta.repairs),
                skipped=tuple(meta.skipped or ()),
                blocks=meta.blocks or 1,
            )
    except (_Damaged, UnsoundRecording) as error:
        raise TapevizError(f"{path} cannot be read: {error}") from None
    except OSError as error:
        raise TapevizError(f"{path} cannot be read: {reading_words(error)}") from None
    # What zipfile raises on a damaged or exotic archive, by reading its source (3.10 to 3.13).
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,
        RuntimeError,
        ValueError,
        LookupError,
        OverflowError,
    ):
        raise TapevizError(
            f"{path} cannot be read: it is not a tapeviz recording, or it is damaged; record again"
        ) from None


def _write(recording: Recording, stream: IO[bytes]) -> None:
    meta = _Meta(
        FORMAT,
        recording.source,
        PurePath(recording.filename).name,  # a folder would name the user
        list(recording.repairs),
        list(recording.skipped) or msgspec.UNSET,
        recording.blocks if recording.blocks > 1 else msgspec.UNSET,
    )
    with zipfile.ZipFile(stream, "w") as archive:
        _write_member(archive, META, [msgspec.json.encode(meta)])
        _write_member(archive, EVENTS, (line + b"\n" for line in recording.events))
        header = io.BytesIO()
        values = np.frombuffer(recording.blob, np.uint8)
        np.lib.format.write_array_header_1_0(
            header, np.lib.format.header_data_from_array_1_0(values)
        )
        way = zipfile.ZIP_STORED if _packs_too_well(recording.blob) else zipfile.ZIP_DEFLATED
        _write_member(archive, VALUES, [header.getvalue(), recording.blob], way)


def _packs_too_well(blob: bytes) -> bool:
    """Whether a reader would refuse it packed: many values that are all the same."""
    piece, most = limits.MEBIBYTE, limits.TIMES_UNPACKED // 2
    return len(blob) > limits.UNPACKED_ANYWAY // 2 and any(
        len(zlib.compress(blob[at : at + piece])) * most < piece
        for at in range(0, len(blob) - piece, len(blob) // 8)
    )


def _write_member(
    archive: zipfile.ZipFile, name: str, parts: Iterable[bytes], way: int = zipfile.ZIP_DEFLATED
) -> None:
    about = zipfile.ZipInfo(name, _EPOCH)
    about.compress_type = way
    with archive.open(about, "w", force_zip64=True) as member:
        for part in parts:
            member.write(part)


def _members(archive: zipfile.ZipFile, most: int) -> dict[str, zipfile.ZipInfo]:
    infos = archive.infolist()
    members = {info.filename: info for info in infos}
    if set(members) != set(MEMBERS) or len(infos) != len(MEMBERS):
        raise _Damaged("it is not a tapeviz recording")
    for name, info in members.items():
        if info.file_size > MEMBERS[name]:
            raise _Damaged(f"its {name} is larger than it may be")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise _Damaged("it is compressed in a way that tapeviz never uses")
    size = sum(info.file_size for info in infos)
    if size > limits.FILE_BYTES:
        raise _Damaged("it is larger than a recording may be (2 GiB)")
    if size > most:
        raise _Damaged(
            f"it is {size // limits.MEBIBYTE} MiB packed smaller than tapeviz packs anything"
        )
    return members


def _bytes_of(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """The member's bytes in chunks, never more than its entry in the directory says."""
    left = info.file_size
    with archive.open(info) as member:
        while chunk := member.read(_CHUNK):
            left -= len(chunk)
            if left < 0:
                raise _Damaged(f"its {info.filename} is larger than it says")
            yield chunk
    if left:
        raise _Damaged(f"its {info.filename} is cut short")


def _meta(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> _Meta:
    text = b"".join(_bytes_of(archive, info))
    try:
        version = msgspec.json.decode(text, type=_Version).format
        if version > FORMAT:
            raise _Damaged("it was made by a newer tapeviz; update tapeviz to read it")
        return msgspec.json.decode(text, type=_Meta)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise _Damaged(f"its {META} is damaged ({error})") from None


def _blob(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """The bytes behind the header of a one-dimensional uint8 array.

    NumPy's own reader evaluates the header as a Python expression; only one form of it is allowed
    here, so it is matched instead, before more than one chunk was read.
    """
    chunks = _bytes_of(archive, info)
    first = next(chunks, b"")
    header = _NPY_HEADER.match(first)
    if header is None or info.file_size - header.end() != int(header["size"]):
        raise _Damaged(f"its {VALUES} is not an array of bytes, or it is damaged")
    return b"".join(itertools.chain([first[header.end() :]], chunks))


def _events(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, check: Callable[[bytes], None]
) -> Iterator[bytes]:
    for count, line in enumerate(_lines(_bytes_of(archive, info)), 1):
        if count > limits.EVENTS:
            raise _Damaged(f"it has more than {limits.EVENTS:,} events")
        check(line)
        yield line


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Whole lines without their ends; the last one has an end, too."""
    rest = b""
    for chunk in chunks:
        *lines, tail = chunk.split(b"\n")
        for line in lines:
            yield rest + line
            rest = b""
        rest += tail
        if len(rest) > limits.LINE_BYTES:
            raise _Damaged("one of its events is longer than it may be")
    if rest:
        raise _Damaged("its events are cut short")
