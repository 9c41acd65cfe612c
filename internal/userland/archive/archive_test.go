//go:build !js

package archive_test

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/userland/archive"
	"github.com/bailey-go/bailey/internal/userland/tool"
)

// world is the world of a program that counts work, or whose files can't be written.
type world struct {
	tool.OS
	dir   string
	spent int
	full  bool
}

func (w *world) name(name string) string { return filepath.Join(w.dir, name) }

func (w *world) Spend(n int) { w.spent += n }

func (w *world) Stat(name string) (os.FileInfo, error)      { return w.OS.Stat(w.name(name)) }
func (w *world) Lstat(name string) (os.FileInfo, error)     { return w.OS.Lstat(w.name(name)) }
func (w *world) Open(name string) (io.ReadCloser, error)    { return w.OS.Open(w.name(name)) }
func (w *world) ReadDir(name string) ([]os.FileInfo, error) { return w.OS.ReadDir(w.name(name)) }
func (w *world) Remove(name string, all bool) error         { return w.OS.Remove(w.name(name), all) }
func (w *world) Mkdir(name string, all bool) error          { return w.OS.Mkdir(w.name(name), all) }

func (w *world) Create(name string, appends bool) (io.WriteCloser, error) {
	if w.full {
		return full{io.Discard}, nil
	}
	return w.OS.Create(w.name(name), appends)
}

// full is a file whose content is refused when it is complete, as a gate does.
type full struct{ io.Writer }

func (full) Close() error { return errors.New("no room") }

func run(w *world, args ...string) (code int, out, errs string) {
	var stdout, stderr bytes.Buffer
	b := bufio.NewWriter(&stdout)
	code = archive.Commands().Exec(&tool.Env{Stdin: strings.NewReader(""), Stdout: b, Stderr: &stderr, World: w}, args)
	b.Flush()
	return code, stdout.String(), stderr.String()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A small archive that expands to much is counted as work while it expands, so that the page gets its turns and the time
// limit ends it.
func TestAttackBombsAreCounted(t *testing.T) {
	a := attack.Start(t, "05")
	a.NoSwitch("the work is counted where it is done")
	const size = 32 << 20
	zeros := make([]byte, size)
	w := &world{dir: t.TempDir()}
	var gz, tgz, z bytes.Buffer
	zw := gzip.NewWriter(&gz)
	zw.Write(zeros)
	must(t, zw.Close())
	zw = gzip.NewWriter(&tgz)
	tw := tar.NewWriter(zw)
	must(t, tw.WriteHeader(&tar.Header{Name: "zeros", Size: size, Mode: 0o644, Typeflag: tar.TypeReg}))
	tw.Write(zeros)
	must(t, errors.Join(tw.Close(), zw.Close()))
	pack := zip.NewWriter(&z)
	entry, err := pack.Create("zeros")
	must(t, err)
	entry.Write(zeros)
	must(t, pack.Close())
	for name, data := range map[string][]byte{"a.gz": gz.Bytes(), "a.tgz": tgz.Bytes(), "a.zip": z.Bytes()} {
		must(t, os.WriteFile(w.name(name), data, 0o644))
	}
	for _, line := range []string{"gzip -t a.gz", "gzip -dc a.gz", "zcat a.gz", "tar -tf a.tgz", "tar -xOf a.tgz", "tar -xf a.tgz", "unzip -t a.zip", "unzip -p a.zip", "unzip -o a.zip", "gzip -c zeros", "tar -cf b.tar zeros", "zip b.zip zeros"} {
		w.spent = 0
		code, _, errs := run(w, strings.Fields(line)...)
		if code != 0 {
			t.Errorf("%s: %d %s", line, code, errs)
		}
		a.Try(line, w.spent < size)
	}
}

// A command that could not write its result says so, and what it read stays.
func TestResultThatIsRefused(t *testing.T) {
	for _, line := range []string{"gzip a.txt", "gunzip b.gz", "tar -cf c.tar a.txt", "tar -czf c.tgz a.txt", "zip c.zip a.txt", "tar -xf d.tar", "unzip d.zip"} {
		w := &world{dir: t.TempDir()}
		must(t, os.WriteFile(w.name("a.txt"), []byte("text\n"), 0o644))
		for _, args := range []string{"gzip -k a.txt", "tar -cf d.tar a.txt", "zip d.zip a.txt"} {
			if code, _, errs := run(w, strings.Fields(args)...); code != 0 {
				t.Fatal(args, errs)
			}
		}
		must(t, os.Rename(w.name("a.txt.gz"), w.name("b.gz")))
		if strings.HasSuffix(line, "d.zip") {
			must(t, os.Remove(w.name("a.txt")))
		}
		w.full = true
		code, _, errs := run(w, strings.Fields(line)...)
		if code == 0 || !strings.Contains(errs, "no room") {
			t.Errorf("%s: %d %q", line, code, errs)
		}
		for _, name := range []string{"a.txt", "b.gz"} {
			if _, err := os.Stat(w.name(name)); err != nil && !strings.HasSuffix(line, "d.zip") {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
}
