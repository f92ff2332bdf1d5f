# `make help` lists what there is. Every target works from a clean clone and twice in a row.
.DEFAULT_GOAL := help
.PHONY: help setup check test demo bench coverage clean

CARGO ?= cargo
# One set of features for every command: building crates alone would build their dependencies a second time.
ALL := --workspace --all-targets --locked

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## Get the toolchain's parts and the dependencies
	@rustup show active-toolchain
	@rustup target list --installed | grep -qx wasm32-unknown-unknown || rustup target add wasm32-unknown-unknown
	@rustup component list --installed | grep -q '^clippy' || rustup component add clippy
	@rustup component list --installed | grep -q '^rustfmt' || rustup component add rustfmt
	$(CARGO) fetch --locked

check: setup ## Formatting, lints, docs, licences, and that the core builds for wasm
	$(CARGO) fmt --all --check
	$(CARGO) clippy $(ALL) -- --deny warnings
	RUSTDOCFLAGS='--deny warnings' $(CARGO) doc --workspace --no-deps --locked
	$(CARGO) check --package turnlatch --target wasm32-unknown-unknown --locked
	python3 scripts/check_licences.py
	python3 scripts/check_docs.py

test: setup ## Every test: vectors, properties, the exhaustive walk, linear work, examples, README
	$(CARGO) test $(ALL)
	$(CARGO) test --workspace --doc --locked
	python3 scripts/check_examples.py

demo: setup ## One interactive run as a readable timeline
	$(CARGO) run --quiet --locked --package turnlatch --example interactive_run

bench: setup ## The core beside the bare limit of its parts, as ratios
	$(CARGO) bench --locked --package turnlatch-tests --bench turns

coverage: setup ## Line coverage of core/src; fails below 95 %
	@rustup component list --installed | grep -q '^llvm-tools' || rustup component add llvm-tools
	@$(CARGO) llvm-cov --version >/dev/null 2>&1 || $(CARGO) install cargo-llvm-cov --locked
	$(CARGO) llvm-cov --workspace --ignore-filename-regex '(tests/rust|examples)/' --fail-under-lines 95

clean: ## Remove what was built
	$(CARGO) clean
