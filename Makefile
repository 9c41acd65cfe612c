# The only entry point. `make` alone prints the targets.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
export GOFLAGS ?=
# The first Chromium that enforces Connection-Allowlist, which many tests are about.
export BROWSERTEST_CHROMIUM_OLDEST ?= 156

GO      ?= go
# "wasm_exec build" has the flag -trimpath. With the same flag here each package is compiled once for the page, and not twice.
WASM    := GOOS=js GOARCH=wasm GOFLAGS="$(strip $(GOFLAGS) -trimpath)"
BIN     := $(CURDIR)/.bin
RUNNER  := $(BIN)/browsertest
SUM     := $(BIN)/testsum
NODEBIN := $(CURDIR)/node_modules/.bin
NESTED  := browsertest fsaccess/conformance worker/tools sandbox/command/native mcp sandbox/secrets/publicset environment internal/tools
# A module that links client-go, which takes minutes to compile: make environments and lint have it. make test and soak have not.
CLUSTER := environment/kubernetes
PORT    ?= 8080
BENCH   ?=
ENGINE  ?=
LAYOUT  ?=
SUITE   ?=
WASISUITE ?=
FUZZ    ?= 60s
VERSION ?=
SERVE   ?=

# The packages that run in a page. The commands run only on a host.
PAGE = $$($(WASM) $(GO) list ./... | grep -vE '/(wasm_exec|blocklint|houselint)$$')

# Those of them with code or tests for the browser alone, the longest first: a file with _js in its name, or a test that uses internal/jsx,
# internal/testpage or syscall/js. The code of the others is the same natively. make soak and make browsers run it in a page.
OWN = {{$$p := .ImportPath}}{{range .GoFiles}}{{$$p}} {{.}}{{"\n"}}{{end}}{{range .TestGoFiles}}{{$$p}} {{.}}{{"\n"}}{{end}}{{range .XTestGoFiles}}{{$$p}} {{.}}{{"\n"}}{{end}}{{range .TestImports}}{{$$p}} {{.}}{{"\n"}}{{end}}{{range .XTestImports}}{{$$p}} {{.}}{{"\n"}}{{end}}
BROWSER = $$(echo ./iframe ./worker ./fsaccess ./iframe/markdown ./sandbox; $(WASM) $(GO) list -f '{{if or .TestGoFiles .XTestGoFiles}}$(OWN){{end}}' ./... | \
  sed -nE 's,^([^ ]+) (.*_js(_test)?\.go|syscall/js|.*/internal/(jsx|testpage|jsx/jsxtest))$$,\1,p' | sort -u | grep -vE '/(wasm_exec|blocklint|houselint)$$')

# The packages whose test results may be kept. Go's test cache does not include the files that "go list" reads.
CACHED = $$($(GO) list ./... | grep -vxE "$$($(GO) list -m)(/internal/jsx/blocklint)?")

# Chromium's arguments in make test-e2e: WebAssembly is compiled quickly, once, and each function is checked when it is first called. A test loads
# a program of 25 MB, runs a small part of it, and ends before code that is compiled a second time pays. A package's tests compute more (sandbox takes
# 77 s in place of 46). make soak, e2e, attack and bench leave it out.
LEAN := --js-flags=--liftoff-only,--wasm-lazy-validation

# The packages of agent.wasm and of examples/files that are compiled without inlining, for their size: all but those that draw an answer.
COLD := github.com/bailey-go/bailey/...,!github.com/bailey-go/bailey/iframe/...,!github.com/bailey-go/bailey/internal/jsx,!github.com/bailey-go/bailey/internal/frame,!github.com/bailey-go/bailey/internal/wire/...,mvdan.cc/sh/v3/...

# Runs a command with its temporary files in memory.
IN_MEMORY := $(CURDIR)/internal/tools/inmemory.sh

.PHONY: help
help: ## print this
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: $(BIN)/wasm_exec ## serve the examples on loopback, build each when it is opened and after each change (PORT=8080)
	@$(BIN)/wasm_exec dev -addr 127.0.0.1:$(PORT) -o build/dev \
	  -provide "/files/tools/ build/tools $(MAKE) -s wasitools" -provide "/tool/tools/ build/tools $(MAKE) -s wasitools" \
	  plain=./wasm_exec/prebuilt,name=bailey,web=examples/plain/web $(patsubst %/main.go,./%,$(wildcard examples/*/main.go))

.PHONY: examples
examples: $(BIN)/wasm_exec wasitools ## build the examples as they are deployed, into build/examples
	@# Compression uses one processor, so as many examples are built at once as there are. The largest is built cold.
	@export COLD="$(COLD)"; { for f in examples/*/main.go; do d=$$(dirname $$f); echo "./$$d -o build/examples/$$(basename $$d)$$([ $$d != examples/files ] || echo ' -cold $$COLD')"; done; \
	  echo "./wasm_exec/prebuilt -name bailey -o build/examples/plain"; } | xargs -P $$(nproc) -I{} sh -c '$(BIN)/wasm_exec build {}'
	cp examples/plain/web/* build/examples/plain/
	@for n in files tool; do mkdir -p build/examples/$$n/tools && cp build/tools/* build/examples/$$n/tools/; done

.PHONY: test
test: $(RUNNER) $(SUM) testwasm node_modules ## everything that must hold, natively and in Chromium
	@# Tests of pages wait much, so all parts run side by side. Each shows its output when it has ended. What apt-get may have to
	@# install is there before, as it runs once at a time.
	@# What the tests need was installed above, so a test that misses it fails (package internal/needs).
	@# The native tests wait for one of the others: beside three parts with browsers they got no processor anyway.
	@BAILEY_REQUIRE=1 $(MAKE) --no-print-directory -j3 -k -Otarget test-e2e test-chromium test-modules test-native

.PHONY: check
check: $(SUM) ## what a change breaks soonest, in a minute: vet, the native tests (kept results count), architecture, names and words
	@bad=$$(git ls-files '*.go' | xargs gofmt -l); if [ -n "$$bad" ]; then echo "gofmt would change:"; echo "$$bad"; exit 1; fi
	$(GO) vet ./...
	$(WASM) $(GO) vet ./...
	$(GO) test -vet=off -count=1 . ./internal/jsx/blocklint
	$(GO) run ./internal/houselint
	@if [ -x $(NODEBIN)/tsc ]; then $(NODEBIN)/tsc --noEmit -p tsconfig.json; else echo "tsc: NOT RUN, as node_modules is missing (make lint installs it)"; fi
	GOGC=400 $(IN_MEMORY) $(GO) test -json -short -vet=off $(CACHED) | $(SUM)

.PHONY: test-native
test-native: $(SUM) ## the tests that need no browser; -short makes some tables a sample, make soak runs all of them
	$(GO) vet ./...
	$(WASM) $(GO) vet ./...
	$(GO) test -vet=off -count=1 . ./internal/jsx/blocklint
	@# The tests make much garbage. With fewer collections package iframe/markdown takes a quarter less of a processor's time.
	@# Nothing in them has to happen in time, so the parts with a browser go first (nice).
	GOGC=400 nice $(IN_MEMORY) $(GO) test -json -short -vet=off -timeout 60m $(CACHED) | $(SUM)

.PHONY: test-chromium
test-chromium: $(RUNNER) $(SUM) testwasm wasitools ## the packages that reach the browser, in Chromium
	@# Each package waits for time-outs and browsers for a part of its time. vet is test-native's.
	@# With fewer collections of garbage the compiler takes an eighth less of a processor's time.
	GOGC=400 BROWSERTEST_ENGINE=chromium $(WASM) $(GO) test -json -short -vet=off -timeout 60m -p 2 -exec $(RUNNER) $(BROWSER) | $(SUM)
	cd worker/tools && BROWSERTEST_ENGINE=chromium $(WASM) $(GO) test -json -short -vet=off -timeout 60m -exec $(RUNNER) . | $(SUM)

.PHONY: test-e2e
test-e2e: $(RUNNER) $(SUM) node_modules wasitools ## the examples end to end (long tests, and of long tables all but a sample, are make e2e's)
	@# Tests spend time waiting, such as until a question can be answered or a limit ends a run. So three run at once on two processors.
	cd browsertest && GOGC=400 BROWSERTEST_ARGS="$(LEAN)" $(GO) test -json -short -vet=off -parallel 3 -timeout 60m -count=1 ./examples | $(SUM)

.PHONY: test-modules
test-modules: $(RUNNER) $(SUM) node_modules wasitools ## the runner itself, and the other nested modules
	@for d in $(NESTED); do if [ -f $$d/go.mod ]; then echo "$$d:"; (cd $$d && $(GO) vet ./... && $(GO) list ./... | grep -v /browsertest/examples$$ | xargs $(GO) test -json -short -vet=off -p 2 -parallel 3 -timeout 60m -count=1 | $(SUM)) || exit 1; fi; done

.PHONY: e2e
e2e: $(RUNNER) $(SUM) node_modules wasitools ## the end-to-end tests and those of the runner in Chromium, the long ones too
	cd browsertest && $(GO) test -json -count=1 -timeout 60m -parallel 3 ./examples ./loadertest ./internal/runner | $(SUM)

.PHONY: environments
environments: $(SUM) wasitools node_modules ## the tests of module environment with all that they can use: installs PostgreSQL, bubblewrap and haproxy, builds gVisor and an API server of Kubernetes
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null && command -v bwrap >/dev/null && command -v haproxy >/dev/null || \
	  { if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -qq; apt-get install -y -qq --no-install-recommends postgresql bubblewrap haproxy; \
	  else echo "PostgreSQL, bubblewrap or haproxy is missing (Debian: apt-get install postgresql bubblewrap haproxy)"; exit 1; fi; }
	@mkdir -p $(BIN)
	@# gVisor, in which a test runs a box. The first build takes 2.5 minutes of a processor.
	cd $(CLUSTER)/gvisor && CGO_ENABLED=0 $(GO) build -o $(BIN)/runsc gvisor.dev/gvisor/runsc
	cd environment && $(GO) test -json -count=1 -timeout 60m ./... | $(SUM)
	@# An API server of Kubernetes, for the module that is its client. The first build takes 13 minutes of a processor.
	cd $(CLUSTER)/apiserver && $(GO) build -o $(BIN)/etcd go.etcd.io/etcd/server/v3 && $(GO) build -o $(BIN)/kube-apiserver k8s.io/kubernetes/cmd/kube-apiserver
	cd $(CLUSTER) && $(GO) vet ./... && BAILEY_REQUIRE=1 $(GO) test -json -count=1 -p 1 -timeout 60m ./... | $(SUM)

.PHONY: browsers
browsers: $(RUNNER) $(SUM) testwasm wasitools ## the browser tests in Firefox ESR and WebKitGTK
	BROWSERTEST_ENGINE=firefox $(WASM) $(GO) test -json -short -timeout 60m -p 1 -exec $(RUNNER) $(PAGE) | $(SUM)
	BROWSERTEST_ENGINE=webkit $(WASM) $(GO) test -json -short -timeout 60m -p 1 -exec $(RUNNER) $(PAGE) | $(SUM)
	@for e in firefox webkit; do (cd worker/tools && BROWSERTEST_ENGINE=$$e $(WASM) $(GO) test -json -short -exec $(RUNNER) . | $(SUM)) || exit 1; done
	cd browsertest && $(GO) list ./... | grep -vE '/(npmtest|loadertest)$$' | BROWSERTEST_ENGINES=firefox,webkit xargs $(GO) test -json -count=1 -timeout 60m | $(SUM)
	cd mcp && BROWSERTEST_ENGINES=firefox,webkit $(GO) test -count=1 -timeout 15m -run '^TestInBrowsers$$' .

.PHONY: lint
lint: node_modules examples ## gofmt, vet, staticcheck, tsc, govulncheck, size budgets
	@bad=$$(git ls-files '*.go' | xargs gofmt -l); if [ -n "$$bad" ]; then echo "gofmt would change:"; echo "$$bad"; exit 1; fi
	@for m in . $(NESTED) $(CLUSTER) $(CLUSTER)/apiserver $(CLUSTER)/gvisor; do if [ -f $$m/go.mod ]; then (cd $$m && $(GO) mod tidy -diff) || { echo "go mod tidy would change $$m/go.mod"; exit 1; }; fi; done
	$(GO) vet ./... && $(WASM) $(GO) vet ./...
	$(GO) build -modfile=internal/tools/go.mod -o $(BIN)/staticcheck honnef.co/go/tools/cmd/staticcheck
	@# Many names are used only in the page, so only the page's build reports unused ones (U1000).
	$(BIN)/staticcheck -checks inherit,-U1000 ./... && $(WASM) $(BIN)/staticcheck ./...
	@for d in $(NESTED) $(CLUSTER); do if [ -f $$d/go.mod ]; then (cd $$d && $(BIN)/staticcheck ./...) || exit 1; fi; done
	$(NODEBIN)/tsc --noEmit -p tsconfig.json
	@# The types of the prebuilt API are found in a project of a user.
	$(NODEBIN)/tsc --ignoreConfig --noEmit --strict --target es2022 --lib es2022,dom --module esnext --moduleResolution bundler wasm_exec/testdata/types/user.mts
	$(NODEBIN)/tsc --ignoreConfig --noEmit --strict --target es2022 --lib es2022,dom --module nodenext --moduleResolution nodenext wasm_exec/testdata/types/user.mts
	@# The types of the agent beside those of AI SDK, whose own declarations are not checked.
	$(NODEBIN)/tsc --ignoreConfig --noEmit --strict --skipLibCheck --target es2023 --lib es2023,dom,dom.asynciterable --module esnext --moduleResolution bundler wasm_exec/testdata/types/agent.mts
	$(NODEBIN)/tsc --ignoreConfig --noEmit --strict --skipLibCheck --target es2023 --lib es2023,dom,dom.asynciterable --module nodenext --moduleResolution nodenext wasm_exec/testdata/types/agent.mts
	$(GO) test -count=1 . ./internal/jsx/blocklint
	$(GO) run ./internal/houselint
	$(BIN)/wasm_exec size -budgets examples/budgets.json build/examples
	@# The size of a box without shell, providers and MCP.
	$(BIN)/wasm_exec build ./sandbox/testdata/size -o build/sizes/box
	$(BIN)/wasm_exec size -max 1900KB build/sizes/box
	@# The box of the npm package, with shell, web, providers, the dialog of consent, WASI programs and MCP.
	$(BIN)/wasm_exec build ./wasm_exec/prebuilt/agent -name agent -cold "$(COLD)" -o build/sizes/agent
	$(BIN)/wasm_exec size -max 3300KB build/sizes/agent
	$(GO) build -modfile=internal/tools/go.mod -o $(BIN)/govulncheck golang.org/x/vuln/cmd/govulncheck
	@echo "govulncheck:"; internal/tools/vulncheck.sh $(BIN)/govulncheck ./...

.PHONY: bench
bench: node_modules $(RUNNER) testwasm ## compare with peers and the bare browser; writes bench/results.json (BENCH=prefix; BASE=commit compares with it by turns)
	cd browsertest && BENCH=$(BENCH) BASE=$(BASE) $(GO) run ./bench

.PHONY: attack
attack: $(RUNNER) testwasm wasitools node_modules ## every attack, with and without the defence, in one table, which Chromium writes into SECURITY.md (SUITE=01,realm ENGINE=firefox)
	cd browsertest && $(GO) build -o $(BIN)/leaklab-run ./cmd/leaklab && $(GO) build -o $(BIN)/attack ./cmd/attack
	@$(BIN)/attack -engine "$(ENGINE)" -suite "$(SUITE)" $(if $(filter-out chromium,$(ENGINE)),,-write SECURITY.md)

.PHONY: leaklab
leaklab: $(RUNNER) ## try every way out in every layout and engine (ENGINE=chromium LAYOUT=compute)
	cd browsertest && $(GO) build -o $(BIN)/leaklab-run ./cmd/leaklab
	@ENGINE="$(ENGINE)" LAYOUT="$(LAYOUT)" $(BIN)/leaklab-run

.PHONY: soak
soak: $(RUNNER) testwasm node_modules wasitools build/npm/node_modules ## what is long: every test at its full length, natively and in Chromium, then the fuzzers, FUZZ=60s each
	$(GO) test -timeout 60m ./...
	@# Without -short: MCP's whole conformance suite, all command lines of git, and the long end-to-end tests.
	@for d in $(NESTED); do if [ -f $$d/go.mod ]; then echo "$$d:"; (cd $$d && $(GO) test -count=1 -timeout 120m -p 1 -parallel 3 ./...) || exit 1; fi; done
	BROWSERTEST_ENGINE=chromium $(WASM) $(GO) test -timeout 60m -exec $(RUNNER) $(PAGE)
	cd worker/tools && BROWSERTEST_ENGINE=chromium $(WASM) $(GO) test -timeout 60m -exec $(RUNNER) .
	@$(MAKE) --no-print-directory wasisuite
	cd browsertest && FILES_SOAK=1h $(GO) test -count=1 -v -timeout 90m -run TestFilesSoak ./examples
	DECISIONS=1000000 $(GO) test -count=1 -timeout 90m -run '^TestAttackOneDecisionForOnePath$$' ./sandbox
	@for p in $$($(GO) list ./...); do for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz' || true); do \
	  echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZ) -fuzzminimizetime 10x $$p || exit 1; done; done

.PHONY: dist
dist: $(BIN)/wasm_exec ## build the npm package of the prebuilt bailey.wasm and agent.wasm, their JavaScript API and types into dist/ (VERSION=v0.2.0)
	$(BIN)/wasm_exec build ./wasm_exec/prebuilt -name bailey -o build/prebuilt
	$(BIN)/wasm_exec build ./wasm_exec/prebuilt/agent -name agent -cold "$(COLD)" -o build/prebuilt
	$(GO) run ./wasm_exec/npm -version "$(VERSION:v%=%)" -o dist build/prebuilt
	@echo "dist is the package: copy it beside a page, or pack it with \"npm pack ./dist\""

.PHONY: release
release: dist wasitools node_modules ## prepare a version in build/release, and publish nothing: modules, tags, npm package, tools, bill of materials, sums (VERSION=v0.1.0)
	cd internal/tools && $(GO) run ./release -version "$(VERSION)" -root $(CURDIR) -npm $(CURDIR)/dist -tools $(CURDIR)/build/tools -o $(CURDIR)/build/release

.PHONY: npm
npm: $(RUNNER) node_modules build/npm/node_modules wasitools ## install the npm package into projects of Vite, webpack, esbuild and Rollup, build and run them
	cd browsertest && $(GO) test -count=1 -timeout 60m -v ./npmtest

# Bundlers and frameworks are for these tests alone, and have 120 MB. Nothing of them is shipped.
build/npm/node_modules: browsertest/npmtest/testdata/package.json browsertest/npmtest/testdata/package-lock.json
	@mkdir -p build/npm
	cp $^ build/npm/
	cd build/npm && npm ci --no-audit --no-fund --silent --ignore-scripts
	@touch $@

.PHONY: site
site: $(BIN)/wasm_exec ## make the documentation with a playground, static, in build/site, and serve it (SERVE=127.0.0.1:8080)
	@for n in markdown run; do $(BIN)/wasm_exec build ./examples/$$n -o build/examples/$$n; done
	$(GO) run ./internal/site -o build/site -playground build/examples $(if $(SERVE),-serve "$(SERVE)")

.PHONY: newest
newest: ## the tests against the newest goldmark, bluemonday and x/net (meant for a schedule)
	@mkdir -p build
	cp go.mod build/newest.mod && cp go.sum build/newest.sum
	$(GO) get -modfile=build/newest.mod github.com/yuin/goldmark@latest github.com/microcosm-cc/bluemonday@latest golang.org/x/net@latest
	$(GO) test -modfile=build/newest.mod ./iframe/... ./internal/frame/...

.PHONY: tools
tools: $(RUNNER) $(BIN)/wasm_exec node_modules testwasm wasitools ## build the runner, the build command and the starter tools, install the development packages
	@cd worker/tools && BROWSERTEST_ENGINE=chromium $(WASM) $(GO) test -count=1 -run '^TestStartUp$$' -v -exec $(RUNNER) . | grep -E 'start-up|FAIL|panic'

.PHONY: wasitools
wasitools: build/tools/tools.json ## build the starter tools, their catalogue and their notices into build/tools

# Made again when a source or the toolchain changes, and as long as a tool could not be built. git lists a deleted file too.
build/tools/tools.json: $(wildcard $(shell git ls-files worker/tools internal/userland)) $(wildcard $(shell $(GO) env GOROOT)/VERSION) $(if $(filter 4,$(words $(wildcard build/tools/sqlite3.wasm build/tools/awk.wasm build/tools/jq.wasm build/tools/git.wasm))),,again)
	@cd worker/tools && $(GO) run ./build

.PHONY: again
again:

.PHONY: wasisuite
wasisuite: $(RUNNER) $(SUM) ## fetch the programs of the wasi-testsuite and run them natively and in Chromium (WASISUITE=REPOSITORY for a mirror)
	internal/tools/wasisuite.sh $(WASISUITE)
	cd sandbox/command/native && $(GO) test -json -count=1 -timeout 30m -run '^TestWASISuite$$' . | $(SUM)
	BROWSERTEST_ENGINE=chromium $(WASM) $(GO) test -json -count=1 -timeout 30m -run '^TestWASISuite$$' -exec $(RUNNER) ./worker | $(SUM)

# C programs for the tests and benches of package worker, and one in Go.
TESTWASM := build/testwasm/probe.wasm build/testwasm/conform.wasm build/testwasm/paths.wasm build/testwasm/gowasi.wasm build/testwasm/gojs.wasm build/testwasm/wasm_exec.js

.PHONY: testwasm
testwasm: $(TESTWASM) ## build the WASI programs that the tests run

build/testwasm/gowasi.wasm: worker/testdata/gowasi/main.go
	@mkdir -p $(@D)
	GOOS=wasip1 GOARCH=wasm $(GO) build -trimpath -o $@ ./worker/testdata/gowasi

build/testwasm/gojs.wasm: worker/testdata/gowasi/main.go
	@mkdir -p $(@D)
	$(WASM) $(GO) build -trimpath -o $@ ./worker/testdata/gowasi

build/testwasm/wasm_exec.js: $(shell $(GO) env GOROOT)/lib/wasm/wasm_exec.js
	@mkdir -p $(@D)
	cp $< $@

build/testwasm/%.wasm: worker/testdata/%.c
	@mkdir -p $(@D)
	@test -e /usr/include/wasm32-wasi/wasi/api.h && command -v clang >/dev/null && command -v wasm-ld >/dev/null && command -v bison >/dev/null || \
	  { if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -qq; apt-get install -y -qq --no-install-recommends clang lld wasi-libc libclang-rt-dev-wasm32 bison; \
	  else echo "clang for WASI or bison is missing (Debian: apt-get install clang lld wasi-libc libclang-rt-dev-wasm32 bison)"; exit 1; fi; }
	clang --target=wasm32-wasi -O1 -Wall -Wno-unused -Wno-infinite-recursion -o $@ $<

.PHONY: $(RUNNER)
$(RUNNER):
	@mkdir -p $(BIN)
	cd browsertest && $(GO) build -o $@ ./cmd/browsertest

# The same target by its relative path, as a user types it.
.PHONY: .bin/browsertest
.bin/browsertest: $(RUNNER)

.PHONY: $(SUM)
$(SUM):
	@mkdir -p $(BIN)
	cd browsertest && $(GO) build -o $@ ./cmd/testsum

.PHONY: $(BIN)/wasm_exec
$(BIN)/wasm_exec:
	@mkdir -p $(BIN)
	$(GO) build -o $@ ./wasm_exec

# The npm packages are for development only: they check types, and are peers in
# the benches. Nothing of them is shipped.
node_modules: package.json package-lock.json
	@command -v npm >/dev/null || { if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get install -y -qq --no-install-recommends nodejs npm; \
	  else echo "npm is missing: install Node.js (Debian: apt-get install nodejs npm)"; exit 1; fi; }
	npm ci --no-audit --no-fund --silent
	@touch node_modules
