package wasifs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	. "github.com/bailey-go/bailey/internal/wasifs"
)

// newJail is a folder with a secret beside it, and a guest inside.
func newJail(t *testing.T) (*guest, *fsaccess.Folder) {
	t.Helper()
	all := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	for _, d := range []string{"jail/d/e", "beside"} {
		if err := all.MkdirAll(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"secret", "beside/secret", "jail/f", "jail/d/f", "jail/d/e/f"} {
		if err := all.WriteFile(f, []byte(f), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	sub, err := all.Sub("jail")
	if err != nil {
		t.Fatal(err)
	}
	return newGuest(t, Mount{Name: "/", FS: sub}), all
}

func TestPaths(t *testing.T) {
	g, _ := newJail(t)
	long := strings.Repeat("x", 255)
	for _, row := range []struct {
		path string
		want Errno
		size uint64 // of the file
	}{
		{"f", ESUCCESS, 6},
		{"./f", ESUCCESS, 6},
		{"d//f", ESUCCESS, 8},
		{"d/./f", ESUCCESS, 8},
		{"d/../f", ESUCCESS, 6},
		{"d/e/../../f", ESUCCESS, 6},
		{"d/e/.././../d/e/f", ESUCCESS, 10},
		{"d/", ESUCCESS, 0},
		{"d/.", ESUCCESS, 0},
		{".", ESUCCESS, 0},
		{"d/..", ESUCCESS, 0},
		{"./", ESUCCESS, 0},
		{"", ENOENT, 0},
		{"..", EPERM, 0},
		{"../secret", EPERM, 0},
		{"../jail/f", EPERM, 0},
		{"d/../../secret", EPERM, 0},
		{"d/e/../../../beside/secret", EPERM, 0},
		{"./../f", EPERM, 0},
		{"/", EPERM, 0},
		{"/f", EPERM, 0},
		{"//f", EPERM, 0},
		{"/../secret", EPERM, 0},
		{"none/../f", ENOENT, 0},
		{"f/../f", ENOTDIR, 0},
		{"f/", ENOTDIR, 0},
		{"f/.", ENOTDIR, 0},
		{"f/x", ENOTDIR, 0},
		{"f\x00", EINVAL, 0},
		{"f\x00/../../secret", EINVAL, 0},
		{"\xff", EILSEQ, 0},
		{"..\\secret", ENOENT, 0}, // a name like any other
		{"..\u2215secret", ENOENT, 0},
		{"...", ENOENT, 0},
		{long, ENOENT, 0},
		{long + "x", ENAMETOOLONG, 0},
		{strings.Repeat("./", 2047) + "f", ESUCCESS, 6},
		{strings.Repeat("./", 2048) + "f", ENAMETOOLONG, 0},
	} {
		st, e := g.PathFilestatGet(3, SymlinkFollow, row.path)
		if e != row.want || e == ESUCCESS && st.Size != row.size {
			t.Errorf("%.40q: %v and %d bytes, want %v and %d", row.path, e, st.Size, row.want, row.size)
		}
	}
}

// TestNoPathLeadsOut tries every name on every call, from the mount and from a
// folder in it; what lies beside stays as it is and unknown.
func TestNoPathLeadsOut(t *testing.T) {
	ups := []string{"..", "../..", "./..", "d/../..", "d/e/../../..", "d/./../..", "d//../..", "/", "//", "/..", "f/../..", "none/../.."}
	var paths []string
	for _, up := range ups {
		for _, rest := range []string{"", "/", "/secret", "/beside/secret", "/jail/../secret", "/new", "/beside/"} {
			paths = append(paths, up+rest)
		}
	}
	paths = append(paths, "..\x00/secret", "\x00", "secret\x00", "..\xff/secret")
	if len(paths) < 80 {
		t.Fatalf("%d paths", len(paths))
	}
	for _, from := range []string{".", "d", "d/e"} {
		g, all := newJail(t)
		before := treeOf(t, all)
		dir := g.open(from, ODirectory, DirRights, 0)
		for _, p := range paths {
			if from != "." && (strings.HasPrefix(p, "d/") || strings.HasPrefix(p, "none")) {
				continue // there is no such folder below this one
			}
			calls := map[string]Errno{
				"create_directory": g.PathCreateDirectory(dir, p),
				"remove_directory": g.PathRemoveDirectory(dir, p),
				"unlink_file":      g.PathUnlinkFile(dir, p),
				"rename from":      g.PathRename(dir, p, dir, "x"),
				"rename to":        g.PathRename(3, "f", dir, p),
				"symlink":          g.PathSymlink("target", dir, p),
				"link from":        g.PathLink(dir, 0, p, dir, "x"),
				"link to":          g.PathLink(3, 0, "f", dir, p),
				"set_times":        g.PathFilestatSetTimes(dir, 0, p, 0, 0, FstMtimNow),
			}
			_, calls["filestat_get"] = g.PathFilestatGet(dir, 0, p)
			_, calls["readlink"] = g.PathReadlink(dir, p)
			for o := range OFlags(16) {
				_, calls[fmt.Sprint("open ", o)] = g.PathOpen(dir, SymlinkFollow, p, o, fileRW, AllRights, 0)
			}
			for call, e := range calls {
				switch e {
				case EPERM, EINVAL, EILSEQ, ENOTDIR, ENOENT:
				default:
					t.Errorf("%s of %q from %s: %v", call, p, from, e)
				}
			}
		}
		if after := treeOf(t, all); after != before {
			t.Fatalf("from %s something changed:\n%s\nwas\n%s", from, after, before)
		}
	}
}

// A mount cannot be left by way of another one either.
func TestMountsApart(t *testing.T) {
	a, b := fsaccess.NewMemory(fsaccess.MemoryOptions{}), fsaccess.NewMemory(fsaccess.MemoryOptions{})
	prepare(t, a)
	prepare(t, b)
	g := newGuest(t, Mount{Name: "/", FS: a}, Mount{Name: "/work", FS: b, ReadOnly: true})
	for fd, want := range map[FD]string{3: "/", 4: "/work"} {
		n, e := g.FdPrestatGet(fd)
		name, _ := g.FdPrestatDirName(fd)
		if e != ESUCCESS || name != want || int(n) != len(want) {
			t.Errorf("mount %d: %q of %d, %v", fd, name, n, e)
		}
	}
	if _, e := g.FdPrestatGet(5); e != EBADF {
		t.Errorf("after the last mount: %v", e)
	}
	if e := g.PathRename(3, "a", 4, "x"); e != EROFS {
		t.Errorf("rename into a read-only mount: %v", e)
	}
	rw := newGuest(t, Mount{FS: a}, Mount{FS: b})
	if e := rw.PathRename(3, "a", 4, "x"); e != EXDEV {
		t.Errorf("rename between mounts: %v", e)
	}
	before := treeOf(t, b)
	for call, e := range map[string]Errno{
		"create_directory": g.PathCreateDirectory(4, "x"),
		"remove_directory": g.PathRemoveDirectory(4, "d/e"),
		"unlink_file":      g.PathUnlinkFile(4, "a"),
		"rename":           g.PathRename(4, "a", 4, "x"),
		"set_times":        g.PathFilestatSetTimes(4, 0, "a", 0, 0, FstMtimNow),
	} {
		if e != EROFS {
			t.Errorf("%s on a read-only mount: %v", call, e)
		}
	}
	for name, o := range map[string]OFlags{"new": OCreat, "a": OTrunc} {
		if _, e := g.PathOpen(4, 0, name, o, fileR, 0, 0); e != EROFS {
			t.Errorf("open %s to change it: %v", name, e)
		}
	}
	if _, e := g.PathOpen(4, 0, "a", 0, fileRW, 0, 0); e != EROFS {
		t.Errorf("open to write: %v", e)
	}
	if fd, e := g.PathOpen(4, 0, "a", OCreat, fileR, 0, 0); e != ESUCCESS {
		t.Errorf("open to read what is there: %v", e)
	} else if s := g.read(fd); s != "file a" {
		t.Errorf("%q", s)
	}
	if after := treeOf(t, b); after != before {
		t.Errorf("a read-only mount changed:\n%s", after)
	}
}
