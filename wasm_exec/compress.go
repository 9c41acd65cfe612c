package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/andybalholm/brotli"
)

const (
	bestBrotli = brotli.BestCompression
	noBrotli   = -1 // no compressed forms
	fastBrotli = 5  // a fortieth of the time and a sixth more bytes
	window     = 24 // logarithm of brotli's window, the largest that every browser accepts
)

// compressor makes brotli and gzip forms. The best brotli takes seconds for a binary of some
// megabytes, so results are cached by content.
type compressor struct {
	cache   string // a folder, or empty for no cache
	quality int    // of brotli
}

// forms returns the compressed forms of data.
func (c compressor) forms(ctx context.Context, data []byte) (br, gz []byte, err error) {
	br, err = c.cached(ctx, data, fmt.Sprintf("br%dw%d", c.quality, window), func(w io.Writer) io.WriteCloser {
		return brotli.NewWriterOptions(w, brotli.WriterOptions{Quality: c.quality, LGWin: window})
	})
	if err != nil {
		return nil, nil, err
	}
	level := gzip.BestCompression
	if c.quality < bestBrotli {
		level = gzip.DefaultCompression
	}
	gz, err = c.cached(ctx, data, "gz"+strconv.Itoa(level), func(w io.Writer) io.WriteCloser {
		z, _ := gzip.NewWriterLevel(w, level) // both levels are valid
		return z
	})
	return br, gz, err
}

func (c compressor) cached(ctx context.Context, data []byte, kind string, open func(io.Writer) io.WriteCloser) ([]byte, error) {
	sum := sha256.Sum256(data)
	name := filepath.Join(c.cache, hex.EncodeToString(sum[:])+"."+kind)
	if c.cache != "" {
		if kept, err := os.ReadFile(name); err == nil && sameContent(kept, data, kind) {
			return kept, nil
		}
	}
	var out bytes.Buffer
	w := open(&out)
	// It writes in pieces, so that Ctrl-C takes effect before the end.
	for rest := data; len(rest) > 0; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := min(len(rest), 256<<10)
		if _, err := w.Write(rest[:n]); err != nil {
			return nil, err
		}
		rest = rest[n:]
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if c.cache != "" {
		if os.MkdirAll(c.cache, 0o755) == nil {
			writeFile(name, out.Bytes()) // without the cache only time is lost
		}
	}
	return out.Bytes(), nil
}

// sameContent reports whether a cached form unpacks to data. A damaged entry must not be
// deployed under a name that is the hash of other content.
func sameContent(kept, data []byte, kind string) bool {
	var r io.Reader = brotli.NewReader(bytes.NewReader(kept))
	if strings.HasPrefix(kind, "gz") {
		z, err := gzip.NewReader(bytes.NewReader(kept))
		if err != nil {
			return false
		}
		r = z
	}
	got, err := io.ReadAll(io.LimitReader(r, int64(len(data))+1))
	return err == nil && bytes.Equal(got, data)
}

// writeFile replaces a file in one step, so that a server never sends half of it.
func writeFile(name string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(name), ".tmp-*")
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", name, err)
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(data)
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Chmod(tmp.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", name, err)
	}
	return nil
}

func compressible(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".html", ".css", ".js", ".mjs", ".json", ".svg", ".wasm", ".txt", ".md", ".xml", ".map", ".webmanifest", ".ts":
		return true
	}
	return false
}
