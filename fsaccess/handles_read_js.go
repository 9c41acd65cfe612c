package fsaccess

import (
	"context"
	"io"

	"github.com/bailey-go/bailey/internal/jsx"
)

func (h *handles) readFile(ctx context.Context, name string) ([]byte, error) {
	_, f, err := h.file(ctx, name)
	if err != nil {
		return nil, err
	}
	if v := h.live.find(name); v != nil {
		return h.readLive(ctx, name, v)
	}
	return readBlob(ctx, f)
}

func (h *handles) readLive(ctx context.Context, name string, v *live) ([]byte, error) {
	f := &liveFile{ctx: ctx, v: v, path: name, byName: func() (File, error) { return h.openBlob(ctx, name) }}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if fi.Size() > maxBlob {
		return nil, ErrTooLarge
	}
	data := make([]byte, fi.Size())
	n, err := f.ReadAt(data, 0)
	if err == io.EOF {
		err = nil
	}
	return data[:n], err
}

// readBlob returns the content of a blob, with one promise and one copy.
func readBlob(ctx context.Context, b jsx.Value) ([]byte, error) {
	size, err := numberOf(b, "size")
	if err != nil {
		return nil, err
	}
	if size > maxBlob {
		return nil, ErrTooLarge
	}
	buf, err := await(ctx, b, "arrayBuffer")
	if err != nil {
		return nil, err
	}
	return jsx.Bytes(buf, int(size))
}
