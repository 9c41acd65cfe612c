package web

import (
	"context"
	"errors"
	"sort"
	"sync"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/internal/jsx"
)

// inFlight is the number of files that are requested at once.
const inFlight = 64

// sizes fills in the size and time of the files among entries. list contains their handles
// at the same indexes. Each batch needs one promise and three calls.
func (h *Handles) sizes(ctx context.Context, list jsx.Value, entries []core.Entry) ([]core.Entry, error) {
	gone := make(map[int]bool)
	for start := 0; start < len(entries); start += inFlight {
		end := min(start+inFlight, len(entries))
		var idx []int
		for i := start; i < end; i++ {
			if !entries[i].Dir {
				idx = append(idx, i)
			}
		}
		if len(idx) == 0 {
			continue
		}
		batch, err := jsx.Call(list, "slice", start, end)
		if err != nil {
			return nil, err
		}
		if len(idx) < end-start {
			if batch, err = pickOut(batch, idx, start); err != nil {
				return nil, err
			}
		}
		if err := h.sizeBatch(ctx, batch, entries, idx); err == nil {
			continue
		} else if !core.NotExist(err) && !errors.Is(err, core.ErrConflict) {
			return nil, err
		}
		// A file was removed since the listing, so ask for each one.
		for k, i := range idx {
			v, err := jsx.Index(batch, k)
			if err != nil {
				return nil, err
			}
			f, err := Await(ctx, v, "getFile")
			if core.NotExist(err) || errors.Is(err, core.ErrConflict) {
				gone[i] = true
				continue
			}
			if err != nil {
				return nil, err
			}
			fi, err := fileInfo(entries[i].Path, f)
			if err != nil {
				return nil, err
			}
			entries[i].Size, entries[i].ModTime = fi.Size(), fi.ModTime()
		}
	}
	if len(gone) == 0 {
		return entries, nil
	}
	kept := entries[:0]
	for i, e := range entries {
		if !gone[i] {
			kept = append(kept, e)
		}
	}
	return kept, nil
}

func pickOut(batch jsx.Value, idx []int, start int) (jsx.Value, error) {
	out := make([]any, len(idx))
	for k, i := range idx {
		v, err := jsx.Index(batch, i-start)
		if err != nil {
			return v, err
		}
		out[k] = v
	}
	return jsx.ToJS(out)
}

func (h *Handles) sizeBatch(ctx context.Context, batch jsx.Value, entries []core.Entry, idx []int) error {
	files, err := h.files(ctx, batch)
	if err != nil {
		return err
	}
	if k, ok := ctx.Value(keeperKey{}).(*keeper); ok {
		if err := k.keep(h, files, entries, idx); err != nil {
			return err
		}
	}
	sizes, err := h.n.numbers(files, h.n.fileSize, len(idx))
	if err != nil {
		return err
	}
	times, err := h.n.numbers(files, h.n.fileTime, len(idx))
	if err != nil {
		return err
	}
	if len(sizes) != len(idx) || len(times) != len(idx) {
		return core.ErrCorrupt
	}
	for k, i := range idx {
		entries[i].Size, entries[i].ModTime = int64(sizes[k]), millis(times[k])
	}
	return nil
}

// files returns the array of Files for an array of file handles.
func (h *Handles) files(ctx context.Context, batch jsx.Value) (jsx.Value, error) {
	promises, err := h.n.mapOver.Call(batch, h.n.getFile)
	if err != nil {
		return promises, WebErr(err)
	}
	return AwaitCall(ctx, h.n.all, promises)
}

// list returns the entries of one folder without sizes, and their handles in the same
// order.
func (h *Handles) list(ctx context.Context, dir string) ([]core.Entry, jsx.Value, error) {
	list, names, isDir, err := h.children(ctx, dir)
	if err != nil {
		return nil, list, err
	}
	entries := make([]core.Entry, len(names))
	for i, n := range names {
		entries[i] = core.Entry{Path: core.Join(dir, n), Dir: isDir[i]}
	}
	return entries, list, nil
}

func (h *Handles) listSized(ctx context.Context, dir string) ([]core.Entry, error) {
	entries, list, err := h.list(ctx, dir)
	if err != nil {
		return nil, err
	}
	if entries, err = h.sizes(ctx, list, entries); err != nil {
		return nil, err
	}
	kept := entries[:0]
	for _, e := range entries {
		if !hiddenHere(e.Name()) {
			kept = append(kept, e)
		}
	}
	sort.Slice(kept, func(i, k int) bool { return kept[i].Path < kept[k].Path })
	return kept, nil
}

func (h *Handles) ListPages(ctx context.Context, dir string, page int, yield func([]core.Entry) bool) error {
	entries, err := h.listSized(ctx, dir)
	if err != nil {
		return err
	}
	for len(entries) > 0 {
		n := min(page, len(entries))
		if !yield(entries[:n]) {
			return core.ErrStop
		}
		entries = entries[n:]
	}
	return nil
}

// WalkPages reads folders ahead, a few at once, and yields in order.
func (h *Handles) WalkPages(ctx context.Context, root string, page int, yield func([]core.Entry) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type listing struct {
		entries []core.Entry
		err     error
	}
	tickets := make(chan struct{}, 8)
	fetch := func(dir string) chan listing {
		c := make(chan listing, 1)
		go func() {
			select {
			case tickets <- struct{}{}:
			case <-ctx.Done():
				c <- listing{err: context.Cause(ctx)}
				return
			}
			entries, err := h.listSized(ctx, dir)
			<-tickets
			c <- listing{entries, err}
		}()
		return c
	}
	buf := make([]core.Entry, 0, page)
	put := func(e core.Entry) error {
		if buf = append(buf, e); len(buf) >= page {
			if !yield(buf) {
				return core.ErrStop
			}
			buf = buf[:0]
		}
		return nil
	}
	var visit func(dir string, ahead chan listing, top bool) error
	visit = func(dir string, ahead chan listing, top bool) error {
		l := <-ahead
		if l.err != nil {
			if top || context.Cause(ctx) != nil {
				return l.err
			}
			return put(core.Entry{Path: dir, Size: core.BadFolder, Dir: true})
		}
		next := make(map[int]chan listing)
		read := 0 // folders are fetched a few ahead of where the walk is
		for i, e := range l.entries {
			for ; read < len(l.entries) && len(next) < 8; read++ {
				if read >= i && l.entries[read].Dir {
					next[read] = fetch(l.entries[read].Path)
				}
			}
			if err := put(e); err != nil {
				return err
			}
			if e.Dir {
				c := next[i]
				delete(next, i)
				if c == nil {
					c = fetch(e.Path)
				}
				if err := visit(e.Path, c, false); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := visit(root, fetch(root), true); err != nil {
		return err
	}
	if len(buf) > 0 && !yield(buf) {
		return core.ErrStop
	}
	return nil
}

// keeper stores the Files that a listing has requested, for the search that will read them.
type keeper struct {
	mu    sync.Mutex
	files map[keptFile]jsx.Value
}

// keptFile is the key of a File. It contains h, because two folders of an overlay have the
// same names.
type keptFile struct {
	h    *Handles
	path string
}

type keeperKey struct{}

const maxKept = 16384

func (k *keeper) keep(h *Handles, files jsx.Value, entries []core.Entry, idx []int) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.files) > maxKept {
		clear(k.files)
	}
	for n, i := range idx {
		f, err := jsx.Index(files, n)
		if err != nil {
			return err
		}
		k.files[keptFile{h, entries[i].Path}] = f
	}
	return nil
}

// take returns the Files of some entries, or nil if one is missing.
func (k *keeper) take(h *Handles, entries []core.Entry) []any {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := make([]any, 0, len(entries))
	for _, e := range entries {
		if f, ok := k.files[keptFile{h, e.Path}]; ok {
			out = append(out, f)
			delete(k.files, keptFile{h, e.Path})
		}
	}
	if len(out) != len(entries) {
		return nil
	}
	return out
}

func (h *Handles) Keeping(ctx context.Context) context.Context {
	if _, ok := ctx.Value(keeperKey{}).(*keeper); ok {
		return ctx // made by the other folder of an overlay
	}
	return context.WithValue(ctx, keeperKey{}, &keeper{files: make(map[keptFile]jsx.Value)})
}

// Push reports changes with a FileSystemObserver.
func (h *Handles) Push(ctx context.Context, root string, told chan<- []string) (stop func(), err error) {
	if !jsx.Supported("FileSystemObserver") {
		return nil, errors.ErrUnsupported
	}
	d, err := h.Dir(ctx, root)
	if err != nil {
		return nil, err
	}
	s := jsx.NewScope(jsx.ScopeOptions{})
	tell := func(names []string) {
		select {
		case told <- names:
		default: // a full channel will be read anyway
		}
	}
	callback, _, err := s.Func(func(args []jsx.Value) {
		if len(args) > 0 {
			tell(observed(args[0], root))
		}
	})
	if err != nil {
		return nil, err
	}
	o, err := jsx.NewGlobal("FileSystemObserver", callback)
	if err == nil {
		if _, err = Await(ctx, o, "observe", d, map[string]any{"recursive": true}); err != nil {
			_, _ = jsx.Call(o, "disconnect") // it may still begin
		}
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return func() {
		_, _ = jsx.Call(o, "disconnect")
		s.Close()
	}, nil
}

// CopyBlob lets the browser copy a file, so the bytes do not pass through Go.
func (h *Handles) CopyBlob(ctx context.Context, src core.Core, from, to string) (n int64, ok bool, err error) {
	var blob jsx.Value
	switch s := src.(type) {
	case *Handles:
		if _, blob, err = s.File(ctx, from); err != nil {
			return 0, false, err
		}
	case *Tree:
		node, err := s.node(from)
		if err != nil || node.info.IsDir() {
			return 0, false, err
		}
		blob = node.file
	default:
		return 0, false, nil
	}
	size, err := NumberOf(blob, "size")
	if err != nil {
		return 0, false, err
	}
	r, err := h.Replace(ctx, to, 0)
	if err != nil {
		return 0, false, err
	}
	defer r.Abort()
	if _, err := Await(ctx, r.(*webReplacement).w, "write", blob); err != nil {
		return 0, false, err
	}
	if err := r.Commit(ctx); err != nil {
		return 0, false, err
	}
	return int64(size), true, nil
}

// ReadMany reads many small files as one: a Blob of Files contains their bytes one after
// the other, and needs one promise and one copy.
func (h *Handles) ReadMany(ctx context.Context, entries []core.Entry) ([][]byte, error) {
	var list []any
	if k, ok := ctx.Value(keeperKey{}).(*keeper); ok {
		list = k.take(h, entries)
	}
	var files jsx.Value
	var err error
	if list != nil {
		files, err = jsx.ToJS(list)
	} else {
		files, err = h.openMany(ctx, entries)
	}
	if err != nil {
		return nil, err
	}
	sizes, err := h.n.numbers(files, h.n.fileSize, len(entries))
	if err != nil {
		return nil, err
	}
	total := 0.0
	for _, s := range sizes {
		total += s
	}
	if len(sizes) != len(entries) || total > 4*core.ManyBytes {
		return nil, core.ErrTooLarge // the files grew since they were listed
	}
	blob, err := jsx.NewGlobal("Blob", files)
	if err != nil {
		return nil, err
	}
	data, err := readBlob(ctx, blob)
	if err != nil {
		return nil, err
	}
	out := make([][]byte, len(entries))
	for i, s := range sizes {
		n := min(int(s), len(data))
		out[i], data = data[:n:n], data[n:]
	}
	return out, nil
}

func (h *Handles) openMany(ctx context.Context, entries []core.Entry) (jsx.Value, error) {
	list := make([]any, len(entries))
	for i, e := range entries {
		d, err := h.Dir(ctx, core.ParentOf(e.Path))
		if err != nil {
			return jsx.Value{}, err
		}
		base, err := jsName(e.Path)
		if err != nil {
			return jsx.Value{}, err
		}
		if list[i], err = jsx.Call(d, "getFileHandle", base); err != nil {
			return jsx.Value{}, WebErr(err)
		}
	}
	promises, err := jsx.ToJS(list)
	if err != nil {
		return jsx.Value{}, err
	}
	batch, err := AwaitCall(ctx, h.n.all, promises)
	if err != nil {
		return jsx.Value{}, err
	}
	return h.files(ctx, batch)
}
