# `make` lists the targets. `make demo` and `make test` need nothing before them but Python >= 3.11
# (on a bare Debian: apt-get install make python3-venv).

PYTHON ?= python3
WORKERS ?= auto
ARGS ?=
BIN := .venv/bin
export PYTHON

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test check exhaust lint layers format docs bench eval lab lock clean demo-environment test-environment

help:
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: demo-environment ## diagnose the incident that ships with the project; no key, no service
	@$(BIN)/affidavit demo $(ARGS)

test: test-environment ## the whole suite, with every real server that this machine has
	@$(BIN)/pytest -n $(WORKERS) --dist loadfile $(ARGS)

check: lint ## lint, types, layers and the fast tests
	@$(BIN)/pytest -n $(WORKERS) --dist loadfile -q -m "not slow and not integration" $(ARGS)

exhaust: test-environment ## slow searches: every other value of every byte of a signed file
	@AFFIDAVIT_TEST_STRIDE=1 $(BIN)/pytest -n $(WORKERS) --dist load -q tests/simulation/test_every_byte.py $(ARGS)

lint: test-environment
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

format: test-environment ## mend what ruff can mend
	@$(BIN)/ruff check --fix-only --quiet
	@$(BIN)/ruff format

docs: test-environment ## write the generated pages of docs/ anew
	@$(BIN)/python docs/_generate.py

bench: test-environment ## the performance figures
	@for script in bench/*.py; do $(BIN)/python $$script $(ARGS); done

# Foreign sets stand beside our own where they lie on this machine; they are imported into a
# temporary folder, as FORMAT:PATH (docs/evaluation.md).
DATA ?= ../shared/data
SETS := nezha petshop rootcausebench opensre_synthetic
FOREIGN = $(foreach set,$(wildcard $(SETS:%=$(DATA)/%)),$(firstword $(subst _, ,$(notdir $(set)))):$(set))
eval: test-environment ## accuracy, coverage and false claims over incidents with known answers
	@$(BIN)/affidavit eval examples $(FOREIGN) $(ARGS)
	@$(BIN)/affidavit eval gate $(or $(wildcard ../shared/cases/gate_dev_*.jsonl),$(wildcard tests/data/gate_own/*.jsonl))

lab: test-environment ## a small real system to break and record
	@$(BIN)/affidavit lab $(or $(ARGS),up)

# The locks hold hashes and no index. The test set is resolved under the demo's pins, so the two
# agree and can share one .venv. Needs uv.
COMPILE := uv pip compile pyproject.toml --quiet --python-version 3.11 --universal \
	--generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-annotate
lock: ## resolve both lock files anew from pyproject.toml (needs uv)
	@$(COMPILE) --extra cli --extra capture --extra sign --group build -o requirements-demo.lock
	@$(COMPILE) --all-extras --group build --group test --group check -c requirements-demo.lock -o requirements-test.lock

clean: ## remove the environment and the caches
	@rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

demo-environment:
	@bash .ci/environment requirements-demo.lock

test-environment:
ifeq ($(CI),true)
	@bash .ci/debian
endif
	@bash .ci/environment requirements-test.lock
