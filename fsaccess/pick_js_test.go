package fsaccess

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/internal/jsx"
)

// The browser gets the options. An ID that the browser would refuse is refused before.
func TestPickAsksForWhatItWasTold(t *testing.T) {
	stub, err := jsx.NewGlobal("Function", `const was = Object.getOwnPropertyDescriptor(globalThis, "showDirectoryPicker"); let asked = "";
		globalThis.showDirectoryPicker = async (o) => { asked = JSON.stringify(o, Object.keys(o).sort()); throw new DOMException("closed", "AbortError"); };
		return (back) => { if (back) { delete globalThis.showDirectoryPicker; if (was) Object.defineProperty(globalThis, "showDirectoryPicker", was); } const text = asked; asked = ""; return text; };`)
	must(t, err)
	asked, err := jsx.Invoke(stub)
	must(t, err)
	defer func() { _, _ = jsx.Invoke(asked, true) }()
	long := strings.Repeat("i", 32)
	for _, c := range []struct {
		mode Mode
		o    PickOptions
		want string // "": refused
	}{
		{ReadOnly, PickOptions{}, `{"mode":"read"}`},
		{ReadWrite, PickOptions{ID: "a-B_9", StartIn: "documents"}, `{"id":"a-B_9","mode":"readwrite","startIn":"documents"}`},
		{ReadOnly, PickOptions{ID: long[1:]}, `{"id":"` + long[1:] + `","mode":"read"}`},
		{ReadOnly, PickOptions{ID: long}, `{"id":"` + long + `","mode":"read"}`},
		{ReadOnly, PickOptions{ID: long + "i"}, ""},
		{ReadOnly, PickOptions{ID: "a b"}, ""},
		{"", PickOptions{}, ""},
	} {
		_, err := Pick(context.Background(), c.mode, c.o)
		v, err2 := jsx.Invoke(asked, false)
		must(t, err2)
		got, err2 := jsx.String(v, 1000)
		must(t, err2)
		if got != c.want {
			t.Errorf("%s %+v: asked for %s, want %s", c.mode, c.o, got, c.want)
		}
		if c.want != "" && !errors.Is(err, ErrCancelled) || c.want == "" && !errors.Is(err, core.ErrInvalid) {
			t.Errorf("%s %+v: %v", c.mode, c.o, err)
		}
	}
}
