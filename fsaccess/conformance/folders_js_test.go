package conformance

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
)

func zeroUmask(*testing.T) {}

var count atomic.Int64

func platform() map[string]func(testing.TB) fsaccess.FS {
	ctx := context.Background()
	root, err := fsaccess.OPFS(ctx, ".")
	if errors.Is(err, errors.ErrUnsupported) {
		fmt.Println("left out, the browser has no origin-private file system on this page:", err)
		return nil
	}
	return map[string]func(testing.TB) fsaccess.FS{
		"opfs": func(tb testing.TB) fsaccess.FS {
			name := fmt.Sprintf("conformance-%d", count.Add(1))
			if err := root.RemoveAll(name); err != nil {
				tb.Fatal(err)
			}
			f, err := fsaccess.OPFS(ctx, name)
			if err != nil {
				tb.Fatal(err)
			}
			tb.Cleanup(func() { _ = root.RemoveAll(name) })
			return f
		},
	}
}
