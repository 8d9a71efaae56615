# What can be done here; `make` alone lists it.

SHELL       := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

COMMIT      := $(shell git rev-parse --short HEAD 2>/dev/null || echo unknown)
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
BENCHSTAT   := golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da
ARGS        ?=
FUZZTIME    ?= 10s
BENCHTIME   ?= 1s
OLD         ?= HEAD~1
BENCH       ?= .
PACKAGES    ?= ./...
COUNT       ?= 10
SUITES      ?=

.PHONY: help build run test race fuzz bench bench-compare compat docs lint ci clean redis

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build bin/limitstore
	@go build -ldflags "-X main.commit=$(COMMIT)" -o bin/limitstore ./cmd/limitstore

run: build ## build it and serve on 127.0.0.1:7379; flags: make run ARGS="--shards 4"
	@exec bin/limitstore $(ARGS)

test: redis ## run all tests (they compare with redis-server, which is installed if need be)
	go test ./...

race: redis ## run all tests under the race detector
	go test -race ./...

fuzz: ## fuzz each target for FUZZTIME (10s; 5000x counts runs instead)
	@for dir in $$(go list -f '{{.Dir}}' ./...); do \
	  for target in $$(cat "$$dir"/*_test.go 2>/dev/null | sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p'); do \
	    echo "$${dir#$(CURDIR)/} $$target"; \
	    go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) "$$dir"; \
	  done; \
	done

bench: ## run the Go benchmarks for BENCHTIME (1s) each
	go test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) ./...

bench-compare: ## compare the Go benchmarks of OLD (HEAD~1) with the working tree's: BENCH=. PACKAGES=./... COUNT=10
	@old=$$(git rev-parse --short "$(OLD)"); tree=$$(mktemp -d); here=$(CURDIR)/bench/results; \
	trap 'git worktree remove --force "$$tree"' EXIT; \
	git worktree add -q --detach "$$tree" "$$old"; \
	: > "$$here/$$old.txt"; : > "$$here/new.txt"; \
	for turn in $$(seq $(COUNT)); do \
	  echo "turn $$turn of $(COUNT)"; \
	  for side in "$$tree $$old" "$(CURDIR) new"; do \
	    set -- $$side; \
	    (cd "$$1" && go test -run '^$$' -bench '$(BENCH)' -benchmem -benchtime $(BENCHTIME) $(PACKAGES)) >> "$$here/$$2.txt"; \
	  done; \
	done; \
	cd bench/results && go run $(BENCHSTAT) "$$old.txt" new.txt

compat: build redis ## run limiter libraries' own tests on redis-server and limitstore: SUITES="throttled redis_rate"
	@go run ./compat/run $(SUITES)
	@$(MAKE) --no-print-directory docs

docs: build ## write the generated pages of docs/
	@bin/limitstore docs docs

lint: ## check format, vet, staticcheck and go.mod
	@test -z "$$(gofmt -l .)" || { gofmt -d .; exit 1; }
	go vet ./...
	go run $(STATICCHECK) ./...
	go mod tidy -diff

# The generated pages are held against the tables by a test. The tests of `make
# test` come last, so that their summary is what one sees.
ci: ## all that must hold: lint, race, short fuzz, benches once, test, nothing left behind
	@before=$$(git status --porcelain && git diff | cksum); \
	$(MAKE) --no-print-directory lint; \
	$(MAKE) --no-print-directory race; \
	$(MAKE) --no-print-directory fuzz FUZZTIME=5000x; \
	$(MAKE) --no-print-directory bench BENCHTIME=1x; \
	$(MAKE) --no-print-directory test; \
	after=$$(git status --porcelain && git diff | cksum); \
	test "$$before" = "$$after" || { echo "the run changed the working tree:"; git status --short; exit 1; }

clean: ## remove what was built
	@rm -rf bin

redis:
	@command -v redis-server >/dev/null || { \
	  echo "installing redis-server: the tests compare with it"; \
	  as=; [ "$$(id -u)" = 0 ] || as="sudo -n"; \
	  { $$as apt-get update -q && $$as env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends redis-server; } >/dev/null || { \
	    echo "that failed: install redis-server 7 so that it is in the PATH, then try again" >&2; exit 1; }; \
	}
