package fsaccess

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/bailey-go/bailey/internal/jsx"
)

// fileTree is a folder of File objects: an upload, or files that were picked or dropped one
// by one. If the files have handles, each of them can be written.
type fileTree struct {
	sh       *shared
	source   string
	writable bool
	nodes    map[string]*fileNode // "." is the root
}

type fileNode struct {
	file   jsx.Value
	handle jsx.Value // of a picked file
	info   Info
	kids   []string
}

func newFileTree(source string) *fileTree {
	t := &fileTree{sh: newShared(), source: source, nodes: map[string]*fileNode{}}
	t.nodes["."] = &fileNode{info: dirInfoOf(".")}
	return t
}

// add puts a File at a path and makes the folders above it.
func (t *fileTree) add(name string, file, handle jsx.Value) error {
	if err := cleanName(name); err != nil || name == "." {
		return pathErr("upload", name, ErrBadName)
	}
	fi, err := fileInfo(name, file)
	if err != nil {
		return err
	}
	if t.nodes[name] != nil {
		return pathErr("upload", name, errExist)
	}
	if err := t.addDir(parentOf(name)); err != nil {
		return err
	}
	t.nodes[name] = &fileNode{file: file, handle: handle, info: fi}
	p := t.nodes[parentOf(name)]
	p.kids = append(p.kids, name)
	return nil
}

func (t *fileTree) addDir(name string) error {
	if n := t.nodes[name]; n != nil {
		if !n.info.IsDir() {
			return pathErr("upload", name, errNotDir)
		}
		return nil
	}
	if err := t.addDir(parentOf(name)); err != nil {
		return err
	}
	t.nodes[name] = &fileNode{info: dirInfoOf(name)}
	p := t.nodes[parentOf(name)]
	p.kids = append(p.kids, name)
	return nil
}

func (t *fileTree) base() *shared { return t.sh }
func (t *fileTree) features() Features {
	return Features{Source: t.source, ReadOnly: !t.writable, Staged: true}
}

func (t *fileTree) node(name string) (*fileNode, error) {
	if n := t.nodes[name]; n != nil {
		return n, nil
	}
	for p := parentOf(name); p != "."; p = parentOf(p) {
		if n := t.nodes[p]; n != nil && !n.info.IsDir() {
			return nil, errNotDir
		}
	}
	return nil, errNotExist
}

// fresh gets the present File of a node that has a handle.
func (t *fileTree) fresh(ctx context.Context, n *fileNode) error {
	if jsx.Nullish(n.handle) {
		return nil
	}
	f, err := await(ctx, n.handle, "getFile")
	if err != nil {
		return err
	}
	fi, err := fileInfo(n.info.name, f)
	n.file, n.info = f, fi
	return err
}

func (t *fileTree) open(ctx context.Context, name string, flag int, perm fs.FileMode) (File, error) {
	n, err := t.node(name)
	if err != nil {
		if flag&os.O_CREATE != 0 {
			return nil, ErrReadOnly
		}
		return nil, err
	}
	if n.info.IsDir() {
		if writable(flag) {
			return nil, errIsDir
		}
		return &dirFile{info: n.info, list: func() ([]fs.DirEntry, error) { return t.readDir(ctx, name) }}, nil
	}
	if (writable(flag) || flag&os.O_TRUNC != 0) && (!t.writable || jsx.Nullish(n.handle)) {
		return nil, ErrReadOnly
	}
	if err := t.fresh(ctx, n); err != nil {
		return nil, err
	}
	read := func() (File, error) { return &blobFile{ctx: ctx, blob: n.file, info: n.info}, nil }
	if !writable(flag) {
		return read()
	}
	return newStaged(ctx, t, name, flag, perm, read, n.info)
}

func (t *fileTree) stat(ctx context.Context, name string) (fs.FileInfo, error) {
	n, err := t.node(name)
	if err != nil {
		return nil, err
	}
	if err := t.fresh(ctx, n); err != nil {
		return nil, err
	}
	return n.info, nil
}

func (t *fileTree) readDir(_ context.Context, name string) ([]fs.DirEntry, error) {
	n, err := t.node(name)
	if err != nil {
		return nil, err
	}
	if !n.info.IsDir() {
		return nil, errNotDir
	}
	out := make([]fs.DirEntry, len(n.kids))
	for i, k := range n.kids {
		out[i] = t.nodes[k].info
	}
	sortEntries(out)
	return out, nil
}

func (t *fileTree) readFile(ctx context.Context, name string) ([]byte, error) {
	n, err := t.node(name)
	if err != nil {
		return nil, err
	}
	if n.info.IsDir() {
		return nil, errIsDir
	}
	if err := t.fresh(ctx, n); err != nil {
		return nil, err
	}
	return readBlob(ctx, n.file)
}

func (t *fileTree) replace(ctx context.Context, name string, _ fs.FileMode) (replacement, error) {
	n, err := t.node(name)
	if err != nil || !t.writable {
		return nil, ErrReadOnly
	}
	if n.info.IsDir() {
		return nil, errIsDir
	}
	w, err := await(ctx, n.handle, "createWritable")
	if err != nil {
		return nil, err
	}
	return &webReplacement{ctx: ctx, w: w, name: name}, nil
}

func (t *fileTree) mkdir(context.Context, string, fs.FileMode) error { return ErrReadOnly }
func (t *fileTree) remove(context.Context, string) error             { return ErrReadOnly }
func (t *fileTree) removeAll(context.Context, string) error          { return ErrReadOnly }
func (t *fileTree) rename(context.Context, string, string) error     { return ErrReadOnly }

func upload(ctx context.Context) (*Folder, error) { return uploadBy(ctx, true) }

// uploadBy clicks a file input that is not in the page.
func uploadBy(ctx context.Context, folder bool) (*Folder, error) {
	doc, err := jsx.Lookup(jsx.Global(), "document")
	if err != nil || jsx.Nullish(doc) {
		return nil, fmt.Errorf("uploading needs a page: %w", errors.ErrUnsupported)
	}
	input, err := jsx.Call(doc, "createElement", "input")
	if err != nil {
		return nil, err
	}
	if err := errors.Join(jsx.Set(input, "type", "file"), jsx.Set(input, "multiple", true), jsx.Set(input, "webkitdirectory", folder)); err != nil {
		return nil, err
	}
	s := jsx.NewScope(jsx.ScopeOptions{})
	defer s.Close()
	done := make(chan bool, 2)
	say := func(v bool) func(jsx.Value) {
		return func(jsx.Value) {
			select {
			case done <- v:
			default:
			}
		}
	}
	_, cerr := s.Listen(input, "change", say(true))
	_, xerr := s.Listen(input, "cancel", say(false))
	if err := errors.Join(cerr, xerr); err != nil {
		return nil, err
	}
	if active, err := jsx.Lookup(jsx.Global(), "navigator.userActivation.isActive"); err == nil && !jsx.Nullish(active) {
		if ok, err := jsx.Bool(active); err == nil && !ok {
			return nil, ErrGesture // the click would do nothing, and no event would follow
		}
	}
	if _, err := jsx.Call(input, "click"); err != nil {
		return nil, err
	}
	select {
	case ok := <-done:
		if !ok {
			return nil, ErrCancelled
		}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return UploadedBy(input)
}

// UploadedBy returns the files chosen in an <input type="file"> of the page as a read-only
// folder. If the input has webkitdirectory, the folder contains the chosen tree.
func UploadedBy(input jsx.Value) (*Folder, error) {
	files, err := jsx.Get(input, "files")
	if err != nil {
		return nil, err
	}
	n, err := jsx.Length(files)
	if err != nil {
		return nil, err
	}
	t := newFileTree("upload")
	for i := range n {
		f, err := jsx.Index(files, i)
		if err != nil {
			return nil, err
		}
		rel, err := stringOf(f, "webkitRelativePath")
		if err != nil || rel == "" {
			name, err := stringOf(f, "name")
			if err != nil {
				return nil, err
			}
			rel = uniqueName(t, name)
		} else if _, below, ok := strings.Cut(rel, "/"); ok {
			rel = below // the first element is the chosen folder itself
		}
		if err := t.add(rel, f, jsx.Undefined()); err != nil {
			return nil, err
		}
	}
	return newFolder(t), nil
}
