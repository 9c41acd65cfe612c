package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseSize(t *testing.T) {
	for s, want := range map[string]int64{"0": 0, "12": 12, "12B": 12, "1250KB": 1_250_000, "1.25 MB": 1_250_000, "1mb": 1_000_000} {
		if got, err := parseSize(s); err != nil || got != want {
			t.Errorf("%q: %d %v, want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", "KB", "-1", "1GB", "1 KiB", "NaN", "1e300MB", "many"} {
		if n, err := parseSize(s); err == nil {
			t.Errorf("%q passes as %d", s, n)
		}
	}
}

// The budget is exact to the byte. Old builds and second copies do not count.
func TestSizeBudget(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "app")
	m := mustBuild(t, "testdata/pages", dir, "main")
	var out bytes.Buffer
	size := func(args ...string) error {
		out.Reset()
		return run(context.Background(), append([]string{"size"}, args...), &out, io.Discard)
	}
	if err := size(dir); err != nil {
		t.Fatal(err)
	}
	want := int64(0)
	for _, f := range m.Files {
		want += f.Brotli
	}
	for _, name := range []string{"app.css.br", "img/a.png", "index.html.br", manifestName} {
		st, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		want += st.Size()
	}
	if !strings.Contains(out.String(), fmt.Sprintf("%10d  %s\n", want, filepath.ToSlash(dir))) {
		t.Errorf("the total is not %d:\n%s", want, out.String())
	}
	for off, ok := range map[int64]bool{-1: false, 0: true, 1: true} {
		if err := size(dir, "-max", fmt.Sprint(want+off)); (err == nil) != ok {
			t.Errorf("a budget %+d bytes from the size: %v", off, err)
		}
		budgets := filepath.Join(root, "budgets.json")
		if err := os.WriteFile(budgets, []byte(fmt.Sprintf(`{"app": "%dB"}`, want+off)), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := size(root, "-budgets", budgets); (err == nil) != ok {
			t.Errorf("a budget file %+d bytes from the size: %v", off, err)
		}
	}
	if err := size(root); err == nil || !strings.Contains(err.Error(), "holds no build") {
		t.Errorf("a folder without a build: %v", err)
	}
}
