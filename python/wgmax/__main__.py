"""The command: ``python -m wgmax --help``."""

import os
import sys


def main() -> int:
    # A library that GPU drivers load prints an error if this is not a path.
    if not os.path.isabs(os.environ.get("XDG_RUNTIME_DIR", "")):
        os.environ["XDG_RUNTIME_DIR"] = "/nonexistent"
    from wgmax._wgmax import _command

    return _command(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
