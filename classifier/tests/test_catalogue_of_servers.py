"""How much a model takes, read over HTTP from each kind of server as it answers."""

from typing import Any

import pytest

from classifier.catalogue import sync_model
from classifier.limits import Limit
from classifier.models import ProviderModel
from classifier.tests.catalogues import (
    LLAMA_CPP_META,
    NAME,
    SILENT,
    limit_of,
    listing,
    litellm,
    llama_cpp,
    lm_studio,
    ollama,
    props,
    read,
)
from dev.standin.client import Standin

# What the list says, what stands beside it, and the limit.
SERVERS: dict[str, tuple[Any, dict[str, Any], Limit | None]] = {
    "OpenAI": (listing(created=1_715_367_049, owned_by="system", shutdown_date=None), {}, None),
    "vLLM": (
        listing(
            created=1_764_000_000,
            owned_by="vllm",
            root="/models/x",
            parent=None,
            max_model_len=32_768,
            permission=[{"id": "modelperm-1", "allow_sampling": True}],
        ),
        {},
        Limit(32_768, "max_model_len"),
    ),
    "SGLang": (
        listing(owned_by="sglang", root=NAME, max_model_len=131_072),
        {},
        Limit(131_072, "max_model_len"),
    ),
    "llama.cpp": (llama_cpp(**LLAMA_CPP_META, n_ctx=2048), {}, Limit(2048, "meta.n_ctx")),
    "an older llama.cpp": (
        llama_cpp(**LLAMA_CPP_META),
        {"/props": props(2048)},
        Limit(2048, "/props default_generation_settings.n_ctx"),
    ),
    "llama.cpp that tells its training only": (
        llama_cpp(**LLAMA_CPP_META),
        {},
        Limit(8192, "meta.n_ctx_train"),
    ),
    "llama.cpp as a router": (
        listing(owned_by="llamacpp", status={"value": "loaded", "args": ["llama-server"]}),
        {
            "/props?model=another": props(999),
            f"/props?model={NAME}": props(16_384),
            "/props": props(0, role="router"),
        },
        Limit(16_384, "/props default_generation_settings.n_ctx"),
    ),
    "llama.cpp as a router, not loaded": (
        listing(owned_by="llamacpp", status={"value": "unloaded"}),
        {"/props": props(0, role="router")},
        None,
    ),
    "llama-cpp-python": (listing(owned_by="me", permissions=[]), {}, None),
    "OpenRouter": (
        listing(
            name="X: Y",
            context_length=131_072,
            top_provider={
                "context_length": 65_536,
                "max_completion_tokens": 16_384,
                "is_moderated": False,
            },
            per_request_limits=None,
            pricing={"prompt": "0.0000001"},
        ),
        {},
        Limit(65_536, "top_provider.context_length"),
    ),
    "OpenRouter without a provider's limit": (
        listing(context_length=131_072, top_provider={"context_length": None}),
        {},
        Limit(131_072, "context_length"),
    ),
    "OpenRouter without any": (
        listing(context_length=None, top_provider={"context_length": None}),
        {},
        None,
    ),
    "Groq": (
        listing(owned_by="Meta", active=True, context_window=131_072, max_completion_tokens=32_768),
        {},
        Limit(131_072, "context_window"),
    ),
    "Mistral": (
        listing(
            owned_by="mistralai",
            capabilities={"completion_chat": True},
            max_context_length=131_072,
            aliases=[],
            deprecation=None,
        ),
        {},
        Limit(131_072, "max_context_length"),
    ),
    # Its SDK would say 32,768.
    "Mistral without the field": (listing(owned_by="mistralai", aliases=[]), {}, None),
    "Together, a bare list": (
        [{"id": "another", "context_length": 999}, {"id": NAME, "context_length": 131_072}],
        {},
        Limit(131_072, "context_length"),
    ),
    "Together, as its SDK types it": (
        [{"id": NAME, "context_length": "131072"}],
        {},
        Limit(131_072, "context_length"),
    ),
    "Fireworks": (
        listing(owned_by="fireworks", context_length=163_840, supports_chat=True),
        {},
        Limit(163_840, "context_length"),
    ),
    "LiteLLM": (
        listing(owned_by="openai", max_input_tokens=128_000, max_output_tokens=16_384),
        {},
        Limit(128_000, "max_input_tokens", counts_answer=False),
    ),
    "an older LiteLLM, the smallest of its deployments": (
        SILENT,
        {"/model/info": litellm(128_000, 64_000, None)},
        Limit(64_000, "/model/info max_input_tokens, untrusted", counts_answer=False),
    ),
    "Ollama": (
        SILENT,
        {
            "/api/ps": ollama(
                {"name": NAME, "model": NAME, "size_vram": 1, "context_length": 4096}
            ),
            "/api/show": {"model_info": {"qwen3.context_length": 40_960}},
        },
        Limit(4096, "/api/ps context_length"),
    ),
    "Ollama, not loaded": (
        SILENT,
        {
            "/api/ps": ollama(),
            "/api/show": {"model_info": {"qwen3.context_length": 40_960}},
        },
        None,
    ),
    "LM Studio": (
        SILENT,
        {
            "/api/v0/models": lm_studio(
                state="loaded", max_context_length=131_072, loaded_context_length=4096
            )
        },
        Limit(4096, "/api/v0/models loaded_context_length"),
    ),
    "LM Studio, not loaded": (
        SILENT,
        {"/api/v0/models": lm_studio(state="not-loaded", max_context_length=131_072)},
        Limit(131_072, "/api/v0/models max_context_length"),
    ),
    "TGI": (
        SILENT,
        {"/info": {"model_id": NAME, "max_input_tokens": 4095, "max_total_tokens": 4096}},
        Limit(4095, "/info max_input_tokens"),  # and the answer has to fit as well
    ),
    "TGI, the whole alone": (
        SILENT,
        {"/info": {"model_id": NAME, "max_total_tokens": 4096}},
        Limit(4096, "/info max_total_tokens"),
    ),
    "TGI, the input alone": (
        SILENT,
        {"/info": {"model_id": NAME, "max_input_tokens": 4095}},
        Limit(4095, "/info max_input_tokens", counts_answer=False),
    ),
    "TGI of another model, behind a gateway": (
        SILENT,
        {"/info": {"model_id": "another", "max_total_tokens": 4096}},
        None,
    ),
    "Anthropic": (
        listing(
            type="model",
            display_name="X",
            created_at="2026-02-04T00:00:00Z",
            max_input_tokens=200_000,
            max_tokens=64_000,
        )
        | {"has_more": False, "first_id": NAME, "last_id": NAME},
        {},
        Limit(200_000, "max_input_tokens", counts_answer=False),
    ),
    "Gemini, its own fields": (
        listing(inputTokenLimit=1_048_576, outputTokenLimit=65_536),
        {},
        Limit(1_048_576, "inputTokenLimit", counts_answer=False),
    ),
    "Gemini, compatible": (listing(owned_by="google"), {}, None),
    "Azure": (
        listing(status="succeeded", capabilities={"chat_completion": True}, lifecycle_status="ga"),
        {},
        None,
    ),
    "DeepSeek": (listing(owned_by="deepseek"), {}, None),
}


@pytest.mark.parametrize("server", SERVERS)
def test_the_limit_is_taken_from_where_this_kind_of_server_has_it(
    server: str, standin: Standin
) -> None:
    models, beside, limit = SERVERS[server]

    assert limit_of(read(standin, models, beside)) == limit


def test_the_stand_in_is_like_vllm(standin: Standin) -> None:
    standin.behave()

    synced = sync_model(ProviderModel.objects.get())

    assert limit_of(synced) == Limit(32_768, "max_model_len")


# --- Which of several


@pytest.mark.parametrize(
    ("fields", "limit"),
    [
        (
            {"max_model_len": 8192, "context_length": 4096},
            Limit(4096, "context_length"),
        ),
        (
            {"max_model_len": 8192, "context_length": 0},
            Limit(8192, "max_model_len"),
        ),
        (
            {"meta": {"n_ctx": 8192, "n_ctx_train": 2048}},
            Limit(8192, "meta.n_ctx"),
        ),
        (
            {"meta": {"n_ctx": 0, "n_ctx_train": 2048}},
            Limit(2048, "meta.n_ctx_train"),
        ),
        (
            {"max_model_len": 8192, "meta": {"n_ctx_train": 2048}},
            Limit(8192, "max_model_len"),
        ),
        (
            {"max_input_tokens": 6000, "context_window": 8192},
            Limit(6000, "max_input_tokens", counts_answer=True),
        ),
    ],
)
def test_of_several_the_smallest_counts_and_training_never_beside_another(
    fields: dict[str, Any], limit: Limit, standin: Standin
) -> None:
    assert limit_of(read(standin, listing(**fields))) == limit
