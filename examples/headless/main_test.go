//go:build !js

package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestHeadless(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("milk\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "..", "audit.jsonl")
	read := func(name string) string {
		data, _ := os.ReadFile(filepath.Join(dir, name))
		return string(data)
	}
	if err := run(dir, "", log, true, []string{"list the files", "delete a.txt", "add eggs to a.txt"}); err != nil {
		t.Fatal(err)
	}
	if read("a.txt") != "milk\n" {
		t.Errorf("changed without anyone to ask: %q", read("a.txt"))
	}
	pol := filepath.Join(dir, "..", "policy.json")
	if err := os.WriteFile(pol, []byte(`{"filesystem": {"allowWrite": ["."]}, "rules": [{"permission": "*", "action": "allow"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, pol, log, true, []string{"add eggs to a.txt", "replace milk with oats in a.txt", "organise the files by type"}); err != nil {
		t.Fatal(err)
	}
	if got := read("documents/a.txt"); got != "oats\neggs\n" {
		t.Errorf("a.txt is %q", got)
	}
	if err := run(dir, pol, log, true, []string{"undo"}); err != nil { // another program, the same journal
		t.Fatal(err)
	}
	if got := read("a.txt"); got != "oats\neggs\n" {
		t.Errorf("after undo: %q", got)
	}
	if fi, err := os.Stat(log); err != nil || fi.Size() == 0 {
		t.Error("no audit log")
	}
}
