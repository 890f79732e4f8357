# Plain make on top of Meson and ninja. `make demo` and `make test` are all a
# newcomer needs: every target installs or names what is missing first.

PREFIX ?= /usr/local
BUILD  ?= build
MESON  := meson

.PHONY: all tool demo test bench bench-causal bench-certificate bench-disk bench-explore bench-explore-core bench-explore-programs bench-history bench-ladder bench-object-tests bench-mpi bench-objects bench-precision bench-report bench-run bench-run-report bench-sched bench-hooks bench-trace bench-txn soak lint coverage fuzz install clean setup bench-record

all: setup
	@tools/build.sh $(BUILD) '' --prefix=$(PREFIX)

setup:
	@tools/setup.sh build

# the command and its runtime, no tests
tool: setup
	@tools/build.sh $(BUILD) tool --prefix=$(PREFIX)

demo: tool
	@INTACT=$(BUILD)/src/cli/intact BUILD=$(BUILD) tools/demo.sh

test:
	@tools/setup.sh test
	@tools/test.sh

lint:
	@tools/setup.sh lint
	@tools/lint.sh

coverage:
	@tools/setup.sh coverage
	@tools/coverage.sh

soak: all
	@INTACT=$(BUILD)/src/cli/intact tools/soak.sh

bench: all
	@INTACT=$(BUILD)/src/cli/intact BUILD=$(BUILD) bench/run.sh

bench-run: all
	@tools/setup.sh bench
	@bench/run.py $(BUILD)/src/cli/intact

bench-run-report: all
	@python3 bench/run_report.py $(BUILD)/src/cli/intact

# Precision, recall and rank on kernels of published bugs (tests/corpus).
bench-precision: all
	@python3 tests/corpus/run.py $(BUILD)/src/cli/intact --all --bench

bench-hooks: all
	@tools/setup.sh bench
	@python3 bench/hooks.py $(BUILD)/src/cli/intact $(ARGS)

bench-record: all
	@python3 bench/record.py $(BUILD)/src/cli/intact

bench-txn: all
	@ninja -C $(BUILD) bench/txn_gen >/dev/null
	@python3 bench/txn.py $(BUILD)/src/cli/intact $(BUILD)/bench/txn_gen

bench-trace: all
	@ninja -C $(BUILD) bench/trace_make bench/measure >/dev/null
	@python3 bench/trace.py $(BUILD)
	@python3 bench/trace_recorded.py $(BUILD)

bench-causal: all
	@ninja -C $(BUILD) bench/measure >/dev/null
	@python3 bench/causal.py $(BUILD) $(ARGS)

bench-explore: all
	@tools/setup.sh bench
	@ninja -C $(BUILD) bench/measure >/dev/null
	@python3 bench/explore.py $(BUILD) $(ARGS)

bench-explore-programs: all
	@python3 bench/explore_programs.py $(BUILD)/src/cli/intact $(ARGS)

bench-disk: all
	@ninja -C $(BUILD) bench/measure >/dev/null
	@python3 bench/disk.py $(BUILD) $(ARGS)

bench-certificate: all
	@ninja -C $(BUILD) bench/measure >/dev/null
	@python3 bench/certificate.py $(BUILD) $(ARGS)

bench-mpi: all
	@ninja -C $(BUILD) bench/measure >/dev/null
	@python3 bench/mpi.py $(BUILD) $(ARGS)

bench-explore-core: all
	@ninja -C $(BUILD) bench/measure >/dev/null
	@python3 bench/explore_core.py $(BUILD) $(ARGS)

bench-report: all
	@tools/setup.sh test
	@ninja -C $(BUILD) bench/history_gen >/dev/null
	@python3 bench/report.py $(BUILD)

bench-history: all
	@ninja -C $(BUILD) bench/history_gen bench/history_assertions >/dev/null
	@INTACT=$(BUILD)/src/cli/intact BUILD=$(BUILD) bench/history.sh

bench-sched: all
	@tools/setup.sh bench
	@ninja -C $(BUILD) bench/sched_point >/dev/null
	@python3 bench/sched.py $(BUILD)

bench-ladder: all
	@python3 bench/ladder.py $(BUILD)/src/cli/intact examples

bench-object-tests: all
	@python3 bench/object_tests.py $(BUILD)/src/cli/intact $(ARGS)

bench-objects: all
	@python3 bench/objects.py $(BUILD)/src/cli/intact examples

.PHONY: bench-nets
bench-nets: all
	@ninja -C $(BUILD) bench/measure >/dev/null
	@python3 bench/nets.py $(BUILD) $(ARGS)

fuzz:
	@tools/setup.sh fuzz
	@fuzz/run.sh

# build-playground/intact-playground.html: one page, with the engines as WebAssembly (docs/playground.md)
.PHONY: playground
playground:
	@tools/setup.sh playground
	@python3 playground/build.py

# dist/intact-VERSION.tar.gz: the same commit gives the same bytes
.PHONY: dist
dist:
	@python3 tools/release.py dist dist

# the Debian packages, in the directory above: the build needs debhelper and what debian/control names
.PHONY: deb
deb:
	@dpkg-buildpackage -us -uc -b

install: all
	@$(MESON) configure $(BUILD) --prefix=$(PREFIX) >/dev/null
	@$(MESON) install -C $(BUILD)

clean:
	@rm -rf build build-clang build-asan build-fuzz build-browser build-coverage build-playground dist
