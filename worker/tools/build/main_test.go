package main

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// contents returns the files of a folder.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range list {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(data)
	}
	return all
}

// Tests and pages read the tools while another process makes them again. Until all are made, the
// folder keeps those of before.
func TestToolsAreReplacedAtTheEnd(t *testing.T) {
	out := filepath.Join(t.TempDir(), "tools")
	old := time.Now().Add(-time.Hour)
	build := func(text, fails string) error {
		before := map[string]string{}
		if _, err := os.Stat(out); err == nil {
			before = contents(t, out)
		}
		return run(out, func(name, file string, _ *notices) error {
			if st, err := os.Stat(file); before[name+".wasm"] != "" && (err != nil || !st.ModTime().Equal(old)) {
				t.Errorf("%s: the one of before, which may be new enough, is not there: %v", name, err)
			}
			if name == fails {
				return errors.New("it fails")
			}
			if err := os.WriteFile(file, []byte(name+" "+text), 0o644); err != nil {
				return err
			}
			if now := contents(t, out); !maps.Equal(now, before) {
				t.Errorf("while %s is made, the folder has %q, not %q", name, slices.Sorted(maps.Values(now)), slices.Sorted(maps.Values(before)))
			}
			return nil
		})
	}
	age := func() {
		for name := range contents(t, out) {
			if err := os.Chtimes(filepath.Join(out, name), old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, text := range []string{"one", "two"} {
		if err := build(text, ""); err != nil {
			t.Fatal(err)
		}
		got := contents(t, out)
		if got["core.wasm"] != "core "+text || got["sqlite3.wasm"] == "" || got["core.wasm.br"] == "" || got["NOTICES.txt"] == "" || !strings.Contains(got["tools.json"], `"sqlite3"`) {
			t.Errorf("%q", got)
		}
		age()
	}
	whole := contents(t, out)
	if err := build("three", "web"); err == nil || !maps.Equal(contents(t, out), whole) {
		t.Errorf("after an error (%v) the folder has %q", err, contents(t, out))
	}
	if err := build("four", "sqlite3"); err != nil {
		t.Fatal(err)
	}
	got := contents(t, out)
	if _, left := got["sqlite3.wasm"]; left || got["sqlite3.wasm.br"] != "" || got["core.wasm"] != "core four" || strings.Contains(got["tools.json"], `"sqlite3"`) {
		t.Errorf("without sqlite3: %q", got)
	}
	if beside, err := os.ReadDir(filepath.Dir(out)); err != nil || len(beside) != 1 {
		t.Errorf("left beside the folder: %v, %v", beside, err)
	}
}
