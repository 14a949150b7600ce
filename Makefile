# `make demo` and `make test` need Python 3.11 or later and nothing else; `make help` lists the rest.

PYTHON ?= python3
PY := .venv/bin/python
PIP := $(PY) -m pip --disable-pip-version-check install --quiet --require-hashes
SOURCES := manage.py conftest.py moderation_site reports classifier reviews dev
COMPILE := UV_CUSTOM_COMPILE_COMMAND="make lock" .venv-lock/bin/python -m uv pip compile \
	--universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--no-emit-find-links --quiet $(if $(UPGRADE),--upgrade)
SECRET := "$$($(PY) -c 'import secrets; print(secrets.token_urlsafe(48))')"
# An address that nothing answers at: the checks open no connection, and must not find one either.
NOWHERE := postgres://app@/none?host=/nonexistent
PRODUCTION = env ENVIRONMENT=production SECRET_KEY=$(SECRET) EVIDENCE_KEY=$(SECRET) DEBUG= \
	ALLOWED_HOSTS=moderation.example DATABASE_URL='$(NOWHERE)' REDIS_URL=redis://none.invalid/0 \
	OPENAI_BASE_URL=https://model.example/v1 OPENAI_API_KEY=$(SECRET) MODEL=none

DEVELOPMENT = env ENVIRONMENT=development DATABASE_URL='$(NOWHERE)'

.DEFAULT_GOAL := help
.PHONY: help demo test check browser-test faults faults-mutations interop fuzz misbehave messages screenshots lock clean

help: ## list the commands
	@sed -n 's/^\([a-z-]*\):.*## /  make \1	/p' Makefile
	@echo
	@echo "  make demo takes HEADLESS=1 COUNT=200 PORT=8000 REPORTS=file.jsonl, and"
	@echo "  OPENAI_BASE_URL, OPENAI_API_KEY and MODEL for a model of yours."

demo: .venv/.installed ## start everything on this machine and send 200 sample reports through it
	@exec $(PY) -m dev --stop-with-parent

test: .venv/.installed-dev ## run all tests on a throw-away PostgreSQL and Valkey
	@exec $(PY) -m pytest $(if $(DATABASE_URL)$(REDIS_URL),,-n 2 --dist loadfile --no-loadscope-reorder)

check: export ENVIRONMENT := test
check: export DATABASE_URL := $(NOWHERE)
check: .venv/.installed-dev ## lint, types, import direction, migrations, deployment, OpenAPI
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	$(PY) -m mypy $(SOURCES)
	@echo "import-linter"
	@$(PY) -c 'from importlinter.cli import lint_imports_command; lint_imports_command()'
	$(PY) -W "ignore:Got an error checking" manage.py makemigrations --check --dry-run
	@echo "manage.py check --deploy, in production settings"
	@$(PRODUCTION) $(PY) manage.py check --deploy --fail-level WARNING
	@mkdir -p .local
	$(PY) manage.py spectacular --validate --fail-on-warn --file .local/openapi.yaml
	$(PY) -m openapi_spec_validator .local/openapi.yaml

browser-test: .venv/.installed-dev ## the tests in headless Chromium; installs it on Debian
	@command -v "$${CHROMIUM:-chromium}" >/dev/null || { command -v apt-get >/dev/null && \
		$$([ "$$(id -u)" = 0 ] || echo sudo) sh -c \
		'apt-get update -qq && apt-get install -y -qq chromium fonts-noto-core'; } || { \
		echo "no Chromium: install it, or name one with CHROMIUM=/path"; exit 1; }
	@exec $(PY) -m pytest reviews/tests/test_in_the_browser.py reviews/tests/test_accessibility.py

faults: .venv/.installed ## kill and break everything, check that nothing is lost (SEED, CASES=text)
	@exec $(PY) -m dev.faults

faults-mutations: .venv/.installed ## show that the faults turn red when a protection is gone
	@exec $(PY) -m dev.faults.mutations

interop: .venv/.installed ## the client against servers we did not write (OPENAI_BASE_URL, MODEL: yours)
	@exec $(PY) -m dev.interop

fuzz: .venv/.installed ## mutated replies through the reader, against a strict reading (SEED, COUNT)
	@exec $(PY) -m dev.fuzz $(if $(SEED),--seed $(SEED)) $(if $(COUNT),--count $(COUNT))

misbehave: .venv/.installed ## 10,000 calls to a server that misbehaves: memory, slots (SEED, CALLS)
	@exec $(PY) -m dev.misbehave $(if $(SEED),--seed $(SEED)) $(if $(CALLS),--calls $(CALLS))

tokens: .venv/.installed ## count against real tokenizers, and write docs/tokens.md
	@exec $(PY) -m dev.tokens --write

messages: .venv/.installed-dev ## bring the Arabic catalogue up to date and compile it (needs gettext)
	$(DEVELOPMENT) $(PY) manage.py makemessages -l ar --no-location --no-wrap \
		-i '.venv*' -i dev -i '*/tests/*' -i .local
	$(PY) -c 'from babel.messages.frontend import main; main()' compile -D django -d locale

screenshots: .venv/.installed-dev ## pictures of the pages into docs/screenshots (needs Chromium)
	@exec $(PY) -m dev.screenshots

lock: .venv-lock/.created ## write requirements*.txt anew (UPGRADE=1: with newer versions)
	$(COMPILE) -o requirements.txt requirements.in
	$(COMPILE) -o requirements-dev.txt requirements-dev.in
	$(COMPILE) --no-deps -o dev/tokens/requirements.txt dev/tokens/requirements.in
	$(COMPILE) --no-deps -o dev/interop/requirements.txt dev/interop/requirements.in

clean: ## delete .venv, the demo's data in .local, and caches
	@if [ -e .local/lock ]; then "$(PYTHON)" -c \
		'import fcntl; fcntl.flock(open(".local/lock", "a"), fcntl.LOCK_EX | fcntl.LOCK_NB)' \
		2>/dev/null || { echo "a demo is running here: stop it first, with Ctrl-C where it runs"; \
		exit 1; }; fi
	rm -rf .venv .venv-lock .local .mypy_cache .ruff_cache .pytest_cache .hypothesis \
		.import_linter_cache

.venv/.created .venv-lock/.created:
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Python 3.11 or later is needed; name one with PYTHON=/path/to/python3"; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "$(PYTHON) cannot make virtual environments: install python3-venv" \
		"(Debian, Ubuntu: apt-get install python3-venv)"; exit 1; }
	"$(PYTHON)" -m venv $(@D)
	@if [ $(@D) = .venv-lock ]; then \
		.venv-lock/bin/python -m pip --disable-pip-version-check install --quiet uv; fi
	@touch $@

.venv/.installed: requirements.txt | .venv/.created
	$(PIP) -r requirements.txt
	@touch $@

.venv/.installed-dev: requirements.txt requirements-dev.txt | .venv/.created
	$(PIP) -r requirements-dev.txt
	@touch .venv/.installed $@
