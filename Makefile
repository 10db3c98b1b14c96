# Needs Python 3.11 or newer, git and make, nothing else: the first target builds .venv from constraints.txt.

PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11; do \
	command -v $$name >/dev/null 2>&1 && $$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$name && break; done)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
# A share of what the machine has: more workers than this only wait for the disk.
WORKERS := -n auto --maxprocesses 4 --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help demo test soak lint bench pictures clean

help:
	@echo "make demo      sample sessions, opened in the console"
	@echo "make test      the tests"
	@echo "make soak      the long tests in full: kills, mutations, tampering (many minutes)"
	@echo "make lint      format, lint, types, layers, generated pages"
	@echo "make bench     speed and size, as ratios to this machine's floors"
	@echo "make pictures  the pictures in docs/pictures, made anew from the demo"
	@echo "make clean     removes the environment and every cache"

demo: .venv/runs
	@$(BIN)/affidavit demo

test: .venv/develops
	@$(BIN)/pytest -v $(WORKERS)

soak: .venv/develops
	@AFFIDAVIT_SOAK=1 $(BIN)/pytest -v $(WORKERS)

lint: .venv/develops
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/mypy --package benchmarks
	@$(BIN)/lint-imports
	@$(BIN)/python -m console.docs --check
	@$(BIN)/python -m storage.schema --check

bench: .venv/develops
	@$(BIN)/python -m benchmarks $(BENCH)

pictures: .venv/develops
	@$(BIN)/python docs/make_pictures.py

clean:
	rm -rf .venv build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Two steps, so that a first look at the demo does not wait for the tools that only development needs.
.venv/runs: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed and was not found; say where: make PYTHON=/path/to/python3" >&2; exit 1; }
	@test -x $(BIN)/python || { echo "Building .venv (once) ..." >&2; $(PYTHON) -m venv .venv; } || \
		{ rm -rf .venv; echo "The venv module is missing here; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@$(PIP) --editable .
	@touch $@

.venv/develops: .venv/runs
	@$(PIP) --editable '.[dev]'
	@touch $@
