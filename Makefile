# Each target does all its set-up: on a fresh machine with Python >= 3.11, `make demo` or `make test` is enough.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: demo test test-slow lint docs bench clean

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $(READY)

demo: $(READY)  ## train PID-Lagrangian with and without SHAPO on PointGoal1, about three minutes
	$(BIN)/shapo compare --env SafetyPointGoal1-v0 --algo trpo-pid --steps 1000000 --seeds 1 --out runs/demo

test: $(READY)  ## the default test run
	$(BIN)/python -m pytest -n 2

test-slow: $(READY)  ## everything, including the tests that take minutes
	$(BIN)/python -m pytest -n 2 -m 'slow or not slow'

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

clean:
	rm -rf $(VENV) build dist site
