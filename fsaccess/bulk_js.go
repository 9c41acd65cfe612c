package fsaccess

import (
	"context"
	"errors"
	"sort"
	"sync"

	"github.com/bailey-go/bailey/internal/jsx"
)

// inFlight is the number of files that are requested at once.
const inFlight = 64

// sizes fills in the size and time of the files among entries. list contains their handles
// at the same indexes. Each batch needs one promise and three calls.
func (h *handles) sizes(ctx context.Context, list jsx.Value, entries []Entry) ([]Entry, error) {
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
		} else if !notExist(err) && !errors.Is(err, ErrConflict) {
			return nil, err
		}
		// A file was removed since the listing, so ask for each one.
		for k, i := range idx {
			v, err := jsx.Index(batch, k)
			if err != nil {
				return nil, err
			}
			f, err := await(ctx, v, "getFile")
			if notExist(err) || errors.Is(err, ErrConflict) {
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
			entries[i].Size, entries[i].ModTime = fi.size, fi.mtime
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

func (h *handles) sizeBatch(ctx context.Context, batch jsx.Value, entries []Entry, idx []int) error {
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
		return ErrCorrupt
	}
	for k, i := range idx {
		entries[i].Size, entries[i].ModTime = int64(sizes[k]), millis(times[k])
	}
	return nil
}

// files returns the array of Files for an array of file handles.
func (h *handles) files(ctx context.Context, batch jsx.Value) (jsx.Value, error) {
	promises, err := h.n.mapOver.Call(batch, h.n.getFile)
	if err != nil {
		return promises, webErr(err)
	}
	return awaitCall(ctx, h.n.all, promises)
}

// list returns the entries of one folder without sizes, and their handles in the same
// order.
func (h *handles) list(ctx context.Context, dir string) ([]Entry, jsx.Value, error) {
	list, names, isDir, err := h.children(ctx, dir)
	if err != nil {
		return nil, list, err
	}
	entries := make([]Entry, len(names))
	for i, n := range names {
		entries[i] = Entry{Path: join(dir, n), Dir: isDir[i]}
	}
	return entries, list, nil
}

func (h *handles) listSized(ctx context.Context, dir string) ([]Entry, error) {
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

func (h *handles) listPages(ctx context.Context, dir string, page int, yield func([]Entry) bool) error {
	entries, err := h.listSized(ctx, dir)
	if err != nil {
		return err
	}
	for len(entries) > 0 {
		n := min(page, len(entries))
		if !yield(entries[:n]) {
			return errStop
		}
		entries = entries[n:]
	}
	return nil
}

// walkPages reads folders ahead, a few at once, and yields in order.
func (h *handles) walkPages(ctx context.Context, root string, page int, yield func([]Entry) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type listing struct {
		entries []Entry
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
	buf := make([]Entry, 0, page)
	put := func(e Entry) error {
		if buf = append(buf, e); len(buf) >= page {
			if !yield(buf) {
				return errStop
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
			return put(Entry{Path: dir, Size: badFolder, Dir: true})
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
		return errStop
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
	h    *handles
	path string
}

type keeperKey struct{}

const maxKept = 16384

func (k *keeper) keep(h *handles, files jsx.Value, entries []Entry, idx []int) error {
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
func (k *keeper) take(h *handles, entries []Entry) []any {
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

func (h *handles) keeping(ctx context.Context) context.Context {
	if _, ok := ctx.Value(keeperKey{}).(*keeper); ok {
		return ctx // made by the other folder of an overlay
	}
	return context.WithValue(ctx, keeperKey{}, &keeper{files: make(map[keptFile]jsx.Value)})
}
