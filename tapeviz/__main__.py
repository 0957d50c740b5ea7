"""``python -m tapeviz``."""

import sys

from tapeviz.cli import main

sys.exit(main())
