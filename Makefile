# Each target does all its set-up: on a fresh machine with Python >= 3.11, `make demo` or `make test` is enough.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
DOCS   := $(VENV)/.docs
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
# What the tests want beyond Python: a browser for the report, OpenGL without a screen for pictures. Debian's packages;
# behind a colon a program that may have come in another way.
DEBIAN := chromium:chromium chromium-driver:chromedriver libegl1 libegl-mesa0

.PHONY: demo test quick-tests test-slow lint docs bench clean system

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) --editable '.[dev]'
	touch $(READY)

$(DOCS): $(READY)
	$(PIP) --editable '.[docs]'
	touch $(DOCS)

# Without OpenGL there is no film; the rest of the demo does not need it.
demo: $(READY) system  ## three agents on PointCircle1, a million steps each: what a limit costs, and what it saves
	$(BIN)/shapo compare --env SafetyPointCircle1-v0 --cost-limit 25 --steps 1e6 --seeds 1 --out runs/demo \
	  --arm algo=trpo --arm algo=trpo-pid --arm "algo=trpo-pid gradient=shapo"
	-$(BIN)/shapo play runs/demo/SafetyPointCircle1-v0_trpo_plain_s0 \
	  runs/demo/SafetyPointCircle1-v0_trpo-pid_shapo_s0 --out runs/demo/agents.mp4

# Side by side: many tests wait for something, and checking types takes what they leave of the second core.
test: $(DOCS) system  ## style, types, the documentation and the default tests: what must pass before a push
	$(MAKE) --no-print-directory --jobs=3 lint docs quick-tests

quick-tests: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadgroup

test-slow: DEBIAN += qemu-user
test-slow: $(READY) system  ## everything, including the tests that take minutes
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m 'slow or not slow'

lint: $(READY)  ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

docs: $(DOCS)  ## the documentation, into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(READY)  ## what SHAPO costs in an update, and the speed of a whole training
	$(BIN)/python benchmarks/update.py
	$(BIN)/shapo bench train --env SafetyPointGoal1-v0 --algo trpo-pid --gradient shapo

# Debian's packages are installed if we may; else the one line to type is printed, and the tests that need them say so.
system:
	@command -v dpkg-query > /dev/null || exit 0; \
	missing=; for wanted in $(DEBIAN); do \
	  package=$${wanted%%:*}; program=$${wanted#$$package}; \
	  { test -n "$$program" && command -v $${program#:} > /dev/null; } \
	    || dpkg-query --show --showformat='$${Status}' $$package 2> /dev/null | grep -q 'ok installed' \
	    || missing="$$missing $$package"; \
	done; \
	test -z "$$missing" && exit 0; \
	if test "$$(id -u)" = 0; then as=; elif sudo -n true 2> /dev/null; then as=sudo; \
	else echo "the tests want more of Debian; type: sudo apt-get install$$missing"; exit 0; fi; \
	{ $$as apt-get update --quiet=2 && $$as apt-get install --yes --quiet=2 --no-install-recommends $$missing; } \
	  || echo "apt-get cannot install all of$$missing; the tests that want them will say so"

clean:  ## back to a fresh clone, runs kept
	rm -rf $(VENV) build dist site .pytest_cache
