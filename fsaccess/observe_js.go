package fsaccess

import (
	"context"
	"errors"

	"github.com/bailey-go/bailey/internal/jsx"
)

// push reports changes with a FileSystemObserver.
func (h *handles) push(ctx context.Context, root string, told chan<- []string) (stop func(), err error) {
	if !jsx.Supported("FileSystemObserver") {
		return nil, errors.ErrUnsupported
	}
	d, err := h.dir(ctx, root)
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
		if _, err = await(ctx, o, "observe", d, map[string]any{"recursive": true}); err != nil {
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

// observed returns the paths of some records, or nil if a record does not name its path.
func observed(records jsx.Value, root string) []string {
	n, err := jsx.Length(records)
	if err != nil {
		return nil
	}
	var names []string
	for i := range n {
		r, err := jsx.Index(records, i)
		if err != nil {
			return nil
		}
		kind, err := stringOf(r, "type")
		if err != nil || kind == "unknown" || kind == "errored" {
			return nil
		}
		for _, prop := range []string{"relativePathComponents", "relativePathMovedFrom"} {
			p, ok := pathOf(r, prop, root)
			if ok {
				names = append(names, p)
			} else if prop == "relativePathComponents" {
				return nil
			}
		}
	}
	return names
}

func pathOf(record jsx.Value, prop, root string) (string, bool) {
	list, err := jsx.Get(record, prop)
	if err != nil || jsx.Nullish(list) {
		return "", false
	}
	n, err := jsx.Length(list)
	if err != nil {
		return "", false
	}
	p := root
	for i := range n {
		v, err := jsx.Index(list, i)
		if err != nil {
			return "", false
		}
		s, err := jsx.String(v, 4096)
		if err != nil {
			return "", false
		}
		p = join(p, s)
	}
	return p, cleanName(p) == nil
}

// copyBlob lets the browser copy a file, so the bytes do not pass through Go.
func (h *handles) copyBlob(ctx context.Context, src core, from, to string) (n int64, ok bool, err error) {
	var blob jsx.Value
	switch s := src.(type) {
	case *handles:
		if _, blob, err = s.file(ctx, from); err != nil {
			return 0, false, err
		}
	case *fileTree:
		node, err := s.node(from)
		if err != nil || node.info.IsDir() {
			return 0, false, err
		}
		blob = node.file
	default:
		return 0, false, nil
	}
	size, err := numberOf(blob, "size")
	if err != nil {
		return 0, false, err
	}
	r, err := h.replace(ctx, to, 0)
	if err != nil {
		return 0, false, err
	}
	defer r.abort()
	if _, err := await(ctx, r.(*webReplacement).w, "write", blob); err != nil {
		return 0, false, err
	}
	if err := r.commit(ctx); err != nil {
		return 0, false, err
	}
	return int64(size), true, nil
}

// readMany reads many small files as one: a Blob of Files contains their bytes one after
// the other, and needs one promise and one copy.
func (h *handles) readMany(ctx context.Context, entries []Entry) ([][]byte, error) {
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
	if len(sizes) != len(entries) || total > 4*grepBytes {
		return nil, ErrTooLarge // the files grew since they were listed
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

func (h *handles) openMany(ctx context.Context, entries []Entry) (jsx.Value, error) {
	list := make([]any, len(entries))
	for i, e := range entries {
		d, err := h.dir(ctx, parentOf(e.Path))
		if err != nil {
			return jsx.Value{}, err
		}
		base, err := jsName(e.Path)
		if err != nil {
			return jsx.Value{}, err
		}
		if list[i], err = jsx.Call(d, "getFileHandle", base); err != nil {
			return jsx.Value{}, webErr(err)
		}
	}
	promises, err := jsx.ToJS(list)
	if err != nil {
		return jsx.Value{}, err
	}
	batch, err := awaitCall(ctx, h.n.all, promises)
	if err != nil {
		return jsx.Value{}, err
	}
	return h.files(ctx, batch)
}
