package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestColdFlags(t *testing.T) {
	for text, want := range map[string]string{
		"":                 "",
		"a/..., b,!a/draw": "-gcflags=a/...=-l -gcflags=b=-l -gcflags=a/draw=",
		"std !runtime":     "-gcflags=std=-l -gcflags=runtime=",
		"a=-N":             "error", "!": "error", "-x": "error", "!!a": "error", "a,!-x": "error",
	} {
		got, err := coldFlags(text)
		if joined := strings.Join(got, " "); (err != nil) != (want == "error") || err == nil && joined != want {
			t.Errorf("%q: %q, %v", text, joined, err)
		}
	}
	if got, _ := coldFlags("a,b"); !slices.Equal(got, []string{"-gcflags=a=-l", "-gcflags=b=-l"}) {
		t.Errorf("the order is lost: %q", got)
	}
}

// A program whose packages are cold is another one, and does the same. How much smaller it is depends on the program.
func TestColdBuild(t *testing.T) {
	build := func(cold string) []byte {
		p, err := findProgram(t.Context(), "./testdata/traces", "")
		if err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), "main.wasm")
		var said bytes.Buffer
		if err := p.compile(t.Context(), buildOptions{cold: cold}, out, &said); err != nil {
			t.Fatalf("%v: %s", err, &said)
		}
		module, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return module
	}
	hot, cold := build(""), build("fmt,strings,time,reflect,github.com/bailey-go/bailey/wasm_exec/testdata/...")
	if bytes.Equal(hot, cold) {
		t.Error("the flags change nothing")
	}
	want, _ := runNode(t, hot)
	if got, code := runNode(t, cold); code != 0 || strings.Count(got, "recovered:") != strings.Count(want, "recovered:") {
		t.Errorf("exit %d: %s", code, got)
	}
}
