# `make` alone lists the targets. Nothing but Go is needed to build; bash for the targets that test.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO ?= go
TIMEOUT ?= 20m
FUZZTIME ?= 10s
BENCHTIME ?= 1s
LINT = $(GO) tool -modfile=tools/golangci-lint.mod golangci-lint

# The packages that start goroutines, those of them that exist.
CONCURRENT := $(patsubst %,./%,$(wildcard kernel kernel/sqlite bus hub tool worker narrate listen agents/tidy agents/tidy/files))
# What the linter looks at: everything, or one folder (make lint PKG=./bus/...).
PKG ?= ./...

.PHONY: help
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | awk -F '\t' '{printf "  make %-12s %s\n", $$1, $$2}'

.PHONY: build
build: ## bin/earshot
	$(GO) build -trimpath -o bin/earshot ./cmd/earshot

.PHONY: test
test: vet unit faults race ## everything that proves the program; with CI=true a missing part is a failure

.PHONY: vet
vet: ## go vet
	$(GO) vet ./...

.PHONY: unit
unit: ## go test of every package, naming each skipped test
	$(GO) test -json -timeout $(TIMEOUT) ./... | $(GO) run ./scripts/told

.PHONY: faults
faults: ## the real binary killed at every fault point and started again
	@if [ -d cmd/earshot ]; then \
	  echo '$(GO) test -tags faults ./cmd/earshot/...'; \
	  $(GO) test -json -tags faults -timeout $(TIMEOUT) ./cmd/earshot/... | $(GO) run ./scripts/told; \
	fi

.PHONY: race
race: ## the concurrent packages under the race detector (needs a C compiler)
	@if scripts/need cc; then \
	  echo '$(GO) test -race $(CONCURRENT)'; \
	  CGO_ENABLED=1 $(GO) test -race -json -timeout $(TIMEOUT) $(CONCURRENT) | $(GO) run ./scripts/told; \
	elif [ "$${CI-}" = true ]; then exit 1; fi

.PHONY: lint
lint: ## every linter, on both builds (PKG=./bus/... for one folder)
	$(LINT) run $(PKG)
	$(LINT) run --build-tags faults $(PKG)

.PHONY: fmt
fmt: ## format as the linter wants it (PKG does not apply)
	$(LINT) fmt

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME
	scripts/fuzz $(FUZZTIME)

.PHONY: bench
bench: ## benchmarks of the packages, and those against peers in bench/
	$(GO) test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) ./...
	@if [ -f bench/go.mod ]; then cd bench && $(GO) test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) ./...; fi

.PHONY: bench-smoke
bench-smoke: ## the benchmarks compile
	@if [ -f bench/go.mod ]; then cd bench && $(GO) vet ./...; else echo 'bench: not there yet'; fi

.PHONY: cover
cover: ## coverage.out and its total
	$(GO) test -timeout $(TIMEOUT) -coverpkg=./... -coverprofile=coverage.out ./...
	$(GO) tool cover -func=coverage.out | tail -n 1
