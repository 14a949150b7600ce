"""`python -m dev`: the demo, quiet from the first moment on."""

import signal
import sys

# Until the demo listens to signals nothing runs yet: a Ctrl-C may simply end us, without the
# traceback that it would cause in the middle of an import.
signal.signal(signal.SIGINT, signal.SIG_DFL)

from dev.demo import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
