# Two commands for a fresh machine: `make run` and `make test`. `make help` lists the rest.
SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= python3
DATA ?= $(or $(SIEVE_DATA),$(wildcard ../shared/data))

.DEFAULT_GOAL := help
.PHONY: help install run test check lint bench chaos papers lock

help: ## List the targets
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

$(VENV)/installed: requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --no-deps --no-build-isolation -e .
	@echo "compiling kernels, once: about a minute"
	@$(BIN)/python -c "from tools.worker import warm_everything; warm_everything()"
	@touch $@

install: $(VENV)/installed ## Make .venv with `sieve` in it

run: install ## The demo: the whole system on its embedded default, for 90 seconds
	$(BIN)/sieve demo

.cache/kafka: $(VENV)/installed deploy/kafka/pom.xml
	$(BIN)/python -m tools.stack.apache_kafka
	@mkdir -p .cache && touch $@

test: install .cache/kafka ## All tests, on a real Apache Kafka and a real Valkey
	SIEVE_DATA="$(DATA)" $(BIN)/pytest

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint test ## What CI runs: lint, types, imports, then the tests

bench: install ## Benchmarks, each figure beside its peer's
	$(BIN)/python -m benchmarks.kernels

chaos: install .cache/kafka ## The long form of the kill and scale tests
	SIEVE_TEST_KILLS=20 SIEVE_TEST_SAMPLES=100000 $(BIN)/pytest tests/system/test_kills.py tests/system/test_scale_out.py

papers: install ## What the papers measured, measured again (needs SIEVE_DATA)
	SIEVE_DATA="$(DATA)" $(BIN)/python -m benchmarks.papers_dexter

lock: install ## Renew requirements.lock from pyproject.toml
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --all-extras --group dev --universal --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --no-header --no-annotate --quiet -o requirements.lock
