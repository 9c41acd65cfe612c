package guard

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/until"
)

// large returns files whose inspection takes long, each with the least number of bytes that
// are read or unpacked for it.
func large(t *testing.T) map[string]struct {
	name  string
	data  []byte
	bytes int
} {
	t.Helper()
	noise := make([]byte, 1<<20)
	rand.New(rand.NewSource(1)).Read(noise)
	var many, packed, zipped, gz, tars bytes.Buffer
	z := zip.NewWriter(&many)
	for i := range 3000 {
		if _, err := z.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("file %d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	must(t, z.Close())
	z = zip.NewWriter(&zipped)
	f, err := z.Create("a")
	must(t, err)
	for range 64 {
		_, err = f.Write(append(noise[:4<<10:4<<10], make([]byte, 60<<10)...))
		must(t, err)
	}
	must(t, z.Close())
	g := gzip.NewWriter(&gz)
	for range 64 {
		_, err = g.Write(append(noise[:4<<10:4<<10], make([]byte, 60<<10)...))
		must(t, err)
	}
	must(t, g.Close())
	g = gzip.NewWriter(&packed)
	_, err = g.Write([]byte("<svg>" + strings.Repeat("<g/>\n", 200_000)))
	must(t, err)
	must(t, g.Close())
	w := tar.NewWriter(&tars)
	for i := range 2000 {
		must(t, w.WriteHeader(&tar.Header{Name: fmt.Sprintf("file %d", i), Typeflag: tar.TypeReg, Mode: 0o600}))
	}
	must(t, w.Close())
	return map[string]struct {
		name  string
		data  []byte
		bytes int
	}{
		"a zip of many files": {"a.zip", many.Bytes(), 2 * 100 * 3000}, "a zip of a large file": {"a.zip", zipped.Bytes(), 2 << 20}, "a gzip": {"a.gz", gz.Bytes(), 2 << 20},
		"a tar": {"a.tar", tars.Bytes(), 2000 * 512}, "markup": {"a.html", []byte("<p>" + strings.Repeat("a line\n", 150_000)), 1 << 20}, "a packed drawing": {"a.svgz", packed.Bytes(), 1 << 20},
	}
}

// The inspection of a large file checks its context once for each piece of its work, and
// fails after the context has ended.
func TestInspectionsRest(t *testing.T) {
	for name, f := range large(t) {
		ctx := &until.Looks{Context: t.Context()}
		kinds, err := classifyIn(ctx, f.name, f.data, int64(len(f.data)))
		if least := f.bytes / (16 << 10); err != nil || len(kinds) > 0 || ctx.N < least {
			t.Errorf("%s: %v, %v, %d looks, at least %d", name, kinds, err, ctx.N, least)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := classifyIn(ended, f.name, f.data, int64(len(f.data))); err == nil {
			t.Errorf("%s: it was inspected after its end", name)
		}
	}
}

// A run of letters is read once, for any number of attributes that could begin in it.
func TestHandlersAreFoundInTheirLength(t *testing.T) {
	for text, want := range map[string]bool{"a onload=": true, "a/onload =": true, "' on=": false, "aonload=": false, "ononload=": true, " ononload=": true, "on onload=": true, "onload=": true} {
		if got := hasHandler([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	for _, text := range []string{"a" + strings.Repeat("on", 1000), strings.Repeat("on", 1000), strings.Repeat(" on", 1000)} {
		if found, read := handlerIn([]byte(text)); found || read > len(text) {
			t.Errorf("%.10q: %v, %d letters of %d", text, found, read, len(text))
		}
	}
}
