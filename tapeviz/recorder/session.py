"""One run of one snippet, from the first patch to the last; what is asked about it afterwards."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from gc import freeze, get_threshold, set_threshold, unfreeze
from platform import python_version
from secrets import randbelow
from sys import _getframe
from time import monotonic
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import tensorflow as tf

from . import limits, numbering, private, program, seeding
from .after import following
from .after.again import CannotRepeat, tensor_of
from .encode import Encoder
from .history import History
from .hooks import (
    backward,
    bodies,
    calls,
    forward_mode,
    graph_ops,
    graphs,
    leaving,
    names,
    ops,
    tapes,
    traced_names,
    variables,
)
from .hooks.kept_calls import KeptCalls
from .installed import Installed
from .log import Log, Send
from .recording import RecordingContext
from .rerun import Rerun
from .rerun.report import report_without_function
from .rerun.silence import silence
from .sites import Sites
from .symbols import Symbols
from .tensors import Tensors
from .unseen import above, profiling, tracing
from .values import array_of, little_endian, part_of, raw_bytes, spread_of, statistics

FORMAT_VERSION = 1
_LIFETIMES = ("weakref", "__del__", "getrefcount", "get_referrers", "get_objects")
_AT_END_OF_GENERATOR = ("finally", "GeneratorExit", "__exit__", "contextmanager")
_OBJECTS_OF_BATCH = 20_000
_COLLECTIONS_UNTIL_FULL = 100_000
_MOST_SEED = (1 << 31) - 2
_PACKAGE = sys.modules[str(__package__)]
_LET_GO = "they were let go of, to make room for those of newer tensors"


class Session:
    """Runs a snippet while everything is watched."""

    def __init__(self, source: str, filename: str, options: Mapping[str, Any], send: Send) -> None:
        self._source = source
        self._filename = filename
        self._options = options
        self._seed = int(options.get("seed") or 1 + randbelow(_MOST_SEED))
        self._generated_code = str(options.get("generated_code", ""))
        self._follows_numpy = bool(options.get("follow_numpy", False))
        self.tensors = Tensors(
            int(options.get("value_limit", limits.ELEMENTS_SENT)),
            int(options.get("value_budget", limits.VALUE_BYTES)),
            int(options.get("keep_budget", limits.KEPT_BYTES)),
        )
        boundary: CodeType = program.run_as_main.__code__
        self._sites = Sites(source, filename, boundary)
        symbols = Symbols()
        sees_ends = _sees_ends(source)
        call_budget = int(options.get("call_budget", limits.CALL_BYTES))
        self._kept_calls = KeptCalls(call_budget, holds_graphs=not sees_ends)
        self.encoder = Encoder(self._sites, symbols, self.tensors, History(), self._kept_calls)
        self.log = Log(self.encoder, send, at_once=sees_ends)
        self.recording = RecordingContext(
            self.log,
            self._sites,
            symbols,
            self._kept_calls,
            source,
            filename,
            holds_what_runs=not sees_ends,
        )
        self._rerun = Rerun(self.recording)

    def run(self, argv: Sequence[str]) -> None:
        """Run the snippet; every event of it has been sent when this returns."""
        self.recording.emit(
            {
                "e": "begin",
                "format": FORMAT_VERSION,
                "tensorflow": tf.__version__,
                "python": python_version(),
                "seed": self._seed,
            }
        )
        self.log.flush()
        self.log.start()
        endings: list[program.EventFields] = [{"e": "end", "how": "interrupted"}]
        try:
            with Installed() as installed:
                program.remember_text(self._source, self._filename, installed)
                self._install(installed)
                endings = program.watch(lambda: self._run_snippet(argv), self._filename)
        except KeyboardInterrupt:
            pass  # it came between the snippet and our own last words
        finally:
            is_whole = True
            _spare_full_collections(self._source)
            with suppress(KeyboardInterrupt):
                is_whole = self.log.hear_again()
            if is_whole and endings[-1].get("how") != "interrupted":
                self._look_inside()
            *raised, end = endings
            for event in raised:
                self.recording.emit(event)
            with suppress(KeyboardInterrupt):
                self.log.say_losses()
            self.recording.emit(end)
            self.log.close()
            self.tensors.end_run()

    def _look_inside(self) -> None:
        """The last call of each function, for as long as that takes little time. Nothing if the
        snippet left no file descriptor free, which :func:`silence` needs."""
        kept, until = self._kept_calls, monotonic() + limits.SECONDS_INSIDE
        enough = suppress(KeyboardInterrupt, OSError)
        with enough, self.log.hiding(), silence():
            self.log.flush()  # calls get the numbers of their ops
            self.tensors.end_run()
            for graph in kept.graphs():
                call = kept.call(graph, kept.count(graph))
                if call is None or monotonic() > until:
                    continue
                with self.recording.shielded("the inside of a compiled function"):
                    if not self._rerun.is_slow(call):
                        self.recording.append((self.encoder.inside, self._rerun.look(call)))

    def inside(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
        """The events of a call's inside: ``op`` is the number of the eager op that was the call.

        ``turns``: of loops, those (from 0) whose values are added to those emitted before;
        ``all_turns``: it is looked into again, with every turn of them.
        """
        call = self._kept_calls.ran_by(int(request["op"]))
        if call is None:
            return {"error": "this call was not kept: there were too many"}, []
        turns = request.get("turns", ())
        if call.graph is None:
            return self.tensors.answer(self.encoder.answer_inside(report_without_function(call.op)))
        inside = self._rerun.look(
            call, turns=turns, has_all_turns=bool(request.get("all_turns", False))
        )
        if turns:
            inside.keep_turns(turns)
        lines = self.encoder.answer_inside(inside)
        return self.tensors.answer(lines)

    def tensor(self, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
        """All elements of a tensor that was kept, or is computed again."""
        try:
            tensor = self._tensor_asked_for(arguments)
            raw = raw_bytes(tensor)
            return {"dtype": tensor.dtype.name, "shape": list(tensor.shape)}, [raw]
        except CannotRepeat as reason:
            return {"error": f"{_LET_GO}, and {reason}"}, []
        except Exception as error:
            return {"error": f"tensor {arguments['id']} has no elements to give: {error}"}, []

    def _tensor_asked_for(self, arguments: Mapping[str, Any]) -> Any:
        """The tensor with this id; with ``numbers`` its rows summed up by these."""
        tensor = tensor_of(self.encoder, int(arguments["id"]))
        if "numbers" not in arguments:
            return tensor
        numbers = tensor_of(self.encoder, int(arguments["numbers"]))
        with private.quiet_eager_mode():
            return private.sum_of_rows(tensor, numbers, int(arguments["of"]))

    def part(self, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
        """A slice of a large tensor to look at, its statistics, and some elements of all of it."""
        try:
            tensor = self._tensor_asked_for(arguments)
            array, most = array_of(tensor), int(arguments["most"])
            part, steps = part_of(array, arguments["shape"], arguments["index"], most)
            spread = spread_of(array, int(arguments["spread"]))
            stats = statistics(array) if arguments.get("stats") else None
        except CannotRepeat as reason:
            return {"error": f"{_LET_GO}, and {reason}"}, []
        except Exception as error:
            return {"error": f"tensor {arguments['id']} has no elements to give: {error}"}, []
        about = {"dtype": tensor.dtype.name, "shape": list(part.shape), "steps": steps}
        return about | {"stats": stats}, [little_endian(part), little_endian(spread)]

    def _run_snippet(self, argv: Sequence[str]) -> None:
        first = following.Rerouted() if self._follows_numpy else None
        starts = self._options.get("blocks", ())
        compiled = program.compile_snippet(self._source, self._filename, self._note, first, starts)
        provide = self._options.get("provide", ())
        files = _files_around(_getframe())
        with Installed() as hidden, private.without_files(files):
            above.install(program.run_as_main.__code__, _files_of_ours(), hidden)
            self._note_missing(hidden)
            hidden.enter_context(private.without_context())
            try:
                program.on_short_frames(
                    lambda: program.run_as_main(
                        self._filename, argv, provide, compiled, self._tell_error
                    )
                )
            finally:
                self._options.get("restore", _nothing)()
            self._options.get("wait_for_threads", _nothing)()

    def _tell_error(self, error: Exception) -> None:
        self.recording.emit(program.raised(error, self._filename))

    def _install(self, installed: Installed) -> None:
        recording = self.recording
        known_tapes, known_calls = tapes.TapeRegistry(recording), calls.Calls(recording)
        # A part that fails gives a note; the others are there all the same.
        parts: dict[str, Callable[[], None]] = {
            "ops": lambda: ops.install(recording, installed),
            "tapes": lambda: tapes.install(recording, installed, known_tapes),
            "gradient calls": lambda: calls.install(recording, installed, known_tapes, known_calls),
            "forward mode": lambda: forward_mode.install(
                recording, installed, known_tapes, known_calls
            ),
            "steps of the backward pass": lambda: backward.install(recording, installed),
            "variables": lambda: variables.install(recording, installed),
            "graph mode": lambda: graphs.install(recording, installed, known_calls),
            "vectorized functions": lambda: graph_ops.install(recording, installed),
            "compiled functions": lambda: bodies.install(recording, installed),
            "numbers in names": lambda: numbering.install(installed),
            "files of AutoGraph": lambda: traced_names.note_generated_code(
                self._generated_code, installed
            ),
            "values that leave TensorFlow": lambda: leaving.install(recording, installed),
            "names in compiled functions": lambda: traced_names.install(recording, installed),
            "names": lambda: names.install(recording, installed, known_tapes),
            "seeds": lambda: seeding.sow(self._seed, installed),
            "the end of the process": lambda: self._install_ending(installed),
            "the garbage collector": lambda: _quieten_collector(self._source, installed),
            "trace functions": lambda: tracing.install(self._source, self._filename, installed),
            "profilers": lambda: profiling.install(self._source, installed),
            "values in NumPy": lambda: self._follow_numpy(installed),
        }
        for part, install in parts.items():
            try:
                install()
            except Exception:
                self.log.complain(f"{part}: TensorFlow is not as expected")
        for name, lost in private.MISSING.items():
            self._note(f"recorder, this TensorFlow has no {name}; not recorded: {lost}")
        self._note_missing(installed)

    def _note_missing(self, installed: Installed) -> None:
        for name in installed.missing:
            self._note(f"recorder, this TensorFlow has no {name}: what it does is not recorded")

    def _install_ending(self, installed: Installed) -> None:
        def flushing(end: Any) -> Any:
            def ending(*args: Any, **named: Any) -> Any:
                self.log.flush()
                return end(*args, **named)

            return ending

        installed.replace(os, "_exit", flushing)
        installed.replace(os, "abort", flushing)

    def _follow_numpy(self, installed: Installed) -> None:
        if self._follows_numpy:
            following.install(self.recording, installed)

    def _note(self, words: str) -> None:
        self.recording.emit({"e": "note", "message": words})


@contextmanager
def hiding_above(function: FunctionType) -> Iterator[None]:
    """Hide a function, which calls what the snippet left for its end, and what called it."""
    with Installed() as hidden:
        code = function.__code__
        above.install(code, _files_around(_getframe()) | {code.co_filename}, hidden)
        yield


def _files_around(frame: FrameType | None) -> frozenset[str]:
    """The files of the frames that a snippet run here would find above it, and our own."""
    files = set()
    while frame is not None:
        files.add(frame.f_code.co_filename)
        frame = frame.f_back
    return frozenset(files) | _files_of_ours()


def _files_of_ours() -> frozenset[str]:
    """The files of this package's modules, which need not be in ``sys.modules``."""
    found = [_PACKAGE]
    for module in found:
        inside = f"{module.__name__}."
        values = [each for each in vars(module).values() if isinstance(each, ModuleType)]
        found += [each for each in values if each.__name__.startswith(inside)]
    return frozenset(str(getattr(module, "__file__", "")) for module in found[1:])


def _nothing() -> None:
    """Answer where nothing was asked for."""


def _spare_full_collections(source: str) -> None:
    """Let Python look for garbage among new objects only: the run is over.

    A look through all objects of TensorFlow takes a quarter of a second, and to open a call makes
    so many objects that every second one would have it. Not for a snippet that speaks of the
    collector, which a thread of its own or a function for the end may still ask.
    """
    first, second, _ = get_threshold()
    if "gc" not in source:
        set_threshold(first, second, _COLLECTIONS_UNTIL_FULL)


def _quieten_collector(source: str, installed: Installed) -> None:
    """The rows of a batch make Python look for garbage often; as often as in a plain run will do.

    TensorFlow's modules need no look at all. A snippet that speaks of the collector finds it as
    it would be without us; objects of a process that was forked are frozen already.
    """
    (unfreeze if "freeze" in source else freeze)()
    installed.callback(unfreeze)
    first, *others = get_threshold()
    if 0 < first < _OBJECTS_OF_BATCH and "gc" not in source:
        set_threshold(_OBJECTS_OF_BATCH, *others)
        installed.callback(set_threshold, first, *others)


def _sees_ends(source: str) -> bool:
    """Whether a snippet can see when a tensor, a function or, by the generator that it takes
    elements of, an iterator over a dataset dies."""
    has_generator = "from_generator" in source
    ends_it = has_generator and any(word in source for word in _AT_END_OF_GENERATOR)
    return ends_it or any(word in source for word in _LIFETIMES)
