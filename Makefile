# Two commands set everything up on a machine with python3.11, pip and make: `make demo` and `make test`.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: install local-model engines demo screenshots test test-slow lint bench bench-corpora oracles bare docs lock clean

install: $(STAMP)

# A bare Debian has no ensurepip, so the environment is made without pip and filled by the system's pip.
$(STAMP): pyproject.toml requirements/dev.txt
	$(PYTHON) -m venv --without-pip $(VENV)
	$(PYTHON) -m pip --python $(BIN)/python install --quiet --require-hashes -r requirements/dev.txt
	$(PYTHON) -m pip --python $(BIN)/python install --quiet --no-deps --no-build-isolation -e .
	$(BIN)/ragassay models pull minilm-l6-v2-int8
	touch $(STAMP)

# `make demo` takes the extractive reader, `make demo MODEL=smollm2` a small language model in this process.
MODEL ?= reader
LOCAL := $(VENV)/.llamacpp-installed

# Private keys are encrypted, and a demo must run without questions: its passphrase is public, so nobody may trust a key
# that it makes. Set your own to keep the keys.
demo: export RAGASSAY_PASSPHRASE ?= demo only: everybody knows this passphrase
demo: install $(if $(filter smollm2,$(MODEL)),$(LOCAL))
	$(BIN)/ragassay demo --model $(MODEL)

# The README's pictures of the bundled board, by Debian's chromium.
screenshots: demo
	$(BIN)/python docs/screenshots.py site docs/images

# The extra `llamacpp` and SmolLM2's weights, which the tests of local models need and otherwise skip.
local-model: $(LOCAL)

$(LOCAL): $(STAMP) requirements/llamacpp.txt
	$(PYTHON) -m pip --python $(BIN)/python install --quiet --require-hashes -r requirements/llamacpp.txt
	$(BIN)/ragassay models pull smollm2-135m
	touch $(LOCAL)

# The engines and clients behind the extras of retrieval stacks: their tests run against the real ones.
ENGINES := $(VENV)/.engines-installed
engines: $(ENGINES)

$(ENGINES): $(STAMP) requirements/engines.txt
	$(PYTHON) -m pip --python $(BIN)/python install --quiet --require-hashes -r requirements/engines.txt
	touch $(ENGINES)

test: install engines
	$(BIN)/python -m pytest -m "not slow"

test-slow: install engines
	$(BIN)/python -m pytest -m slow

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# What the runner adds to its calls, and a check of a run; fails where a figure is over its bound.
bench: install
	$(BIN)/python bench/verifying.py
	$(BIN)/python bench/harness.py

# Indexes over a million chunks: about ten minutes, 4 GB of disk.
bench-corpora: install engines
	$(BIN)/python bench/lexical.py
	$(BIN)/python bench/vectors.py

# Verifiers that others wrote, in environments of their own: securesystemslib and PyNaCl on envelopes, aics-tlog (which
# needs Python 3.12 or later) on the log, @sigstore/verify (which needs Node 20 or later) on Sigstore bundles; irrCAC
# (whose scipy 1.12 needs Python 3.11 or 3.12) and krippendorff on agreement.
# `make oracles NEWER=/path/to/python3.12` names a Python that is not on the path.
NEWER ?= $(shell for p in python3.14 python3.13 python3.12; do $$p -c "" 2>/dev/null && command -v $$p && break; done)
ORACLES := .oracles
oracles: install
	rm -rf $(ORACLES)/vectors && $(BIN)/python tests/oracles/make_vectors.py $(ORACLES)/vectors
	$(PYTHON) -m venv --without-pip $(ORACLES)/envelopes
	$(PYTHON) -m pip --python $(ORACLES)/envelopes/bin/python install --quiet --require-hashes -r requirements/oracles.txt
	$(ORACLES)/envelopes/bin/python tests/oracles/check_envelopes.py $(ORACLES)/vectors
	@if $(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 13))'; then \
	  $(BIN)/python tests/oracles/make_agreement.py $(ORACLES)/vectors && \
	  $(PYTHON) -m venv --without-pip $(ORACLES)/agreement && \
	  $(PYTHON) -m pip --python $(ORACLES)/agreement/bin/python install --quiet --require-hashes \
	    -r requirements/oracles-agreement.txt && \
	  $(ORACLES)/agreement/bin/python tests/oracles/check_agreement.py $(ORACLES)/vectors; \
	else echo "SKIPPED: irrCAC and krippendorff need Python 3.11 or 3.12, and $(PYTHON) is neither"; fi
ifneq ($(NEWER),)
	$(NEWER) -m venv --without-pip $(ORACLES)/log
	$(PYTHON) -m pip --python $(ORACLES)/log/bin/python install --quiet --require-hashes -r requirements/oracles-log.txt
	$(ORACLES)/log/bin/python tests/oracles/check_log.py $(ORACLES)/vectors
else
	@echo "SKIPPED: aics-tlog needs Python 3.12 or later, and there is none; name one with NEWER="
endif

	@if node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' 2>/dev/null && command -v npm >/dev/null; then \
	  rm -rf $(ORACLES)/sigstore && cp -r tests/oracles/sigstore $(ORACLES)/sigstore && cd $(ORACLES)/sigstore && \
	  npm ci --silent --no-audit --no-fund --ignore-scripts && node check.js ../vectors; \
	else echo "SKIPPED: @sigstore/verify needs Node 20 or later with npm, and there is none"; fi

# The base install alone has to be enough to verify.
BARE := .bare
bare: install
	rm -rf $(BARE) && $(PYTHON) -m venv --without-pip $(BARE)
	$(PYTHON) -m pip --python $(BARE)/bin/python install --quiet --require-hashes -r requirements/base.txt
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir $(BARE)/wheel .
	$(PYTHON) -m pip --python $(BARE)/bin/python install --quiet --no-deps $(BARE)/wheel/*.whl
	$(BARE)/bin/python tests/bare/check.py

# Needs uv; writes no registry address into the locks. (requirements/oracles-log.txt is the same for `aics-tlog`, made
# under Python 3.12.) The engines are resolved together with everything else first: what they cap holds in dev.txt too.
LOCK := uv pip compile --quiet --no-config --python-version 3.11 --generate-hashes --no-emit-index-url --no-header
ENGINE_EXTRAS := chroma elasticsearch engines export fastembed haystack lancedb langchain llamaindex milvus mlflow \
  opensearch pgvector pinecone qdrant ray tantivy usearch vertex weaviate wordllama
lock:
	$(LOCK) --extra run --extra dev $(ENGINE_EXTRAS:%=--extra %) --output-file requirements/engines.txt pyproject.toml
	$(LOCK) --output-file requirements/base.txt pyproject.toml
	$(LOCK) --extra run --extra dev --constraint requirements/engines.txt --output-file requirements/dev.txt pyproject.toml
	printf 'pynacl\nsecuresystemslib[crypto,pynacl]\n' | $(LOCK) --output-file requirements/oracles.txt -
	printf 'irrcac\nkrippendorff\n' | $(LOCK) --output-file requirements/oracles-agreement.txt -
	echo 'xllamacpp>=0.2' | $(LOCK) --output-file requirements/llamacpp.txt -

clean:
	rm -rf $(VENV) $(ORACLES) $(BARE) site .ragassay
