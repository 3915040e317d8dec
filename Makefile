# `make` alone lists the targets. Nothing but Go is needed to build; bash for the targets that test.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO ?= go
TIMEOUT ?= 45m
FUZZTIME ?= 10s
BENCHTIME ?= 1s
CALLS ?= 10000
LINT = $(GO) tool -modfile=tools/golangci-lint.mod golangci-lint

# The packages that start goroutines, those of them that exist.
CONCURRENT := $(patsubst %,./%,$(wildcard internal/kernel internal/sim internal/kernel/store/memory internal/kernel/store/sqlite internal/kernel/store/postgres internal/bus internal/hub internal/hub/access internal/oauth internal/program internal/transport/web tool tool/command tool/openapi worker client aaep/subscribe internal/surface/terminal agents/tidy agents/tidy/files internal/fakemodel internal/testkit/agenthost))
UNWATCHED := $(foreach package,modernc.org/sqlite/lib modernc.org/libc modernc.org/memory,-gcflags=$(package)=-race=false)
# What make unit leaves to other targets.
ELSEWHERE := ./clients ./internal/transport/web/browser ./internal/kernel/store/postgres ./internal/chaos ./internal/hosts
# What the linter looks at: everything, or one folder (make lint PKG=./internal/bus/...).
PKG ?= ./...
CHECK_TOOL = $(GO) tool -modfile=tools/check.mod

.PHONY: help
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | awk -F '\t' '{printf "  make %-12s %s\n", $$1, $$2}'

.PHONY: build
build: ## bin/earshot, without C as releases are: a C library costs each start a fifth more
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o bin/earshot ./cmd/earshot

.PHONY: release
release: ## dist/: archives for Linux and macOS, checksums, bills of materials, Debian packages (scripts/release says more)
	scripts/release

.PHONY: release-smoke
release-smoke: ## a release for this machine only, made twice, unpacked and run
	@if command -v dpkg-deb >/dev/null || [ "$${CI-}" = true ]; then scripts/release-smoke; else echo 'release-smoke: left out: there is no dpkg-deb'; fi

.PHONY: test
test: ## vet, every package, PostgreSQL, the page in Chromium, the clients in Python and TypeScript: ten minutes on 2 cores
	@scripts/steps compile vet tests

.PHONY: full
full: ## everything at full size, before an issue is called resolved; its last line is for docs/checks.md
	@CI=true EARSHOT_TEST_FULL=1 scripts/steps -record full compile vet tests lint dead race agents catalogue elsewhere release-smoke bench-smoke vulnerabilities

.PHONY: quick
quick: ## go test -short of the packages that have changed, and of those that import them (BASE=REV)
	@scripts/quick

.PHONY: tests
tests: ## every package but the agents of others, without the race detector
	@scripts/tests $(TIMEOUT)

.PHONY: compile
compile: ## compile every package and every test, so that the steps after it only link and run
	@$(GO) list -export -test ./... >/dev/null
	@$(GO) build -tags faults -o /dev/null ./cmd/earshot
	@if [ "$${CI-}" = true ]; then scripts/need cc && $(GO) list -race $(UNWATCHED) -export -test $(CONCURRENT) >/dev/null; fi

.PHONY: short
short: ## go test -short of everything: about two minutes
	$(GO) test -short ./...

.PHONY: vet
vet: ## go vet
	$(GO) vet ./...

.PHONY: unit
unit: ## go test of every package but those of other targets, the real binary killed at every fault point among them
	scripts/check $(TIMEOUT) $(filter-out $(ELSEWHERE),$(shell $(GO) list -f '.{{slice .ImportPath (len .Module.Path)}}' ./...))

.PHONY: postgres
postgres: ## the ledger in a private PostgreSQL, run by another user than root (fetches it where it can), and a short chaos run on it
	@if scripts/need postgres || [ "$${CI-}" != true ]; then scripts/check $(TIMEOUT) ./internal/kernel/store/postgres ./internal/chaos; else exit 1; fi

.PHONY: chaos
chaos: FOR ?= 5m
chaos: ## kernels, services, workers and the bus killed again and again while they work (FOR=5m CALLS=10000)
	EARSHOT_CHAOS_FOR=$(FOR) EARSHOT_CHAOS_CALLS=$(CALLS) $(GO) test -count 1 -timeout 60m -v -run '^TestChaos$$' ./internal/chaos

.PHONY: catalogue
catalogue: ## how much of AAEP's catalogue of rules is covered, by level
	@$(GO) run ./cmd/earshot conform coverage

.PHONY: public-suite
public-suite: ## AAEP's public conformance suite, from a checkout of its repository, against an agent of ours (SUITE=DIR; needs Python)
	scripts/public-suite "$(SUITE)"

.PHONY: browser
browser: ## the page in a real Chromium, by keyboard, with axe-core, Lighthouse and a check of its HTML (fetches what it needs where it can)
	@if scripts/need chromium && scripts/need fonts && scripts/need axe && scripts/need html && scripts/need lighthouse || [ "$${CI-}" != true ]; then scripts/check $(TIMEOUT) ./internal/transport/web/browser; else exit 1; fi

.PHONY: agents
agents: ## the real Claude Code, Codex, Gemini CLI, OpenCode and Qwen Code through turns with a scripted model (once fetches 800 MB from npm)
	@if scripts/need npm || [ "$${CI-}" != true ]; then scripts/check $(TIMEOUT) ./internal/hosts; else exit 1; fi

.PHONY: clients
clients: ## the clients in Python and TypeScript, their adapters and the examples of docs/agents.md at the real program (needs Python, Node and npm; fetches packages)
	@if scripts/need clients || [ "$${CI-}" != true ]; then scripts/check $(TIMEOUT) ./clients; else exit 1; fi

# How many seeds make sim plays, from which one on; SEED=n plays that one and prints its trace.
SEEDS ?= 10000
FROM ?= 1
SEED ?= 0

.PHONY: sim
sim: FOR ?= 0
sim: ## the kernel's simulation: make sim SEEDS=100000 FOR=8h, or SEED=n to play one with its trace (make test plays 150, make full 500)
	$(GO) test -count=1 -timeout 48h -v -run '^TestSeeds$$' ./internal/sim -args -seeds $(SEEDS) -from $(FROM) -seed $(SEED) -for $(FOR)

.PHONY: race
race: ## the concurrent packages under the race detector (needs a C compiler)
	@if scripts/need cc; then scripts/check race $(TIMEOUT) $(CONCURRENT); elif [ "$${CI-}" = true ]; then exit 1; fi

.PHONY: soak
soak: ## the long sizes: 20,000 seeds, 100,000 turns, 200 races of everybody at once, five minutes of chaos, the time limits of other agents, each fuzz target for a minute, 5,000 listeners that come and go (about two hours)
	@EARSHOT_TEST_FULL=1 EARSHOT_SOAK=1 scripts/steps -record soak soak-sim soak-turns soak-page race chaos soak-agents soak-fuzz soak-listeners

.PHONY: soak-sim soak-turns soak-page soak-agents soak-fuzz soak-listeners
soak-sim:
	$(MAKE) sim SEEDS=20000 SEED=0
soak-turns:
	$(GO) test -count 1 -timeout 60m -v -run '^TestManyTurns$$' ./cmd/earshot
soak-page:
	$(GO) test -count 1 -timeout 60m -v -run '^TestEverybodyAtOnce$$' ./internal/transport/web/browser
soak-agents:
	$(GO) test -count 1 -timeout 60m -parallel 4 -v -run '^(TestLimit|TestGateWall)$$' ./internal/hosts
soak-fuzz:
	$(MAKE) fuzz FUZZTIME=1m
soak-listeners:
	cd bench && $(GO) run ./listeners -measure soak -listeners 5000 -lasts 10m

.PHONY: elsewhere
elsewhere: ## the short tests on other people's machines: time zone, locale, home, umask, ports, user, a second clone (PKG=./internal/bus for one package)
	scripts/elsewhere $(filter-out ./...,$(PKG))

.PHONY: lint
lint: ## every linter, on both builds (PKG=./internal/bus/... for one folder)
	$(LINT) run $(PKG)
	$(LINT) run --build-tags faults ./cmd/earshot/... ./internal/fault/...
	$(GO) vet -tags differential ./aaep
	GOOS=windows $(GO) vet ./aaep/transport/pipe ./aaep/serve ./aaep/subscribe

.PHONY: vulnerabilities
vulnerabilities: ## known vulnerabilities of what the program is built from, where their database can be had
	@scripts/vulnerabilities

.PHONY: dead
dead: ## functions that nothing reaches, outside the public packages
	@scripts/dead

.PHONY: fmt
fmt: ## format as the linter wants it (PKG does not apply)
	$(LINT) fmt

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME
	scripts/fuzz $(FUZZTIME)

.PHONY: differential
differential: ## our verdicts beside the schemas of AAEP itself, which are not part of this repository (SCHEMAS=DIR)
	@if [ -z "$(SCHEMAS)" ]; then \
	  echo 'error: found no SCHEMAS, expected the folder of the schemas of AAEP'; \
	  echo 'hint: make differential SCHEMAS=DIR, where DIR has core/, handshake/ and envelope.schema.json'; exit 2; \
	fi
	SCHEMAS='$(abspath $(SCHEMAS))' $(GO) test -tags differential -count 1 -timeout $(TIMEOUT) -v -run '^TestDifferentialPublished$$' ./aaep

.PHONY: bench
bench: PKG = ./...
bench: ## benchmarks of the parts, by benchstat: make bench PKG=./internal/kernel/store/... [OLD=FILE to compare with]; whole programs beside peers are in bench/
	mkdir -p bin
	$(GO) test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) -count 6 $(PKG) | tee bin/bench.txt
	$(CHECK_TOOL) benchstat $(OLD) bin/bench.txt

.PHONY: bench-smoke
bench-smoke: ## the benchmarks compile, and that of calls runs for a second
	cd bench && $(GO) vet ./... && $(GO) run ./call -only sqlite -for 1s -warm 0s -rounds 1 -workers 1 -rate 0

.PHONY: cover
cover: ## coverage.out and its total
	$(GO) test -timeout $(TIMEOUT) -coverpkg=./... -coverprofile=coverage.out ./...
	$(GO) tool cover -func=coverage.out | tail -n 1
