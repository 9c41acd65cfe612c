package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
)

// A kept archive is used without the network. One that was changed is not.
func TestArchiveIsKept(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache) // Linux
	t.Setenv("HOME", cache)           // macOS
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:9")
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:9") // nothing listens there
	data := []byte("an archive")
	sum := sha256.Sum256(data)
	s := source{pool: "a/a_1.tar.gz", sha256: hex.EncodeToString(sum[:])}
	dir, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	name := filepath.Join(dir, "bailey-tools", s.sha256)
	if err := store(name, data); err != nil {
		t.Fatal(err)
	}
	if got, err := s.archive(); err != nil || string(got) != string(data) {
		t.Errorf("%q, %v", got, err)
	}
	if err := os.WriteFile(name, []byte("another"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := s.archive(); err == nil {
		t.Errorf("a changed archive counts: %q", got)
	}
}
