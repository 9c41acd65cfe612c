package loadertest

import (
	"compress/gzip"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

func TestScriptTagUnderTheStrictestPolicy(t *testing.T) {
	p := open(t, site{})
	p.until(`document.body.dataset.said !== undefined`)
	if s := p.said(); s != "" {
		t.Errorf("a good start says nothing, but the console has:\n%s", s)
	}
	if p.eval(`document.querySelector("bailey-loader") === null`) != "true" {
		t.Error("a quick start shows no card")
	}
	if got := p.eval(`bailey.programs.length`); got != "1" {
		t.Errorf("bailey.programs has %s entries", got)
	}
}

func TestModuleWithArgumentsAndEnvironment(t *testing.T) {
	p := open(t, site{script: `import {start} from "./bailey.mjs";
		window.calls = [];
		window.program = await start({wasm: "main.wasm", args: ["hello", "you"], env: {WHO: "there"},
			onProgress: (loaded, total) => calls.push([loaded, total])});`})
	p.until(`window.program`)
	if got := p.text(`document.body.dataset.said`); got != "hello you there" {
		t.Errorf("the program saw %q", got)
	}
	if p.eval(`program.running && program.exitCode === undefined`) != "true" {
		t.Error("the program should be running")
	}
	if p.eval(`calls.length > 1 && calls.every(([l, t], i) => t > 0 && l <= t && (i === 0 || l >= calls[i-1][0])) && calls.at(-1)[0] === calls.at(-1)[1]`) != "true" {
		t.Errorf("progress does not rise to its total: %s", p.eval("calls"))
	}
}

func TestTwoProgramsShareOnePage(t *testing.T) {
	p := open(t, site{script: `import {start} from "./bailey.mjs";
		const [a, b] = await Promise.all([start({wasm: "main.wasm", args: ["lines", "first"]}), start({wasm: "other.wasm", args: ["lines", "second"]})]);
		window.codes = await Promise.all([a.exited, b.exited]);`})
	p.until(`window.codes`)
	if got := p.eval(`codes.map((c) => c.code)`); got != "[0,0]" {
		t.Errorf("exit codes %s", got)
	}
	p.heard("second line 4")
	p.heard("first line 4")
	for i := range 5 {
		wants(t, "the console", p.said(), fmt.Sprintf("log: first line %d", i), fmt.Sprintf("log: second line %d", i))
	}
	loads := 0
	for _, path := range p.asked {
		if strings.Contains(path, "wasm_exec") {
			loads++
		}
	}
	if loads != 1 {
		t.Errorf("wasm_exec.js was loaded %d times", loads)
	}
}

func TestTheSameTagTwice(t *testing.T) {
	p := open(t, site{html: `<script src="bailey.js" data-wasm="main.wasm"></script><script src="bailey.js" data-wasm="other.wasm"></script>`})
	p.until(`bailey.programs.length === 2`)
	if got := p.eval(`Promise.all(bailey.programs).then((ps) => ps.map((p) => p.running + p.name))`); got != `["truemain.wasm","trueother.wasm"]` {
		t.Errorf("got %s", got)
	}
}

func TestWithoutManifest(t *testing.T) {
	p := open(t, site{html: `<script src="bailey.js" data-wasm="plain.wasm" data-manifest="none"></script>`,
		answer: plain(t, func(w http.ResponseWriter, r *http.Request, data []byte) {
			w.Header().Set("Content-Type", "application/wasm")
			w.Write(data)
		})})
	p.until(`document.body.dataset.said !== undefined`)
	if s := p.said(); s != "" {
		t.Errorf("console: %s", s)
	}
}

// inPieces sends data in the given number of pieces, compressed or not, and flushes each. After piece number stop,
// counted from 1, it continues when hold is closed, or ends if the page has ended the request. So the state in
// between does not depend on the speed of the machine. With a nil hold it never continues, and with a stop of 0 it
// does not stop.
func inPieces(w http.ResponseWriter, r *http.Request, data []byte, pieces int, gz bool, stop int, hold <-chan struct{}) {
	w.Header().Set("Content-Type", "application/wasm")
	var write func([]byte)
	flush := w.(http.Flusher).Flush
	if gz {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		defer z.Close()
		write = func(b []byte) { z.Write(b); z.Flush(); flush() }
	} else {
		w.Header().Set("Content-Length", strconv.Itoa(len(data)))
		write = func(b []byte) { w.Write(b); flush() }
	}
	size := len(data)/pieces + 1
	for i := 1; len(data) > 0; i++ {
		n := min(size, len(data))
		write(data[:n])
		data = data[n:]
		if i != stop {
			continue
		}
		select {
		case <-hold:
		case <-r.Context().Done():
			return
		}
	}
}

// The bar must be correct even if the compressed bytes are fewer than the bytes of the program, and appear only if a
// start takes long.
func TestProgressIsRightUnderCompression(t *testing.T) {
	_, data := binary(t, "main.*.wasm")
	for _, dark := range []bool{false, true} {
		hold := make(chan struct{})
		p := open(t, site{dark: dark, answer: func(w http.ResponseWriter, r *http.Request) bool {
			if !isWasm(r) {
				return false
			}
			inPieces(w, r, data, 10, true, 5, hold)
			return true
		}})
		p.until(card)
		if ms := p.eval(`performance.now() > 150`); ms != "true" {
			t.Error("the bar appeared before 150 ms")
		}
		bar := card + `.querySelector("[role=progressbar]")`
		p.until(bar + `.getAttribute("aria-valuenow") >= 40`)
		if got := p.eval(`+` + bar + `.getAttribute("aria-valuenow") <= 60`); got != "true" {
			t.Errorf("after five of ten pieces the bar says %s", p.text(bar+`.getAttribute("aria-valuenow")`))
		}
		if got := p.text(bar + `.getAttribute("aria-label")`); got != "Loading main.wasm" {
			t.Errorf("the bar's name is %q", got)
		}
		p.shot("progress-" + map[bool]string{false: "light", true: "dark"}[dark])
		close(hold)
		p.until(`document.body.dataset.said !== undefined`)
		p.until(`document.querySelector("bailey-loader") === null`)
	}
}

// Without a known size the bar shows no progress.
func TestProgressOfUnknownSize(t *testing.T) {
	hold := make(chan struct{})
	p := open(t, site{html: `<script src="bailey.js" data-wasm="plain.wasm" data-manifest="none"></script>`,
		answer: plain(t, func(w http.ResponseWriter, r *http.Request, data []byte) {
			inPieces(w, r, data, 8, true, 4, hold)
		})})
	p.until(card + `?.classList.contains("wait")`)
	p.until(card + `?.querySelector(".percent").textContent.endsWith("MB")`)
	if got := p.eval(card + `.querySelector("[role=progressbar]").hasAttribute("aria-valuenow")`); got != "false" {
		t.Error("a bar of unknown size must not claim a value")
	}
	p.shot("progress-unknown")
	close(hold)
	p.until(`document.body.dataset.said !== undefined`)
}

// An uncompressed answer has a correct Content-Length, so no manifest is needed.
func TestProgressByContentLength(t *testing.T) {
	_, data := binary(t, "main.*.wasm")
	p := open(t, site{script: `import {start} from "./bailey.mjs"; window.calls = [];
		window.p = await start({wasm: "plain.wasm", manifest: false, onProgress: (...c) => calls.push(c)});`,
		answer: plain(t, func(w http.ResponseWriter, r *http.Request, data []byte) {
			inPieces(w, r, data, 4, false, 0, nil)
		})})
	p.until(`window.p`)
	if got := p.eval(fmt.Sprintf(`calls.every((c) => c[1] === %d)`, len(data))); got != "true" {
		t.Errorf("totals: %s, want %d", p.eval(`calls`), len(data))
	}
}

// A new build that is deployed between the requests for the manifest and the binary is found by one further request.
func TestDeployedInBetween(t *testing.T) {
	name, _ := binary(t, "main.*.wasm")
	manifests := 0
	p := open(t, site{answer: func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/manifest.json" {
			return false
		}
		if manifests++; manifests == 1 {
			fmt.Fprintf(w, `{"version":1,"files":{"main.wasm":{"path":"main.0000000000000000.wasm","size":5,"exec":"%s"}}}`,
				strings.TrimPrefix(execName(t), "/"))
			return true
		}
		return false
	}})
	p.until(`document.body.dataset.said !== undefined`)
	if manifests != 2 {
		t.Errorf("the manifest was read %d times (binary %s)", manifests, name)
	}
}

func execName(t *testing.T) string {
	name, _ := binary(t, "wasm_exec.*.js")
	return name
}

func TestAbortWhileLoading(t *testing.T) {
	_, data := binary(t, "main.*.wasm")
	p := open(t, site{script: `import {start} from "./bailey.mjs";
		const c = new AbortController();
		setTimeout(() => c.abort(new Error("enough")), 300);
		await start({wasm: "main.wasm", signal: c.signal}).catch((e) => { window.why = e.message; });`,
		answer: func(w http.ResponseWriter, r *http.Request) bool {
			if !isWasm(r) {
				return false
			}
			inPieces(w, r, data, 20, false, 1, nil)
			return true
		}})
	p.until(`window.why`)
	if got := p.text(`window.why`); got != "enough" {
		t.Errorf("start was rejected with %q, not with the signal's reason", got)
	}
	if p.eval(`document.querySelector("bailey-loader") === null`) != "true" {
		t.Error("an abort leaves no card")
	}
}
