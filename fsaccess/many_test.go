package fsaccess

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/protocol"
)

// bulky is a folder that reads many files at once, and counts the files that it is asked
// for.
type bulky struct {
	core.Core
	many   []string // read in one go
	single []string // read by themselves
	fails  bool
}

func (b *bulky) Keeping(ctx context.Context) context.Context { return ctx }

func (b *bulky) ReadMany(ctx context.Context, files []core.Entry) ([][]byte, error) {
	if b.fails {
		return nil, ErrTooLarge
	}
	out := make([][]byte, len(files))
	for i, e := range files {
		b.many = append(b.many, e.Path)
		var err error
		if out[i], err = b.Core.ReadFile(ctx, e.Path); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (b *bulky) ReadFile(ctx context.Context, name string) ([]byte, error) {
	b.single = append(b.single, name)
	return b.Core.ReadFile(ctx, name)
}

// bulkyOf is such a folder with n files, each of which has its number in it.
func bulkyOf(t testing.TB, n int) (*bulky, *Folder) {
	t.Helper()
	m := NewMemory(MemoryOptions{})
	must(t, m.MkdirAll("top/secret", 0o755))
	for i := range n {
		dir := "top"
		if i%10 == 9 {
			dir = "top/secret"
		}
		must(t, m.WriteFile(fmt.Sprintf("%s/f%03d", dir, i), fmt.Appendf(nil, "file %d\n", i), 0o644))
	}
	b := &bulky{Core: viewOf(m).rooted()}
	return b, newFolder(b)
}

func grepped(t testing.TB, f FS, expr string) string {
	t.Helper()
	var found []string
	for m, err := range Grep(context.Background(), f, ".", regexp.MustCompile(expr), GrepOptions{}) {
		must(t, err)
		found = append(found, m.Path)
	}
	if !slices.IsSorted(found) {
		t.Errorf("not in order: %v", found)
	}
	return strings.Join(found, " ")
}

// A search through any layer reads as many files at once as the folder below, and finds the
// same.
func TestGrepManyThroughLayers(t *testing.T) {
	all := layers()
	all["sub"] = func(t testing.TB, f FS) FS {
		s, err := folderOf(context.Background(), f).Sub("top")
		must(t, err)
		return s.(FS)
	}
	all["read-only"] = func(_ testing.TB, f FS) FS { return FromFS(f) }
	all["as a box has it"] = func(t testing.TB, f FS) FS {
		return Guard(NewJournal(f, NewMemory(MemoryOptions{}), JournalOptions{}), everywhere(t), GuardOptions{})
	}
	for name, put := range all {
		t.Run(name, func(t *testing.T) {
			b, f := bulkyOf(t, 300)
			over := put(t, f)
			got := grepped(t, over, "^file 12[0-9]$")
			if n := len(strings.Fields(got)); n != 10 || !strings.Contains(got, "secret/f129") {
				t.Errorf("found %q", got)
			}
			if len(b.many) != 300 || len(b.single) != 0 {
				t.Errorf("%d files read in one go, %d by themselves", len(b.many), len(b.single))
			}
			b.many, b.fails = nil, true
			if again := grepped(t, over, "^file 12[0-9]$"); again != got {
				t.Errorf("one by one it finds %q", again)
			}
			if len(b.single) != 300 {
				t.Errorf("%d files read by themselves", len(b.single))
			}
		})
	}
}

// Files that may not be read are not read with many others at once either.
func TestGrepManyAsksTheGuard(t *testing.T) {
	b, f := bulkyOf(t, 100)
	g := Guard(f, protocol.FSPolicy{DenyRead: patterns(t, "top/secret")}, GuardOptions{})
	if got := grepped(t, g, "^file [0-9]*9$"); got != "" {
		t.Errorf("found %q", got)
	}
	if got := grepped(t, g, "^file 18$"); got != "top/f018" {
		t.Errorf("found %q", got)
	}
	files := []core.Entry{{Path: "top/secret/f009", Size: 7}, {Path: "top/f010", Size: 8}, {Path: "top/secret/f019", Size: 8}}
	out, err := viewOf(g).c.(core.ManyReader).ReadMany(context.Background(), files)
	must(t, err)
	if len(out) != 3 || out[0] != nil || string(out[1]) != "file 10\n" || out[2] != nil {
		t.Errorf("read %q", out)
	}
	for _, name := range slices.Concat(b.many, b.single) {
		if strings.Contains(name, "secret/") {
			t.Errorf("%s was read", name)
		}
	}
}

// An overlay reads each file from the side that has it.
func TestGrepManyOverBothSides(t *testing.T) {
	b, f := bulkyOf(t, 100)
	o := NewOverlay(f, NewMemory(MemoryOptions{}))
	must(t, o.WriteFile("top/f011", []byte("changed\n"), 0o644))
	must(t, o.WriteFile("top/new", []byte("file 11\n"), 0o644))
	must(t, o.Remove("top/f012"))
	b.many, b.single = nil, nil
	if got := grepped(t, o, "^file 1[123]$|changed"); got != "top/f011 top/f013 top/new" {
		t.Errorf("found %q", got)
	}
	if len(b.many) != 98 || slices.Contains(b.many, "top/f011") || slices.Contains(b.many, "top/f012") || len(b.single) != 0 {
		t.Errorf("%d files read in one go below, %v by themselves", len(b.many), b.single)
	}
}

// A search that is cancelled says so once, and reads no more.
func TestGrepManyCancelled(t *testing.T) {
	b, f := bulkyOf(t, 300)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	matches, errs := 0, 0
	for _, err := range Grep(ctx, Guard(f, everywhere(t), GuardOptions{}), ".", regexp.MustCompile("^file"), GrepOptions{}) {
		if err == nil {
			matches++
			cancel()
		} else if errs++; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if matches != 1 || errs != 1 || len(b.many) > grepBatch || len(b.single) != 0 {
		t.Errorf("%d matches, %d errors, %d files read in one go, %d by themselves", matches, errs, len(b.many), len(b.single))
	}
}
