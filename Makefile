# The front door: everything is one word after `make`. CMake does the building; without make,
# `cmake -S . -B build && cmake --build build` works as in any other project.

PREFIX ?= /usr/local
JOBS ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
CMAKE_FLAGS ?=

BUILD := build
SANITIZED := build-san
RACES := build-tsan
CONFIGURE = cmake --log-level=NOTICE -S . -DST_WERROR=ON $(CMAKE_FLAGS)
COMPILE = env -u MAKELEVEL cmake --build $(1) --parallel $(JOBS)
CTEST = ctest --output-on-failure --no-tests=error --parallel $(JOBS) --timeout $(TIMEOUT)

# cmake starts a make of its own, which must not take itself for a part of this one.
unexport MAKEFLAGS MFLAGS
.NOTPARALLEL:
.PHONY: all demo test test-full test-threads fuzz coverage soak plain-tests sanitized-tests install deb playground site format lint docs bench bench-quick bench-build clean help setup setup-tests

all: $(BUILD)/.configured ## set up, configure, build: leaves build/bin/stiction
	@$(call COMPILE,$(BUILD))

demo: all ## run two scenes; leaves a table, a picture and a report to look at in demo/
	@scripts/demo.sh $(BUILD)/bin/stiction

test: TIMEOUT := 300
test: sanitized-tests ## every test, plain and under sanitizers
	@scripts/format.sh --check --lenient

test-full: export ST_TEST_FULL := 1
test-full: TIMEOUT := 7200
test-full: sanitized-tests ## the same with the large random sweeps

test-threads: ## piles and islands by several threads under ThreadSanitizer (clang)
	@scripts/setup.sh threads
	@scripts/threads.sh $(RACES) $(JOBS)

TIME ?= 60
fuzz: ## every fuzz target for TIME seconds (clang's libFuzzer, sanitizers): build-fuzz/; FUZZ="scene urdf" for some
	@scripts/setup.sh threads
	@scripts/fuzz.sh build-fuzz $(TIME) $(FUZZ)

coverage: ## lines and branches that the plain tests reach, by folder, against scripts/coverage.txt
	@scripts/setup.sh test
	@scripts/coverage.sh build-cov $(JOBS)

soak: all ## things at rest for MINUTES (10) and HOURS (10) of simulated time: drift, memory, time per step
	@python3 scripts/soak.py $(BUILD)/bin/stiction $(or $(MINUTES),10) $(or $(HOURS),10)

plain-tests: $(BUILD)/.configured-tests
	@$(call COMPILE,$(BUILD))
	@cd $(BUILD) && $(CTEST)

sanitized-tests: plain-tests $(SANITIZED)/.configured-tests
	@$(call COMPILE,$(SANITIZED))
	@cd $(SANITIZED) && $(CTEST)

install: all ## headers, libraries, program, Python module, pkg-config, CMake package: PREFIX=/usr/local DESTDIR=
	@cmake --install $(BUILD) --prefix "$(PREFIX)"

deb: ## Debian packages of library, headers, program, Python module, documentation: build/deb/
	@scripts/setup.sh build
	@scripts/setup.sh deb
	@scripts/deb.sh

site: all ## the documentation as a site with search, no server: build/site/html/index.html (Sphinx)
	@scripts/setup.sh site
	@scripts/site.sh $(BUILD)

playground: all ## stiction in the browser, no server: build/playground/playground.html (emscripten; 3 minutes)
	@scripts/setup.sh playground
	@scripts/setup.sh browser
	@scripts/playground.sh $(BUILD) $(JOBS)
	@tests/viewer/test_playground.sh $(BUILD)/bin/stiction $(BUILD)/playground

format: ## clang-format every C file in place
	@scripts/setup.sh lint
	@scripts/format.sh

lint: $(BUILD)/.configured-tests ## clang-format, layers, clang-tidy, cppcheck and shellcheck: all clean
	@scripts/setup.sh lint
	@scripts/lint.sh $(BUILD) $(JOBS)

docs: all ## regenerate what in docs/ comes from the program
	@scripts/docs.sh $(BUILD)/bin/stiction

bench: bench-build ## every scene with every engine: bench/results/ (an hour or two)
	@scripts/bench.sh $(BUILD)

bench-quick: bench-build ## the same, a few scenes once: bench/results/quick/ (3 minutes)
	@scripts/bench.sh $(BUILD) --quick

bench-build: $(BUILD)/.configured-bench
	@$(call COMPILE,$(BUILD))

clean: ## remove everything that was built
	@rm -rf $(BUILD) $(SANITIZED) $(RACES) demo

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

# The Python module is left out where it cannot be.
setup:
	@scripts/setup.sh build
	@scripts/setup.sh python || echo "setup: no headers of Python, the Python module will be left out" >&2

# The page is tested in a browser; a machine that cannot have one skips that and says so.
setup-tests: setup
	@scripts/setup.sh test
	@scripts/setup.sh numpy || echo "setup: no numpy, the Python module will be tested without" >&2
	@scripts/setup.sh mpi || echo "setup: no MPI, runs under mpirun will not be tested" >&2
	@scripts/setup.sh vtk || echo "setup: no VTK, exports for ParaView will not be read back" >&2
	@scripts/setup.sh browser || echo "setup: no browser, the viewer's page will not be tested" >&2

# Configured once; after that cmake itself sees when it must look again.
$(BUILD)/.configured: Makefile | setup
	@$(CONFIGURE) -B $(BUILD) $(if $(wildcard $(BUILD)/CMakeCache.txt),,-DST_TESTS=OFF) >/dev/null
	@touch $@

$(BUILD)/.configured-tests: Makefile | setup-tests
	@$(CONFIGURE) -B $(BUILD) -DST_TESTS=ON >/dev/null
	@touch $(BUILD)/.configured $@

# A peer that this release of Debian does not have is said and left out.
$(BUILD)/.configured-bench: Makefile | setup
	@scripts/setup.sh bench || echo "setup: not every peer could be installed" >&2
	@$(CONFIGURE) -B $(BUILD) -DST_BENCH=ON >/dev/null
	@touch $(BUILD)/.configured $@

$(SANITIZED)/.configured-tests: Makefile | setup-tests
	@$(CONFIGURE) -B $(SANITIZED) -DST_TESTS=ON -DST_SANITIZE=ON -DCMAKE_BUILD_TYPE=Debug >/dev/null
	@touch $@
