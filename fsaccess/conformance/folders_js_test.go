package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/testpage"
)

func zeroUmask(*testing.T) {}

var count atomic.Int64

func platform() map[string]func(testing.TB) fsaccess.FS {
	all := map[string]func(testing.TB) fsaccess.FS{}
	ctx := context.Background()
	root, err := fsaccess.OPFS(ctx, ".")
	if errors.Is(err, errors.ErrUnsupported) {
		fmt.Println("left out, the browser has no origin-private file system on this page:", err)
	} else {
		all["opfs"] = func(tb testing.TB) fsaccess.FS {
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
		}
	}
	switch {
	case !jsx.Supported("document"): // a worker
	case testpage.Has(testpage.NoFolderDragged):
		fmt.Println("left out, only Chromium's driver can drag a folder into a page: real folder")
	default:
		all["real folder"] = realFolder
	}
	return all
}

// realFolder is an empty folder on the disk, dragged into the page.
func realFolder(tb testing.TB) fsaccess.FS {
	tb.Helper()
	must := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
	}
	dir, err := os.MkdirTemp("", "real-")
	must(err)
	tb.Cleanup(func() { os.RemoveAll(dir) })
	doc, err := jsx.Lookup(jsx.Global(), "document")
	must(err)
	el, err := jsx.Call(doc, "createElement", "div")
	must(err)
	body, err := jsx.Get(doc, "body")
	must(err)
	_, err = jsx.Call(body, "append", el)
	must(errors.Join(jsx.Set(el, "id", "drop"), jsx.Set(el, "textContent", "drop here"), err))
	defer jsx.Call(el, "remove")
	z, err := fsaccess.NewDropZone("#drop")
	must(err)
	defer z.Close()
	testpage.Drop(tb, "#drop", dir)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	d, err := z.Next(ctx)
	must(err)
	return d
}

// TestConformanceInWorker is the suite where files of the origin-private file
// system are written in place.
func TestConformanceInWorker(t *testing.T) {
	testpage.Run(t, testpage.Page{Worker: true}, func(t *testing.T) {
		for _, s := range fsaccess.Supported() {
			if (s.Name == "opfs" || s.Name == "in place") && !s.OK {
				t.Skip(s.Name + ": " + s.Reason)
			}
		}
		for name, open := range folders() {
			if strings.HasSuffix(name, "opfs") {
				t.Run(name, func(t *testing.T) { Run(t, name, open) })
			}
		}
	})
}
