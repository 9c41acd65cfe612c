package web

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/internal/jsx"
)

// Tree is a folder of File objects: an upload, or files that were picked or dropped one
// by one. If the files have handles, each of them can be written.
type Tree struct {
	sh       *core.Shared
	source   string
	Name     string // of the dropped folder or file
	Writable bool
	nodes    map[string]*fileNode // "." is the root
}

type fileNode struct {
	file   jsx.Value
	handle jsx.Value // of a picked file
	info   core.Info
	kids   []string
}

func NewTree(source string) *Tree {
	t := &Tree{sh: core.NewShared(), source: source, nodes: map[string]*fileNode{}}
	t.nodes["."] = &fileNode{info: dirInfoOf(".")}
	return t
}

// Add puts a File at a path and makes the folders above it.
func (t *Tree) Add(name string, file, handle jsx.Value) error {
	if err := core.CleanName(name); err != nil || name == "." {
		return core.PathErr("upload", name, core.ErrBadName)
	}
	fi, err := fileInfo(name, file)
	if err != nil {
		return err
	}
	if t.nodes[name] != nil {
		return core.PathErr("upload", name, core.ErrExist)
	}
	if err := t.addDir(core.ParentOf(name)); err != nil {
		return err
	}
	t.nodes[name] = &fileNode{file: file, handle: handle, info: fi}
	p := t.nodes[core.ParentOf(name)]
	p.kids = append(p.kids, name)
	return nil
}

func (t *Tree) addDir(name string) error {
	if n := t.nodes[name]; n != nil {
		if !n.info.IsDir() {
			return core.PathErr("upload", name, core.ErrNotDir)
		}
		return nil
	}
	if err := t.addDir(core.ParentOf(name)); err != nil {
		return err
	}
	t.nodes[name] = &fileNode{info: dirInfoOf(name)}
	p := t.nodes[core.ParentOf(name)]
	p.kids = append(p.kids, name)
	return nil
}

func (t *Tree) Base() *core.Shared { return t.sh }

func (t *Tree) Features() core.Features {
	return core.Features{Source: t.source, ReadOnly: !t.Writable, Staged: true}
}

func (t *Tree) node(name string) (*fileNode, error) {
	if n := t.nodes[name]; n != nil {
		return n, nil
	}
	for p := core.ParentOf(name); p != "."; p = core.ParentOf(p) {
		if n := t.nodes[p]; n != nil && !n.info.IsDir() {
			return nil, core.ErrNotDir
		}
	}
	return nil, core.ErrNotExist
}

// fresh gets the present File of a node that has a handle.
func (t *Tree) fresh(ctx context.Context, n *fileNode) error {
	if jsx.Nullish(n.handle) {
		return nil
	}
	f, err := Await(ctx, n.handle, "getFile")
	if err != nil {
		return err
	}
	fi, err := fileInfo(n.info.Name(), f)
	n.file, n.info = f, fi
	return err
}

func (t *Tree) Open(ctx context.Context, name string, flag int, perm fs.FileMode) (core.File, error) {
	n, err := t.node(name)
	if err != nil {
		if flag&os.O_CREATE != 0 {
			return nil, core.ErrReadOnly
		}
		return nil, err
	}
	if n.info.IsDir() {
		if core.Writable(flag) {
			return nil, core.ErrIsDir
		}
		return &core.DirFile{Info: n.info, List: func() ([]fs.DirEntry, error) { return t.ReadDir(ctx, name) }}, nil
	}
	if (core.Writable(flag) || flag&os.O_TRUNC != 0) && (!t.Writable || jsx.Nullish(n.handle)) {
		return nil, core.ErrReadOnly
	}
	if err := t.fresh(ctx, n); err != nil {
		return nil, err
	}
	read := func() (core.File, error) { return &blobFile{ctx: ctx, blob: n.file, info: n.info}, nil }
	if !core.Writable(flag) {
		return read()
	}
	return core.NewStaged(ctx, t, name, flag, perm, read, n.info)
}

func (t *Tree) Stat(ctx context.Context, name string) (fs.FileInfo, error) {
	n, err := t.node(name)
	if err != nil {
		return nil, err
	}
	if err := t.fresh(ctx, n); err != nil {
		return nil, err
	}
	return n.info, nil
}

func (t *Tree) ReadDir(_ context.Context, name string) ([]fs.DirEntry, error) {
	n, err := t.node(name)
	if err != nil {
		return nil, err
	}
	if !n.info.IsDir() {
		return nil, core.ErrNotDir
	}
	out := make([]fs.DirEntry, len(n.kids))
	for i, k := range n.kids {
		out[i] = t.nodes[k].info
	}
	core.SortEntries(out)
	return out, nil
}

func (t *Tree) ReadFile(ctx context.Context, name string) ([]byte, error) {
	n, err := t.node(name)
	if err != nil {
		return nil, err
	}
	if n.info.IsDir() {
		return nil, core.ErrIsDir
	}
	if err := t.fresh(ctx, n); err != nil {
		return nil, err
	}
	return readBlob(ctx, n.file)
}

func (t *Tree) Replace(ctx context.Context, name string, _ fs.FileMode) (core.Replacement, error) {
	n, err := t.node(name)
	if err != nil || !t.Writable {
		return nil, core.ErrReadOnly
	}
	if n.info.IsDir() {
		return nil, core.ErrIsDir
	}
	w, err := Await(ctx, n.handle, "createWritable")
	if err != nil {
		return nil, err
	}
	return &webReplacement{ctx: ctx, w: w, name: name}, nil
}

func (t *Tree) Mkdir(context.Context, string, fs.FileMode) error { return core.ErrReadOnly }

func (t *Tree) Remove(context.Context, string) error { return core.ErrReadOnly }

func (t *Tree) RemoveAll(context.Context, string) error { return core.ErrReadOnly }

func (t *Tree) Rename(context.Context, string, string) error { return core.ErrReadOnly }

// UniqueName returns a name that the tree does not have.
func UniqueName(t *Tree, name string) string {
	ext := path.Ext(name)
	for i := 2; t.nodes[name] != nil; i++ {
		name = fmt.Sprintf("%s (%d)%s", strings.TrimSuffix(name, ext), i, ext)
	}
	return name
}
