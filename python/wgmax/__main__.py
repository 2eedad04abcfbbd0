"""The command: ``python -m wgmax --help``."""

import os
import signal
import sys

from wgmax._wgmax import _command


def main() -> int:
    # A library that GPU drivers load prints an error if this is not a path.
    if sys.platform == "linux" and not os.path.isabs(os.environ.get("XDG_RUNTIME_DIR", "")):
        os.environ["XDG_RUNTIME_DIR"] = "/nonexistent"
    # The command handles signals itself: Python would raise KeyboardInterrupt once more at its end.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _command(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
