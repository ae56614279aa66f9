# rin needs Go and make. `make demo` and `make test` need nothing else.
GO      ?= go
BIN     := bin/rin
# The network's published documents, where they lie beside the project.
PUBLISHED ?= $(wildcard $(abspath ../shared/published))
# How long each fuzz target runs, and which of them do.
FUZZTIME ?= 10s
FUZZ     ?= .
# How long make soak keeps a sandbox busy.
SOAK     ?= 60s
# Which nodes make contact certifies, by path and framework.
CONTACT ?= .
# Which clients make clients runs, by folder and name.
CLIENTS ?= .
# Which specs of cmd/rin make race runs with a program that the race detector watches.
RACE    ?= Replicas of a sandbox|registry of right, deviating|runs by shards|rin client-test|rin sandbox report|rin sign and rin verify|An asynchronous log|commands to a running sandbox|under a barrage
# What make race leaves out: packages that run the built program or certify nodes as other packages do, and packages whose specs need one goroutine. Files
# with "//go:build !race" hold single specs of that kind.
UNRACED := cmd/rin(/test(/(killmatrix|benign|hostile|forgery|clients|firstcontact|soak))?)?$$|conformance/(requirement|draw|report|target|tokenforge|verdict)$$|fixtures/(model|vocabulary)$$|sandbox/(address|configfile|funding|recording)$$
TOOL    := $(GO) tool -modfile=.ci/tools.mod

# rin needs no C library: without one it starts sooner, takes less memory, and runs on every distribution. "make bench" uses the default of
# go build, for rin and for what it is compared with.
export CGO_ENABLED := 0

.DEFAULT_GOAL := help
.PHONY: help demo build release-dry test mutants benign contact clients hostile soak fuzz race lint bench census e2e e2e-quick generate check

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: build ## certify a sandbox node and leave the report in rin-report/
	@$(BIN) demo

build: ## build bin/rin
	@$(GO) build -trimpath -o $(BIN) ./cmd/rin

test: ## unit and behaviour tests
	$(GO) test -timeout 20m ./... ./.ci/sbom

mutants: ## the kill matrix: every deviation against the suite, printed and recorded
	RIN_WRITE_MATRIX=1 $(GO) test -count 1 -v -timeout 30m ./cmd/rin/test/killmatrix -ginkgo.succinct -ginkgo.no-color

benign: ## no false alarm: every unusual habit, alone and together
	RIN_BENIGN=. $(GO) test -count 1 -timeout 30m ./cmd/rin/test/benign -ginkgo.succinct -ginkgo.no-color

contact: ## nodes that others wrote without knowing the suite: CONTACT=regexp chooses (needs Python with Flask, FastAPI and Django, and Node with Express and Fastify)
	RIN_CONTACT='$(CONTACT)' $(GO) test -count 1 -v -timeout 60m ./cmd/rin/test/firstcontact -ginkgo.succinct -ginkgo.no-color

clients: ## clients that keep the rules, and clients with one fault each, under rin client-test: CLIENTS=regexp chooses (needs Python, Node with npm, Java with Maven, curl; skips loudly what is missing)
	RIN_CLIENTS='$(CLIENTS)' $(GO) test -count 1 -v -timeout 40m ./cmd/rin/test/clients -ginkgo.succinct -ginkgo.no-color

hostile: ## every attack of a hostile node on the built binary, with its time and memory
	RIN_HOSTILE=. $(GO) test -count 1 -v -timeout 15m ./cmd/rin/test/hostile -ginkgo.v -ginkgo.no-color

soak: ## a sandbox at 80 % of its capacity for SOAK (60s): no wrong answer, no growth of memory
	RIN_SOAK=$(SOAK) $(GO) test -count 1 -v -timeout 60m ./cmd/rin/test/soak -ginkgo.no-color

fuzz: ## every fuzz target for FUZZTIME (10s), one after the other; FUZZ=regexp chooses
	@$(GO) list -f '{{.Dir}} {{.ImportPath}}' ./... | while read -r dir package; do \
	  for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9]*\)(.*/\1/p' "$$dir"/*_test.go 2>/dev/null | grep -E -e '$(FUZZ)'); do \
	    echo "== $$package $$target"; \
	    $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$package" || exit 1; \
	  done; \
	done

# The specs of the program mostly wait, so they run beside the others; what they print comes last.
race: ## the tests under the race detector (needs a C compiler), and the program in the specs with most concurrency; not what is pure or only runs the built program
	@says=$$(mktemp); failed=0; \
	CGO_ENABLED=1 RIN_RACE=1 $(GO) test -count 1 -timeout 30m ./cmd/rin -ginkgo.succinct -ginkgo.no-color -ginkgo.focus '$(RACE)' >"$$says" 2>&1 & program=$$!; \
	CGO_ENABLED=1 $(GO) test -race -timeout 30m $$($(GO) list ./... | grep -v -E -e '$(UNRACED)') || failed=1; \
	wait $$program || failed=1; cat "$$says"; rm -f "$$says"; exit $$failed

lint: ## gofmt, go vet, staticcheck
	@files=$$(gofmt -l .ci cmd conformance fixtures sandbox tui | grep -v /firstcontact/round); test -z "$$files" || { echo "$$files"; echo "run gofmt on these"; exit 1; }
	$(GO) vet ./... ./.ci/sbom
	$(TOOL) staticcheck ./... ./.ci/sbom

bench: ## ratios and figures of cmd/rin/test/README.md
	CGO_ENABLED= $(GO) test -run '^$$' -bench . -benchtime 1s -count 1 ./fixtures/... ./sandbox/... ./conformance/... ./tui/... ./cmd/...

e2e: ## certify servers of other vendors (needs Node and npm; Java and Maven for Keycloak, Chromium for pages, tmux for the tour, podman with runc or crun for containers)
	RIN_PUBLISHED=$(PUBLISHED) $(GO) test -count 1 ./conformance/openapi/... ./fixtures/sample ./sandbox/mockapi
	RIN_CLIENTS=. $(GO) test -count 1 -timeout 40m ./cmd/rin/test/clients -ginkgo.no-color
	RIN_PUBLISHED=$(PUBLISHED) $(GO) test -tags e2e -count 1 -timeout 30m -v ./cmd/rin/test/e2e

e2e-quick: ## the part of e2e that takes minutes: no Keycloak, no comparison of speed
	RIN_PUBLISHED=$(PUBLISHED) $(GO) test -tags e2e -count 1 -timeout 40m -v ./cmd/rin/test/e2e -ginkgo.label-filter '!slow' -ginkgo.no-color

release-dry: ## the files of a release, in dist/, from a clean clone of HEAD: nothing is published, and one platform is built twice and compared (needs Go and OpenSSL; TARGET=linux_amd64 builds less)
	GO='$(GO)' TARGET='$(TARGET)' .ci/release-dry

census: ## the size of the code, the arrows between its packages, and the words that mark a riddle
	@RIN_CENSUS=1 $(GO) test -count 1 -v ./cmd/rin -ginkgo.focus "census|architecture" -ginkgo.succinct -ginkgo.no-color

generate: ## write all generated files again
	$(GO) generate ./...

check: generate ## generated files are up to date
	@git diff --exit-code --stat || { echo "generated files changed: commit what make generate wrote"; exit 1; }
