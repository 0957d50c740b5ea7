"""Snippets about the process they run in: name → text. Few of them need TensorFlow."""

# ruff: noqa: E501 (short snippets in few lines)
from __future__ import annotations

SNIPPETS = {
    "bytes_that_are_no_utf8": """
import os, sys
sys.stdout.buffer.write(b"\\xff\\xfelatin \\xe9\\n"); sys.stdout.flush()
os.write(1, b"\\x80\\n"); os.write(1, "é".encode()[:1]); os.write(1, "é".encode()[1:])
""",
    "caught_error_of_its_own": """
class Odd(Exception):
    def __str__(self):
        print("str")
        return "odd"
    @property
    def args(self):
        print("args")
        return ()
    def __getattr__(self, name):
        print("getattr", name)
        raise AttributeError(name)
try:
    raise Odd("first")
except Odd as error:
    print(type(error).__name__, error.__traceback__.tb_lineno)
""",
    "an_error_into_another_stream": """
import sys
sys.stderr = sys.stdout
def fails(): raise ValueError("shown there")
try: fails()
finally: print("finally")
""",
    "atexit": """
import atexit, sys
def bye(n):
    print("bye", n)
class Fails:
    def __repr__(self): return "fails"
    def __call__(self): raise ValueError("in atexit")
fail = Fails()
@atexit.register
def last():
    print("registered first, runs last")
atexit.register(bye, 1)
atexit.register(fail)
atexit.register(bye, 2)
atexit.register(bye, 3)
atexit.unregister(last)
atexit.register(lambda: print("err", file=sys.stderr))
def nested():
    print("nested"); atexit.register(bye, "late")
atexit.register(nested)
print("end")
""",
    "class_that_raises": """
class Meta(type):
    def __getattribute__(cls, name): raise OSError(name)
class Odd(metaclass=Meta):
    def __del__(self): print("deleted")
odd, kind = Odd(), Odd
print("end")
""",
    "atexit_frames": """
import atexit, functools, inspect, logging, sys, traceback, warnings
logging.basicConfig(stream=sys.stdout, format="%(funcName)s %(lineno)d %(filename)s %(message)s", level=logging.INFO)
class Ends:
    def close(self):
        logging.info("m"); logging.info("m", stacklevel=4); logging.info("m", stack_info=True)
    def __del__(self): logging.info("deleted"); traceback.print_stack(file=sys.stdout)
ends = Ends()
atexit.register(ends.close)
def last():
    warnings.warn("late", stacklevel=2); warnings.warn("later", stacklevel=9)
    print([each.function for each in inspect.stack()], [each.name for each in traceback.extract_stack()])
    fails()
def fails(): logging.info("f", stacklevel=2); logging.info("f", stacklevel=3)
atexit.register(last)
atexit.register(functools.partial(logging.info, "partial"))
atexit.register(logging.info, "direct")
logging.info("m", stacklevel=3); logging.info("m", stack_info=True, stacklevel=2)
""",
    "frames_above_a_converted_function": """
import sys, tensorflow as tf
@tf.function
def f(x):
    frame, names = sys._getframe(0), []
    while frame is not None:
        names.append(frame.f_code.co_name)
        frame = frame.f_back
    print(names)
    return x
f(tf.constant(1.0))
""",
    "frames_above": """
from __future__ import annotations
import atexit, inspect, sys, threading
print(sys._getframe().f_back, inspect.currentframe().f_back)
for depth in (1, 5):
    try: print(sys._getframe(depth))
    except ValueError as error: print(error)
def names():
    frame, found = sys._getframe(1), []
    while frame: found.append(frame.f_code.co_name); frame = frame.f_back
    return found
class A:
    f_back = "own"
    def method(self): return names(), sys._getframe(1).f_code.co_name
class B:
    def _getframe(self, saved: A.f_back) -> sys._getframe(): return saved
match "own":
    case A.f_back: print(B()._getframe(3), B()._getframe((lambda: sys._getframe())()).f_code.co_name)
print(B._getframe.__annotations__)
for limit in (0, "a"):
    try: sys.setrecursionlimit(limit)
    except Exception as error: print(error)
a = A(); print(a.f_back, a.method()); a.f_back = 3; print(a.f_back); del a.f_back
thread = threading.Thread(target=lambda: print(names())); thread.start(); thread.join()
try: raise ValueError
except ValueError as error: print(error.__traceback__.tb_frame.f_back)
atexit.register(lambda: print(names()))
for wrong in (lambda: None.f_back, lambda: sys._getframe("a"), lambda: a._getframe(1)):
    try: wrong()
    except Exception as error: print(error)
""",
    "atexit_exit": """
import atexit, sys
atexit.register(print, "at exit")
def leave():
    print("leaving"); sys.exit(3)
sys.exit("words")
""",
    "atexit_raise": """
import atexit
atexit.register(print, "at exit")
1/0
""",
    "after_an_uncaught_error": """
import atexit, sys
class Ends:
    def __del__(self): print("deleted")
def last():
    print(sys.last_type, sys.last_value, sys.last_traceback.tb_lineno, sys.last_traceback.tb_next.tb_frame.f_code.co_name)
atexit.register(last)
def fails():
    kept = Ends()
    raise ValueError("words")
fails()
""",
    "before_the_first_op": """
import logging, sys
import tensorflow as tf
tf.get_logger().handlers[:] = [logging.StreamHandler(sys.stdout)]
@tf.function(experimental_relax_shapes=True)
def f(x):
    return x + 1
tf.compat.v1.enable_eager_execution(config=tf.compat.v1.ConfigProto(log_device_placement=False))
print(f(tf.constant(1)))
try: tf.compat.v1.enable_eager_execution(config=tf.compat.v1.ConfigProto())
except ValueError as error: print(error)
""",
    "atexit_thread": """
import atexit, threading, time
atexit.register(print, "at exit")
def work():
    time.sleep(0.2); print("thread done", threading.active_count())
threading.Thread(target=work).start()
print("main done")
""",
    "threads": """
import threading, sys
print(threading.active_count(), threading.enumerate()[0].name, len(threading.enumerate()))
print(threading.main_thread() is threading.current_thread(), threading.current_thread().name)
t = threading.Thread(target=lambda: print(threading.current_thread().name, threading.active_count(), [x.name for x in threading.enumerate()]))
t.start(); t.join()
print(t.name, t.daemon, threading.active_count())
print(threading.Thread().name)
print(threading.current_thread().daemon, threading.main_thread().name)
def frames():
    frame, count = sys._getframe(), 0
    while frame: frame, count = frame.f_back, count + 1
    print(count)
t = threading.Thread(target=frames); t.start(); t.join()
""",
    "loaded_quietly": """
import faulthandler, os
print(faulthandler.is_enabled(), os.environ.get("TF_CPP_MIN_LOG_LEVEL"))
faulthandler.enable()
print(faulthandler.is_enabled(), faulthandler.disable(), faulthandler.is_enabled())
""",
    "pool": """
from concurrent.futures import ThreadPoolExecutor
import threading
with ThreadPoolExecutor(2) as ex:
    print(list(ex.map(lambda n: threading.current_thread().name, range(1))))
print(threading.active_count())
ex = ThreadPoolExecutor(1); f = ex.submit(lambda: 3); print(f.result())
""",
    "gc": """
import gc
print(gc.isenabled(), gc.get_threshold())
class A: pass
a = A(); a.me = a
import weakref
r = weakref.ref(a); del a
gc.collect(); print(r(), gc.garbage, gc.callbacks)
""",
    "gc_auto": """
import gc, weakref
class A: pass
dead = []
for n in range(3000):
    a = A(); a.me = a; weakref.finalize(a, dead.append, n)
del a
print(len(dead) > 0)
""",
    "warnings": """
import warnings, sys
warnings.warn("one")
def f(): warnings.warn("two", DeprecationWarning, stacklevel=2)
f(); f()
warnings.warn("three", FutureWarning)
for _ in range(2): warnings.warn("same")
with warnings.catch_warnings(record=True) as w:
    warnings.simplefilter("always"); warnings.warn("rec"); print(w[0].lineno, w[0].filename.endswith("snippet.py"))
warnings.showwarning("msg", UserWarning, "f.py", 3)
""",
    "logging": """
import logging, sys
print(logging.getLogger().handlers, logging.getLogger().level, logging.root.manager.disable)
logging.warning("w"); logging.info("i")
log = logging.getLogger("mine"); log.error("e"); log.info("no")
print(logging.getLogger().handlers)
print(logging.getLogger("mine").getEffectiveLevel(), logging.lastResort, logging.raiseExceptions)
""",
    "logging2": """
import logging
log = logging.getLogger("mine"); log.warning("last resort")
logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s %(lineno)d %(filename)s %(funcName)s %(threadName)s %(processName)s")
log.info("hello")
print(logging.getLogger().handlers)
print(logging.captureWarnings(False))
""",
    "names": """
import sys, os
print(__name__, sys.argv, os.path.isabs(__file__), os.path.basename(__file__), __doc__, __package__, __spec__, type(__loader__).__name__ if "__loader__" in globals() else "none")
print(sorted(globals()))
print(sys.modules["__main__"].__dict__ is globals(), vars() is globals())
print(type(__builtins__).__name__, __builtins__ is sys.modules["builtins"])
print(sys.path[0] == os.getcwd(), os.path.dirname(os.path.abspath(__file__)) == os.getcwd())
print("__annotations__" in globals())
x: int = 3
print(__annotations__)
print(__import__("__main__").x)
""",
    "command_line": """
import sys
print(sys.orig_argv[1:], sys.argv, len(sys.orig_argv))
""",
    "traced": """
import contextlib, sys, threading, trace
def decorated(f): return f
@decorated
def work(a,
         b=2):
    "docstring"
    c = [a, b]
    for d in c: e = d
    with contextlib.suppress(ValueError) as f:
        g = (lambda h: h + 1)(e)
    return g
def short(x): return x
def tracer(frame, event, argument):
    if frame.f_code.co_filename == __file__:
        told.append((event, frame.f_code.co_name, frame.f_lineno))
    else:
        others.add((frame.f_globals["__name__"], frame.f_code.co_name))
    return tracer
told, others = [], set()
sys.settrace(tracer); print(sys.gettrace() is tracer); work(1); short(2); sys.settrace(None)
print(told, sorted(others), sys.gettrace())
told.clear(); threading.settrace(tracer)
t = threading.Thread(target=work, args=(1,)); t.start(); t.join(); threading.settrace(None)
print([event for event in told if event[1] == "work"])
counted = trace.Trace(count=1, trace=0); counted.runfunc(work, 3)
print(sorted((line, n) for (file, line), n in counted.results().counts.items() if file == __file__))
def once(frame, event, argument):
    print("once", event, frame.f_code.co_name)
sys.settrace(once); short(1); sys.settrace(None)
""",
    "profiled": """
import cProfile, io, pstats, sys, threading
def f(n): return n if n < 1 else f(n - 1) + len([n])
def assigns(n):
    for k in range(n): a = b = sorted([k])
    return a
told = []
def profile(frame, event, argument):
    told.append((event, frame.f_code.co_name, argument.__name__ if event.startswith("c_") else argument))
sys.setprofile(profile); print(sys.getprofile() is profile); f(2); assigns(2); sys.setprofile(None)
print(told, sys.getprofile())
told.clear(); threading.setprofile(profile)
t = threading.Thread(target=f, args=(1,)); t.start(); t.join(); threading.setprofile(None)
print([event for event in told if event[1] == "f"])
counted = cProfile.Profile(); print(counted.runcall(f, 2)); counted.enable(); assigns(3); counted.disable()
print(sorted((str(e.code).rsplit(" at ")[0], e.callcount, e.reccallcount, sorted(str(c.code)[:9] for c in e.calls or ())) for e in counted.getstats()))
print(pstats.Stats(counted, stream=io.StringIO()).total_calls)
""",
    "context": """
import asyncio, atexit, contextvars
v = contextvars.ContextVar("v", default=0)
print(list(contextvars.copy_context()))
v.set(1); print([one.name for one in contextvars.copy_context()])
async def main():
    v.set(2); return v.get()
print(asyncio.run(main()), v.get())
atexit.register(lambda: print("at exit", v.get()))
""",
    "loggers": """
import logging, warnings
print([name for name in logging.root.manager.loggerDict if name.startswith(("ipy", "IPy", "IPK", "Comm", "tornado", "traitlets"))])
print([entry for entry in warnings.filters if "Trio" in str(entry) or "IPython" in str(entry)])
logging.getLogger("tornado.mine").error("mine"); print(logging.getLogger("tornado.mine").parent)
""",
    "closed_input": """
import io, sys
sys.stdin = io.StringIO("one\\n"); print(input("> "))
try: input("> ")
except EOFError as e: print(e)
sys.stdin = sys.__stdin__; sys.stdin.close()
try: input()
except ValueError as e: print(e)
sys.stdin = None
try: input()
except RuntimeError as e: print(e)
""",
    "builtins": """
print(exit, quit, type(exit), input.__name__)
for name in ("get_ipython", "display", "In", "__IPYTHON__", "execfile"): print(name in globals() or name in dir(__builtins__))
print([name for name in dir(__builtins__) if "pybind" not in name], "__dir__" in dir(__builtins__))
""",
    "stack": """
import inspect, traceback, sys
def f():
    print(len(inspect.stack()), [x.function for x in inspect.stack()])
    traceback.print_stack()
f()
print(sys._getframe().f_code.co_name, sys._getframe().f_locals is globals())
""",
    "recursion": """
import sys
print(sys.getrecursionlimit())
def f(n):
    try: return f(n + 1)
    except RecursionError: return n
print(f(1) // 10)
sys.setrecursionlimit(500); print(sys.getrecursionlimit(), f(1) // 10)
def g(n): return g(n+1)
try: g(0)
except RecursionError as e: print(e)
""",
    "recursion_in_a_traced_function": """
import tensorflow as tf
@tf.function
def f(n):
    if n < 2: return n
    return f(n - 1) + f(n - 2)
try: f(tf.constant(5))
except Exception as error: print(type(error).__name__, str(error)[-400:])
""",
    "recursion_in_threads": """
import sys, threading, traceback
def depth(n):
    try: return depth(n + 1)
    except RecursionError: return n
def work():
    print(depth(1), traceback.extract_stack()[0].name)
    for place in range(9):
        try: print(sys._getframe(place).f_code.co_name)
        except ValueError as error: print(error); break
def run(target): thread = threading.Thread(target=target); thread.start(); thread.join()
run(work); sys.setrecursionlimit(500); run(work)
seen = []
threading.setprofile(lambda frame, event, value: seen.append((event, frame.f_code.co_name)))
run(lambda: len("x")); threading.setprofile(None); print(seen)
def endless(n): endless(n + 1)
threading.excepthook = lambda given: print(len(traceback.extract_tb(given.exc_traceback)), given.exc_value)
run(lambda: endless(0))
""",
    "recursion_ends": """
import traceback
class A:
    def __getattr__(self, name): return self.missing
try: A().x
except RecursionError as e: print(e, len(traceback.extract_tb(e.__traceback__)), traceback.extract_tb(e.__traceback__)[-1].lineno)
def gen(n):
    yield n
    yield from gen(n + 1)
try: print(max(gen(0)))
except RecursionError as e: print(e, len(traceback.extract_tb(e.__traceback__)))
def late(n):
    for k in [n]: late(k + 1)
try: late(0)
except RecursionError as e: print(len(traceback.extract_tb(e.__traceback__)), traceback.extract_tb(e.__traceback__)[-1].lineno)
""",
    "streams": """
import sys
for s in (sys.stdout, sys.stderr, sys.stdin, sys.__stdout__, sys.__stderr__, sys.__stdin__):
    print(s.name, s.mode, s.encoding, s.errors, s.isatty(), s.fileno(), s.closed, type(s).__name__)
print(sys.stdout is sys.__stdout__, sys.stderr is sys.__stderr__, sys.stdin is sys.__stdin__)
print(repr(sys.stdout), repr(sys.stderr), repr(sys.stdin))
""",
    "order": """
import sys, os, subprocess
print("a"); sys.stdout.flush()
os.write(1, b"b\\n")
print("c", flush=True)
subprocess.run(["echo", "d"])
os.system("echo e")
sys.stdout.buffer.write(b"f\\n"); sys.stdout.flush()
print("no newline", end="", flush=True)
os.write(1, b"\\n")
sys.__stdout__.write("g\\n"); sys.__stdout__.flush()
print(subprocess.check_output(["echo", "h"]))
open("/dev/stdout", "w").write("i\\n") if False else None
print("j", file=open(1, "w", closefd=False))
""",
    "buffered": """
import os
print("python first")
os.write(1, b"raw second\\n")
print("python third")
""",
    "redirected": """
import contextlib, os, sys, tempfile
@contextlib.contextmanager
def captured(descriptor):
    sys.stdout.flush(); saved = os.dup(descriptor)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), descriptor)
        try: yield lambda: (sys.stdout.flush(), file.seek(0), file.read())[-1]
        finally: os.dup2(saved, descriptor); os.close(saved)
with captured(1) as text:
    print("from Python"); os.write(1, b"raw\\n"); os.system("echo from a shell"); print("err", file=sys.stderr)
    said = text()
print("back", said)
sys.stdout.flush(); saved = os.dup(1); os.dup2(2, 1); print("on stderr", flush=True); os.dup2(saved, 1); print("on stdout")
""",
    "encoding": """
import sys, locale, os
print("äöü ∂ 漢字 🙂")
print(sys.getdefaultencoding(), sys.getfilesystemencoding(), locale.getlocale(), locale.getpreferredencoding())
print(repr("\\ud800"), "\\ud800".encode("utf-8", "backslashreplace"))
try: print("\\ud800")
except UnicodeEncodeError as e: print(e)
""",
    "environ": """
import os
print([k for k in os.environ if k.startswith(("JPY", "IPY", "PYDEVD", "JUPYTER", "TAPEVIZ"))])
for k in ("TERM", "FORCE_COLOR", "PAGER", "COLUMNS", "LINES", "TF_CPP_MIN_LOG_LEVEL", "MPLBACKEND"): print(k, os.environ.get(k))
""",
    "signals": """
import signal, os
for n in sorted(signal.valid_signals()):
    h = signal.getsignal(n)
    if h not in (signal.SIG_DFL, 0): print(int(n), h)
print(signal.pthread_sigmask(signal.SIG_BLOCK, []), signal.set_wakeup_fd(-1))
signal.signal(signal.SIGALRM, lambda *a: print("alarm", a[0]))
signal.setitimer(signal.ITIMER_REAL, 0.05); import time; time.sleep(0.2)
try:
    os.kill(os.getpid(), signal.SIGINT); time.sleep(1)
except KeyboardInterrupt: print("ki")
""",
    "asyncio": """
import asyncio
async def main():
    await asyncio.sleep(0.01); print("in", asyncio.get_running_loop().__class__.__name__)
    return 5
print(asyncio.run(main()))
print(asyncio.get_event_loop_policy().__class__.__name__)
try: asyncio.get_running_loop()
except RuntimeError as e: print(e)
loop = asyncio.new_event_loop(); print(loop.run_until_complete(main())); loop.close()
""",
    "task_names": """
import asyncio
async def name(): return asyncio.current_task().get_name()
async def main():
    print(await asyncio.gather(name(), asyncio.create_task(name(), name="mine"), name()))
    print(asyncio.current_task().get_name(), asyncio.ensure_future(name()).get_name())
asyncio.run(main())
loop = asyncio.new_event_loop(); print(loop.run_until_complete(name())); loop.close()
""",
    "asyncio2": """
import asyncio
loop = asyncio.get_event_loop()
print(loop)
async def f(): return 1
print(loop.run_until_complete(f()))
""",
    "multiprocessing": """
import multiprocessing as mp, os
print(mp.get_start_method(), mp.current_process().name, mp.parent_process(), mp.active_children())
def f(x): print("child", x, flush=True); return x * x
class K:
    def __repr__(self): return f"K of {type(self).__module__}"
if __name__ == "__main__":
    p = mp.Process(target=f, args=(3,)); p.start(); p.join(); print(p.exitcode, p.name)
    with mp.Pool(1) as pool: print(pool.map(abs, [-1, -2]))
    with mp.get_context("spawn").Pool(1) as pool: print(pool.map(abs, [-3]), pool.apply_async(K).get(60))
    q = mp.Queue(); q.put(1); print(q.get())
""",
    "fork": """
import os, sys
print("before", flush=True)
pid = os.fork()
if pid == 0:
    print("child"); sys.exit(0)
os.waitpid(pid, 0); print("after")
""",
    "hooks": """
import sys
print(sys.excepthook is sys.__excepthook__, sys.displayhook is sys.__displayhook__, sys.unraisablehook is sys.__unraisablehook__, sys.breakpointhook is sys.__breakpointhook__)
print(sys.gettrace(), sys.getprofile(), sys.getswitchinterval(), sys.get_asyncgen_hooks())
sys.excepthook = lambda t, v, tb: print("hook", t.__name__, v)
raise KeyError("z")
""",
    "threadhook": """
import threading
def bad(): raise ValueError("in thread")
t = threading.Thread(target=bad); t.start(); t.join()
class D:
    def __del__(self): print('del')
d = D(); del d
print("end")
""",
    "exit": """
print("x"); exit(4)
""",
    "quit": """
quit()
""",
    "systemexit": """
import sys
sys.exit({"a": 1})
""",
    "dontprint": """
3
None
"text"
""",
    "pickle": """
import pickle
class A: pass
print(pickle.loads(pickle.dumps(A())).__class__ is A, A.__module__, A.__qualname__)
import inspect
def f(x):
    return x   # comment
print(inspect.getsource(f)); print(inspect.getsource(A)); print(inspect.getfile(f).rsplit("/")[-1], inspect.getmodule(f).__name__)
""",
    "no_notebook": """
import sys
print([name for name in ("ipykernel", "tornado", "jupyter_client") if name in sys.modules])
print([name for name in sys.modules if "tapeviz" in name])
import IPython, ipykernel
print(IPython.get_ipython(), "ipykernel" in sys.modules)
from IPython.display import display
display("text", 3)
import tornado.ioloop
print(tornado.ioloop.IOLoop.__name__, sys.modules["tornado"] is tornado)
""",
    "frames_on_demand": """
import faulthandler, io, re, sys, tempfile, threading
ready, go = threading.Event(), threading.Event()
def work():
    ready.set(); go.wait()
def dumped(**options):
    with tempfile.TemporaryFile("w+") as file:
        faulthandler.dump_traceback(file, **options); file.seek(0)
        return re.sub("0x[0-9a-f]+", "0x", file.read())
thread = threading.Thread(target=work); thread.start(); ready.wait()
print(dumped(), dumped(all_threads=False), sep="\\n"); go.set(); thread.join()
with tempfile.TemporaryFile() as file:
    faulthandler.dump_traceback(file); file.seek(0); print(file.read().count(b"most recent"))
sys.stderr = io.StringIO()
try: faulthandler.dump_traceback()
except Exception as error: print(type(error), error)
sys.stderr = None
try: faulthandler.dump_traceback()
except Exception as error: print(type(error), error)
""",
    "frames_of_threads": """
import sys, threading, traceback
ready, go = threading.Event(), threading.Event()
def work():
    ready.set(); go.wait()
thread = threading.Thread(target=work); thread.start(); ready.wait()
def shown():
    for ident, frame in sorted(sys._current_frames().items(), key=lambda pair: pair[0] == threading.get_ident()):
        print(ident in (thread.ident, threading.get_ident()), [each.name for each in traceback.extract_stack(frame)], frame.f_lineno)
shown(); go.set(); thread.join()
""",
    "refs": """
import sys
x = object()
print(sys.getrefcount(x))
def f(a): return sys.getrefcount(a)
print(f(x), f(object()))
for y in [object()]: print(sys.getrefcount(y))
z = w = object(); print(sys.getrefcount(z))
""",
    "weak": """
import weakref
class A:
    def __del__(self): print("del")
a = A(); a = 3
b = A(); del b
def f():
    c = A(); print("in f")
f(); print("after f")
class C(list): pass
import gc
c = [A()]; c.append(c); del c; gc.collect()
d = A()
print("end")
""",
    "finalize": """
import weakref
class A: pass
a = A()
weakref.finalize(a, print, "finalized at exit")
class B:
    def __del__(self): print("del at exit")
b = B()
""",
    "class_of_the_buffer": """
import gc, io, sys
print(type(sys.stdout.buffer), repr(sys.stderr.buffer), isinstance(sys.stdout.buffer, io.FileIO))
print(sys.stdout.buffer.mode, sys.stdout.buffer.name, sys.stdout.buffer.closefd, sys.stdout.mode)
print(sys.stdout.buffer.writable(), sys.stdout.buffer.readable(), gc.get_freeze_count())
sys.stdout.buffer.writelines([b"a", b"b"]); sys.stdout.buffer.write(memoryview(b"c"))
sys.stderr.buffer.write(b"d"); print(sys.stdout.buffer.closed)
""",
    "held_by_a_handler": """
import signal
class R:
    def __del__(self): print("del at exit")
r = R()
def handler(number, frame): print(r)
signal.signal(signal.SIGUSR1, handler)
def numbers():
    try:
        yield 1
    finally:
        print("closed at exit")
left = numbers(); next(left)
raise SystemExit("over")
""",
    "held_by_a_library": """
import logging
class R:
    def __del__(self): print("del at exit")
r = R()
logging.getLogger().addFilter(lambda record: r is not None)
many = [lambda: r for _ in range(300)]
print("end")
""",
    "generator_left": """
import weakref
def numbers():
    try:
        yield 1
    finally:
        print("closed at exit")
kept = numbers(); print(next(kept))
done = numbers(); print(list(done))
class A: pass
a = A()
ref = weakref.ref(a, lambda ref: print("a died"))
def f(): return a
print("end")
""",
    "locals": """
def f():
    a = 1
    b = [c for c in range(2)]
    return sorted(locals())
print(f())
class A:
    x = 1
    y = locals()
print(sorted(A.__dict__))
print([n for n in dir() if "tapeviz" in n.lower()])
""",
    "unfinished": """
import sys
sys.stdout.write("no newline at end")
""",
    "closed": """
import sys
print("x"); sys.stdout.close()
""",
    "redirect": """
import contextlib, io, sys
b = io.StringIO()
with contextlib.redirect_stdout(b): print("hidden")
print(b.getvalue())
sys.stdout = open("/dev/null", "w"); print("nothing")
sys.stdout = sys.__stdout__; print("again")
""",
    "reconf": """
import sys
sys.stdout.reconfigure(line_buffering=True); print("x")
sys.stdout.reconfigure(encoding="latin-1", errors="replace"); print("ä∂")
""",
    "mp_unjoined": """
import multiprocessing as mp, time
def f(): time.sleep(0.3); print("late child", flush=True)
mp.Process(target=f).start()
print("end")
""",
    "doctest": '''
"""
>>> 1 + 1
3
"""
import doctest; print(doctest.testmod())
''',
    "pdb": """
import pdb, threading
print(pdb.Pdb, pdb.Pdb.__mro__, pdb.set_trace.__module__, threading.Thread.run.__qualname__)
try: breakpoint()
except BaseException as error: print(type(error))
""",
    "argparse": """
import argparse
p = argparse.ArgumentParser(); p.add_argument("--lr", type=float, default=0.1); print(p.parse_args())
p.print_usage(); p.error("bad")
""",
    "dataclass": """
from dataclasses import dataclass
@dataclass
class P:
    x: int = 1
    y: "float" = 2.0
print(P(), P.__annotations__)
import typing; print(typing.get_type_hints(P))
def f(a: int) -> str: "doc"; return ""
print(f.__annotations__, f.__doc__)
""",
    "cwd": """
import os
print(os.getcwd() == os.path.dirname(os.path.abspath(__file__)), os.path.exists("snippet.py"), os.path.abspath(".") == os.getcwd(), sorted(os.listdir(".")))
import tempfile; print(tempfile.gettempdir())
""",
    "multiprocessing_left": """
import multiprocessing as mp, time
def f(): time.sleep(0.3); print("late child", flush=True)
if __name__ == "__main__":
    mp.Process(target=f).start()
    print("end")
""",
    "memory_handler": """
import logging, logging.handlers, sys
out = logging.StreamHandler(sys.stdout)
memory = logging.handlers.MemoryHandler(100, target=out)
log = logging.getLogger("kept"); log.addHandler(memory); log.propagate = False
log.warning("flushed at the end")
print("end")
""",
    "fork_exit": """
import atexit, os, sys
atexit.register(print, "bye", flush=True)
pid = os.fork()
if pid == 0:
    print("child"); sys.exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
""",
    "stack_depth": """
import logging, sys, traceback
logging.basicConfig(stream=sys.stdout, format="%(message)s")
logging.warning("with its stack", stack_info=False)
def f(): return len(traceback.extract_stack()), len(traceback.format_stack())
print(f())
""",
}

ON_STDERR_TOO = {
    "atexit",
    "atexit_exit",
    "atexit_frames",
    "warnings",
    "logging",
    "logging2",
    "threadhook",
    "stack",
    "order",
    "redirected",
}

LIFETIMES = """
import gc, sys, weakref
import tensorflow as tf
x = tf.constant([1., 2.]); r = weakref.ref(x); y = x * 2; print(r() is x, sys.getrefcount(x)); del x; print(r())
z = tf.constant([1., 2.]) + 1; r = weakref.ref(z); z = z * 2; print(r()); del z; print("dead", r())
big = tf.random.normal([200, 200]); r = weakref.ref(big, lambda _: print("big died")); del big; print(r())
ints = tf.range(5); r = weakref.ref(ints); del ints; print(r())
half = tf.cast(tf.ones([50, 50]), tf.bfloat16); r = weakref.ref(half); del half; print(r())
huge = tf.complex(tf.ones([50, 50]), tf.ones([50, 50])); r = weakref.ref(huge); del huge; print(r())
v = tf.Variable([1., 2.]); r = weakref.ref(v); del v; print(r())
w = tf.Variable(3.0)
with tf.GradientTape() as tape:
    hidden = w * w; h = weakref.ref(hidden); loss = hidden * 2
del hidden; print(h() is not None)
g = tape.gradient(loss, w); print(g.numpy(), h())
rg, rl, rt = weakref.ref(g), weakref.ref(loss), weakref.ref(tape); del g, loss, tape; print(rg(), rl(), rt())
def loop():
    t = tf.zeros([])
    refs = []
    for n in range(3):
        t = t + tf.cast(n, tf.float32); refs.append(weakref.ref(t))
    return [ref() is None for ref in refs]
print(loop())
class Model(tf.Module):
    def __init__(self): self.w = tf.Variable(tf.ones([2, 2]))
    def __call__(self, x): return x @ self.w
m = Model(); m(tf.ones([1, 2])); r = weakref.ref(m); rw = weakref.ref(m.w); del m; gc.collect(); print(r(), rw())
with tf.GradientTape(persistent=True) as p:
    q = w * 3.0; s = tf.sin(q)
print(p.gradient(s, q).numpy()); rq = weakref.ref(q); del q, s, p; gc.collect(); print(rq())
"""
"""Weak references to tensors, a tape and a module, which need TensorFlow."""
