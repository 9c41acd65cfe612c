package wasifs_test

import (
	"encoding/binary"
	"io"
	"testing"
	"testing/fstest"

	"github.com/bailey-go/bailey/fsaccess"
	. "github.com/bailey-go/bailey/internal/wasifs"
)

const (
	fileR  = RightFdRead | RightFdSeek | RightFdTell | RightFdFilestatGet | RightFdSync
	fileW  = RightFdWrite | RightFdSeek | RightFdTell | RightFdFilestatGet | RightFdFilestatSetSize | RightFdAllocate | RightFdSync | RightFdFdstatSetFlags
	fileRW = fileR | fileW
)

// guest is an FS with what a libc makes of it.
type guest struct {
	*FS
	t *testing.T
}

func newGuest(t *testing.T, mounts ...Mount) *guest {
	t.Helper()
	g := &guest{New(mounts...), t}
	t.Cleanup(func() { g.Close() })
	return g
}

func (g *guest) ok(e Errno) {
	g.t.Helper()
	if e != ESUCCESS {
		g.t.Fatalf("errno %d, %v", e, e)
	}
}

func (g *guest) open(path string, o OFlags, r Rights, flags FDFlags) FD {
	g.t.Helper()
	fd, e := g.PathOpen(3, SymlinkFollow, path, o, r, AllRights, flags)
	if e != ESUCCESS {
		g.t.Fatalf("open %s: %v", path, e)
	}
	return fd
}

func (g *guest) write(fd FD, s string) {
	g.t.Helper()
	if k, e := g.FdWrite(fd, []byte(s)); e != ESUCCESS || k != len(s) {
		g.t.Fatalf("write: %d, %v", k, e)
	}
}

func (g *guest) read(fd FD) string {
	g.t.Helper()
	var out []byte
	buf := make([]byte, 7)
	for {
		k, e := g.FdRead(fd, buf)
		if e != ESUCCESS {
			g.t.Fatalf("read: %v", e)
		}
		if k == 0 {
			return string(out)
		}
		out = append(out, buf[:k]...)
	}
}

func TestWriteAndReadBack(t *testing.T) {
	mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	g := newGuest(t, Mount{Name: "/", FS: mem})
	fd := g.open("a.txt", OCreat, fileRW, 0)
	g.write(fd, "hello, ")
	g.write(fd, "world")
	if _, e := g.FdSeek(fd, 0, SeekSet); e != ESUCCESS {
		t.Fatal(e)
	}
	if s := g.read(fd); s != "hello, world" {
		t.Errorf("read %q", s)
	}
	g.ok(g.FdClose(fd))
	if b, err := mem.ReadFile("a.txt"); err != nil || string(b) != "hello, world" {
		t.Errorf("%q, %v", b, err)
	}
}

// A file system that can only be read from front to back serves as well.
func TestPlainFS(t *testing.T) {
	g := newGuest(t, Mount{FS: fstest.MapFS{"d/a": {Data: []byte("abc")}}})
	fd := g.open("d/a", 0, fileR, 0)
	var b [2]byte
	if k, e := g.FdPread(fd, b[:], 1); e != ESUCCESS || string(b[:k]) != "bc" {
		t.Errorf("%q, %v", b[:k], e)
	}
	if _, e := g.PathOpen(3, 0, "new", OCreat, fileRW, 0, 0); e != EROFS {
		t.Errorf("create: %v", e)
	}
}

func TestStreams(t *testing.T) {
	g := newGuest(t)
	r, w := io.Pipe()
	g.SetStream(0, r, nil)
	g.SetStream(1, nil, w)
	go g.FdWrite(1, []byte("through")) // the pipe waits for its reader
	b := make([]byte, 10)
	if k, e := g.FdRead(0, b); e != ESUCCESS || string(b[:k]) != "through" {
		t.Errorf("%q, %v", b[:k], e)
	}
	if _, e := g.FdRead(1, b); e != EBADF {
		t.Errorf("read from an output: %v", e)
	}
	if _, e := g.FdSeek(0, 0, SeekCur); e != ESPIPE {
		t.Errorf("seek: %v", e)
	}
}

type dirent struct {
	name string
	next uint64
	ino  uint64
	typ  Filetype
}

// readdir reads a folder as a libc does, with a buffer of some size.
func readdir(f *FS, fd FD, size int) ([]dirent, Errno) {
	var out []dirent
	cookie := uint64(0)
	for {
		p := make([]byte, size)
		n, e := f.FdReaddir(fd, p, cookie)
		if e != ESUCCESS {
			return out, e
		}
		full := n == size
		for p = p[:n]; len(p) >= 24; {
			d := dirent{next: binary.LittleEndian.Uint64(p), ino: binary.LittleEndian.Uint64(p[8:]), typ: Filetype(p[20])}
			k := 24 + int(binary.LittleEndian.Uint32(p[16:]))
			if k > len(p) {
				break
			}
			d.name, p = string(p[24:k]), p[k:]
			cookie = d.next
			out = append(out, d)
		}
		if !full {
			return out, ESUCCESS
		}
	}
}
