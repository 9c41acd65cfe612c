package fsaccess

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/internal/native"
	"github.com/bailey-go/bailey/internal/until"
)

// bytesOfAll returns every byte value, CR LF pairs and bytes that look like bad UTF-8.
func bytesOfAll(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return append(b, "\r\n\xff\xfe\x00\xed\xa0\x80"...)
}

// TestBytesStayBytes renames, copies and moves binary content on every FS.
func TestBytesStayBytes(t *testing.T) {
	ctx := context.Background()
	data := bytesOfAll(70_000)
	for name, open := range everyFS(t) {
		t.Run(name, func(t *testing.T) {
			f := open(t)
			check := func(p string) {
				t.Helper()
				got, err := f.ReadFile(p)
				must(t, err)
				if !bytes.Equal(got, data) {
					t.Fatalf("%s differs", p)
				}
			}
			must(t, f.WriteFile("a", data, 0o644))
			must(t, f.Rename("a", "b"))
			check("b")
			must(t, f.Rename("b", "b")) // its own name
			check("b")
			must(t, f.Rename("b", "B")) // only the case
			check("B")
			if list, _ := f.ReadDir("."); len(list) != 1 || list[0].Name() != "B" {
				t.Errorf("after a respelling: %v", list)
			}
			must(t, f.Mkdir("d", 0o755))
			must(t, Copy(ctx, f, "d/c", f, "B", CopyOptions{}))
			check("d/c")
			must(t, f.Rename("d", "e"))
			check("e/c")
			must(t, Copy(ctx, f, "g", f, "e", CopyOptions{}))
			check("g/c")
			other := NewMemory(MemoryOptions{Staged: true, NoMove: true})
			must(t, Move(ctx, other, "e", f, "e", CopyOptions{}))
			if _, err := f.Stat("e"); !core.NotExist(err) {
				t.Errorf("what was moved is still there: %v", err)
			}
			must(t, Move(ctx, f, "back", other, "e", CopyOptions{}))
			check("back/c")
			if err := Copy(ctx, f, "B", f, "back/c", CopyOptions{}); !errors.Is(err, fs.ErrExist) {
				t.Errorf("copy over a file without leave: %v", err)
			}
			if err := Copy(ctx, f, "g/g", f, "g", CopyOptions{}); !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("copy into itself: %v", err)
			}
		})
	}
}

// TestParallelEditsQueue: of many edits of one path none is lost, and of many
// compare-and-swap writes of one version exactly one wins.
func TestParallelEditsQueue(t *testing.T) {
	ctx := context.Background()
	n := 16
	if runtime.GOOS == "js" && testing.Short() {
		n = 6
	}
	for name, open := range everyFS(t) {
		t.Run(name, func(t *testing.T) {
			f := open(t)
			f = WithContext(ctx, f) // a stranger's locks are those of its wrapping
			must(t, f.WriteFile("log", nil, 0o644))
			var wg sync.WaitGroup
			for i := range n {
				wg.Add(1)
				go func() {
					defer wg.Done()
					err := WithContext(ctx, f).UpdateFile("log", 0o644, func(old []byte) ([]byte, error) {
						return fmt.Appendf(old, "line %d\n", i), nil
					})
					if err != nil {
						t.Error(err)
					}
				}()
			}
			wg.Wait()
			got, v, err := WithContext(ctx, f).ReadVersion("log")
			must(t, err)
			if lines := strings.Count(string(got), "\n"); lines != n {
				t.Errorf("%d of %d edits are there", lines, n)
			}
			var mu sync.Mutex
			won := 0
			for i := range n {
				wg.Add(1)
				go func() {
					defer wg.Done()
					_, err := WithContext(ctx, f).WriteVersion("log", fmt.Appendf(nil, "by %d", i), 0o644, v)
					mu.Lock()
					defer mu.Unlock()
					switch {
					case err == nil:
						won++
					case !errors.Is(err, ErrConflict):
						t.Error(err)
					}
				}()
			}
			wg.Wait()
			if won != 1 {
				t.Errorf("%d writers of one version won", won)
			}
			if _, err := WithContext(ctx, f).WriteVersion("new", nil, 0o644, Absent); err != nil {
				t.Error(err)
			}
			if _, err := WithContext(ctx, f).WriteVersion("new", nil, 0o644, Absent); !errors.Is(err, ErrConflict) {
				t.Errorf("made twice: %v", err)
			}
		})
	}
}

func TestGrep(t *testing.T) {
	native.Only(t)
	ctx := context.Background()
	m := NewMemory(MemoryOptions{})
	must(t, m.MkdirAll("src/vendor", 0o755))
	must(t, m.MkdirAll("build", 0o755))
	files := map[string]string{
		"src/a.go":         "package a\n// TODO: one\nfunc F() {} // TODO two\r\n",
		"src/b.txt":        "todo\nTODO at the end",
		"src/vendor/v.go":  "TODO vendored\n",
		"build/out":        "TODO built\n",
		"bin":              "TODO\x00binary",
		"long":             strings.Repeat("x", 3*maxText) + "TODO" + strings.Repeat("y", 3*maxText),
		".gitignore":       "/build/\nvendor\n!keep\n*.log\n",
		"x.log":            "TODO log\n",
		"src/empty":        "",
		"src/vendor/.keep": "TODO",
	}
	for n, s := range files {
		must(t, m.WriteFile(n, []byte(s), 0o644))
	}
	must(t, m.WriteFile("large", append(bytes.Repeat([]byte("filler\n"), grepBytes/7+1), "TODO large\n"...), 0o644))
	grep := func(expr string, o GrepOptions) string {
		var out []string
		for m, err := range Grep(ctx, m, ".", regexp.MustCompile(expr), o) {
			must(t, err)
			out = append(out, fmt.Sprintf("%s:%d:%d", m.Path, m.Line, m.Column))
			if len(m.Text) > maxText || m.Path == "long" && !strings.Contains(m.Text, "TODO") {
				t.Errorf("text of %s: %d bytes", m.Path, len(m.Text))
			}
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct {
		expr string
		o    GrepOptions
		want string
	}{
		{"TODO", GrepOptions{}, fmt.Sprintf("build/out:1:1 large:%d:1 long:1:12289 src/a.go:2:4 src/a.go:3:16 src/b.txt:2:1 src/vendor/.keep:1:1 src/vendor/v.go:1:1 x.log:1:1", grepBytes/7+2)},
		{"TODO", GrepOptions{WalkOptions: WalkOptions{Gitignore: true}}, fmt.Sprintf("large:%d:1 long:1:12289 src/a.go:2:4 src/a.go:3:16 src/b.txt:2:1", grepBytes/7+2)},
		{"^TODO$", GrepOptions{Binary: true}, "src/vendor/.keep:1:1"},
		{"two$", GrepOptions{}, "src/a.go:3:21"},
		{`\ATODO.*end\z`, GrepOptions{}, "src/b.txt:2:1"},
		{"(?i)todo", GrepOptions{Max: 3}, fmt.Sprintf("build/out:1:1 large:%d:1 long:1:12289", grepBytes/7+2)},
		{"TODO", GrepOptions{MaxPerFile: 1, WalkOptions: WalkOptions{Skip: func(e Entry) bool { return e.Name() != "src" && e.Name() != "a.go" }}}, "src/a.go:2:4"},
		{"nowhere", GrepOptions{}, ""},
	} {
		if got := grep(c.expr, c.o); got != c.want {
			t.Errorf("%s %+v:\n%s\nwant\n%s", c.expr, c.o, got, c.want)
		}
	}
	stop, cancel := context.WithCancel(ctx)
	cancel()
	for _, err := range Grep(stop, m, ".", regexp.MustCompile("x"), GrepOptions{}) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	}
}

func TestZIPRoundTrip(t *testing.T) {
	for name, open := range everyFS(t) {
		t.Run(name, func(t *testing.T) {
			f := open(t)
			fill(t, f)
			want := tree(t, f)
			var b bytes.Buffer
			must(t, ExportZIP(context.Background(), f, ".", &b, ZIPOptions{}))
			z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
			must(t, err)
			if got := tree(t, z); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestWatchTellsOwnFromOthers(t *testing.T) {
	disk := NewMemory(MemoryOptions{})
	must(t, disk.WriteFile("old", []byte("x"), 0o644))
	v := viewOf(disk)
	// The same bytes through a core of its own act as another program.
	others := newFolder(&elsewhere{v.c, core.NewShared()})
	ctx, cancel := context.WithTimeout(context.Background(), until.Patience)
	defer cancel()
	var got []string
	step := 0
	ready := func() { must(t, disk.WriteFile("mine", []byte("m"), 0o644)) }
	for e, err := range Watch(ctx, disk, ".", WatchOptions{Interval: 20 * time.Millisecond, Ready: ready}) {
		must(t, err)
		got = append(got, fmt.Sprintf("%s %s %v %v", e.Kind, e.Path, e.Dir, e.Own))
		switch step++; step {
		case 1:
			until.Passed(10 * clockSlack)
			must(t, others.WriteFile("old", []byte("longer"), 0o644))
		case 2:
			until.Passed(10 * clockSlack)
			must(t, others.MkdirAll("d/e", 0o755))
		case 4:
			until.Passed(10 * clockSlack)
			must(t, others.RemoveAll("d"))
		}
		if step == 6 {
			break
		}
	}
	want := []string{"added mine false true", "changed old false false", "added d true false", "added d/e true false", "removed d true false", "removed d/e true false"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// elsewhere is a core without our shared locks, like that of another program.
type elsewhere struct {
	core.Core
	sh *core.Shared
}

func (e *elsewhere) Base() *core.Shared { return e.sh }

func TestListingsInPages(t *testing.T) {
	ctx := context.Background()
	m := NewMemory(MemoryOptions{})
	const n = 50_000
	for i := range n {
		must(t, core.WriteWhole(ctx, m.c, fmt.Sprintf("f%06d", i), nil, 0o644))
	}
	pages, total, last := 0, 0, ""
	for page, err := range listPages(ctx, m, ".", 500) {
		must(t, err)
		pages++
		for _, e := range page {
			if e.Path <= last {
				t.Fatalf("%s after %s", e.Path, last)
			}
			last = e.Path
			total++
		}
	}
	if pages != n/500 || total != n {
		t.Errorf("%d pages, %d files", pages, total)
	}
	seen := 0
	for range listPages(ctx, m, ".", 500) {
		seen++
		break
	}
	if seen != 1 {
		t.Error("break did not end it")
	}
	count := 0
	for _, err := range Walk(ctx, m, ".", WalkOptions{Limit: 7}) {
		must(t, err)
		count++
	}
	if count != 7 {
		t.Errorf("limit 7 gave %d", count)
	}
}

// TestStagedBeyondMemory writes more through one handle than it holds in
// memory, in order, out of order and by appending.
func TestStagedBeyondMemory(t *testing.T) {
	m := NewMemory(MemoryOptions{Staged: true})
	block := bytesOfAll(1 << 20)
	const blocks = core.StageLimit>>20 + 6
	var want []byte
	f, err := m.Create("seq")
	must(t, err)
	for range blocks {
		_, err := f.(core.File).Write(block)
		must(t, err)
		want = append(want, block...)
	}
	if got, _ := m.ReadFile("seq"); len(got) != 0 {
		t.Errorf("%d bytes are seen before Close", len(got))
	}
	must(t, f.Close())
	got, _ := m.ReadFile("seq")
	if !bytes.Equal(got, want) {
		t.Error("in order: the content differs")
	}
	f, err = m.OpenFile("seq", 2, 0) // read and write
	must(t, err)
	for i := range blocks {
		off := int64((i*7)%blocks) * int64(len(block))
		_, err := f.(core.File).WriteAt(block[:len(block)/2], off+11)
		must(t, err)
		copy(want[off+11:], block[:len(block)/2])
	}
	_, err = f.(core.File).Seek(0, io.SeekStart)
	must(t, err)
	all, err := io.ReadAll(f)
	must(t, err)
	if !bytes.Equal(all, want) {
		t.Error("out of order: the handle reads something else")
	}
	must(t, f.Close())
	if got, _ := m.ReadFile("seq"); !bytes.Equal(got, want) {
		t.Error("out of order: the content differs")
	}
}
