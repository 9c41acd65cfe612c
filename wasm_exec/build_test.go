package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
)

// buildFast builds a page with less compression, without a cache.
func buildFast(t *testing.T, pkg, dir, name string) (*manifest, error) {
	t.Helper()
	return build(context.Background(), pkg, buildOptions{out: dir, name: name, fast: true}, io.Discard)
}

func mustBuild(t *testing.T, pkg, dir, name string) *manifest {
	t.Helper()
	m, err := buildFast(t, pkg, dir, name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func read(t *testing.T, parts ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func exists(parts ...string) bool {
	_, err := os.Stat(filepath.Join(parts...))
	return err == nil
}

// The same source gives the same names and bytes, wherever it is built.
func TestBuildIsReproducible(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	first, second := mustBuild(t, "testdata/hello", one, "main"), mustBuild(t, "testdata/hello", two, "main")
	if !maps.Equal(first.Files, second.Files) {
		t.Errorf("two builds of the same source differ:\n%v\n%v", first.Files, second.Files)
	}
	if a, b := read(t, one, manifestName), read(t, two, manifestName); !bytes.Equal(a, b) {
		t.Errorf("two manifests differ:\n%s\n%s", a, b)
	}
}

// The manifest is correct: sizes, hashes, and compressed forms that unpack to the file.
func TestManifestTellsTheTruth(t *testing.T) {
	dir := t.TempDir()
	m := mustBuild(t, "testdata/hello", dir, "main")
	for name, f := range m.Files {
		data := read(t, dir, f.Path)
		sum := sha256.Sum256(data)
		if int64(len(data)) != f.Size || f.Integrity != "sha256-"+base64.StdEncoding.EncodeToString(sum[:]) {
			t.Errorf("%s: %+v does not describe a file of %d bytes", name, f, len(data))
		}
		if !hashedName.MatchString(f.Path) {
			t.Errorf("%s: %s does not carry its hash", name, f.Path)
		}
		br := read(t, dir, f.Path+".br")
		if br[0]&0x0f != 0x0f { // RFC 7932, 9.1: 24
			t.Errorf("%s.br has another window than 16 MiB", f.Path)
		}
		got, err := io.ReadAll(brotli.NewReader(bytes.NewReader(br)))
		if err != nil || !bytes.Equal(got, data) || int64(len(br)) != f.Brotli {
			t.Errorf("%s.br does not unpack to the file (%v), or is not %d bytes", f.Path, err, f.Brotli)
		}
		gz := read(t, dir, f.Path+".gz")
		z, err := gzip.NewReader(bytes.NewReader(gz))
		if err != nil {
			t.Fatal(err)
		}
		got, err = io.ReadAll(z)
		if err != nil || !bytes.Equal(got, data) || int64(len(gz)) != f.Gzip {
			t.Errorf("%s.gz does not unpack to the file (%v), or is not %d bytes", f.Path, err, f.Gzip)
		}
	}
	bin := m.Files["main.wasm"]
	if !bytes.HasPrefix(read(t, dir, bin.Path), []byte("\x00asm")) {
		t.Error("main.wasm is not WebAssembly")
	}
	if bin.Exec != m.Files["wasm_exec.js"].Path || bin.Go == "" || m.Go != bin.Go {
		t.Errorf("the binary does not name its toolchain: %+v", bin)
	}
	if !bytes.Equal(read(t, dir, "bailey.js"), read(t, dir, m.Files["bailey.js"].Path)) {
		t.Error("the loader's two names hold different bytes")
	}
	if page := string(read(t, dir, "index.html")); !strings.Contains(page, `data-wasm="main.wasm"`) || strings.Contains(page, "{{") {
		t.Errorf("index.html: %s", page)
	}
}

func TestBuildCopiesThePagesOwnFiles(t *testing.T) {
	dir := t.TempDir()
	mustBuild(t, "testdata/pages", dir, "main")
	for _, name := range []string{"index.html", "app.css", "img/a.png"} {
		if !bytes.Equal(read(t, dir, name), read(t, "testdata/pages/web", name)) {
			t.Errorf("%s was changed", name)
		}
	}
	if !exists(dir, "app.css.br") || exists(dir, "img/a.png.br") {
		t.Error("text is compressed, pictures are not")
	}
	if exists(dir, ".env") || exists(dir, "ignored.go") {
		t.Error("hidden files and Go files must stay behind")
	}
	if string(read(t, dir, headersName)) != string(read(t, "testdata/pages", headersName)) {
		t.Error("headers.json was not copied")
	}
}

// An existing index.html is kept, also one from another source.
func TestBuildKeepsAnIndex(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	mustBuild(t, "testdata/hello", dir, "main")
	if string(read(t, dir, "index.html")) != "mine" {
		t.Error("index.html was overwritten")
	}
}

func TestTwoProgramsInOneFolder(t *testing.T) {
	dir := t.TempDir()
	mustBuild(t, "testdata/hello", dir, "main")
	m := mustBuild(t, "testdata/pages", dir, "second")
	for _, name := range []string{"main.wasm", "second.wasm"} {
		if !exists(dir, m.Files[name].Path) {
			t.Errorf("%s is gone", name)
		}
	}
}

// A page that was starting when a build was deployed still finds its files. The build after
// that removes them.
func TestOneOldBuildIsKept(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(t.TempDir(), "app")
	if err := os.MkdirAll(src, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(src, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.com/app\n\ngo 1.26\n")
	var paths []string
	for _, word := range []string{"one", "two", "two", "three"} { // "two" twice: nothing changes
		write("main.go", "package main\n\nfunc main() { println(\""+word+"\") }\n")
		paths = append(paths, mustBuild(t, src, dir, "main").Files["main.wasm"].Path)
		if word == "two" && !exists(dir, paths[0]) {
			t.Errorf("after %v the build before is gone", paths)
		}
	}
	for i, want := range []bool{false, true, true, true} {
		for _, ext := range []string{"", ".br", ".gz"} {
			if exists(dir, paths[i]+ext) != want {
				t.Errorf("build %d of 4: %s%s exists: %v, want %v", i+1, paths[i], ext, !want, want)
			}
		}
	}
	if exists(dir, paths[0]) {
		t.Error("the build before the last is still there")
	}
}

func TestBuildErrorsSayWhatToDo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	foreign := t.TempDir()
	for name, text := range map[string]string{file: "", filepath.Join(foreign, manifestName): `{"name": "a web app"}`} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ pkg, out, name, why string }{
		{"testdata/lib", t.TempDir(), "main", "is package lib, not package main"},
		{"testdata/broken", t.TempDir(), "main", "does not compile for the browser"},
		{"testdata/nowhere", t.TempDir(), "main", "is not a Go package"},
		{"testdata/hello", filepath.Join(file, "dist"), "main", "cannot make the folder for -o"},
		{"testdata/hello", foreign, "main", "build into another folder"},
		{"testdata/hello", t.TempDir(), "../evil", "use letters, digits"},
		{"testdata/hello", t.TempDir(), "", "use letters, digits"},
		{"testdata/clash", t.TempDir(), "main", "a name that build writes itself"},
		{"./...", t.TempDir(), "main", "name"},
	} {
		if _, err := buildFast(t, c.pkg, c.out, c.name); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s -o %s: %v, want an error that says %q", c.pkg, c.out, err, c.why)
		}
	}
}

func TestCompilerErrorsPassThrough(t *testing.T) {
	var stderr bytes.Buffer
	_, err := build(context.Background(), "testdata/broken", buildOptions{out: t.TempDir(), name: "main", fast: true}, &stderr)
	if err == nil || !strings.Contains(stderr.String(), "undefinedName") || !strings.Contains(stderr.String(), "main.go:4") {
		t.Errorf("%v; the compiler's words: %q", err, stderr.String())
	}
}

func TestBuildStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := build(ctx, "testdata/hello", buildOptions{out: t.TempDir(), name: "main"}, io.Discard); err == nil {
		t.Error("a cancelled build went on")
	}
}

// A cached form is used only if it unpacks to the content.
func TestDamagedCacheIsNotBelieved(t *testing.T) {
	dir := t.TempDir()
	c := compressor{cache: dir, quality: fastBrotli}
	data := []byte(strings.Repeat("some text ", 1000))
	br, gz, err := c.forms(context.Background(), data)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		n++
		return os.WriteFile(p, []byte("damaged"), 0o644)
	})
	if err != nil || n != 2 {
		t.Fatalf("the cache holds %d files (%v), want 2", n, err)
	}
	br2, gz2, err := c.forms(context.Background(), data)
	if err != nil || !bytes.Equal(br, br2) || !bytes.Equal(gz, gz2) {
		t.Errorf("a damaged cache gave other forms (%v)", err)
	}
}

func TestInitWritesNothingOver(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "app")
	var out bytes.Buffer
	if err := run(context.Background(), []string{"init", dir}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"main.go", "web/index.html", headersName} {
		if !exists(dir, name) {
			t.Errorf("init did not write %s", name)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\nfunc main() {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := run(context.Background(), []string{"init", dir}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "wrote") || !strings.Contains(string(read(t, dir, "main.go")), "main() {}") {
		t.Errorf("a second init wrote over the first:\n%s", out.String())
	}
}
