# Sapwood's commands. Each one first installs what it misses (Debian, Ubuntu) or names it (elsewhere): see .ci/need.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

CARGO ?= cargo
NEED := .ci/need
# What is tested with the features that a plain build leaves out, and what that needs.
ALL := --workspace --features sapwood/highs
ALL_NEED := cc cargo cxx cmake libclang
# For `make bench`: which tools; PEERS, REPS, THREADS are read by bench/run.sh itself.
TOOLS ?= sparse train graph plan targets

# Where cargo puts the release binary; CARGO_TARGET_DIR is cargo's own variable.
SAPWOOD = $(or $(CARGO_TARGET_DIR),target)/release/sapwood

.PHONY: help demo build test test-long bench doc

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: build ## build, then train a graph network on the Debian package graph: with all edges, with DropEdge, with RankedDrop, 6 paired seeds; the report is target/demo.html
	@mkdir -p target
	$(SAPWOOD) train debian --model gcn --layers 2 --hidden 64 --lr 0.03 --epochs 60 --l2 5e-5 \
	  --eval-every 5 --seeds 6 --against none,dropedge --report target/demo.html

build: ## the release binary, target/release/sapwood
	@$(NEED) cc cargo
	$(CARGO) build --release --locked --bin sapwood

test: ## format, lints, all tests, doc tests, documentation without a warning
	@$(NEED) $(ALL_NEED) rustfmt clippy
	@.ci/onnx-nodes
	$(CARGO) fmt --all --check
	$(CARGO) clippy $(ALL) --all-targets --locked -- -D warnings
	$(CARGO) clippy -p sapwood-plan --no-default-features --locked -- -D warnings
	$(CARGO) test $(ALL) --locked
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked

test-long: ## what is too slow for make test: the ignored tests, and more property cases
	@$(NEED) $(ALL_NEED)
	@.ci/onnx-nodes
	PROPTEST_CASES=4096 $(CARGO) test $(ALL) --tests --release --locked -- --include-ignored --skip allocations_of_repeated_work --skip sweeps_allocate_nothing_alone

bench: ## our time and the peers' time in one run; writes docs/benchmarks.md and docs/plan.md (TOOLS="sparse train graph plan targets", PEERS=none, REPS=9)
	@$(NEED) cc cargo $(if $(filter none,$(PEERS)),,python)
	bench/run.sh $(TOOLS)

doc: ## the library documentation, in target/doc/sapwood/index.html
	@$(NEED) cc cargo
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked
	@echo "open target/doc/sapwood/index.html; the pages of the tools are in docs/"
