# Each target does its own set-up: CPython >= 3.11, make and an index of packages are enough.
VENV ?= .venv
PYTHON ?= $(firstword $(shell sh .ci/pythons))
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
TEST_ARGS ?=

.PHONY: demo test check lint types-mypy types-pyright layers soundness diagrams bench clean

demo: $(VENV)/.demo
	$(BIN)/rodada demo

test: $(VENV)/.dev
	$(BIN)/python -m pytest -q -n 2 --dist loadfile -m "not long" $(TEST_ARGS)

# With `make -j 2 check` they run side by side.
check: lint types-mypy types-pyright layers soundness

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types-mypy: $(VENV)/.dev
	$(BIN)/mypy

types-pyright: $(VENV)/.dev
	$(BIN)/pyright --pythonpath $(BIN)/python

layers: $(VENV)/.dev
	$(BIN)/lint-imports

soundness: $(VENV)/.dev
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
