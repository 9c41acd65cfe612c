package main

import (
	"bytes"
	"testing"

	"github.com/andybalholm/brotli"
)

// Each program loads the loader first, so it must stay small.
func TestLoaderUnder6KB(t *testing.T) {
	var out bytes.Buffer
	w := brotli.NewWriterLevel(&out, brotli.BestCompression)
	w.Write(loaderJS())
	w.Close()
	t.Logf("bailey.js: %d bytes, %d brotli", len(loaderJS()), out.Len())
	if out.Len() > 6000 {
		t.Errorf("bailey.js is %d bytes in brotli, over 6000", out.Len())
	}
}
