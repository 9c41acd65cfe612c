package jobs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bailey-go/bailey/environment/internal/pgtest"
	"github.com/bailey-go/bailey/environment/internal/s3test"
	"github.com/bailey-go/bailey/environment/internal/sessions"
	"github.com/bailey-go/bailey/sandbox"
)

// conform holds a store to what Store says. again opens the same store a second time, as another process does.
func conform(t *testing.T, open func() (s Store, again func() Store)) {
	ctx := t.Context()
	tree := strings.Repeat("a", 64)
	t.Run("content", func(t *testing.T) {
		s, again := open()
		for _, text := range []string{"", "a", strings.Repeat("long", 1<<18), "\x00\xff"} {
			sum, err := s.Put(ctx, "a", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if second, err := s.Put(ctx, "a", []byte(text)); err != nil || second != sum {
				t.Errorf("%v %s %s", err, second, sum)
			}
			if got, err := again().Get(ctx, "a", sum); err != nil || string(got) != text {
				t.Errorf("%d bytes of %d: %v", len(got), len(text), err)
			}
		}
		if _, err := s.Get(ctx, "a", tree); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a missing content: %v", err)
		}
		for _, bad := range []string{"", "../a", strings.Repeat("A", 64), strings.Repeat("a", 63)} {
			if _, err := s.Get(ctx, "a", bad); err == nil || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the sum %q: %v", bad, err)
			}
		}
	})
	t.Run("entries", func(t *testing.T) {
		s, again := open()
		if list, err := s.Entries(ctx, "none"); err != nil || len(list) > 0 {
			t.Errorf("%v %v", list, err)
		}
		for n := 1; n <= 12; n++ {
			if err := s.Append(ctx, "a", Entry{N: n, Message: fmt.Sprint("text ", n), Tree: tree}); err != nil {
				t.Fatal(err)
			}
			if err := again().Append(ctx, "a", Entry{N: n, Message: "other", Tree: tree}); !errors.Is(err, ErrConflict) {
				t.Errorf("a second entry %d: %v", n, err)
			}
		}
		if err := s.Append(ctx, "a", Entry{N: 14, Message: "", Tree: tree}); err == nil || errors.Is(err, ErrConflict) {
			t.Errorf("a gap: %v", err)
		}
		list, err := again().Entries(ctx, "a")
		if err != nil || len(list) != 12 || list[11] != (Entry{N: 12, Message: "text 12", Tree: tree}) || list[1].Message != "text 2" {
			t.Errorf("%v %v", list, err)
		}
		for _, bad := range []Entry{{N: 0, Tree: tree}, {N: -1, Tree: tree}, {N: 1_000_001, Tree: tree}, {N: 13}, {N: 13, Tree: "../x"}} {
			if err := s.Append(ctx, "a", bad); err == nil {
				t.Errorf("%+v was stored", bad)
			}
		}
		for _, bad := range []string{"", "..", "a/b", "A", "-a", strings.Repeat("a", 65)} {
			if err := s.Append(ctx, bad, Entry{N: 1, Tree: tree}); err == nil {
				t.Errorf("the job %q was stored", bad)
			}
		}
	})
	t.Run("locks", func(t *testing.T) {
		s, again := open()
		other := again()
		unlock, err := s.Lock(ctx, "c")
		if err != nil {
			t.Fatal(err)
		}
		for name, x := range map[string]Store{"the same": s, "another": other} {
			if _, err := x.Lock(ctx, "c"); !errors.Is(err, ErrHeld) {
				t.Errorf("a second lock of %s store: %v", name, err)
			}
		}
		if err := s.Append(ctx, "c", Entry{N: 1, Tree: tree}); err != nil {
			t.Errorf("an entry of whoever has the lock: %v", err)
		}
		unlock()
		unlock()
		free, err := other.Lock(ctx, "c")
		if err != nil {
			t.Fatal(err)
		}
		free()
		for _, bad := range []string{"", "..", "a/b", "A"} {
			if _, err := s.Lock(ctx, bad); err == nil || errors.Is(err, ErrHeld) {
				t.Errorf("a lock of %q: %v", bad, err)
			}
		}
	})
	t.Run("groups", func(t *testing.T) {
		s, again := open()
		for _, job := range []string{"x-2", "x-1", "xy-1", "y-x-1"} {
			sum, err := s.Put(ctx, job, []byte(job))
			if err == nil {
				err = s.Append(ctx, job, Entry{N: 1, Message: job, Tree: sum})
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Get(ctx, "x-3", sum); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("another job has the content of %s: %v", job, err)
			}
		}
		list := func() string {
			list, err := again().Jobs(ctx, "x")
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(list)
		}
		if got := list(); got != "[x-1 x-2]" {
			t.Errorf("%s", got)
		}
		sum, err := s.Put(ctx, "x-1", []byte("x-1"))
		if err = errors.Join(err, s.Delete(ctx, "x-1"), s.Delete(ctx, "x-none")); err != nil {
			t.Fatal(err)
		}
		if entries, err := again().Entries(ctx, "x-1"); err != nil || len(entries) > 0 || list() != "[x-2]" {
			t.Errorf("after it was deleted: %v %v %s", entries, err, list())
		}
		if _, err := again().Get(ctx, "x-1", sum); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a content of a deleted job: %v", err)
		}
		if sum, err = s.Put(ctx, "x-1", []byte("new")); err == nil {
			err = again().Append(ctx, "x-1", Entry{N: 1, Tree: sum})
		}
		if err != nil || list() != "[x-1 x-2]" {
			t.Errorf("a new one of the name: %v %s", err, list())
		}
	})
	t.Run("one of many is first", func(t *testing.T) {
		s, again := open()
		for n := 1; n <= 5; n++ {
			errs := make([]error, 8)
			var all sync.WaitGroup
			for i := range errs {
				all.Go(func() {
					at := s
					if i%2 > 0 {
						at = again()
					}
					errs[i] = at.Append(ctx, "b", Entry{N: n, Message: fmt.Sprint(i), Tree: tree})
				})
			}
			all.Wait()
			first := -1
			for i, err := range errs {
				if err == nil && first < 0 {
					first = i
				} else if !errors.Is(err, ErrConflict) {
					t.Errorf("writer %d: %v; %d was first", i, err, first)
				}
			}
			if list, err := s.Entries(ctx, "b"); err != nil || len(list) != n || list[n-1].Message != fmt.Sprint(first) {
				t.Errorf("%v %v; %d was first", list, err, first)
			}
		}
	})
}

func TestFolder(t *testing.T) {
	open := func(dir string) Store {
		s, err := Folder(dir)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	conform(t, func() (Store, func() Store) {
		dir := t.TempDir()
		return open(dir), func() Store { return open(dir) }
	})
	// A damaged content is an error, and stored again.
	dir := t.TempDir()
	s := open(dir)
	sum, err := s.Put(t.Context(), "a", []byte("text"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "jobs", "a", "content", sum[:2], sum), []byte("tex"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if data, err := s.Get(t.Context(), "a", sum); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%q %v", data, err)
	}
	if _, err := s.Put(t.Context(), "a", []byte("text")); err != nil {
		t.Error(err)
	}
	if data, err := s.Get(t.Context(), "a", sum); err != nil || string(data) != "text" {
		t.Errorf("%q %v", data, err)
	}
}

// A store of sessions is a store of jobs.
func TestInSessions(t *testing.T) {
	for _, kind := range []string{"memory", "database", "bucket"} {
		t.Run(kind, func(t *testing.T) {
			conform(t, func() (Store, func() Store) {
				var address string
				switch kind {
				case "memory":
					s := sandbox.MemoryStore()
					return InSessions(s), func() Store { return InSessions(s) }
				case "database":
					address, _ = pgtest.Start(t).Database(t)
				case "bucket":
					address = s3test.Start(t).Address
				}
				open := func() Store {
					s, err := sessions.Open(t.Context(), address)
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(s.Close)
					return InSessions(s)
				}
				return open(), open
			})
		})
	}
}

func TestTree(t *testing.T) {
	s, err := Folder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := func() *os.Root {
		r, err := os.OpenRoot(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		return r
	}
	a, b := root(), root()
	err = errors.Join(a.MkdirAll("d/e", 0o755), a.WriteFile("d/e/x", []byte("same"), 0o755), a.WriteFile("y", []byte("same"), 0o600), a.Symlink("/etc/passwd", "link"))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := save(t.Context(), s, "a", a, seen{})
	if err == nil {
		err = restore(t.Context(), s, "a", sum, b, seen{})
	}
	if err != nil {
		t.Fatal(err)
	}
	if again, err := save(t.Context(), s, "a", b, seen{}); err != nil || again != sum {
		t.Errorf("the restored folder is another one: %v", err)
	}
	if fi, err := b.Stat("d/e/x"); err != nil || fi.Mode().Perm() != 0o755 {
		t.Errorf("%v %v", fi, err)
	}
	if _, err := b.Lstat("link"); err == nil {
		t.Error("a link was part of the snapshot")
	}
	// A store that lies leads nowhere else.
	for _, bad := range []string{`[{"path":"../x","mode":420,"sum":"` + sum + `"}]`, `[{"path":"/x","mode":420}]`, `[{"path":".","mode":420}]`, `[{"path":"x","mode":2147484141}]`, `{`} {
		tree, err := s.Put(t.Context(), "a", []byte(bad))
		if err != nil {
			t.Fatal(err)
		}
		if err := restore(t.Context(), s, "a", tree, root(), seen{}); err == nil {
			t.Errorf("%s was restored", bad)
		}
	}
}
