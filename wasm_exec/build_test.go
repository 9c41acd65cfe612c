package main

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// buildHello builds the smallest page, with less compression, into a new folder.
func buildHello(t *testing.T) (string, *manifest) {
	t.Helper()
	dir := t.TempDir()
	m, err := build(context.Background(), "testdata/hello", buildOptions{out: dir, name: "main", fast: true}, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	return dir, m
}

func TestBuildIsReproducible(t *testing.T) {
	dir, first := buildHello(t)
	_, second := buildHello(t)
	if !maps.Equal(first.Files, second.Files) {
		t.Errorf("two builds of the same source differ:\n%v\n%v", first.Files, second.Files)
	}
	for name, f := range first.Files {
		data, err := os.ReadFile(filepath.Join(dir, f.Path))
		if err != nil {
			t.Fatal(err)
		}
		if int64(len(data)) != f.Size {
			t.Errorf("%s: the manifest says %d bytes, the file has %d", name, f.Size, len(data))
		}
		if name == "main.wasm" && !bytes.HasPrefix(data, []byte("\x00asm")) {
			t.Errorf("%s is not wasm", f.Path)
		}
	}
}
