"""Figures that a snippet shows come to the listener; the libraries are stood in for."""

from __future__ import annotations

import base64
import textwrap
from pathlib import Path

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
PYPLOT = """
    figures, now = {}, 1
    class Figure:
        def __init__(self, number):
            self.number, self.bytes, self.stale, self.drawn = number, b"one", True, 0
        def savefig(self, file, **options):
            self.drawn += 1
            file.write(self.bytes)
    def figure(number):
        global now
        now = number
        return figures.setdefault(number, Figure(number))
    def gcf(): return figure(now)
    def get_fignums(): return sorted(figures)
    def show(): raise RuntimeError("a window would wait here")
"""
PILLOW = """
    class Image:
        mode = "F"
        def convert(self, mode): self.mode = mode; return self
        def save(self, file, format): file.write(f"{format} {self.mode}".encode())
        def show(self): raise RuntimeError("a viewer would start here")
"""


def libraries(folder: Path) -> Path:
    for name, text in (("matplotlib/pyplot", PYPLOT), ("PIL/Image", PILLOW)):
        file = folder / f"{name}.py"
        file.parent.mkdir()
        (file.parent / "__init__.py").touch()
        file.write_text(textwrap.dedent(text))
    return folder


def test_shown_figures_are_drawn_once_and_the_current_one_stays(play, tmp_path):
    source = textwrap.dedent("""
        import matplotlib.pyplot as plt
        from PIL import Image
        plt.figure(1); plt.figure(2).bytes = b"two"; plt.figure(1)
        plt.show()
        plt.figure(2).bytes = b"more"
        plt.show(block=True)
        assert plt.gcf().number == 2
        Image.Image().show("title")
        print(plt.show.__name__, [plt.figure(number).drawn for number in (1, 2)])
    """)
    heard = play(source, cwd=libraries(tmp_path), shows_figures=True)
    assert heard.events_of("raised") == []
    assert heard.pictures == [b"one", b"two", b"more", b"PNG RGB"]
    assert heard.text() == "show [1, 2]\n"


def test_without_a_listener_for_them_the_libraries_are_untouched(play, tmp_path):
    heard = play("import matplotlib.pyplot as plt; plt.show()", cwd=libraries(tmp_path))
    assert "a window would wait" in heard.events_of("raised")[0]["message"]
    assert heard.pictures == []


def test_matplotlib_alone_is_told_to_draw_without_windows(play, tmp_path):
    folder = libraries(tmp_path)
    read = "import os\nbackend = os.environ.get('MPLBACKEND')\n"
    (folder / "matplotlib" / "__init__.py").write_text(read)
    source = "import matplotlib, os; print(matplotlib.backend, 'MPLBACKEND' in os.environ)"
    assert play(source, cwd=folder).text() == "Agg False\n"
    chosen = f"import os; os.environ['MPLBACKEND'] = 'svg'; {source}"
    assert play(chosen, cwd=folder).text() == "svg True\n"


def test_a_picture_displayed_as_in_a_notebook_comes_too(play):
    source = (
        "from IPython.display import Image, display\n"
        f"display(Image(data={PNG!r}))\ndisplay('text alone')\n"
    )
    heard = play(source, shows_figures=True)
    assert heard.pictures == [PNG]
    assert heard.text() == "<IPython.core.display.Image object>\ntext alone\n"


def test_displaying_calls_no_method_of_the_snippet_that_a_plain_run_does_not_call(play):
    source = """
from IPython.display import Image, display
class Picture:
    def _ipython_display_(self): print("called")
    def _repr_mimebundle_(self, **options): print("called"); return {}
    def _repr_png_(self): raise ValueError
    def __repr__(self): return "a picture"
display(Picture(), Image(data=b"no picture", format="jpeg"))
"""
    heard = play(source, shows_figures=True)
    assert heard.pictures == []
    assert heard.text() == "a picture <IPython.core.display.Image object>\n"
    assert heard.text("stderr") == ""
