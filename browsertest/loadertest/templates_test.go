package loadertest

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// templateTab writes a template with wasm_exec init into a user's module, serves it with dev, and opens it.
func templateTab(t *testing.T, template string) *tab {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "my app")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod": "module example.org/app\n\ngo 1.26\n\nrequire github.com/bailey-go/bailey v0.0.0\n\nreplace github.com/bailey-go/bailey => " + root + "\n",
		"go.sum": string(sum),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute) // ends only a test that has failed
	t.Cleanup(cancel)
	tool := filepath.Join(filepath.Dir(built), "wasm_exec")
	if err := command(ctx, dir, tool, "init", "-template", template, "."); err != nil {
		t.Fatal(err)
	}
	if err := command(ctx, dir, "go", "mod", "tidy"); err != nil {
		t.Fatal(err)
	}
	server, stop := context.WithCancel(ctx)
	cmd := exec.CommandContext(server, tool, "dev", "-addr", "127.0.0.1:0", "-o", filepath.Join(t.TempDir(), "out"), ".")
	cmd.Dir = dir
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
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url, _, _ := strings.Cut(line, " ")
	p := &tab{t: t, ctx: ctx, url: url}
	p.show()
	p.must(p.Viewport(ctx, 1024, 640, 1))
	p.eval(`location.href = ` + quote(url))
	p.holds(`document.getElementById("send")?.disabled === false`)
	return p
}

// say sends a message by the page's form.
func (p *tab) say(text string) {
	p.t.Helper()
	p.eval(`document.getElementById("text").value = ` + quote(text) + `; document.getElementById("form").requestSubmit()`)
}

// clean fails the test if the page has logged an error. Its own policy blocks nothing that it does.
func (p *tab) clean() {
	p.t.Helper()
	for line := range strings.Lines(p.said()) {
		if strings.HasPrefix(line, "error") || strings.Contains(line, "Content Security Policy") {
			p.t.Errorf("the console: %s", strings.TrimSpace(line))
		}
	}
}

// look writes a picture of the page to the folder in the variable TEMPLATE_PICTURES.
func (p *tab) look(name string) {
	p.t.Helper()
	dir := os.Getenv("TEMPLATE_PICTURES")
	if dir == "" {
		return
	}
	for _, scheme := range []string{"light", "dark"} {
		p.must(p.Media(p.ctx, map[string]string{"prefers-color-scheme": scheme}))
		for _, width := range []int{1024, 390} {
			p.must(p.Viewport(p.ctx, width, 640, 1))
			picture, err := p.Screenshot(p.ctx)
			p.must(err)
			p.must(os.WriteFile(filepath.Join(dir, name+"-"+scheme+"-"+strconv.Itoa(width)+".png"), picture, 0o644))
		}
	}
}

// The agent of the template asks before it writes a file. A declined write leaves none.
func TestTemplateAgent(t *testing.T) {
	p := templateTab(t, "agent")
	const file = `(await (await (await (await navigator.storage.getDirectory()).getDirectoryHandle("files")).getFileHandle("a.txt")).getFile()).text()`
	written := func() string {
		return p.text(`(async () => { try { return await ` + file + ` } catch { return "none" } })()`)
	}
	for _, answer := range []struct{ button, want string }{{"no", "none"}, {"yes", "hello"}} {
		p.say("write hello into a.txt")
		p.holds(`document.getElementById("ask").open`)
		if title := p.text(`document.getElementById("title").textContent`); title != "May the assistant write the new file a.txt?" {
			t.Errorf("the question: %q", title)
		}
		if diff := p.text(`document.getElementById("diff").textContent`); !strings.Contains(diff, "+hello") {
			t.Errorf("the difference: %q", diff)
		}
		if got := written(); got != "none" {
			t.Errorf("before the answer the file is %q", got)
		}
		p.look("agent-" + answer.button)
		height := p.eval(`document.querySelector("#app iframe").getBoundingClientRect().height`)
		p.eval(`document.getElementById("` + answer.button + `").click()`)
		p.holds(`!document.getElementById("ask").open && document.querySelector("#app iframe").getBoundingClientRect().height > ` + height)
		if got := strings.TrimSpace(written()); got != answer.want {
			t.Errorf("after %q the file is %q", answer.button, got)
		}
	}
	p.clean()
}

// The chat of the template answers, and stays at its end.
func TestTemplateChat(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds one more page: make e2e")
	}
	p := templateTab(t, "chat")
	for range 12 {
		height := p.eval(`document.querySelector("#app iframe").getBoundingClientRect().height`)
		p.say("What is *this*?\n\nA text of some lines.")
		p.holds(`document.querySelector("#app iframe").getBoundingClientRect().height > ` + height + ` + 120`)
	}
	p.holds(`(() => { const m = document.getElementById("app"); return m.scrollHeight > m.clientHeight + 200 && m.scrollTop + m.clientHeight > m.scrollHeight - 2 })()`)
	p.look("chat")
	p.clean()
}
