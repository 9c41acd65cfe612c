package guests

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/iframe/markdown"
)

func TestLanguages(t *testing.T) {
	seen := map[string]bool{}
	for names := range strings.SplitSeq(core+"|"+more, "|") {
		for name := range strings.FieldsSeq(names) {
			if seen[name] {
				t.Errorf("%q is the name of two languages", name)
			}
			seen[name] = true
		}
	}
	for lang, want := range map[string]string{
		"go": "highlight.min.js", "golang": "highlight.min.js", "c++": "highlight.min.js", "docker": "highlight.min.js languages/dockerfile.min.js",
		"math": "temml.min.js", "": "", "g": "", "go golang": "", "|": "", "css|diff": "", "text": "", "mermaid": "mermaid.min.js", "../x": "",
	} {
		if got, _ := files(lang); got != want {
			t.Errorf("%q: %q, want %q", lang, got, want)
		}
	}
	if n := strings.Count(core+more, "|") + 2; n < 35 {
		t.Errorf("%d languages", n)
	}
}

// preloaded returns guests whose libraries are there, and whose enclave is run.
func preloaded(t *testing.T, run func(context.Context, string, any) (any, error)) *guests {
	g := &guests{ctx: t.Context(), run: run, scripts: map[string]string{}, waiting: map[string][]*job{}}
	g.scripts["highlight.min.js"], g.scripts["temml.min.js"] = "colours", "formulas"
	return g
}

// Sources that wait are drawn in one run. If a run fails, each source gets one of its own.
func TestBatches(t *testing.T) {
	begun, gate := make(chan int, 100), make(chan struct{})
	g := preloaded(t, func(_ context.Context, _ string, args any) (any, error) {
		list := args.([]any)
		begun <- len(list)
		<-gate
		out := make([]any, len(list))
		for i, a := range list {
			text := a.(map[string]any)["text"].(string)
			if text == "bad" {
				return nil, errors.New("killed")
			}
			out[i] = []any{"a", text}
		}
		return out, nil
	})
	results := make(chan string, 100)
	ask := func(text string) {
		d, err := g.draw(t.Context(), markdown.Source{Lang: "go", Text: text})
		if err != nil {
			results <- text + ": " + err.Error()
			return
		}
		results <- d.Spans[0].Text
	}
	go ask("first")
	<-begun
	for _, text := range []string{"one", "two", "bad", "three"} {
		go ask(text)
	}
	for waits := 0; waits < 4; { // until all wait for the library
		g.mu.Lock()
		waits = len(g.waiting["highlight.min.js"])
		g.mu.Unlock()
		runtime.Gosched()
	}
	close(gate)
	got := map[string]bool{}
	for range 5 {
		got[<-results] = true
	}
	if want := "map[bad: killed:true first:true one:true three:true two:true]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
	if n := <-begun; n != 4 {
		t.Errorf("%d sources in the second run, want 4", n)
	}
}

// The library is not trusted to return what it should.
func TestData(t *testing.T) {
	code, math, diagram := markdown.Source{Lang: "go", Text: "a"}, markdown.Source{Lang: "math", Text: "a"}, markdown.Source{Lang: "mermaid", Text: "a"}
	for _, data := range []any{nil, "", 1.5, true, []any{}, []any{"a"}, []any{1, "a"}, []any{"a", 1}, []any{"a", nil}, map[string]any{"a": 1}, []any{[]any{}, "a"}} {
		for _, s := range []markdown.Source{code, math, diagram} {
			if d, err := drawing(s, data); err == nil {
				t.Errorf("%v is the drawing %+v of %v", data, d, s)
			}
		}
	}
	if d, err := drawing(code, "<math></math>"); err == nil {
		t.Errorf("code is drawn as %+v", d)
	}
	for _, data := range []any{"text", []any{}, []any{nil, nil}, nil} {
		g := preloaded(t, func(context.Context, string, any) (any, error) { return data, nil })
		if d, err := g.draw(t.Context(), code); err == nil {
			t.Errorf("%v is the drawing %+v", data, d)
		}
	}
}

// A library that cannot be loaded is an error that says where it belongs.
func TestNoLibrary(t *testing.T) {
	_, err := Draw(t.Context(), "nowhere")(t.Context(), markdown.Source{Lang: "go", Text: "a"})
	if err == nil || !strings.Contains(err.Error(), "wasm_exec build copies it") {
		t.Errorf("%v", err)
	}
	if _, err := Draw(t.Context(), "")(t.Context(), markdown.Source{Lang: "brainfuck", Text: "a"}); err == nil || !strings.Contains(err.Error(), "nothing draws") {
		t.Errorf("%v", err)
	}
}
