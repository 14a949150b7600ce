"""`python -m dev.standin --port N [--host 127.0.0.1] [--delay 0.05]`; SIGTERM or Ctrl-C ends it."""

import argparse
import signal
import sys
import threading

from dev.standin.answers import OWNER
from dev.standin.server import BindError, StandinServer


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m dev.standin", description=OWNER)
    parser.add_argument("--port", type=int, required=True, help="0 takes a free one")
    parser.add_argument("--host", default="127.0.0.1", help="a loopback address")
    parser.add_argument(
        "--delay", type=float, default=0.05, help="seconds each answer takes, default 0.05"
    )
    arguments = parser.parse_args()
    try:
        server = StandinServer(arguments.host, arguments.port, delay=arguments.delay)
    except BindError as error:
        print(error, file=sys.stderr)
        return 2
    except (OSError, OverflowError) as error:
        where = f"{arguments.host}:{arguments.port}"
        print(f"The stand-in cannot listen on {where}: {error}", file=sys.stderr)
        return 1
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True).start()
    print(f"{OWNER}: listening on {server.base_url}", flush=True)
    stop.wait()
    server.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
