package fsaccess

import (
	"context"
	"testing"

	"github.com/bailey-go/bailey/internal/jsx"
)

// A picked folder has the name of its platform. A folder of another source has no name.
func TestName(t *testing.T) {
	needOPFS(t)
	pick, err := jsx.NewGlobal("Function", `return () => navigator.storage.getDirectory().then((d) => d.getDirectoryHandle("Letters 2026", { create: true }));`)
	must(t, err)
	pick, err = jsx.Invoke(pick)
	must(t, err)
	was, err := jsx.Get(jsx.Global(), "showDirectoryPicker")
	must(t, err)
	must(t, jsx.Set(jsx.Global(), "showDirectoryPicker", pick))
	defer jsx.Set(jsx.Global(), "showDirectoryPicker", was)
	f, err := Pick(context.Background(), ReadWrite, PickOptions{})
	must(t, err)
	if got := f.Name(); got != "Letters 2026" {
		t.Errorf("it is called %q", got)
	}
	if got := NewMemory(MemoryOptions{}).Name(); got != "" {
		t.Errorf("a folder in memory is called %q", got)
	}
}

// Two folders with equal names are stored as two.
func TestRememberAs(t *testing.T) {
	needOPFS(t)
	ctx := context.Background()
	a, b := opfs(t), opfs(t)
	for _, c := range []struct {
		f    *Folder
		want string
	}{{a, "notes"}, {b, "notes (2)"}, {a, "notes"}, {b, "notes (2)"}} {
		got, err := c.f.RememberAs(ctx, "notes")
		defer RememberedFolder{Name: got}.Forget(ctx)
		if err != nil || got != c.want {
			t.Errorf("%q, %v; want %q", got, err, c.want)
		}
	}
	again, err := Restore(ctx, "notes (2)")
	must(t, err)
	if got, err := again.RememberAs(ctx, "notes (2)"); got != "notes (2)" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
