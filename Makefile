# `make help` lists what there is. Every target works from a clean clone and twice in a row.
.DEFAULT_GOAL := help
.PHONY: help setup setup-rust setup-python setup-js check check-rust check-python check-js test test-rust test-python test-js
.PHONY: setup-services setup-python-service setup-node-service check-services test-services
.PHONY: setup-agents setup-wasm setup-console check-console test-console
.PHONY: setup-postgres test-hosts bench-hosts
.PHONY: setup-browser compare demo bench coverage clean

CARGO ?= cargo
PYTHON ?= python3
NPM ?= npm
VENV := $(CURDIR)/.venv
TEST_VENV := $(CURDIR)/target/python-test
HOSTS_VENV := $(CURDIR)/target/python-hosts
SERVICE_VENV := $(CURDIR)/target/python-service
BENCH_VENV := $(CURDIR)/target/python-bench
# One set of features for every command: building crates alone would build their dependencies a second time.
ALL := --workspace --all-targets --locked
# The same without the generator of the glue, which has a profile of its own.
CODE := --workspace --exclude xtask --locked

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: setup-rust setup-python setup-js setup-services setup-agents setup-console ## Get the toolchains' parts, the dependencies and both packages

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

setup-services: setup-python-service setup-node-service

# The service runs with the package that users get, in an environment of its own.
setup-python-service: setup-python $(SERVICE_VENV)/.ready
	$(SERVICE_VENV)/bin/pip install --quiet --force-reinstall --no-deps $(VENV)/wheels/*.whl
	$(SERVICE_VENV)/bin/pip install --quiet --no-deps --editable examples/python-service

$(SERVICE_VENV)/.ready: examples/python-service/requirements-dev.txt
	$(PYTHON) -m venv $(SERVICE_VENV)
	$(SERVICE_VENV)/bin/pip install --quiet --requirement examples/python-service/requirements-dev.txt
	@touch $@

setup-node-service: setup-wasm examples/node-service/node_modules/.ready
	cd examples/node-service && $(NPM) run --silent build

examples/node-service/node_modules/.ready: examples/node-service/package.json examples/node-service/package-lock.json
	cd examples/node-service && $(NPM) ci --no-audit --no-fund
	@touch $@

# Agent programs for the end-to-end tests, half a gigabyte. Their own update and install scripts are not run.
setup-agents: tests/agents/node_modules/.ready

tests/agents/node_modules/.ready: tests/agents/package.json tests/agents/package-lock.json
	cd tests/agents && $(NPM) ci --ignore-scripts --no-audit --no-fund
	@touch $@

setup-js: setup-wasm setup-browser

# Cargo and npm know what is up to date; a second time this takes seconds.
setup-wasm: setup-rust bindings-wasm/node_modules/.ready
	$(CARGO) run --quiet --locked --profile xtask --package xtask -- wasm
	cd bindings-wasm && node scripts/build.mjs

# Playwright's own browsers are not used: the system's is the one that people have.
setup-browser:
	@test -n "$$CHROMIUM" || command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null \
		|| { apt-get update && apt-get install --yes --no-install-recommends chromium; } \
		|| { echo 'Chromium is needed: install it, or name it in CHROMIUM' >&2; exit 1; }

# The tests start a server of their own; that of the system, if Debian starts one, is not used.
setup-postgres:
	@ls /usr/lib/postgresql/*/bin/pg_ctl >/dev/null 2>&1 \
		|| { apt-get update && apt-get install --yes --no-install-recommends postgresql; } \
		|| { echo 'PostgreSQL is needed in /usr/lib/postgresql: install it' >&2; exit 1; }

bindings-wasm/node_modules/.ready: bindings-wasm/package.json bindings-wasm/package-lock.json
	cd bindings-wasm && $(NPM) ci --no-audit --no-fund
	@touch $@

# The package is a link, not an entry of the lock file, which would have to follow every change of the package's own.
setup-console: setup-wasm examples/console/node_modules/.ready
	ln -sfn ../../../bindings-wasm examples/console/node_modules/turnlatch
	cd examples/console && node_modules/.bin/vite build --logLevel warn

examples/console/node_modules/.ready: examples/console/package.json examples/console/package-lock.json
	cd examples/console && $(NPM) ci --no-audit --no-fund
	@touch $@

check: check-rust check-python check-js check-services check-console ## Formatting, lints, types, docs, licences, sizes, and that the core builds for wasm

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
	cd bindings-python && $(VENV)/bin/pyright --pythonpath $(VENV)/bin/python

check-js: setup-js
	cd bindings-wasm && node_modules/.bin/tsc --noEmit
	cd bindings-wasm && node_modules/.bin/biome ci .
	cd bindings-wasm && node scripts/sizes.mjs --check

check-services: setup-services
	$(VENV)/bin/ruff check examples/python-service examples/service tests/http
	$(VENV)/bin/ruff format --check examples/python-service examples/service tests/http
	cd examples/python-service && $(VENV)/bin/mypy --python-executable $(SERVICE_VENV)/bin/python
	cd examples/python-service && $(VENV)/bin/pyright --pythonpath $(SERVICE_VENV)/bin/python
	cd examples/node-service && node_modules/.bin/tsc --noEmit
	cd examples/node-service && node_modules/.bin/biome ci .
	cd tests/model-server && ../../examples/node-service/node_modules/.bin/biome ci .

check-console: setup-console
	cd examples/console && node_modules/.bin/tsc --noEmit
	cd examples/console && node_modules/.bin/biome ci .

test: test-rust test-python test-js test-services test-console test-hosts ## Every test: vectors in every runtime, properties, the exhaustive walk, examples, READMEs

# Benchmarks are built by `check` and run by `bench`; the output of passing tests says how much they covered.
test-rust: setup-rust
	$(CARGO) test $(CODE) -- --show-output
	$(PYTHON) scripts/check_examples.py

# The tests run in an environment of their own that has the wheel, the test runner and nothing else, made anew each time;
# then those of the extra that measures, with what it needs.
test-python: setup-python
	$(CARGO) build $(CODE) --bins
	$(PYTHON) -m venv --clear $(TEST_VENV)
	$(TEST_VENV)/bin/pip install --quiet --constraint bindings-python/requirements-dev.txt $(VENV)/wheels/*.whl pytest hypothesis
	cd $(TEST_VENV) && TURNLATCH_CHECKER=$(CURDIR)/target/debug/checker bin/pytest -q --config-file $(CURDIR)/bindings-python/pyproject.toml --ignore $(CURDIR)/bindings-python/tests/hosts --ignore $(CURDIR)/bindings-python/tests/telemetry $(CURDIR)/bindings-python/tests
	$(TEST_VENV)/bin/pip install --quiet --constraint bindings-python/requirements-dev.txt "$$(echo $(VENV)/wheels/*.whl)[telemetry]" opentelemetry-sdk
	cd $(TEST_VENV) && bin/pytest -q --config-file $(CURDIR)/bindings-python/pyproject.toml $(CURDIR)/bindings-python/tests/telemetry
	$(VENV)/bin/python scripts/check_package.py $(VENV)/wheels/*.whl

# Real databases and real workers, in an environment of their own that has the wheel with its extra. Half of it is waiting, so
# two tests run at a time, each with a database server of its own. The services on an engine are asked what matters most there.
test-hosts: setup-python setup-wasm setup-postgres
	$(PYTHON) -m venv --clear $(HOSTS_VENV)
	$(HOSTS_VENV)/bin/pip install --quiet --constraint bindings-python/requirements-dev.txt "$$(echo $(VENV)/wheels/*.whl)[dbos]" pytest pytest-xdist
	cd $(HOSTS_VENV) && bin/pytest -q --numprocesses 2 --config-file $(CURDIR)/bindings-python/pyproject.toml $(CURDIR)/bindings-python/tests/hosts
	cd bindings-wasm && node scripts/test.mjs --hosts

# Chromium has to be there; CHROMIUM names it if it is not where systems put it. Python has to be there for the files that
# both packages share.
test-js: setup-js setup-python
	$(CARGO) run --quiet --locked --profile xtask --package xtask -- wasm --breakable
	cd bindings-wasm && node scripts/test.mjs
	cd bindings-wasm && node scripts/consumers.mjs

# Real processes: each service is started, killed and asked over HTTP. Most of it is waiting, so three tests run at a time.
# Real agent programs are among them, on a model that follows a script, and services that share a real database.
test-services: setup-services setup-agents setup-postgres
	node --test tests/model-server/test/*.test.mjs
	$(SERVICE_VENV)/bin/pytest -q --numprocesses 3 --rootdir tests/http -p no:cacheprovider tests/http

# Clicks and keys in Chromium, on the Python service as a real process.
# Both services answer alike (test-services); the second one shows that the console works with either.
test-console: setup-console setup-services setup-browser
	cd examples/console && node tests/run.mjs
	cd examples/console && SERVICE=node node tests/run.mjs agent-words answering connection deciding

compare: setup-python setup-js ## Run all vectors in Rust, Python, Node and Chromium, and compare what they print byte for byte
	$(VENV)/bin/python scripts/compare.py

demo: setup-python-service setup-console ## The job service with one interactive run, answered here or in the browser; EXIT=1 answers by itself, AGENT=codex takes your own agent, ENGINE=dbos runs it on DBOS (DATABASE_URL=postgresql://… there)
	@$(if $(and $(ENGINE),$(DATABASE_URL)),TURNLATCH_DATABASE_URL='$(DATABASE_URL)') $(SERVICE_VENV)/bin/python examples/service/demo.py $(if $(EXIT),--exit) $(if $(AGENT),--agent $(AGENT)) $(if $(ENGINE),--engine $(ENGINE))

bench: setup-python setup-js ## The core beside the limit of its parts, Python and Node beside the core, sizes in a browser beside others
	$(CARGO) bench $(CODE) --bench turns
	$(CARGO) build --release $(CODE) --bins
	rm -rf $(BENCH_VENV)
	cd bindings-python && PATH="$(VENV)/bin:$$PATH" maturin build --locked --release --interpreter $(VENV)/bin/python --out $(BENCH_VENV)/wheels
	$(PYTHON) -m venv $(BENCH_VENV)
	$(BENCH_VENV)/bin/pip install --quiet $(BENCH_VENV)/wheels/*.whl
	$(BENCH_VENV)/bin/python bindings-python/bench/turns.py $(CURDIR)/target/release/stopwatch
	cd bindings-wasm && node bench/turns.mjs $(CURDIR)/target/release/stopwatch
	cd bindings-wasm && node scripts/sizes.mjs

# The hosts on DBOS beside the embedded one, on databases that keep what was committed; ten minutes.
bench-hosts: setup-python setup-postgres ## Turns per second, recovery and cost of the hosts, for docs/scale.md
	$(PYTHON) -m venv --clear $(HOSTS_VENV)
	$(HOSTS_VENV)/bin/pip install --quiet --constraint bindings-python/requirements-dev.txt "$$(echo $(VENV)/wheels/*.whl)[dbos]"
	$(HOSTS_VENV)/bin/python bindings-python/bench/hosts

coverage: setup-rust ## Line coverage of core/src; fails below 95 %
	@rustup component list --installed | grep -q '^llvm-tools' || rustup component add llvm-tools
	@$(CARGO) llvm-cov --version >/dev/null 2>&1 || $(CARGO) install cargo-llvm-cov --locked
	$(CARGO) llvm-cov --workspace --ignore-filename-regex '(tests/rust|examples|bindings-python|bindings-wasm|xtask)/' --fail-under-lines 95

clean: ## Remove what was built
	$(CARGO) clean
	rm -rf $(VENV) bindings-wasm/build bindings-wasm/dist bindings-wasm/node_modules
	rm -rf examples/console/build examples/console/dist examples/console/node_modules
	rm -rf examples/node-service/dist examples/node-service/node_modules tests/agents/node_modules
