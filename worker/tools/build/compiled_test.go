package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A program is compiled once for the same compiler, arguments and sources, wherever those are. A changed header or
// argument, and a broken file of the cache, compile it again.
func TestCompiledOnce(t *testing.T) {
	cache, bin := t.TempDir(), t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache)
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	runs := filepath.Join(bin, "runs")
	// It stands for the compiler: it counts its runs, and its program names the count.
	script := "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 14; exit; fi\necho x >> " + runs + "\nwhile [ $# -gt 1 ]; do shift; done\nwc -l < " + runs + " > \"$1\"\n"
	if err := os.WriteFile(filepath.Join(bin, "clang"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	sources := func(header string) string {
		dir := t.TempDir()
		for name, text := range map[string]string{"a.c": "int main(void) { return 0; }", "a.h": header} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	made := func(dir, option string) string {
		t.Helper()
		file := filepath.Join(t.TempDir(), "a.wasm")
		if err := compile(file, []string{option, "-I" + dir, filepath.Join(dir, "a.c")}, dir); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(data))
	}
	for _, c := range []struct{ what, dir, option, want string }{
		{"the first time", sources("one"), "-O2", "1"},
		{"in another folder", sources("one"), "-O2", "1"},
		{"another header", sources("two"), "-O2", "2"},
		{"another argument", sources("one"), "-O3", "3"},
	} {
		if got := made(c.dir, c.option); got != c.want {
			t.Errorf("%s: it is of run %s, want %s", c.what, got, c.want)
		}
	}
	list, err := filepath.Glob(filepath.Join(cache, "bailey-tools", "compiled-*"))
	if err != nil || len(list) != 3 {
		t.Fatalf("%v, %v", list, err)
	}
	for _, name := range list {
		if err := os.WriteFile(name, []byte("broken by a full disk, or by somebody else, and longer than a hash"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := made(sources("one"), "-O2"); got != "4" {
		t.Errorf("a broken file of the cache: it is of run %s, want 4", got)
	}
}
