package native

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	experimental "github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/sys"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// tree is the folder of one run: the files of the call, and over them the program's changes, which
// stay in memory until the program has ended. A run has one thread, so tree has no lock.
type tree struct {
	experimental.UnimplementedFS
	base        fsaccess.FS
	entries     map[string]*entry // the names that the program opened or changed
	moved       map[string]string
	inodes      uint64
	names       map[string]uint64 // inodes of files that were not opened
	read, write int64             // bytes that the run may still read and hold
	nameBytes   int64             // bytes of names that it may still make, with nodeBytes for each
	end         func(error)
}

// entry is a name. A removed one stays, without a node.
type entry struct {
	*node
	was  fs.FileInfo // in base, or nil
	orig *node       // the node of the name in base, if it was opened
	base []byte      // the content in base
}

// node is a file, folder or symbolic link. A file may have several names.
type node struct {
	dir, changed        bool
	link                string // a symbolic link's path
	data                []byte
	ino, links          uint64
	atime, mtime, ctime int64 // nanoseconds
}

func newTree(base fsaccess.FS, read, write int64, end func(error)) *tree {
	return &tree{base: base, entries: map[string]*entry{}, moved: map[string]string{}, names: map[string]uint64{}, read: read, write: write, nameBytes: maxNames, end: end}
}

func (t *tree) newNode(at int64) *node {
	t.inodes++
	return &node{ino: t.inodes, links: 1, atime: at, mtime: at, ctime: at}
}

func now() int64 { return time.Now().UnixNano() }

func nanoseconds(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixNano()
}

// maxHops is the most symbolic links that a name may lead through.
const maxHops = 32

// find returns the name in base that a path leads to, and whether the path names a folder by its end. The last element may be
// missing. Symbolic links, which are the program's own, are followed in its tree, the last one only if follow is set or more of the
// path comes behind it.
func (t *tree) find(name string, follow bool) (string, bool, experimental.Errno) {
	if strings.ContainsRune(name, 0) || len(name) > 8<<10 {
		return "", false, experimental.EINVAL
	}
	rest, at, hops := name, ".", 0
	for rest != "" {
		part, more, cut := strings.Cut(rest, "/")
		rest = more
		switch part {
		case "", ".":
			continue
		case "..":
			if at == "." {
				return "", false, experimental.EPERM
			}
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, part)
		if !fs.ValidPath(next) {
			return "", false, experimental.EINVAL
		}
		e := t.entries[next]
		if e == nil || e.node == nil || e.link == "" || !cut && !follow {
			if strings.Trim(rest, "/.") != "" && e != nil && e.node != nil && !e.dir {
				return "", false, experimental.ENOTDIR
			}
			at = next
			continue
		}
		if hops++; hops > maxHops {
			return "", false, experimental.ELOOP
		}
		if rest = e.link; cut {
			rest += "/" + more
		}
		name = rest
	}
	slash := strings.HasSuffix(name, "/") || path.Base(name) == "." || path.Base(name) == ".."
	if slash {
		if st, no := t.stat(at); no == 0 && !st.Mode.IsDir() {
			return "", false, experimental.ENOTDIR
		}
	}
	return at, slash, 0
}

func errno(err error) experimental.Errno {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, fs.ErrNotExist):
		return experimental.ENOENT
	case errors.Is(err, fs.ErrExist):
		return experimental.EEXIST
	case errors.Is(err, fs.ErrPermission), errors.Is(err, protocol.ErrCapabilityDenied):
		return experimental.EACCES
	case errors.Is(err, fs.ErrInvalid):
		return experimental.EINVAL
	}
	return experimental.EIO
}

// shown reports whether the content of base is visible at a name: no folder above it was removed or
// made anew.
func (t *tree) shown(name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if e := t.entries[dir]; e != nil && (e.node == nil || e.node != e.orig) {
			return false
		}
	}
	return true
}

// stat returns the info of a name.
func (t *tree) stat(name string) (sys.Stat_t, experimental.Errno) {
	if e := t.entries[name]; e != nil {
		if e.node == nil {
			return sys.Stat_t{}, experimental.ENOENT
		}
		return e.stat(), 0
	}
	if !t.shown(name) {
		return sys.Stat_t{}, experimental.ENOENT
	}
	fi, err := t.base.Stat(name)
	if err != nil {
		return sys.Stat_t{}, errno(err)
	}
	mode := fs.FileMode(0o644)
	if fi.IsDir() {
		mode = fs.ModeDir | 0o755
	}
	at := nanoseconds(fi.ModTime())
	return sys.Stat_t{Dev: 1, Ino: t.inode(name), Mode: mode, Nlink: 1, Size: fi.Size(), Atim: at, Mtim: at, Ctim: at}, 0
}

// inode returns the inode of a file of base that was not opened.
func (t *tree) inode(name string) uint64 {
	if t.names[name] == 0 {
		t.inodes++
		t.names[name] = t.inodes
	}
	return t.names[name]
}

func (n *node) stat() sys.Stat_t {
	mode, size := fs.FileMode(0o644), int64(len(n.data))
	switch {
	case n.dir:
		mode = fs.ModeDir | 0o755
	case n.link != "":
		mode, size = fs.ModeSymlink|0o777, int64(len(n.link))
	}
	return sys.Stat_t{Dev: 1, Ino: n.ino, Mode: mode, Nlink: n.links, Size: size, Atim: n.atime, Mtim: n.mtime, Ctim: n.ctime}
}

// load returns the entry of a name that exists, with its content. The content counts as read once.
func (t *tree) load(name string) (*entry, experimental.Errno) {
	if e := t.entries[name]; e != nil {
		if e.node == nil {
			return nil, experimental.ENOENT
		}
		return e, 0
	}
	if !t.shown(name) {
		return nil, experimental.ENOENT
	}
	fi, err := t.base.Stat(name)
	if err != nil {
		return nil, errno(err)
	}
	n := t.newNode(nanoseconds(fi.ModTime()))
	n.ino = t.inode(name)
	e := &entry{node: n, was: fi, orig: n}
	if n.dir = fi.IsDir(); !n.dir {
		if t.read -= fi.Size(); t.read < 0 {
			t.end(protocol.Errorf(protocol.ErrResourceLimit, "run", name, "the program read more bytes of files than it may"))
			return nil, experimental.EIO
		}
		data, err := t.base.ReadFile(name)
		if err != nil {
			return nil, errno(err)
		}
		n.data, e.base = data, data
	}
	t.entries[name] = e
	return e, 0
}

// Files without content take memory as well: maxNames bytes hold 100,000 of them.
const (
	nodeBytes = 256
	maxNames  = 32 << 20
)

// put gives a name another node, or none. What base has there is kept for the comparison at the end.
func (t *tree) put(name string, n *node) {
	e := t.entries[name]
	if e == nil {
		if t.nameBytes -= int64(len(name)) + nodeBytes; t.nameBytes < 0 {
			t.end(protocol.Errorf(protocol.ErrResourceLimit, "run", "", "the program made more names of files than it may: about 100,000 short ones"))
		}
		e = &entry{}
		t.entries[name] = e
	}
	e.node = n
	if up := t.entries[path.Dir(name)]; up != nil && up.node != nil {
		up.mtime = now()
		up.ctime = up.mtime
	}
}

// free reports whether a new file or folder may be made at a name.
func (t *tree) free(name string) experimental.Errno {
	if _, no := t.stat(name); no != experimental.ENOENT {
		if no == 0 {
			no = experimental.EEXIST
		}
		return no
	}
	st, no := t.stat(path.Dir(name))
	if no == 0 && !st.Mode.IsDir() {
		no = experimental.ENOTDIR
	}
	return no
}

func (t *tree) OpenFile(name string, flag experimental.Oflag, _ fs.FileMode) (experimental.File, experimental.Errno) {
	at, slash, no := t.find(name, flag&experimental.O_NOFOLLOW == 0)
	if no != 0 {
		return nil, no
	}
	writes := flag&(experimental.O_WRONLY|experimental.O_RDWR) != 0
	st, no := t.stat(at)
	switch {
	case no == experimental.ENOENT && flag&experimental.O_CREAT != 0:
		if slash {
			return nil, experimental.EISDIR
		}
		if no := t.free(at); no != 0 {
			return nil, no
		}
		n := t.newNode(now())
		n.changed = true
		t.put(at, n)
	case no != 0:
		return nil, no
	case flag&experimental.O_CREAT != 0 && flag&experimental.O_EXCL != 0:
		return nil, experimental.EEXIST
	case st.Mode&fs.ModeSymlink != 0:
		if flag&experimental.O_DIRECTORY != 0 {
			return nil, experimental.ENOTDIR
		}
		return nil, experimental.ELOOP
	case st.Mode.IsDir() && (writes || flag&(experimental.O_CREAT|experimental.O_TRUNC) != 0):
		return nil, experimental.EISDIR
	case !st.Mode.IsDir() && flag&experimental.O_DIRECTORY != 0:
		return nil, experimental.ENOTDIR
	}
	e, no := t.load(at)
	if no != 0 {
		return nil, no
	}
	f := &file{t: t, n: e.node, name: at, writes: writes, append: flag&experimental.O_APPEND != 0}
	if flag&experimental.O_TRUNC != 0 {
		if !writes {
			return nil, experimental.EINVAL
		}
		if no := f.Truncate(0); no != 0 {
			return nil, no
		}
	}
	return f, 0
}

func (t *tree) Stat(name string) (sys.Stat_t, experimental.Errno)  { return t.statAt(name, true) }
func (t *tree) Lstat(name string) (sys.Stat_t, experimental.Errno) { return t.statAt(name, false) }

func (t *tree) statAt(name string, follow bool) (sys.Stat_t, experimental.Errno) {
	at, _, no := t.find(name, follow)
	if no != 0 {
		return sys.Stat_t{}, no
	}
	return t.stat(at)
}

func (t *tree) Mkdir(name string, _ fs.FileMode) experimental.Errno {
	at, _, no := t.find(name, false)
	if no == 0 {
		no = t.free(at)
	}
	if no != 0 {
		return no
	}
	n := t.newNode(now())
	n.dir = true
	t.put(at, n)
	return 0
}

// Symlink makes a symbolic link, which leads below the folder in which it is.
func (t *tree) Symlink(to, name string) experimental.Errno {
	at, slash, no := t.find(name, false)
	switch {
	case no != 0:
		return no
	case to == "":
		return experimental.ENOENT
	case to[0] == '/' || strings.ContainsRune(to, 0):
		return experimental.EPERM
	}
	if no := t.free(at); no != 0 {
		return no
	}
	if slash {
		return experimental.ENOENT
	}
	if !t.room(int64(len(to))) {
		return experimental.EIO
	}
	n := t.newNode(now())
	n.link, n.changed = to, true
	t.put(at, n)
	return 0
}

func (t *tree) Readlink(name string) (string, experimental.Errno) {
	at, _, no := t.find(name, false)
	if no != 0 {
		return "", no
	}
	if st, no := t.stat(at); no != 0 {
		return "", no
	} else if st.Mode&fs.ModeSymlink == 0 {
		return "", experimental.EINVAL
	}
	return t.entries[at].link, 0
}

// Link gives a file another name.
func (t *tree) Link(from, to string) experimental.Errno {
	from, _, no := t.find(from, false)
	if no != 0 {
		return no
	}
	st, no := t.stat(from)
	if no != 0 {
		return no
	}
	to, slash, no := t.find(to, false)
	if no == 0 {
		no = t.free(to)
	}
	switch {
	case no != 0:
		return no
	case slash:
		return experimental.ENOENT
	case st.Mode.IsDir():
		return experimental.EPERM
	}
	e, no := t.load(from)
	if no != 0 {
		return no
	}
	if e.links >= 1000 {
		return experimental.EPERM
	}
	e.links++
	e.ctime = now()
	t.put(to, e.node)
	return 0
}

func (t *tree) Unlink(name string) experimental.Errno {
	at, _, no := t.find(name, false)
	if no != 0 {
		return no
	}
	if st, no := t.stat(at); no != 0 {
		return no
	} else if st.Mode.IsDir() {
		return experimental.EISDIR
	}
	return t.remove(at)
}

func (t *tree) remove(at string) experimental.Errno {
	e, no := t.load(at)
	if no != 0 {
		return no
	}
	e.links--
	e.ctime = now()
	t.put(at, nil)
	return 0
}

func (t *tree) Rmdir(name string) experimental.Errno {
	at, _, no := t.find(name, false)
	if no != 0 {
		return no
	}
	list, no := t.list(at)
	switch {
	case no != 0:
		return no
	case len(list) > 0:
		return experimental.ENOTEMPTY
	case at == ".":
		return experimental.EACCES
	}
	return t.remove(at)
}

// Rename moves a file or a folder. All files of a folder are read, as they are written at their new place.
func (t *tree) Rename(from, to string) experimental.Errno {
	from, _, no := t.find(from, false)
	if no != 0 {
		return no
	}
	to, slash, no := t.find(to, false)
	if no != 0 {
		return no
	}
	st, no := t.stat(from)
	switch {
	case no != 0:
		return no
	case from == "." || to == ".":
		return experimental.EACCES
	case slash && !st.Mode.IsDir():
		return experimental.ENOTDIR
	case strings.HasPrefix(to, from+"/"):
		return experimental.EINVAL
	case from == to:
		return 0
	}
	if over, no := t.stat(to); no == 0 {
		switch {
		case over.Ino == st.Ino:
			return 0
		case st.Mode.IsDir() && !over.Mode.IsDir():
			return experimental.ENOTDIR
		case !st.Mode.IsDir() && over.Mode.IsDir():
			return experimental.EISDIR
		}
		if over.Mode.IsDir() {
			if list, no := t.list(to); no != 0 {
				return no
			} else if len(list) > 0 {
				return experimental.ENOTEMPTY
			}
		}
		if no := t.remove(to); no != 0 {
			return no
		}
	} else if no := t.free(to); no != 0 {
		return no
	}
	return t.move(from, to)
}

func (t *tree) move(from, to string) experimental.Errno {
	e, no := t.load(from)
	if no != 0 {
		return no
	}
	var list []experimental.Dirent
	if e.dir {
		if list, no = t.list(from); no != 0 {
			return no
		}
	} else if !e.changed && !t.room(int64(len(e.data))) {
		return experimental.EIO
	}
	n := e.node
	t.put(to, n)
	for _, d := range list {
		if no := t.move(from+"/"+d.Name, to+"/"+d.Name); no != 0 {
			return no
		}
	}
	t.put(from, nil)
	if e.was != nil && e.orig == n && !n.dir {
		t.moved[from] = to
	}
	return 0
}

// Utimens sets times in the tree. The gate has none that could be set.
func (t *tree) Utimens(name string, atime, mtime int64) experimental.Errno {
	at, _, no := t.find(name, true)
	if no != 0 {
		return no
	}
	e, no := t.load(at)
	if no == 0 {
		e.setTimes(atime, mtime)
	}
	return no
}

func (n *node) setTimes(atime, mtime int64) {
	if atime != experimental.UTIME_OMIT {
		n.atime = atime
	}
	if mtime != experimental.UTIME_OMIT {
		n.mtime = mtime
	}
	n.ctime = now()
}

// list returns the entries of a folder, sorted.
func (t *tree) list(name string) ([]experimental.Dirent, experimental.Errno) {
	st, no := t.stat(name)
	if no != 0 {
		return nil, no
	}
	if !st.Mode.IsDir() {
		return nil, experimental.ENOTDIR
	}
	found := map[string]experimental.Dirent{}
	if e := t.entries[name]; t.shown(name) && (e == nil || e.node == e.orig) {
		list, err := t.base.ReadDir(name)
		if err != nil {
			return nil, errno(err)
		}
		for _, d := range list {
			found[d.Name()] = experimental.Dirent{Ino: t.inode(path.Join(name, d.Name())), Name: d.Name(), Type: d.Type() & fs.ModeDir}
		}
	}
	for p, e := range t.entries {
		if path.Dir(p) != name || p == "." {
			continue
		}
		if delete(found, path.Base(p)); e.node != nil {
			found[path.Base(p)] = experimental.Dirent{Ino: e.ino, Name: path.Base(p), Type: e.stat().Mode.Type()}
		}
	}
	var out []experimental.Dirent
	for _, base := range slices.Sorted(maps.Keys(found)) {
		out = append(out, found[base])
	}
	return out, 0
}

// room takes n bytes of what changed files may hold. Without them the program ends.
func (t *tree) room(n int64) bool {
	if n > t.write {
		t.end(protocol.Errorf(protocol.ErrResourceLimit, "run", "", "the program wrote more bytes to files than it may"))
		return false
	}
	t.write -= n
	return true
}

// change is a change that a program made. to is the other name of a hard link.
type change struct {
	name string
	*entry
	to string
}

// linkFS is a folder that holds links. The methods are those of [os.Root].
type linkFS interface {
	Symlink(oldname, newname string) error
	Link(oldname, newname string) error
}

// changes returns what the program changed: the names that go, new folders, files with a new content, and links.
func (t *tree) changes() (gone, folders, writes, links []change, home map[*node]string) {
	names := slices.Sorted(maps.Keys(t.entries))
	home = map[*node]string{} // the first name of each file, or its own one in base if it has that
	for _, name := range names {
		if e := t.entries[name]; e.node != nil && (home[e.node] == "" || e.node == e.orig) {
			home[e.node] = name
		}
	}
	for _, name := range names {
		e := t.entries[name]
		ch := change{name: name, entry: e}
		linked := e.node != nil && !e.dir && (e.link != "" || home[e.node] != name)
		wasDir := e.was != nil && e.was.IsDir()
		if e.was != nil && (e.node == nil || e.dir != wasDir || linked) {
			gone = append(gone, ch)
		}
		switch {
		case e.node == nil:
		case e.dir:
			if !wasDir {
				folders = append(folders, ch)
			}
		case linked:
			if home[e.node] != name {
				ch.to = home[e.node]
			}
			links = append(links, ch)
		case e.node != e.orig || e.changed:
			writes = append(writes, ch)
		}
	}
	slices.Reverse(gone)                                                                       // files before their folders
	slices.SortStableFunc(links, func(a, b change) int { return strings.Compare(a.to, b.to) }) // hard links after the links that they name
	return gone, folders, writes, links, home
}

// writeBack makes the program's changes in base. Before the first one it asks about all of them, and compares each file with what the
// program was shown.
func (t *tree) writeBack(ctx context.Context, c sandbox.Command) error {
	gone, folders, writes, links, home := t.changes()
	// A file may take the place of a folder, and a folder that of a file: what goes, goes first.
	steps := slices.Concat(gone, folders, writes, links)
	if len(steps) == 0 {
		return nil
	}
	if err := t.hold(links); err != nil {
		return err
	}
	switch {
	case c.Changing != nil:
		if err := c.Changing(ctx, told(gone, folders, writes, links, home)); err != nil {
			return err
		}
	case len(gone) > 0:
		return protocol.Errorf(protocol.ErrCapabilityDenied, "run", c.Name, "it may not remove files here, or move them away; nothing was written back")
	}
	for _, ch := range steps {
		if !t.same(ch) {
			return protocol.Errorf(protocol.ErrExecution, "run", ch.name, "the file changed while the program ran, so nothing was written back").WithReason(protocol.ReasonStale)
		}
	}
	for i, ch := range steps {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := t.do(ch, i < len(gone)); err != nil {
			return err
		}
	}
	return nil
}

// told returns the changes as a person is shown them. A file that moved is one change.
func told(gone, folders, writes, links []change, home map[*node]string) (out []protocol.FileChange) {
	from := map[string]string{} // the earlier names of files that moved unchanged
	for _, ch := range gone {
		if to := home[ch.orig]; ch.orig != nil && !ch.orig.dir && to != "" && to != ch.name && from[to] == "" && !ch.orig.changed {
			from[to] = ch.name
		}
	}
	add := func(ch change, c protocol.FileChange) {
		c.Path, c.Before = ch.name, -1
		if ch.was != nil && !ch.was.IsDir() {
			c.Before = ch.was.Size()
		}
		out = append(out, c)
	}
	for _, ch := range gone {
		if to := home[ch.orig]; to != "" && from[to] == ch.name {
			continue
		}
		if e := ch.entry; e.node == nil || e.dir != ch.was.IsDir() {
			c := protocol.FileChange{Path: ch.name, Dir: ch.was.IsDir(), Size: -1}
			if !c.Dir {
				c.Before = ch.was.Size()
			}
			out = append(out, c)
		}
	}
	for _, ch := range folders {
		out = append(out, protocol.FileChange{Path: ch.name, Dir: true, Before: -1})
	}
	for _, ch := range writes {
		add(ch, protocol.FileChange{From: from[ch.name], Size: int64(len(ch.data))})
	}
	for _, ch := range links {
		add(ch, protocol.FileChange{Link: ch.link, Same: ch.to, Size: ch.stat().Size})
	}
	return out
}

// hold returns an error for a link that base can't hold, or that leads out of it.
func (t *tree) hold(links []change) error {
	_, ok := t.base.(linkFS)
	for _, ch := range links {
		if !ok {
			return protocol.Errorf(protocol.ErrExecution, "run", ch.name, "the program left a link (%s to %s), and this folder holds none, so nothing was written back; let it copy the file: %w", ch.name, ch.to+ch.link, errors.ErrUnsupported)
		}
		if ch.to == "" && !(protocol.FileChange{Path: ch.name, Link: ch.link}).LinkStays() {
			return protocol.Errorf(protocol.ErrCapabilityDenied, "run", ch.name, "the program left a symbolic link to %q, which may lead out of the folder, so nothing was written back", ch.link)
		}
	}
	return nil
}

// do makes one change, or removes what was there.
func (t *tree) do(ch change, removes bool) error {
	switch {
	case removes:
		return t.base.Remove(ch.name)
	case ch.dir:
		return t.base.Mkdir(ch.name, 0o755)
	case ch.to != "":
		return t.base.(linkFS).Link(ch.to, ch.name)
	case ch.link != "":
		return t.base.(linkFS).Symlink(ch.link, ch.name)
	}
	return t.base.WriteFile(ch.name, ch.data, 0o644)
}

// same reports whether a name is still as the program was shown it.
func (t *tree) same(ch change) bool {
	if ch.was == nil || ch.was.IsDir() {
		fi, err := t.base.Stat(ch.name)
		return ch.was == nil && errors.Is(err, fs.ErrNotExist) || ch.was != nil && err == nil && fi.IsDir()
	}
	now, err := t.base.ReadFile(ch.name)
	return err == nil && bytes.Equal(now, ch.base)
}

// file is an open file or folder.
type file struct {
	experimental.UnimplementedFile
	t      *tree
	n      *node
	name   string
	pos    int64
	writes bool
	append bool
	list   []experimental.Dirent
	listed bool
}

func (f *file) IsDir() (bool, experimental.Errno) { return f.n.dir, 0 }
func (f *file) IsAppend() bool                    { return f.append }
func (f *file) SetAppend(on bool) experimental.Errno {
	f.append = on
	return 0
}
func (f *file) Sync() experimental.Errno     { return 0 }
func (f *file) Datasync() experimental.Errno { return 0 }
func (f *file) Utimens(atime, mtime int64) experimental.Errno {
	f.n.setTimes(atime, mtime)
	return 0
}

func (f *file) Stat() (sys.Stat_t, experimental.Errno) { return f.n.stat(), 0 }
func (f *file) Dev() (uint64, experimental.Errno)      { return 1, 0 }
func (f *file) Ino() (sys.Inode, experimental.Errno)   { return f.n.ino, 0 }

func (f *file) Read(buf []byte) (int, experimental.Errno) {
	n, no := f.Pread(buf, f.pos)
	f.pos += int64(n)
	return n, no
}

func (f *file) Pread(buf []byte, off int64) (int, experimental.Errno) {
	switch {
	case f.n.dir:
		return 0, experimental.EISDIR
	case off < 0:
		return 0, experimental.EINVAL
	case off >= int64(len(f.n.data)):
		return 0, 0
	}
	return copy(buf, f.n.data[off:]), 0
}

func (f *file) Write(buf []byte) (int, experimental.Errno) {
	if f.append {
		f.pos = int64(len(f.n.data))
	}
	n, no := f.Pwrite(buf, f.pos)
	f.pos += int64(n)
	return n, no
}

func (f *file) Pwrite(buf []byte, off int64) (int, experimental.Errno) {
	if !f.writes || f.n.dir {
		return 0, experimental.EBADF
	}
	if off < 0 || off > math.MaxInt64-int64(len(buf)) {
		return 0, experimental.EINVAL
	}
	if end := off + int64(len(buf)); end > int64(len(f.n.data)) || !f.n.changed {
		if no := f.resize(max(end, int64(len(f.n.data)))); no != 0 {
			return 0, no
		}
	}
	f.n.mtime = now()
	f.n.ctime = f.n.mtime
	return copy(f.n.data[off:], buf), 0
}

// resize makes the content that of the program alone, with a size.
func (f *file) resize(size int64) experimental.Errno {
	grown := size
	if f.n.changed {
		grown = size - int64(len(f.n.data))
	}
	if grown > 0 && !f.t.room(grown) {
		return experimental.EIO
	}
	if !f.n.changed {
		f.n.data = bytes.Clone(f.n.data)
		f.n.changed = true
	}
	if size <= int64(len(f.n.data)) {
		f.n.data = f.n.data[:size]
	} else {
		f.n.data = append(f.n.data, make([]byte, size-int64(len(f.n.data)))...)
	}
	return 0
}

func (f *file) Truncate(size int64) experimental.Errno {
	if !f.writes || f.n.dir {
		return experimental.EBADF
	}
	if size < 0 {
		return experimental.EINVAL
	}
	f.n.mtime = now()
	f.n.ctime = f.n.mtime
	return f.resize(size)
}

// offset is int64. With that name go vet does not take Seek for the one of io.Seeker.
type offset = int64

func (f *file) Seek(at offset, whence int) (int64, experimental.Errno) {
	if f.n.dir {
		if at == 0 && whence == 0 {
			f.list, f.listed = nil, false
			return 0, 0
		}
		return 0, experimental.EISDIR
	}
	switch whence {
	case 1:
		at += f.pos
	case 2:
		at += int64(len(f.n.data))
	}
	if at < 0 || whence < 0 || whence > 2 {
		return 0, experimental.EINVAL
	}
	f.pos = at
	return at, 0
}

func (f *file) Readdir(n int) ([]experimental.Dirent, experimental.Errno) {
	if !f.n.dir {
		return nil, experimental.ENOTDIR
	}
	if !f.listed {
		list, no := f.t.list(f.name)
		if no != 0 {
			return nil, no
		}
		f.list, f.listed = list, true
	}
	if n < 0 || n > len(f.list) {
		n = len(f.list)
	}
	out := f.list[:n]
	f.list = f.list[n:]
	return out, 0
}
