//go:build !js

package fsaccess

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
)

// FuzzAgainstOS runs the same random operations on a folder of the operating
// system, by package os alone, and on every kind of FS: the results, the error
// classes and the trees at the end must be the same.
func FuzzAgainstOS(f *testing.F) {
	for seed := range 24 {
		b := make([]byte, 120)
		x := uint32(seed*2654435761 + 1)
		for i := range b {
			x = x*1664525 + 1013904223
			b[i] = byte(x >> 24)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) > 400 {
			program = program[:400]
		}
		kinds := everyFS(t)
		names := make([]string, 0, len(kinds))
		for name := range kinds {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			if name == "memory-folding" || strings.HasSuffix(name, "over memory-folding") {
				continue // ignores case on purpose
			}
			dir := t.TempDir()
			runBoth(t, name, program, dir, kinds[name](t))
		}
	})
}

// TestRandomAgainstOS is the same with many fixed programs, in every run.
func TestRandomAgainstOS(t *testing.T) {
	kinds := everyFS(t)
	for name, open := range kinds {
		if strings.Contains(name, "folding") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(randomPrograms) {
				r := rand.New(rand.NewPCG(seed, 4))
				program := make([]byte, 300)
				for i := range program {
					program[i] = byte(r.Uint32())
				}
				runBoth(t, name, program, t.TempDir(), open(t))
			}
		})
	}
}

const randomPrograms = 25

// The error classes package os promises.
func class(err error) string {
	for _, c := range []error{fs.ErrNotExist, syscall.ENOTEMPTY, fs.ErrExist, syscall.EISDIR, syscall.ENOTDIR,
		syscall.EINVAL, fs.ErrInvalid, fs.ErrPermission, fs.ErrClosed, io.EOF} {
		if errors.Is(err, c) {
			return c.Error()
		}
	}
	if err != nil {
		return "other"
	}
	return ""
}

func runBoth(t *testing.T, kind string, program []byte, dir string, f FS) {
	next := func() int {
		if len(program) == 0 {
			return 0
		}
		b := program[0]
		program = program[1:]
		return int(b)
	}
	paths := []string{"a", "b", "c", "a/x", "a/y", "b/x", "b/x/z", "a/x/q/r", "A"}
	pick := func() string { return paths[next()%len(paths)] }
	blob := func() []byte { return []byte(strings.Repeat(string(rune('a'+next()%26)), next()%40)) }
	var log []string
	for len(program) > 0 {
		var what string
		var want, got error
		var wv, gv any
		switch op := next() % 14; op {
		case 0, 1:
			p, data := pick(), blob()
			what = fmt.Sprintf("WriteFile(%s, %d)", p, len(data))
			want, got = os.WriteFile(filepath.Join(dir, p), data, 0o644), f.WriteFile(p, data, 0o644)
		case 2:
			p := pick()
			what = "Mkdir " + p
			want, got = os.Mkdir(filepath.Join(dir, p), 0o755), f.Mkdir(p, 0o755)
		case 3:
			p := pick()
			what = "MkdirAll " + p
			want, got = os.MkdirAll(filepath.Join(dir, p), 0o755), f.MkdirAll(p, 0o755)
		case 4:
			p := pick()
			what = "Remove " + p
			want, got = os.Remove(filepath.Join(dir, p)), f.Remove(p)
		case 5:
			p := pick()
			what = "RemoveAll " + p
			want, got = os.RemoveAll(filepath.Join(dir, p)), f.RemoveAll(p)
		case 6, 7:
			a, b := pick(), pick()
			what = "Rename " + a + " " + b
			want, got = os.Rename(filepath.Join(dir, a), filepath.Join(dir, b)), f.Rename(a, b)
		case 8:
			p := pick()
			what = "ReadFile " + p
			wv, want = readString(os.ReadFile(filepath.Join(dir, p)))
			gv, got = readString(f.ReadFile(p))
		case 9:
			p := pick()
			what = "ReadDir " + p
			wv, want = entryNames(os.ReadDir(filepath.Join(dir, p)))
			gv, got = entryNames(f.ReadDir(p))
		case 10:
			p := pick()
			what = "Stat " + p
			wv, want = statString(os.Stat(filepath.Join(dir, p)))
			gv, got = statString(f.Stat(p))
		case 11:
			p, n := pick(), int64(next()%60)
			what = fmt.Sprintf("Truncate(%s, %d)", p, n)
			want, got = os.Truncate(filepath.Join(dir, p), n), f.Truncate(p, n)
		default:
			p, flags, script := pick(), next(), []int{next(), next(), next(), next(), next(), next()}
			what = fmt.Sprintf("OpenFile(%s, %d) %v", p, flags, script)
			flag := []int{os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_RDWR}[flags&3]
			if flags&4 != 0 && flag != os.O_RDONLY {
				flag |= os.O_APPEND
			}
			if flags&8 != 0 {
				flag |= os.O_CREATE
			}
			if flags&16 != 0 && flag&3 != os.O_RDONLY {
				flag |= os.O_TRUNC
			}
			if flags&32 != 0 && flag&os.O_CREATE != 0 {
				flag |= os.O_EXCL
			}
			wf, werr := os.OpenFile(filepath.Join(dir, p), flag, 0o644)
			gf, gerr := f.OpenFile(p, flag, 0o644)
			want, got = werr, gerr
			if fi, err := os.Stat(filepath.Join(dir, p)); werr == nil && gerr == nil && err == nil && !fi.IsDir() {
				wv, gv = play(wf, script), play(gf.(core.File), script)
			}
			if werr == nil {
				wf.Close()
			}
			if gerr == nil {
				gf.Close()
			}
		}
		log = append(log, what)
		if class(want) != class(got) || fmt.Sprint(wv) != fmt.Sprint(gv) {
			t.Fatalf("%s: %s\nos:   %v %v\nours: %v %v\nafter %s", kind, what, wv, want, gv, got, strings.Join(log[max(0, len(log)-40):], "; "))
		}
	}
	if w, g := tree(t, os.DirFS(dir)), tree(t, f); w != g {
		t.Fatalf("%s: trees differ\nos:\n%s\nours:\n%s\nafter %s", kind, w, g, strings.Join(log[max(0, len(log)-40):], "; "))
	}
}

// play applies the script to an open file and returns the results as a text.
func play(f core.File, script []int) string {
	var out []string
	say := func(op string, v any, err error) { out = append(out, fmt.Sprint(op, " ", v, " ", class(err))) }
	for i, s := range script {
		switch s % 6 {
		case 0:
			b := make([]byte, s%7)
			n, err := f.Read(b)
			say("read", string(b[:n]), err)
		case 1:
			n, err := f.Write([]byte(strings.Repeat("w", i+1)))
			say("write", n, err)
		case 2:
			n, err := f.Seek(int64(s%9)-2, s%3)
			say("seek", n, err)
		case 3:
			n, err := f.WriteAt([]byte("AT"), int64(s%15))
			say("writeat", n, err)
		case 4:
			err := f.Truncate(int64(s % 20))
			say("truncate", "", err)
		case 5:
			b := make([]byte, 5)
			n, err := f.ReadAt(b, int64(s%12))
			say("readat", string(b[:n]), err)
		}
	}
	return strings.Join(out, ", ")
}

func readString(b []byte, err error) (any, error) { return string(b), err }

func entryNames(list []fs.DirEntry, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	var s []string
	for _, e := range list {
		s = append(s, fmt.Sprint(e.Name(), e.IsDir()))
	}
	return s, nil
}

func statString(fi fs.FileInfo, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	if fi.IsDir() {
		return fi.Name() + "/", nil
	}
	return fmt.Sprint(fi.Name(), fi.Size()), nil
}
