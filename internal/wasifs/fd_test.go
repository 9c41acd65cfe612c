package wasifs_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	. "github.com/bailey-go/bailey/internal/wasifs"
)

func newFiles(t *testing.T, o fsaccess.MemoryOptions) (*guest, *fsaccess.Folder) {
	t.Helper()
	m := fsaccess.NewMemory(o)
	prepare(t, m)
	return newGuest(t, Mount{FS: m}), m
}

var stagedMemory = fsaccess.MemoryOptions{Staged: true}

func TestSeekAndTell(t *testing.T) {
	g, _ := newFiles(t, stagedMemory)
	fd := g.open("a", 0, fileRW, 0) // "file a"
	for _, row := range []struct {
		delta  int64
		whence Whence
		at     uint64
		e      Errno
	}{
		{2, SeekSet, 2, 0}, {3, SeekCur, 5, 0}, {-4, SeekCur, 1, 0}, {0, SeekEnd, 6, 0}, {10, SeekEnd, 16, 0}, {-6, SeekEnd, 0, 0},
		{-1, SeekSet, 0, EINVAL}, {-7, SeekEnd, 0, EINVAL}, {0, 3, 0, EINVAL}, {1<<63 - 1, SeekSet, 1<<63 - 1, 0}, {1, SeekCur, 0, EOVERFLOW},
	} {
		at, e := g.FdSeek(fd, row.delta, row.whence)
		if e != row.e || e == 0 && at != row.at {
			t.Errorf("seek %d from %d: %d, %v; want %d, %v", row.delta, row.whence, at, e, row.at, row.e)
		}
		if now, _ := g.FdTell(fd); e == 0 && now != row.at {
			t.Errorf("tell: %d", now)
		}
	}
	if _, e := g.FdSeek(3, 0, SeekSet); e != EBADF {
		t.Errorf("seek in a folder: %v", e)
	}
	if _, e := g.FdPread(fd, make([]byte, 1), 1<<63); e != EINVAL {
		t.Errorf("pread beyond int64: %v", e)
	}
}

// All descriptors of a file see what any of them wrote, at once; others see it
// when the program syncs or closes.
func TestOwnWritesAreSeen(t *testing.T) {
	g, m := newFiles(t, stagedMemory)
	outside := func() string { b, _ := m.ReadFile("a"); return string(b) }
	w := g.open("a", 0, fileRW, 0)
	r := g.open("d/../a", 0, fileR, 0)
	log := g.open("a", 0, fileW, FDAppend)
	g.write(w, "FILE")
	if s := g.read(r); s != "FILE a" {
		t.Errorf("another descriptor reads %q", s)
	}
	g.write(log, "+")
	if st, e := g.PathFilestatGet(3, 0, "a"); e != 0 || st.Size != 7 {
		t.Errorf("by its name it has %d bytes, %v", st.Size, e)
	}
	if s := g.read(r); s != "+" {
		t.Errorf("then it reads %q", s)
	}
	g.write(w, "!") // at 4
	if s := outside(); strings.Contains(s, "!") {
		t.Errorf("seen outside before a sync: %q", s)
	}
	g.ok(g.FdSync(r))
	if s := outside(); s != "FILE!a+" {
		t.Errorf("after a sync: %q", s)
	}
	// One that is closed makes it visible although others stay open.
	if _, e := g.FdPwrite(w, []byte("x"), 0); e != 0 {
		t.Fatal(e)
	}
	g.ok(g.FdClose(w))
	if s := outside(); s != "xILE!a+" {
		t.Errorf("after a close: %q", s)
	}
	g.ok(g.FdFdstatSetFlags(log, FDDsync))
	if _, e := g.FdPwrite(log, []byte("y"), 1); e != 0 || outside() != "xyLE!a+" {
		t.Errorf("with FDDsync: %q, %v", outside(), e)
	}
}

// Appends go behind what others wrote meanwhile.
func TestAppendsAddUp(t *testing.T) {
	g, m := newFiles(t, stagedMemory)
	fd := g.open("a", 0, fileW, FDAppend)
	g.write(fd, " one")
	if err := m.WriteFile("a", []byte("another"), 0o666); err != nil {
		t.Fatal(err)
	}
	g.ok(g.FdClose(fd))
	if b, _ := m.ReadFile("a"); string(b) != "another one" {
		t.Errorf("%q", b)
	}
}

func TestUnlinkAndRenameWhileOpen(t *testing.T) {
	for name, o := range map[string]fsaccess.MemoryOptions{"memory": {}, "staged": stagedMemory, "no move": {Staged: true, NoMove: true}} {
		t.Run(name, func(t *testing.T) {
			g, m := newFiles(t, o)
			tmp := g.open("tmp", OCreat|OExcl, fileRW, 0)
			g.write(tmp, "only for me")
			g.ok(g.PathUnlinkFile(3, "tmp"))
			if _, err := m.Stat("tmp"); err == nil {
				t.Error("it is still there")
			}
			if _, e := g.FdPwrite(tmp, []byte("ONLY"), 0); e != 0 {
				t.Error(e)
			}
			if _, e := g.FdSeek(tmp, 0, SeekSet); e != 0 || g.read(tmp) != "ONLY for me" {
				t.Errorf("the removed file: %v", e)
			}
			// A new one of the same name is another file.
			again := g.open("tmp", OCreat, fileRW, 0)
			g.write(again, "new")
			g.ok(g.FdClose(tmp))
			g.ok(g.FdClose(again))
			if b, _ := m.ReadFile("tmp"); string(b) != "new" {
				t.Errorf("%q", b)
			}

			w, dir := g.open("d/b", 0, fileRW, 0), g.open("d", ODirectory, DirRights, 0)
			over := g.open("a", 0, fileR, 0)
			g.write(w, "FILE")
			g.ok(g.PathRename(3, "d", 3, "moved"))
			g.write(w, "!!")
			if _, e := g.PathFilestatGet(dir, 0, "b"); e != 0 {
				t.Errorf("by the folder's descriptor: %v", e)
			}
			g.ok(g.PathRename(dir, "b", 3, "a"))
			g.write(w, "?")
			g.ok(g.FdClose(w))
			if b, _ := m.ReadFile("a"); string(b) != "FILE!!?" {
				t.Errorf("%q", b)
			}
			if s := g.read(over); s != "file a" {
				t.Errorf("the file that was replaced: %q", s)
			}
			// A folder over an empty folder, as POSIX has it.
			g.ok(g.PathCreateDirectory(3, "full"))
			g.ok(g.PathCreateDirectory(3, "full/x"))
			if e := g.PathRename(3, "moved", 3, "full"); e != ENOTEMPTY {
				t.Errorf("over a full folder: %v", e)
			}
			g.ok(g.PathRename(3, "moved", 3, "full/x"))
			if e := g.PathRename(3, "full", 3, "a"); e != ENOTDIR {
				t.Errorf("a folder over a file: %v", e)
			}
			if e := g.PathRename(3, "a", 3, "full"); e != EISDIR {
				t.Errorf("a file over a folder: %v", e)
			}
			if e := g.PathRename(3, "a/", 3, "z"); e != ENOTDIR {
				t.Errorf("a file by a folder's name: %v", e)
			}
		})
	}
}

func TestRights(t *testing.T) {
	g, _ := newFiles(t, stagedMemory)
	r, w := g.open("a", 0, RightFdRead, 0), g.open("a", 0, RightFdWrite, 0)
	b := []byte("x")
	errs := map[string]Errno{}
	_, errs["8 write to one to be read"] = g.FdWrite(r, b)
	_, errs["8 read from one to be written"] = g.FdRead(w, b)
	_, errs["76 pread without seek"] = g.FdPread(r, b, 0)
	_, errs["76 pwrite without seek"] = g.FdPwrite(w, b, 0)
	_, errs["76 seek"] = g.FdSeek(r, 1, SeekSet)
	_, errs["76 tell"] = g.FdTell(r)
	_, errs["76 stat"] = g.FdFilestatGet(r)
	errs["76 sync"] = g.FdSync(w)
	errs["76 set size"] = g.FdFilestatSetSize(w, 1)
	errs["76 allocate"] = g.FdAllocate(w, 0, 1)
	errs["76 set flags"] = g.FdFdstatSetFlags(w, FDAppend)
	errs["76 set times"] = g.FdFilestatSetTimes(w, 0, 0, 0)
	_, errs["31 read a folder"] = g.FdRead(3, b)
	_, errs["54 list a file"] = g.FdReaddir(r, b, 0)
	_, errs["54 open below a file"] = g.PathOpen(r, 0, "x", 0, 0, 0, 0)
	_, errs["8 open below nothing"] = g.PathOpen(99, 0, "x", 0, 0, 0, 0)
	errs["8 close nothing"] = g.FdClose(99)
	_, errs["28 create a folder by open"] = g.PathOpen(3, 0, "x", OCreat|ODirectory, 0, 0, 0)
	_, errs["54 a file as a folder"] = g.PathOpen(3, 0, "a", ODirectory, 0, 0, 0)
	_, errs["31 a folder to be written"] = g.PathOpen(3, 0, "d", 0, RightFdWrite, 0, 0)
	_, errs["28 flags that do not exist"] = g.PathOpen(3, 0, "a", 0, 0, 0, 1<<7)
	_, errs["28 open flags that do not exist"] = g.PathOpen(3, 0, "a", 1<<7, 0, 0, 0)
	errs["76 more rights"] = g.FdFdstatSetRights(r, RightFdRead|RightFdWrite, 0)
	errs["0 fewer rights"] = g.FdFdstatSetRights(r, 0, 0)
	_, errs["8 read with none"] = g.FdRead(r, b)
	// A folder's rights bound what is opened through it.
	dir, e := g.PathOpen(3, 0, "d", ODirectory, RightPathOpen|RightFdReaddir, RightFdRead, 0)
	g.ok(e)
	_, errs["0 open to read"] = g.PathOpen(dir, 0, "b", 0, RightFdRead, 0, 0)
	_, errs["76 open to write"] = g.PathOpen(dir, 0, "b", 0, RightFdRead|RightFdWrite, 0, 0)
	_, errs["76 create"] = g.PathOpen(dir, 0, "new", OCreat, RightFdRead, 0, 0)
	_, errs["76 cut"] = g.PathOpen(dir, 0, "b", OTrunc, RightFdRead, 0, 0)
	errs["76 make a folder"] = g.PathCreateDirectory(dir, "x")
	errs["76 remove a folder"] = g.PathRemoveDirectory(dir, "e")
	errs["76 unlink"] = g.PathUnlinkFile(dir, "b")
	errs["76 rename"] = g.PathRename(dir, "b", 3, "x")
	_, errs["76 look"] = g.PathFilestatGet(dir, 0, "b")
	errs["58 link"] = g.PathLink(3, 0, "a", 3, "x")
	errs["20 link over"] = g.PathLink(3, 0, "a", 3, "d")
	errs["44 link nothing"] = g.PathLink(3, 0, "none", 3, "x")
	errs["58 symlink"] = g.PathSymlink("/etc/passwd", 3, "x")
	errs["20 symlink over"] = g.PathSymlink("x", 3, "a")
	_, errs["28 readlink of a file"] = g.PathReadlink(3, "a")
	_, errs["44 readlink of nothing"] = g.PathReadlink(3, "none")
	for what, e := range errs {
		var want Errno
		fmt.Sscan(what, &want)
		if e != want {
			t.Errorf("%s: %d, %v", what, e, e)
		}
	}
}

func TestLimits(t *testing.T) {
	m := fsaccess.NewMemory(stagedMemory)
	prepare(t, m)
	f := New(Mount{FS: m})
	f.MaxOpen, f.MaxFile, f.MaxOrphan = 4, 1000, 6
	g := &guest{f, t}
	defer f.Close()
	x, y, z := g.open("a", 0, fileRW, 0), g.open("d/b", 0, fileRW, 0), g.open("d", ODirectory, DirRights, 0)
	if _, e := g.PathOpen(3, 0, "more", OCreat, fileR, 0, 0); e != EMFILE {
		t.Errorf("one descriptor too many: %v", e)
	}
	if _, err := m.Stat("more"); err == nil {
		t.Error("the file was made all the same")
	}
	g.ok(g.FdClose(z))
	z = g.open("new", OCreat, fileRW, 0)
	for what, row := range map[string]struct {
		e    Errno
		want Errno
	}{
		"set size at":       {g.FdFilestatSetSize(z, 1000), 0},
		"set size above":    {g.FdFilestatSetSize(z, 1001), EFBIG},
		"allocate at":       {g.FdAllocate(z, 900, 100), 0},
		"allocate above":    {g.FdAllocate(z, 900, 101), EFBIG},
		"allocate overflow": {g.FdAllocate(z, 1<<63, 1<<63), EINVAL},
		"allocate nothing":  {g.FdAllocate(z, 0, 0), EINVAL},
		"size beyond int64": {g.FdFilestatSetSize(z, 1<<63), EFBIG},
	} {
		if row.e != row.want {
			t.Errorf("%s: %v", what, row.e)
		}
	}
	for what, row := range map[string]struct {
		off  uint64
		want Errno
	}{"below": {998, 0}, "at": {999, 0}, "above": {1000, EFBIG}, "far above": {1<<63 - 1, EFBIG}} {
		if _, e := g.FdPwrite(z, []byte("x"), row.off); e != row.want {
			t.Errorf("pwrite %s: %v", what, e)
		}
	}
	g.ok(g.FdFdstatSetFlags(z, FDAppend))
	if _, e := g.FdWrite(z, []byte("x")); e != EFBIG {
		t.Errorf("append above: %v", e)
	}
	g.ok(g.PathUnlinkFile(3, "a")) // 6 bytes: at the limit
	g.write(y, "seven !")
	if e := g.PathUnlinkFile(3, "d/b"); e != EBUSY {
		t.Errorf("removing a large open file: %v", e)
	}
	g.ok(g.FdClose(y))
	g.ok(g.PathUnlinkFile(3, "d/b"))
	if s := g.read(x); s != "file a" {
		t.Errorf("%q", s)
	}
}

func TestTimesAndStat(t *testing.T) {
	g, m := newFiles(t, fsaccess.MemoryOptions{})
	at := uint64(1_700_000_000_123_456_789)
	g.ok(g.PathFilestatSetTimes(3, 0, "a", 5, at, FstMtim))
	st, e := g.PathFilestatGet(3, 0, "a")
	if e != 0 || st.Mtim != at || st.Dev != 1 || st.Nlink != 1 || st.Type != TypeRegular {
		t.Errorf("%+v, %v", st, e)
	}
	fd := g.open("a", 0, fileRW|RightFdFilestatSetTimes, 0)
	g.ok(g.FdFilestatSetTimes(fd, 7, 0, FstAtim)) // the other one stays
	if st, _ := g.FdFilestatGet(fd); st.Mtim != at {
		t.Errorf("%+v", st)
	}
	before := uint64(time.Now().UnixNano())
	g.ok(g.FdFilestatSetTimes(fd, 0, 0, FstMtimNow))
	if st, _ := g.FdFilestatGet(fd); st.Mtim < before {
		t.Errorf("%+v", st)
	}
	for _, flags := range []FstFlags{FstAtim | FstAtimNow, FstMtim | FstMtimNow, 1 << 4} {
		if e := g.PathFilestatSetTimes(3, 0, "a", 0, 0, flags); e != EINVAL {
			t.Errorf("flags %d: %v", flags, e)
		}
	}
	if e := g.PathFilestatSetTimes(3, 0, "a/", 0, 0, 0); e != ENOTDIR {
		t.Errorf("a file by a folder's name: %v", e)
	}
	bare, _ := newFiles(t, fsaccess.MemoryOptions{NoMode: true})
	if e := bare.PathFilestatSetTimes(3, 0, "a", 0, 0, FstMtimNow); e != ENOTSUP {
		t.Errorf("where times can't be set: %v", e)
	}
	if b := st.Encode(); len(b) != 64 || b[16] != byte(TypeRegular) || b[32] != 6 {
		t.Errorf("%x", b)
	}
	fs, e := g.FdFdstatGet(fd)
	if e != 0 || fs.Type != TypeRegular || fs.Base&RightFdWrite == 0 || fs.Base&RightPathOpen != 0 {
		t.Errorf("%+v, %v", fs, e)
	}
	if b := fs.Encode(); b[0] != byte(TypeRegular) || b[8] == 0 {
		t.Errorf("%x", b)
	}
	if dir, _ := g.FdFdstatGet(3); dir.Type != TypeDirectory || dir.Inheriting != AllRights {
		t.Errorf("%+v", dir)
	}
	_ = m
}

func TestRenumberAndClose(t *testing.T) {
	g, m := newFiles(t, stagedMemory)
	a, b := g.open("a", 0, fileRW, 0), g.open("d/b", 0, fileRW, 0)
	g.write(b, "BBBB")
	g.ok(g.FdRenumber(a, b))
	if s, _ := m.ReadFile("d/b"); string(s) != "BBBB b" {
		t.Errorf("what was closed by it: %q", s)
	}
	if s := g.read(b); s != "file a" {
		t.Errorf("%q", s)
	}
	for _, pair := range [][2]FD{{a, b}, {b, 99}} {
		if e := g.FdRenumber(pair[0], pair[1]); e != EBADF {
			t.Errorf("renumber %v: %v", pair, e)
		}
	}
	if fd := g.open("a", 0, fileR, 0); fd != a {
		t.Errorf("the lowest free number is %d, got %d", a, fd)
	}
	if _, e := g.FdPwrite(b, []byte("end"), 0); e != 0 {
		t.Fatal(e)
	}
	if err := errors.Join(g.Close(), g.Close()); err != nil {
		t.Error(err)
	}
	if s, _ := m.ReadFile("a"); string(s) != "ende a" {
		t.Errorf("after Close: %q", s)
	}
	if _, e := g.PathOpen(3, 0, "a", 0, fileR, 0, 0); e != EBADF {
		t.Errorf("open after Close: %v", e)
	}
}
