package fsaccess

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/internal/jsx"

	"github.com/bailey-go/bailey/fsaccess/internal/web"
)

// slowly makes the folder's next listings stop after the first n names, until the test lets
// them continue or fail.
func slowly(t *testing.T, f *Folder, n int) (goOn func(how string)) {
	t.Helper()
	slow, err := jsx.Call(jsx.Global(), "eval", `((folder, n) => {
		let settle;
		const gate = new Promise((done, fail) => { settle = { done, fail: () => fail(new DOMException("gone", "NotFoundError")) }; });
		folder.values = () => {
			const all = FileSystemDirectoryHandle.prototype.values.call(folder);
			let asked = 0;
			return { next: () => ++asked > n ? gate.then(() => all.next()) : all.next() };
		};
		return settle;
	})`)
	must(t, err)
	settle, err := jsx.Invoke(slow, f.c.(*web.Handles).Root, n)
	must(t, err)
	return func(how string) {
		_, err := jsx.Call(settle, how)
		must(t, err)
	}
}

// The first names are returned while the browser still searches for the rest. A context
// ends the wait for the rest, and a failure after the first names is returned.
func TestReadDirPagesStream(t *testing.T) {
	needOPFS(t)
	f := opfs(t)
	for i := range 2*web.PullAtOnce + 10 {
		must(t, f.WriteFile(fmt.Sprintf("f%03d", i), nil, 0o644))
	}

	goOn := slowly(t, f, web.PullAtOnce)
	d := openFolder(t, f, ".")
	list, err := d.ReadDir(1000)
	if err != nil || len(list) != web.PullAtOnce {
		t.Fatalf("%d names at first, %v", len(list), err)
	}
	goOn("done")
	if rest := pages(t, d, 1000); len(rest) != web.PullAtOnce+10 {
		t.Errorf("%d names then", len(rest))
	}

	slowly(t, f, web.PullAtOnce)
	ctx, cancel := context.WithCancel(t.Context())
	d = openFolder(t, WithContext(ctx, f), ".")
	if _, err := d.ReadDir(1000); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := d.ReadDir(1000); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}

	slowly(t, f, web.PullAtOnce)("fail")
	d = openFolder(t, f, ".")
	if list, err := d.ReadDir(1000); err != nil || len(list) != web.PullAtOnce {
		t.Errorf("before a failure: %d, %v", len(list), err)
	}
	for range 2 {
		if list, err := d.ReadDir(1000); !core.NotExist(err) || len(list) != 0 {
			t.Errorf("a failure: %d, %v", len(list), err)
		}
	}
}

// A folder that was removed and made again after its handle was opened is listed in its
// present state.
func TestReadDirPagesOfAFolderMadeAnew(t *testing.T) {
	needOPFS(t)
	f := opfs(t)
	must(t, f.MkdirAll("d/e", 0o755))
	must(t, f.WriteFile("d/e/old", nil, 0o644))
	if got := pages(t, openFolder(t, f, "d/e"), 10); len(got) != 1 {
		t.Error(got)
	}
	again, err := OPFS(context.Background(), fmt.Sprintf("test-%d", opfsCount.Load()))
	must(t, err)
	must(t, again.RemoveAll("d"))
	must(t, again.MkdirAll("d/e", 0o755))
	must(t, again.WriteFile("d/e/new", nil, 0o644))
	if got := pages(t, openFolder(t, f, "d/e"), 10); len(got) != 1 {
		t.Error(got)
	} else if _, ok := got["new"]; !ok {
		t.Error(got)
	}
}
