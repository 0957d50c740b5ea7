# make run    set up what is missing, then open tapeviz on its default example;
#             without a display: print its diagnosis and write tape.png
# make test   set up what is missing, then format, lint, types and tests
# make bench  measure: recording, phases, layout, drawing, start; prints a table (LONG=1: an hour)
# make soak   try to break it: kills, floods, damaged files, full disks; prints a table (LONG=1: hour)
# make clean  forget the environment

PYTHON ?= python3
BIN := .venv/bin
DEFAULT_EXAMPLE := resources/examples/slice_assign.py
APT := packaging/linux/apt-install
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: run test bench soak setup libraries constraints clean
.DELETE_ON_ERROR:

run: setup
	@BIN=$(BIN) packaging/linux/run-example $(DEFAULT_EXAMPLE)

# All four run even if one fails: a change learns everything at once. Types are checked beside the
# tests. Three workers, for two cores: a fifth of the time a test waits for a process of its own.
# Many tests start Pythons, and without bytecode each of them would compile tapeviz again. In a fresh
# clone the tests are collected once before: else each worker would compile all modules for itself.
# NumPy 2.2, the last for Python 3.10, has other types than later ones: there none are checked. The
# stubs of NumPy 2.5, which Python 3.12 and later get, cannot be read by a check for Python 3.10.
test: export QT_QPA_PLATFORM = offscreen
test: export PYTHONDONTWRITEBYTECODE =
test: setup
	@case $$($(BIN)/python -c "import sys; print(sys.version_info.minor)") in \
	  10) echo "not checked on Python 3.10" ;; \
	  11) $(BIN)/python -m mypy ;; \
	  *) $(BIN)/python -m mypy --python-version 3.12 ;; \
	esac >.venv/mypy.txt 2>&1 & types=$$!; failed=; \
	[ -d tests/__pycache__ ] || $(BIN)/python -m pytest --collect-only >.venv/collected.txt 2>&1; \
	for check in "ruff format --check ." "ruff check ." "pytest -n 3 --dist loadfile"; do \
	  echo "== $$check"; $(BIN)/python -m $$check || failed="$$failed, $${check%% *}"; \
	done; \
	echo "== mypy"; wait $$types || failed="$$failed, mypy"; cat .venv/mypy.txt; \
	[ -z "$$failed" ] || { echo "failed: $${failed#, }" >&2; exit 1; }

# Both sides of each ratio run in one go; one benchmark alone: make bench ONLY=layout
bench: export QT_QPA_PLATFORM = offscreen
bench: setup
	@LONG=$(LONG) $(BIN)/python tests/benchmarks $(ONLY)

# Minutes; one part alone: make soak ONLY=drafts; SEED=2: other damage, other moments
soak: export QT_QPA_PLATFORM = offscreen
soak: setup
	@LONG=$(LONG) SEED=$(or $(SEED),1) $(BIN)/python tests/soak $(ONLY)

setup: .venv/installed libraries

# An environment that is there already is kept, if it has pip or can be given it.
.venv/created:
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip >/dev/null 2>&1 || \
	  packaging/create-environment $(PYTHON)
	@touch $@

.venv/installed: constraints.txt pyproject.toml | .venv/created
	@echo "Installing TensorFlow, Qt and what else is needed into .venv: this takes some minutes, once"
	$(BIN)/python -m pip install --quiet --no-compile --require-hashes -r constraints.txt
	@# As pip does, which ignores what is no code of this Python, too; but on all cores.
	@$(BIN)/python -m compileall -qq -j 0 .venv/lib || true
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

# Asked at each call: it takes a tenth of a second, and a system changes.
libraries: | .venv/installed
	@missing=$$($(BIN)/python -m tapeviz.system_libraries) || $(APT) $$missing

# Every version and hash anew, for all supported Pythons and systems (needs uv).
constraints:
	@{ echo "# Every version and hash tapeviz is built and tested with; made by: make constraints"; \
	  uv pip compile pyproject.toml --extra dev --group build --universal --python-version 3.10 \
	    --generate-hashes --no-annotate --no-header --upgrade --quiet; } > constraints.new
	@mv constraints.new constraints.txt

clean:
	rm -rf .venv
