# Sapwood's commands. Each one first installs what it misses (Debian, Ubuntu) or names it (elsewhere): see .ci/need.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

CARGO ?= cargo
NEED := .ci/need
PEERS := bench/peers/requirements.txt
# Words for `make bench`: TOOLS="sparse train" picks tools, ARGS="--peers none" goes to each of them.
TOOLS ?= sparse train
ARGS ?=

.PHONY: help demo build test test-long bench doc clean-bench

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: build ## build, then train a graph network on the Debian package graph: with all edges, with DropEdge, 6 paired seeds
	target/release/sapwood train debian --model gcn --layers 2 --hidden 64 --lr 0.03 --epochs 60 --l2 5e-5 \
	  --eval-every 5 --seeds 6 --against none,dropedge

build: ## the release binary, target/release/sapwood
	@$(NEED) cc cargo
	$(CARGO) build --release --locked --bin sapwood

test: ## format, lints, all tests, doc tests, documentation without a warning
	@$(NEED) cc cargo rustfmt clippy
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	$(CARGO) test --workspace --locked
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked

test-long: ## what is too slow for make test: the ignored tests, and more property cases
	@$(NEED) cc cargo
	PROPTEST_CASES=4096 $(CARGO) test --workspace --release --locked -- --include-ignored

bench: build .venv/peers.stamp ## our time and the peers' time, side by side (TOOLS="sparse train", ARGS="...")
	@for tool in $(TOOLS); do PATH="$$PWD/.venv/bin:$$PATH" target/release/sapwood bench $$tool $(ARGS); done

# One virtual environment with one pin per peer; made anew when the pins change.
.venv/peers.stamp: $(PEERS)
	@$(NEED) python
	python3 -m venv --clear .venv
	.venv/bin/python -m pip install --quiet --disable-pip-version-check -r $(PEERS)
	@touch $@

doc: ## the library documentation, in target/doc/sapwood/index.html
	@$(NEED) cc cargo
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked
	@echo "open target/doc/sapwood/index.html; the pages of the tools are in docs/"

clean-bench: ## remove the virtual environment of the peers
	rm -rf .venv
