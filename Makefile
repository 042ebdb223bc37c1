# Every chore of the project. Needs Python >= 3.11 and make; each target sets up what it needs in $(VENV) by itself,
# and again only when pyproject.toml has changed.

VENV ?= .venv
BIN := $(VENV)/bin
FIELD := $(VENV)-field
# The first interpreter here that is new enough. It is run, not only looked up: a shim may stand for nothing.
PYTHON ?= $(shell for python in python3 python3.15 python3.14 python3.13 python3.12 python3.11 python; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
# The kernels share work among two threads, and OpenBLAS's own threads do not wait for each other. Modules are compiled
# once: the tests start a hundred programs that import them. Each worker has a half of the files, until it steals from
# the other, so what a file prepares is prepared once.
PYTEST := OMP_NUM_THREADS=2 OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto --dist worksteal \
	--complete
# What is measured runs with the kernels of OpenBLAS that fit the processor, whatever the environment asks for.
MEASURE := env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE $(BIN)/python -W ignore

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help demo test thorough quick check costs parity extras versions field suites own nestings mutants bench figures \
	pages stubs docs clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' Makefile

demo: $(VENV)/.demo ## train a network on scanned digits, from a script that says `import torch`
	$(BIN)/python -m retrograd run examples/digits.py
	@printf '%s\n' '' "What to do next:" \
		"  Walk through a backward pass of this program, node by node, in a browser:" \
		"    $(BIN)/python -m retrograd explore examples/digits.py" \
		"  Learn how retrograd computes a gradient: read docs/tour.md, or make the pages:" \
		"    make docs" \
		"  Begin with the first tutorial, which is a program, too:" \
		"    $(BIN)/python docs/learn/ten_minutes.py"

test: check ## check, and the tests that need no PyTorch
	$(PYTEST) --ignore=tests/parity

thorough: check ## check, and all cases of these tests: more random programs, all pairs of options
	$(PYTEST) --ignore=tests/parity --thorough

quick: $(VENV)/.test ## lint, and a part of the tests that takes a minute
	$(BIN)/ruff check .
	$(PYTEST) --ignore=tests/parity --quick

check: $(VENV)/.test ## lint and types
	$(BIN)/ruff check .
	cd tests && $(abspath $(BIN))/python -m trying.flat ../build/flat
	$(BIN)/mypy

costs: $(VENV)/.test ## measure what each test costs, by which `make quick` chooses
	$(PYTEST) -n 0 -p costing --costs --ignore=tests/parity

parity: $(VENV)/.parity ## compare with real PyTorch, number for number (installs it)
	$(PYTEST) tests/parity --thorough

extras: ## try each extra alone, in a fresh environment below build/extras
	cd tests && nice $(PYTHON) -m trying.extras

versions: ## make demo, test and parity with each interpreter in PYTHONS="/path/one /path/two"
	cd tests && nice $(PYTHON) -m trying.versions $(PYTHONS)

field: $(FIELD)/.packages ## run programs for other packages with PyTorch and with retrograd (installs all of them)
	nice $(FIELD)/bin/python examples/packages/compare.py --page docs/packages.md
	cd tests && nice $(abspath $(FIELD))/bin/python -m showing.missing_names

suites: $(FIELD)/.packages ## run the tests of other packages with PyTorch and with retrograd (half an hour or more)
	nice $(FIELD)/bin/python examples/packages/suites.py --page docs/packages.md

own: $(VENV)/.parity ## run PyTorch's own tests with PyTorch and with retrograd (fetches them; a quarter of an hour)
	cd tests && nice $(abspath $(BIN))/python -m own_tests --page ../docs/pytorch-tests.md

nestings: $(VENV)/.parity ## count right derivatives of all nestings, here and in PyTorch (a quarter of an hour or more)
	cd tests && nice $(abspath $(BIN))/python -W ignore -m comparing.nesting_counts

mutants: $(VENV)/.parity ## plant faults in copies of the source and count those that the tests notice (an hour or more)
	cd tests && nice -n 15 $(abspath $(BIN))/python -m mutants

bench: $(VENV)/.bench ## measure speed and memory against real PyTorch and JAX (installs them; twenty minutes)
	mkdir -p build
	$(MEASURE) -m benchmarks --json build/eager.json; eager=$$?; \
	$(MEASURE) -m benchmarks.compiled --json build/compiled.json && exit $$eager

figures: $(VENV)/.bench ## measure growth with size; write it and the last `make bench` into README.md and docs/performance.md
	mkdir -p build
	$(MEASURE) -m benchmarks.growth --json build/growth.json --pictures docs/pictures
	$(MEASURE) -m benchmarks.first_picture --json build/way.json
	$(BIN)/python -m benchmarks.page --growth build/growth.json --way build/way.json $(foreach kind,eager compiled,\
		$(addprefix --$(kind) ,$(wildcard build/$(kind).json)))

pages: $(VENV)/.test ## remake what the pages of the documentation show: outputs, tables, pictures
	cd tests && $(abspath $(BIN))/python -m showing.pages ../README.md ../CONTRIBUTING.md \
		../docs/*.md ../docs/use/*.md ../docs/errors/*.md ../docs/ko/*.md
	cd tests && $(abspath $(BIN))/python -m showing.notebooks ../docs/learn/*.py
	cd tests && $(abspath $(BIN))/python -m showing.error_index
	cd tests && $(abspath $(BIN))/python -m showing.reading_list && $(abspath $(BIN))/python -m showing.demo
	cd tests && $(abspath $(BIN))/python -m comparing.subgradients && $(abspath $(BIN))/python -W ignore -m comparing.derivatives
	cd tests && $(abspath $(BIN))/python -m showing.pictures && $(abspath $(BIN))/python -m showing.graph_pictures

stubs: $(VENV)/.test ## remake the type stubs, from the schemas and annotations of the functions
	cd tests && $(abspath $(BIN))/python -m showing.stubs

docs: $(VENV)/.docs ## build the documentation into docs/_build/html
	$(BIN)/sphinx-build -W -b html docs docs/_build/html

clean: ## remove everything that these targets make
	rm -rf $(VENV) $(FIELD) build dist docs/_build docs/reference/class .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp for each extra of pyproject.toml. A package whose newest release has no wheel for this interpreter is
# installed in the last release that has one: nothing is compiled.
$(VENV)/.%: pyproject.toml hatch_build.py $(VENV)/pyvenv.cfg
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --prefer-binary --editable '.[$*]'
	touch $@

# Packages for PyTorch and what they need, without letting them choose another PyTorch.
$(FIELD)/.packages: examples/packages/requirements.txt examples/packages/requirements-vision.txt
	$(MAKE) VENV=$(FIELD) $(FIELD)/.parity
	$(FIELD)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --requirement $<
	$(FIELD)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target $(FIELD)/vision \
		--requirement examples/packages/requirements-vision.txt
	touch $@

$(VENV)/pyvenv.cfg:
	@test -n "$(PYTHON)" || { echo "retrograd needs Python 3.11 or newer; name it with make PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
