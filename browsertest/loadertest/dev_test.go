package loadertest

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/browsertest/internal/poll"
)

const devProgram = `package main

import "syscall/js"

func main() {
	js.Global().Get("document").Call("getElementById", "app").Set("textContent", word())
	select {}
}
`

// devTab starts wasm_exec dev for a new program, with the page's own policy, and opens its page.
func devTab(t *testing.T) (p *tab, write func(name, text string)) {
	t.Helper()
	dir := t.TempDir()
	write = func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.com/app\n\ngo 1.26\n")
	write("main.go", devProgram)
	write("word.go", "package main\n\nfunc word() string { return \"one\" }\n")
	write("web/index.html", `<!doctype html><meta name="color-scheme" content="light dark"><title>App</title><link rel="stylesheet" href="style.css">`+
		`<main id="app"></main><script src="bailey.js" data-wasm="main.wasm"></script>`)
	write("web/style.css", "main { color: rgb(1, 2, 3) }")

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute) // ends only a test that has failed
	t.Cleanup(cancel)
	server, stop := context.WithCancel(ctx)
	cmd := exec.CommandContext(server, filepath.Join(filepath.Dir(built), "wasm_exec"), "dev", "-addr", "127.0.0.1:0", "-o", filepath.Join(t.TempDir(), "out"), dir)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() != 0 {
			t.Errorf("dev ended with: %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url, _, _ := strings.Cut(line, " ")
	p = &tab{t: t, ctx: ctx, url: url}
	p.show()
	p.must(p.Viewport(ctx, 720, 420, 1))
	p.eval(`location.href = ` + quote(url))
	return p, write
}

// holds waits for an expression, also over a navigation of the page.
func (p *tab) holds(expression string) {
	p.t.Helper()
	poll.Until(p.t, expression, func() bool {
		got, err := p.Eval(p.ctx, expression)
		return err == nil && string(got) == "true"
	}, p.said)
}

const devCard = `document.querySelector("bailey-dev")?.shadowRoot.querySelector(".card")`

// The page opens by itself after the first build, and loads again after each change. An error shows
// above the page, with file, line and source, until the next build that succeeds.
func TestDevReloadsAndShowsErrors(t *testing.T) {
	p, write := devTab(t)
	shows := func(text string) {
		t.Helper()
		p.holds(`document.getElementById("app")?.textContent === "` + text + `"`)
	}
	shows("one")
	p.holds(devCard + ` === undefined`)
	write("word.go", "package main\n\nfunc word() string { return \"two\" }\n")
	shows("two")
	write("web/style.css", "main { color: rgb(4, 5, 6) }")
	p.holds(`getComputedStyle(document.getElementById("app")).color === "rgb(4, 5, 6)"`)
	shows("two") // else the error below could come before this document has its program

	write("word.go", "package main\n\nfunc word() string {\n\treturn 1\n}\n")
	p.holds(devCard + `?.querySelector("h2")?.textContent.endsWith("word.go:4:9") === true`)
	if got := p.text(devCard + `.querySelector(".here").textContent`); !strings.Contains(got, "    4      return 1") {
		t.Errorf("the line: %q", got)
	}
	if got := p.text(devCard + `.querySelector("p").textContent`); !strings.Contains(got, "cannot use 1") {
		t.Errorf("the error: %q", got)
	}
	if got := p.text(`document.getElementById("app").textContent`); got != "two" {
		t.Errorf("the page below the error shows %q", got)
	}
	p.shot("dev-error")
	// A document that is opened now shows the error, and then the page.
	p.eval(`location.reload()`)
	p.holds(`document.getElementById("app") === null`)
	p.holds(devCard + `?.querySelector("h2")?.textContent.endsWith("word.go:4:9") === true`)
	p.shot("dev-first-error")
	write("word.go", "package main\n\nfunc word() string { return \"three\" }\n")
	shows("three")
	p.holds(devCard + ` === undefined`)
	if s := p.said(); strings.Contains(s, "Content Security Policy") || strings.Contains(s, "Uncaught") {
		t.Errorf("on the console:\n%s", s)
	}
}
