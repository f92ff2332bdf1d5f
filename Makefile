# `make help` lists what there is. Every target works from a clean clone and twice in a row.
.DEFAULT_GOAL := help
.PHONY: help setup setup-rust setup-python check check-rust check-python test test-rust test-python demo bench coverage clean

CARGO ?= cargo
PYTHON ?= python3
VENV := $(CURDIR)/.venv
TEST_VENV := $(CURDIR)/target/python-test
BENCH_VENV := $(CURDIR)/target/python-bench
# One set of features for every command: building crates alone would build their dependencies a second time.
ALL := --workspace --all-targets --locked

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: setup-rust setup-python ## Get the toolchains' parts, the dependencies and the Python package

setup-rust:
	@rustup show active-toolchain
	@rustup target list --installed | grep -qx wasm32-unknown-unknown || rustup target add wasm32-unknown-unknown
	@rustup component list --installed | grep -q '^clippy' || rustup component add clippy
	@rustup component list --installed | grep -q '^rustfmt' || rustup component add rustfmt
	$(CARGO) fetch --locked

# The package is built as a wheel and installed like any other, so what is tested is what users get.
setup-python: setup-rust $(VENV)/.ready
	@rm -rf $(VENV)/wheels
	cd bindings-python && PATH="$(VENV)/bin:$$PATH" maturin build --locked --profile dev --interpreter $(VENV)/bin/python --out $(VENV)/wheels
	$(VENV)/bin/pip install --quiet --force-reinstall --no-deps $(VENV)/wheels/*.whl

$(VENV)/.ready: bindings-python/requirements-dev.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --requirement bindings-python/requirements-dev.txt
	@touch $@

check: check-rust check-python ## Formatting, lints, types, docs, licences, and that the core builds for wasm

check-rust: setup-rust
	$(CARGO) fmt --all --check
	$(CARGO) clippy $(ALL) -- --deny warnings
	RUSTDOCFLAGS='--deny warnings' $(CARGO) doc --workspace --no-deps --locked
	$(CARGO) check --package turnlatch --target wasm32-unknown-unknown --locked
	$(PYTHON) scripts/check_licences.py
	$(PYTHON) scripts/check_docs.py

check-python: setup-python
	$(VENV)/bin/ruff check bindings-python examples/python scripts
	$(VENV)/bin/ruff format --check bindings-python examples/python scripts
	cd bindings-python && $(VENV)/bin/mypy
	cd bindings-python && $(VENV)/bin/python -m mypy.stubtest turnlatch._core
	cd bindings-python && $(VENV)/bin/pyright

test: test-rust test-python ## Every test: vectors in every runtime, properties, the exhaustive walk, examples, READMEs

# Benchmarks are built by `check` and run by `bench`; the output of passing tests says how much they covered.
test-rust: setup-rust
	$(CARGO) test --workspace --lib --examples --tests --locked -- --show-output
	$(CARGO) test --workspace --doc --locked
	$(PYTHON) scripts/check_examples.py

# The tests run in an environment of their own that has the wheel, the test runner and nothing else, made anew each time.
test-python: setup-python
	$(CARGO) build --workspace --bins --locked
	$(PYTHON) -m venv --clear $(TEST_VENV)
	$(TEST_VENV)/bin/pip install --quiet --constraint bindings-python/requirements-dev.txt $(VENV)/wheels/*.whl pytest hypothesis
	cd $(TEST_VENV) && TURNLATCH_CHECKER=$(CURDIR)/target/debug/checker bin/pytest -q --config-file $(CURDIR)/bindings-python/pyproject.toml $(CURDIR)/bindings-python/tests
	$(VENV)/bin/python scripts/check_package.py $(VENV)/wheels/*.whl

demo: setup-rust ## One interactive run as a readable timeline
	$(CARGO) run --quiet --locked --package turnlatch --example interactive_run

bench: setup-python ## The core beside the bare limit of its parts, and Python beside the core, as ratios
	$(CARGO) bench --workspace --locked --bench turns
	$(CARGO) build --release --workspace --bins --locked
	rm -rf $(BENCH_VENV)
	cd bindings-python && PATH="$(VENV)/bin:$$PATH" maturin build --locked --release --interpreter $(VENV)/bin/python --out $(BENCH_VENV)/wheels
	$(PYTHON) -m venv $(BENCH_VENV)
	$(BENCH_VENV)/bin/pip install --quiet $(BENCH_VENV)/wheels/*.whl
	$(BENCH_VENV)/bin/python bindings-python/bench/turns.py $(CURDIR)/target/release/stopwatch

coverage: setup-rust ## Line coverage of core/src; fails below 95 %
	@rustup component list --installed | grep -q '^llvm-tools' || rustup component add llvm-tools
	@$(CARGO) llvm-cov --version >/dev/null 2>&1 || $(CARGO) install cargo-llvm-cov --locked
	$(CARGO) llvm-cov --workspace --ignore-filename-regex '(tests/rust|examples|bindings-python)/' --fail-under-lines 95

clean: ## Remove what was built
	$(CARGO) clean
	rm -rf $(VENV)
