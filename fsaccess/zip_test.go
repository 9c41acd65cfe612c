package fsaccess

import (
	"archive/zip"
	"bytes"
	"context"
	"strings"
	"testing"
)

// Only formats that are not compressed already are deflated, and none with Store.
func TestZIPStore(t *testing.T) {
	f := NewMemory(MemoryOptions{})
	for _, name := range []string{"a.txt", "a.png"} {
		must(t, f.WriteFile(name, []byte(strings.Repeat("a", 1000)), 0o644))
	}
	for store, want := range map[bool]map[string]uint16{
		false: {"a.txt": zip.Deflate, "a.png": zip.Store},
		true:  {"a.txt": zip.Store, "a.png": zip.Store},
	} {
		var b bytes.Buffer
		must(t, ExportZIP(context.Background(), f, ".", &b, ZIPOptions{Store: store}))
		z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
		must(t, err)
		if len(z.File) != len(want) {
			t.Errorf("%d files", len(z.File))
		}
		for _, e := range z.File {
			if e.Method != want[e.Name] || e.UncompressedSize64 != 1000 {
				t.Errorf("store %v: %s has method %d and %d bytes", store, e.Name, e.Method, e.UncompressedSize64)
			}
		}
	}
}
