"""``python -m tapeviz``, and the command ``tapeviz``."""

import os
import signal
import sys
from types import FrameType


def _interrupt(number: int, frame: FrameType | None) -> None:
    """End at once as long as no kernel can run: an exception here could be raised in the import of
    an extension module, and NumPy, for one, makes an ImportError of it."""
    if "tapeviz.kernel.pool" in sys.modules:
        raise KeyboardInterrupt
    from .errors import TapevizError

    os.write(2, b"tapeviz: interrupted\n")
    os._exit(TapevizError.exit_status)


def main() -> int:
    """Run ``tapeviz`` with the arguments of the process; returns the exit status."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it is ignored
        signal.signal(signal.SIGINT, _interrupt)
    from .cli import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
