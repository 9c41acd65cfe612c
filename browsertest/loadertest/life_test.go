package loadertest

import (
	"strings"
	"testing"
)

// main may return while its handlers and timers are alive. Calls of them then do nothing and report
// that once. They neither throw nor loop.
func TestMainReturnsWhileHandlersLive(t *testing.T) {
	p := open(t, site{script: run("main.wasm", "return")})
	p.until(`window.program && program.exitCode === 0`)
	if got := p.eval(`[left(), left(), left()]`); got != "[null,null,null]" && got != "[{},{},{}]" {
		t.Errorf("calls of a dead program gave %s", got)
	}
	p.eval(`new Promise((done) => setTimeout(done, 100))`) // the page's timers fire in order: the program's was due before
	if p.eval(`window.fired === undefined`) != "true" {
		t.Error("a timer of a dead program ran")
	}
	if n := strings.Count(p.said(), "has ended, but the page still calls"); n != 1 {
		t.Errorf("said %d times:\n%s", n, p.said())
	}
	if s := p.said(); strings.Contains(s, "already exited") || strings.Contains(s, "Uncaught") || strings.Contains(s, "missed timeout") {
		t.Errorf("a storm:\n%s", s)
	}
	if p.eval(`document.querySelector("bailey-loader") === null`) != "true" {
		t.Error("exit code 0 needs no card")
	}
}

func TestOutputOfAProgramThatExits(t *testing.T) {
	p := open(t, site{script: run("main.wasm", "exit")})
	p.until(`window.program`)
	if got := p.eval(`program.exited.then((e) => [e.code, e.stderr, e.error.kind])`); got != `[3,"last words","exit"]` {
		t.Errorf("exited gives %s", got)
	}
	p.heard("log: out of main.wasm")
	p.heard("error: last words") // although no newline ends it
}

// The ways in which a running program ends, the text for each, and the restart.
func TestFatalEndsOfferARestart(t *testing.T) {
	for _, c := range []struct{ call, kind, title string }{
		{"deep", "stack", "main.wasm ran out of stack"},
		{"nested", "stack", "main.wasm ran out of stack"},
		{"broken", "panic", "main.wasm stopped: panic: as asked"},
		{"hungry", "memory", "main.wasm ran out of memory"},
	} {
		t.Run(c.call, func(t *testing.T) {
			p := open(t, site{script: `import {start} from "./bailey.mjs"; window.program = await start({wasm: "main.wasm", args: ["later"]});
				window.first = program.exited;`})
			p.until(`window.program`)
			p.eval(`setTimeout(` + c.call + `), 1`) // as an event would
			if got := p.text(`first.then((e) => e.error.kind)`); got != c.kind {
				t.Errorf("kind is %q, want %q", got, c.kind)
			}
			title, fix, _ := p.failure()
			wants(t, "the title", title, c.title)
			wants(t, "the advice", fix, "restart it")
			if got := p.text(card + `.querySelector(".main").textContent`); got != "Restart" {
				t.Errorf("the button says %q", got)
			}
			p.shot("fatal-" + c.call)
			p.eval(card + `.querySelector(".main").click()`)
			p.until(`program.running`)
			if p.eval(`document.querySelector("bailey-loader") === null`) != "true" {
				t.Error("the card stays after the restart")
			}
			p.eval(`fine(), 1`) // the new program's own function
			if got := p.eval(`program.exited.then((e) => e.code)`); got != "0" {
				t.Errorf("after the restart the program ends with %s", got)
			}
			if strings.Contains(p.said(), "Uncaught") {
				t.Errorf("uncaught:\n%s", p.said())
			}
		})
	}
}

func TestRestartOfARunningProgramIsRefused(t *testing.T) {
	p := open(t, site{script: run("main.wasm", "hello")})
	p.until(`window.program`)
	if got := p.text(`program.restart().then(() => "restarted", (e) => e.message)`); got != "main.wasm is still running" {
		t.Errorf("got %q", got)
	}
}

// The other program of the page continues.
func TestOneProgramsEndIsNotAnothers(t *testing.T) {
	p := open(t, site{script: `import {start} from "./bailey.mjs";
		window.b = await start({wasm: "other.wasm", args: ["hello"]});
		window.a = await start({wasm: "main.wasm", args: ["panic"]});`})
	title, _, _ := p.failure()
	wants(t, "the title", title, "main.wasm stopped")
	if p.eval(`b.running && !a.running && b.stderr === ""`) != "true" {
		t.Error("the second program was touched")
	}
}

// The keyboard reaches the buttons of the card, and Dismiss removes it.
func TestCardByKeyboard(t *testing.T) {
	p := open(t, site{script: run("main.wasm", "panic")})
	p.failure()
	var stops []string
	for range 3 {
		p.must(p.Press(p.ctx, "Tab"))
		stops = append(stops, p.text(`document.activeElement.shadowRoot?.activeElement?.className ?? ""`))
	}
	if got := strings.Join(stops, ", "); got != "details, button main, button" {
		t.Errorf("Tab stops at %s", got)
	}
	p.must(p.Press(p.ctx, "Enter"))
	p.until(`document.querySelector("bailey-loader") === null`)
}

// An app may give the card a place and colours of its own.
func TestMountAndTheme(t *testing.T) {
	p := open(t, site{csp: strict + "; style-src 'self'", html: `<link rel="stylesheet" href="app.css"><div id="here"></div>
		<script src="bailey.js" data-wasm="none.wasm" data-mount="#here"></script>`, answer: css(`bailey-loader { --bailey-background: rgb(1, 2, 3) }
		bailey-loader::part(title) { color: rgb(4, 5, 6) }`)})
	p.until(`document.querySelector("#here > bailey-loader")`)
	if got := p.text(`getComputedStyle(` + card + `).backgroundColor`); got != "rgb(1, 2, 3)" {
		t.Errorf("background %s", got)
	}
	if got := p.text(`getComputedStyle(` + card + `.querySelector("h2")).color`); got != "rgb(4, 5, 6)" {
		t.Errorf("title %s", got)
	}
	if got := p.text(`getComputedStyle(document.querySelector("bailey-loader")).position`); got != "static" {
		t.Errorf("a mounted card is %s", got)
	}
}
