# Every target works from a fresh clone with Python 3.11+, a C++ compiler and make:
# it creates .venv, installs what it needs and builds the package there.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
READY  := $(VENV)/.ready
BUILT  := $(VENV)/.built
SOURCES := $(shell find src native -type f -not -name '*.pyc') CMakeLists.txt pyproject.toml

.DEFAULT_GOAL := help
.PHONY: help build demo test check bench bench-scale docs format sanitize soak clean

help:  ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

build: $(BUILT)  ## build the kernels and install lookalike into .venv

demo: $(BUILT)  ## near-duplicates in this Python's own standard library
	$(BIN)/lookalike demo

test: $(BUILT)  ## all tests, against the installed package
	$(BIN)/python -m pytest -n 2 $(ARGS)

check: $(BUILT)  ## lint, types, import layers, docs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(filter-out native/unicode_tables.hpp,$(wildcard native/*.[ch]pp))
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(MAKE) --no-print-directory docs

docs: $(BUILT)  ## build the documentation into site/, warnings are errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: $(BUILT)  ## measure the stages on real text, and hostile collections
	$(BIN)/python benchmarks/stages.py
	$(BIN)/python benchmarks/crowds.py

bench-scale: $(BUILT)  ## 10,000 to 10 million documents, which are made in /tmp (3 GB)
	$(BIN)/python benchmarks/scale.py $(ARGS)
	$(BIN)/python benchmarks/scale.py --compare

soak: $(BUILT)  ## slow tests, not part of CI
	$(BIN)/python -m pytest -n 2 -m "slow or soak" --soak $(ARGS)

format: $(BUILT)  ## format Python and C++
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(filter-out native/unicode_tables.hpp,$(wildcard native/*.[ch]pp))

sanitize: $(READY)  ## kernel tests under AddressSanitizer and UBSan
	tools/sanitize

clean:  ## remove what the other targets made
	rm -rf $(VENV) build site dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(READY): pyproject.toml tools/preflight
	@tools/preflight $(PYTHON)
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing tools into $(VENV)"
	@$(PIP) install --upgrade 'pip>=25.1'
	@$(PIP) install --group build --group test --group check --group docs
	@touch $@

$(BUILT): $(READY) $(SOURCES)
	@tools/preflight $(PYTHON)
	@echo "building lookalike"
	@$(PIP) install --no-build-isolation .
	@touch $@
