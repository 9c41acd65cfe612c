package loadertest

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Each way in which a start can fail, with the text for the user and for the console.
func TestFailures(t *testing.T) {
	_, good := binary(t, "main.*.wasm")
	_, exec := binary(t, "wasm_exec.*.js")
	serveWasm := func(send func(w http.ResponseWriter, r *http.Request)) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if isWasm(r) {
				send(w, r)
			}
			return isWasm(r)
		}
	}
	typed := func(data []byte) func(http.ResponseWriter, *http.Request) bool {
		return serveWasm(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/wasm")
			w.Write(data)
		})
	}
	plain := `<script src="bailey.js" data-wasm="p.wasm" data-manifest="none" data-exec="` + strings.TrimPrefix(execName(t), "/") + `"></script>`
	for _, c := range []struct {
		name    string
		site    site
		title   []string
		fix     string
		details string
	}{
		{"missing", site{html: plain}, []string{"answered 404 for", "/p.wasm"}, "relative to the page", ""},
		{"server-error", site{answer: serveWasm(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(503) })},
			[]string{"answered 503"}, "server's log", ""},
		{"html", site{answer: serveWasm(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<!doctype html><title>app</title>")
		})}, []string{"is not a WebAssembly binary: it looks like an HTML page"}, "correct the path", "<!doctype html>"},
		{"gzip-without-encoding", site{answer: typed([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00"))},
			[]string{"it looks like gzip without its Content-Encoding"}, "what the server sends", ""},
		{"empty", site{answer: typed(nil)}, []string{"is not a WebAssembly binary"}, "Build the program again", ""},
		{"future-version", site{answer: typed([]byte("\x00asm\x02\x00\x00\x00"))}, []string{"is not a WebAssembly binary"}, "", ""},
		{"truncated", site{answer: typed(good[:len(good)/2])},
			[]string{fmt.Sprintf("Only %d of %d bytes", len(good)/2, len(good))}, "Load the page again", ""},
		{"cut", site{answer: serveWasm(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/wasm")
			w.Header().Set("Content-Length", fmt.Sprint(len(good)))
			w.Write(good[:1000])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		})}, []string{"No answer from the server"}, "server runs", ""},
		{"corrupt", site{answer: typed(append(bytes.Clone(good[:8]), bytes.Repeat([]byte{0xff}, len(good)-8)...))},
			[]string{"does not compile"}, "build and deploy again", "CompileError"},
		{"other-go-version", site{answer: func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != execName(t) {
				return false
			}
			w.Header().Set("Content-Type", "text/javascript")
			w.Write(replaceIn(exec, "runtime.getRandomData", "runtime.olderName"))
			return true
		}}, []string{"main.wasm and wasm_exec.js come from different versions of Go"}, "toolchain that built the binary", "missing: gojs runtime.getRandomData"},
		// (module (import "wasi_snapshot_preview1" "proc_exit" (func (param i32))))
		{"wasi", site{answer: typed([]byte("\x00asm\x01\x00\x00\x00\x01\x05\x01\x60\x01\x7f\x00\x02\x24\x01\x16wasi_snapshot_preview1\x09proc_exit\x00\x00"))},
			[]string{"was not built by Go for the browser"}, "GOOS=js GOARCH=wasm", "wasi_snapshot_preview1"},
		{"exec-missing", site{html: strings.ReplaceAll(plain, `data-exec="`, `data-exec="no-`), answer: typed(good)},
			[]string{"no-wasm_exec", "did not load"}, "text/javascript", ""},
		{"exec-not-go", site{html: `<script src="bailey.js" data-wasm="p.wasm" data-manifest="none" data-exec="e.js"></script>`,
			answer: func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/e.js" {
					w.Header().Set("Content-Type", "text/javascript")
					fmt.Fprint(w, "globalThis.something = 1")
					return true
				}
				return typed(good)(w, r)
			}}, []string{"is not Go's wasm_exec.js"}, "GOROOT/lib/wasm", ""},
		{"csp-wasm", site{csp: "default-src 'none'; script-src 'self'; connect-src 'self'"},
			[]string{"Content-Security-Policy blocks WebAssembly: script-src"}, "Add 'wasm-unsafe-eval' to script-src", "script-src 'self'"},
		{"csp-connect", site{csp: "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'"},
			[]string{"Content-Security-Policy blocks", "manifest.json: connect-src"}, "Add 'self' to connect-src", ""},
		{"csp-script", site{csp: "default-src 'none'; script-src 'wasm-unsafe-eval' http://127.0.0.1:*/bailey.js; connect-src 'self'"},
			[]string{"Content-Security-Policy blocks", "wasm_exec", "script-src"}, "Add 'self' to script-src", ""},
		{"unreachable", site{answer: serveWasm(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })},
			[]string{"No answer from the server for", ".wasm"}, "server runs", "TypeError"},
		{"panic", site{script: run("main.wasm", "panic")},
			[]string{"main.wasm stopped: panic: assignment to entry in nil map"}, "restart it", "goroutine 1 [running]"},
		{"exit-code", site{script: run("main.wasm", "exit")},
			[]string{"main.wasm ended with exit code 3"}, "last words", "last words"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := open(t, c.site)
			title, fix, details := p.failure()
			wants(t, "the title", title, c.title...)
			wants(t, "the advice", fix, c.fix)
			wants(t, "the details", details, c.details)
			p.heard("bailey: " + title)
			if got := p.text(card + `.getAttribute("role")`); got != "alert" {
				t.Errorf("the card's role is %q", got)
			}
			p.shot("failure-" + c.name)
			if c.name == "csp-wasm" || c.name == "panic" {
				p.must(p.Media(p.ctx, map[string]string{"prefers-color-scheme": "dark"}))
				p.shot("failure-" + c.name + "-dark")
			}
			for _, line := range strings.Split(p.said(), "\n") {
				if strings.Contains(line, "Uncaught") {
					t.Errorf("uncaught: %s", line)
				}
			}
		})
	}
}

// run returns a module that runs a program with arguments, and keeps it in window.program.
func run(wasm string, args ...string) string {
	return fmt.Sprintf(`import {start} from "./bailey.mjs"; window.program = await start({wasm: %q, args: %s});`, wasm, list(args))
}

func list(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = quote(a)
	}
	return "[" + strings.Join(quoted, ",") + "]"
}

func TestOffline(t *testing.T) {
	p := open(t, site{html: `<script src="bailey.js"></script>`})
	// navigator.onLine follows the network of the machine. Here it is set to false.
	p.eval(`Object.defineProperty(navigator, "onLine", {get: () => false})`)
	p.eval(`window.fetch = () => Promise.reject(new TypeError("Failed to fetch")), bailey.start({wasm: "main.wasm"}).catch(() => 0), 1`)
	title, fix, _ := p.failure()
	wants(t, "the title", title, "offline")
	wants(t, "the advice", fix, "Connect")
	p.shot("failure-offline")
}

func TestWithoutWebAssembly(t *testing.T) {
	p := open(t, site{html: `<script src="bailey.js"></script>`})
	p.eval(`delete window.WebAssembly, bailey.start({wasm: "main.wasm"}).catch(() => 0), 1`)
	title, _, _ := p.failure()
	wants(t, "the title", title, "does not run WebAssembly")
}

// A wrong content type costs time, but the program starts. It is reported once.
func TestWrongTypeFallsBack(t *testing.T) {
	p := open(t, site{script: `import {start} from "./bailey.mjs";
		await start({wasm: "main.wasm"}); await start({wasm: "other.wasm"}); window.both = true;`,
		answer: func(w http.ResponseWriter, r *http.Request) bool {
			if isWasm(r) {
				w.Header().Set("Content-Type", "application/octet-stream")
			}
			return false
		}})
	p.until(`window.both`)
	if n := strings.Count(p.said(), "is sent as application/octet-stream"); n != 1 {
		t.Errorf("warned %d times:\n%s", n, p.said())
	}
}

// An app that shows its own messages receives the error, and no card is shown.
func TestWithoutPanel(t *testing.T) {
	p := open(t, site{script: `import {start, ProgramError} from "./bailey.mjs";
		await start({wasm: "none.wasm", panel: false}).catch((e) => { window.e = [e instanceof ProgramError, e.kind, e.fix]; });`})
	p.until(`window.e`)
	if got := p.eval(`e`); !strings.HasPrefix(got, `[true,"http","Build`) {
		t.Errorf("got %s", got)
	}
	p.eval(`new Promise((done) => setTimeout(done, 200))`) // the page's timers fire in order: the bar's would be earlier
	if p.eval(`document.querySelector("bailey-loader") === null`) != "true" {
		t.Error("panel: false still shows a card")
	}
}
