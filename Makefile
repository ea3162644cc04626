# Each target does its own set-up: CPython >= 3.11, make and an index of packages are enough.
VENV ?= .venv
PYTHON ?= $(firstword $(shell sh .ci/pythons))
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
TEST_ARGS ?=

.PHONY: demo test check diagrams bench clean

demo: $(VENV)/.demo
	$(BIN)/rodada demo

test: $(VENV)/.dev
	$(BIN)/python -m pytest -q -n 2 --dist loadfile -m "not long" $(TEST_ARGS)

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports
	$(BIN)/rodada check --mutants

diagrams: $(VENV)/.dev
	$(BIN)/python -m rodada.diagrams

bench: $(VENV)/.dev
	$(BIN)/python tests/benchmarks/rounds.py
	$(BIN)/python tests/benchmarks/turns.py

clean:
	rm -rf $(VENV) .mcp-servers .model-servers .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "no CPython >= 3.11 with venv was found: set PYTHON=/path/to/python"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml | $(VENV)/bin/python
	$(PIP) --editable '.[all]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(PIP) --editable '.[all,dev]'
	@touch $@ $(VENV)/.demo
