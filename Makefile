# The commands of this project. Each does its own set-up on a fresh Debian 12; a second run reuses the first one's work.
#
#   make demo       set up, build, run the main job in Python and in C++ (a GPU if there is one, else the CPU device)
#   make test       set up, build, lint, run every test; last line: N passed, N failed, N skipped
#   make test-long  the same with whole runs of the sanitizers, a million objects of each class, ten minutes a fuzzer
#   make build      .venv with the Python package and the command-line tool, C++ outputs in build/
#   make test-clients   the clients that docs/compatibility.md is about, whole, and that page (hours)
#   make lint       clang-format, clang-tidy, ruff, house rules
#   make bench      benchmarks on this machine, results printed        make bench-gpu   the same on a GPU
#   make wheels     what `pip install` takes, for every Python of this machine, in build/wheels
#   make test-install   those wheels in bare systems (debootstrap; root, minutes)
#   make test-gpu   the conformance suites on a GPU                make docs      the site in build/docs/site
#   make test-arm   everything built for 64-bit Arm and run under qemu-user (hours; goes on where it was stopped)
#
# No CUDA toolkit of the machine is used unless CUDA_HOME is set.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build
.DELETE_ON_ERROR:

SYSTEM_PYTHON ?= /usr/bin/python3
PYTHON := .venv/bin/python
JOBS ?= $(shell nproc)
SITE = $(shell $(PYTHON) -c "import sysconfig; print(sysconfig.get_path('purelib'))")

BUILD_PACKAGES := ca-certificates g++ cmake ninja-build ccache llvm-19-dev libboost-context-dev liblz4-dev libzstd-dev \
                  zlib1g-dev libcli11-dev python3-dev python3-venv libgtest-dev libgmock-dev libbenchmark-dev
TEST_PACKAGES := $(BUILD_PACKAGES) git pkgconf clang-19 clang-format-19 libclang-rt-19-dev valgrind gdb redis-server \
                 libhiredis-dev gcc-12-offload-nvptx libgomp-plugin-nvptx1
ARM_PACKAGES := g++-aarch64-linux-gnu qemu-user-static
DOCS_PACKAGES := doxygen
BENCH_PACKAGES := pocl-opencl-icd ocl-icd-libopencl1

export CCACHE_DIR ?= $(CURDIR)/.setup/ccache
export CCACHE_SLOPPINESS := pch_defines,time_macros,locale
# The same file from build/ and from pip's build folder, or from two checkouts that share a cache, is compiled once;
# Python gives what it starts a locale, which make has none of.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: wheels test-arm test-install build demo test test-long test-clients test-gpu bench bench-gpu lint docs setup setup-test configure build-all clean

# ---- set-up -------------------------------------------------------------------------------------------------------
.setup/build-packages: Makefile
	@tools/install_packages $(BUILD_PACKAGES)
	@mkdir -p .setup && touch $@

.setup/test-packages: Makefile
	@tools/install_packages $(TEST_PACKAGES)
	@mkdir -p .setup && touch $@

.setup/venv: tools/requirements.txt | .setup/build-packages
	@echo "== Python environment (.venv)"
	@test -x $(PYTHON) || $(SYSTEM_PYTHON) -m venv .venv
	@$(PYTHON) -m pip install -q -r tools/requirements.txt
	@touch $@

.setup/wheels: tools/requirements-wheels.txt | .setup/venv
	@echo "== Python packages that make wheels"
	@rm -rf $@ && $(PYTHON) -m pip install -q --target $@ -r tools/requirements-wheels.txt
	@touch $@

# NVIDIA's nvcc, with which the tests compile the .cu files of the pages. CUDA_HOME or an nvcc in PATH do not matter.
.setup/nvcc: tools/requirements-nvcc.txt | .setup/venv
	@echo "== nvcc for the pages' programs"
	@rm -rf $@ && $(PYTHON) -m pip install -q --no-deps --target $@ -r tools/requirements-nvcc.txt
	@touch $@

# Older bindings, which Numba-CUDA's own tests need.
.setup/numba-cuda: tools/requirements-numba-cuda.txt | .setup/venv
	@echo "== Python packages of Numba-CUDA's tests"
	@rm -rf $@ && $(PYTHON) -m pip install -q --no-deps --target $@ -r tools/requirements-numba-cuda.txt
	@touch $@

.setup/docs: tools/requirements-docs.txt | .setup/venv
	@echo "== Python packages that make the site"
	@rm -rf $@ && $(PYTHON) -m pip install -q --target $@ -r tools/requirements-docs.txt
	@touch $@

# What tests and lint need besides: as much again as the rest, and no part of the main job.
.setup/test-venv: tools/requirements-test.txt .setup/venv | .setup/test-packages
	@echo "== Python packages of the tests"
	@$(PYTHON) -m pip install -q -r tools/requirements.txt -r tools/requirements-test.txt
	@touch $@

setup: .setup/build-packages .setup/venv
setup-test: .setup/test-packages .setup/test-venv .setup/wheels .setup/nvcc .setup/numba-cuda setup

# ---- build --------------------------------------------------------------------------------------------------------
configure: setup
	@cmake --preset dev -DPython_EXECUTABLE=$(CURDIR)/$(PYTHON) --log-level=WARNING > /dev/null

build: configure
	@echo "== build"
	@cmake --build build -j $(JOBS) --target product
	@cmake --install build --component python --prefix $(SITE) > /dev/null
	@cmake --install build --component python_cpu_device --prefix $(SITE) > /dev/null
	@cmake --install build --component cli --prefix .venv > /dev/null

wheels: setup .setup/wheels
	@$(PYTHON) tools/make_wheels.py

build-all: setup-test build
	@cmake --build build -j $(JOBS)

# ---- the main job -------------------------------------------------------------------------------------------------
demo: build
	@$(PYTHON) examples/image_pipeline/main.py --output build/demo
	@build/examples/image_pipeline_cpp --output build/demo

# ---- checks -------------------------------------------------------------------------------------------------------
test: build-all
	@$(PYTHON) tools/run_tests.py

test-long: build-all
	@$(PYTHON) tools/run_tests.py --long

test-gpu: build-all
	@$(PYTHON) tools/test_gpu.py

test-arm: setup-test
	@tools/install_packages $(ARM_PACKAGES)
	@$(PYTHON) tools/test_arm.py

test-install: setup-test wheels
	@tools/install_packages debootstrap
	@$(PYTHON) tests/install/bare_system.py
	@$(PYTHON) tests/install/ci_steps.py
	@$(PYTHON) tests/install/first_results.py

test-clients: build
	@$(PYTHON) tools/test_clients.py

lint: setup-test
	@$(PYTHON) tools/lint.py

# ---- numbers ------------------------------------------------------------------------------------------------------
bench: build-all
	@tools/install_packages $(BENCH_PACKAGES) || true  # without PoCL its column is empty
	@$(PYTHON) bench/run.py
	@$(PYTHON) bench/startup_bench.py
	@build/bench/launch_latency build/cpu/driver/libcuda.so.1
	@$(PYTHON) bench/cpu_device/run.py --output bench/results/cpu-device.txt

bench-gpu: build-all
	@CUCORE_DEVICE=gpu $(PYTHON) bench/run.py
	@CUCORE_DEVICE=gpu $(PYTHON) bench/turns_bench.py --loops-library build/bench/libbare_loops.so

# ---- pages --------------------------------------------------------------------------------------------------------
docs: .setup/docs build
	@tools/install_packages $(DOCS_PACKAGES)
	@$(PYTHON) tools/make_docs.py

clean:
	rm -rf build build-wheel .setup/venv .setup/wheels .setup/nvcc .setup/numba-cuda .setup/docs .setup/test-venv .venv
