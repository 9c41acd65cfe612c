package fsaccess

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"testing"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/jsx/jsxtest"
	"github.com/bailey-go/bailey/internal/testpage"
)

func TestMain(m *testing.M) {
	// A page's wasm memory ends at 4 GB and never shrinks; files of 200 MB come by here.
	debug.SetMemoryLimit(1 << 30)
	jsxtest.Main(m)
}

var opfsCount atomic.Int64

// opfs opens an empty folder of the origin-private file system.
func opfs(t testing.TB) *Folder {
	t.Helper()
	ctx := context.Background()
	root, err := OPFS(ctx, ".")
	must(t, err)
	name := fmt.Sprintf("test-%d", opfsCount.Add(1))
	must(t, root.RemoveAll(name))
	f, err := OPFS(ctx, name)
	must(t, err)
	t.Cleanup(func() { _ = root.RemoveAll(name) })
	return f
}

func platformSources() map[string]func(testing.TB) FS {
	all := map[string]func(testing.TB) FS{}
	if jsx.Supported("navigator.storage.getDirectory") { // else TestPickWantsAGesture says so
		all["opfs"] = func(t testing.TB) FS { return opfs(t) }
	}
	if !testpage.Has(testpage.NoFolderDragged) && jsx.Supported("document") {
		all["real folder"] = func(t testing.TB) FS {
			f, _ := realFolder(t)
			return f
		}
	}
	return all
}

// plantLinks: no page can make a link.
func plantLinks(testing.TB, FS) []string { return nil }
