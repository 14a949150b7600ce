"""Bodies that servers send of their models, and one reading of a server that sends them.

They are those of real servers, with the model's name exchanged and long parts cut.
"""

from typing import Any

from django.utils import timezone

from classifier.catalogue import Synced, effective_limit, sync_model
from classifier.limits import Limit
from classifier.models import ProviderModel
from dev.standin.client import Standin

NAME = "stand-in-not-a-model"


def read(standin: Standin, models: Any, beside: dict[str, Any] | None = None) -> Synced:
    """One reading of a server that answers with these bodies, and 404 to everything else."""
    standin.behave(models=models, beside=beside or {})
    return sync_model(ProviderModel.objects.get(base_url=standin.base_url))


def limit_of(synced: Synced) -> Limit | None:
    assert synced.failure is None
    return effective_limit(synced.model, today=timezone.localdate())


def listing(**fields: Any) -> dict[str, Any]:
    """A list of two; the other model's limits are not ours."""
    other = {"id": "another", "context_length": 999, "max_model_len": 999}
    return {"object": "list", "data": [other, {"id": NAME, "object": "model", **fields}]}


SILENT = listing(created=1_761_955_200, owned_by="library")

LLAMA_CPP_META = {
    "vocab_type": 2,
    "n_vocab": 49_152,
    "n_ctx_train": 8192,
    "n_embd": 576,
    "n_params": 134_515_008,
    "size": 143_000_000,
}


def llama_cpp(**meta: Any) -> dict[str, Any]:
    """Its list has `models`, in Ollama's manner, beside `data`."""
    like_ollama = {"name": NAME, "model": NAME, "details": {"format": "gguf"}}
    entry = {"id": NAME, "owned_by": "llamacpp", "created": 1_764_000_000, "meta": meta}
    return {"models": [like_ollama], "object": "list", "data": [entry]}


def props(n_ctx: Any, **more: Any) -> dict[str, Any]:
    settings = {"id": 0, "id_task": -1, "n_ctx": n_ctx, "speculative": False, "params": {}}
    return {"default_generation_settings": settings, "total_slots": 4, **more}


def lm_studio(**fields: Any) -> dict[str, Any]:
    """`/api/v0/models`; its /v1/models says nothing."""
    entry = {"id": NAME, "object": "model", "type": "llm", "arch": "qwen2", **fields}
    other = {"id": "another", "max_context_length": 999, "loaded_context_length": 999}
    return {"object": "list", "data": [other, entry]}


def ollama(*loaded: dict[str, Any]) -> dict[str, Any]:
    return {"models": [{"name": "another", "context_length": 999}, *loaded]}


def litellm(*limits: Any) -> dict[str, Any]:
    other = {"model_name": "another", "model_info": {"max_input_tokens": 999}}
    ours = [
        {
            "model_name": NAME,
            "litellm_params": {"model": "openai/x"},
            "model_info": {"id": str(number), "max_input_tokens": limit, "max_output_tokens": 4096},
        }
        for number, limit in enumerate(limits)
    ]
    return {"data": [other, *ours]}
