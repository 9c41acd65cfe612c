package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/needs"
)

// traces compiles the program of testdata/traces, and returns the module with neighbouring segments joined.
func traces(t testing.TB) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "main.wasm")
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-trimpath", "-o", out, "./testdata/traces")
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	module, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// runNode runs a module in Node, and returns what it prints and its exit code.
func runNode(t *testing.T, module []byte, args ...string) (string, int) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		needs.Missing(t, "no node: the program can't be run, and make node_modules installs it")
	}
	path := filepath.Join(t.TempDir(), "main.wasm")
	if err := os.WriteFile(path, module, 0o644); err != nil {
		t.Fatal(err)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, append([]string{"--stack-size=8192", filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec_node.js"), path}, args...)...)
	text, _ := cmd.CombinedOutput()
	return string(text), cmd.ProcessState.ExitCode()
}

// A program without the lines of traces does the same, and is a tenth smaller.
func TestWithoutLines(t *testing.T) {
	module := traces(t)
	with, err := shrink(bytes.Clone(module), true)
	if err != nil {
		t.Fatal(err)
	}
	without, err := shrink(bytes.Clone(module), false)
	if err != nil {
		t.Fatal(err)
	}
	if len(with) != len(without) {
		t.Errorf("%d and %d bytes: bytes are set to zero, not removed", len(with), len(without))
	}
	packed := func(b []byte) int {
		br, _, err := compressor{quality: fastBrotli}.forms(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		return len(br)
	}
	if a, b := packed(with), packed(without); b > a*93/100 {
		t.Errorf("%d bytes of brotli with lines, %d without", a, b)
	}
	want, code := runNode(t, with)
	got, code2 := runNode(t, without)
	if code != 0 || code2 != 0 || !strings.Contains(want, "frame main.outer") || !strings.Contains(want, "caller true true true\nstack true true\n") {
		t.Errorf("exit %d and %d: %s\n%s", code, code2, want, got)
	}
	if want = strings.Replace(want, "caller true true true\nstack true true\n", "caller false false true\nstack true false\n", 1); got != want {
		t.Errorf("without lines:\n%s\nwith:\n%s", got, want)
	}
	trace, code := runNode(t, without, "panic")
	if code != 2 || !strings.Contains(trace, "panic: the end") && !strings.Contains(trace, "panic: ") || !strings.Contains(trace, "main.main") || strings.Contains(trace, "main.go:") {
		t.Errorf("exit %d: %s", code, trace)
	}
}

// A module that is not as expected stays as it is, and no bytes of it make dropLines read beyond it.
func TestLinesOfOtherVersions(t *testing.T) {
	image := func() ([]byte, int) {
		module := traces(t)
		joined, err := shrink(module, true)
		if err != nil {
			t.Fatal(err)
		}
		segments := readSegments(t, joined)
		base := segments[0].at
		last := segments[len(segments)-1]
		mem := make([]byte, int(last.at-base)+len(last.data))
		for _, s := range segments {
			copy(mem[s.at-base:], s.data)
		}
		return mem, int(base)
	}
	mem, base := image()
	table, ok := findTable(mem, int64(base))
	if !ok {
		t.Fatal("no table in the memory of this version of Go")
	}
	at := bytes.Index(mem, []byte("\xf1\xff\xff\xff\x00\x00\x01\x08"))
	for name, change := range map[string]func(b []byte){
		"another version":       func(b []byte) { b[at] = 0xf2 },
		"no functions":          func(b []byte) { clear(b[at+8:][:8]) },
		"too many functions":    func(b []byte) { b[at+8+3] = 0xff },
		"a place far away":      func(b []byte) { b[at+8+8*7+6] = 1 },
		"a place of text":       func(b []byte) { b[at+8+8*2] = 1 },
		"tables out of order":   func(b []byte) { copy(b[at+8+8*3:][:8], b[at+8+8*5:][:8]) },
		"a function elsewhere":  func(b []byte) { b[table.list[3]]++ },
		"a name elsewhere":      func(b []byte) { b[table.list[3]+7] = 0x7f },
		"too many tables":       func(b []byte) { b[table.list[3]+28] = 0xff },
		"a table elsewhere":     func(b []byte) { b[table.list[3]+19] = 0x7f },
		"a second such header":  func(b []byte) { copy(b[(8-base&7)&7:], "\xf1\xff\xff\xff\x00\x00\x01\x08") },
		"cut off in the header": func(b []byte) { clear(b[at+8+8*6:][:8]) },
	} {
		changed := bytes.Clone(mem)
		change(changed)
		before := bytes.Clone(changed)
		if dropLines(changed, int64(base)) || !bytes.Equal(changed, before) {
			t.Errorf("%s: changed", name)
		}
	}
	for _, cut := range []int{0, at, at + 7, at + 8, at + headerSize - 1, at + headerSize, table.list[3], len(mem) - 1} {
		changed := bytes.Clone(mem[:cut])
		if cut < table.list[len(table.list)-1] && dropLines(changed, int64(base)) {
			t.Errorf("cut off at %d: changed", cut)
		}
	}
	if !dropLines(mem, int64(base)) {
		t.Error("the whole one is not changed")
	}
}
