package panel

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/internal/dom"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/until"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

const markup = `<img src=x onerror="window.panelBroken = true"><script>panelBroken = true</script>`

// The panel shows the calls of a box, explains them, and lists counters and headers. Texts stay texts.
func TestPanel(t *testing.T) {
	ctx := t.Context()
	host := dom.Create("section", "", "hidden", "")
	dom.Document().Get("body").Call("append", host)
	defer host.Call("remove")
	dev := new(Panel)
	parent := iframe.ElementOf(jsx.ToRaw(host.Value()))
	if err := dev.Open(parent); err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	if err := dev.Open(parent); err == nil {
		t.Error("it was opened twice")
	}
	root := host.Get("shadowRoot")
	part := func(id string) dom.Node { return root.Call("getElementById", id) }
	shows := func(id, text string) {
		t.Helper()
		until.True(t, id+" shows "+text, func() bool { return strings.Contains(part(id).Get("textContent").Text(), text) })
	}

	work := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	box, err := sandbox.New(sandbox.Options{FS: work, Policy: policy.AskBeforeChanges(), OnTrace: dev.Trace})
	if err != nil {
		t.Fatal(err)
	}
	dev.Box(box)
	_ = box.Call(ctx, "write", map[string]any{"path": "a.txt", "content": markup})
	shows("page0", "execution_start")
	shows("page0", "fs.write on a.txt")
	first := part("page0").Get("firstElementChild")
	first.Set("open", true)
	until.True(t, "the call is shown as text", func() bool {
		return strings.Contains(first.Get("textContent").Text(), "a.txt") && strings.Contains(first.Get("textContent").Text(), "onerror")
	})

	// The call of a row is explained, and so is any other. Nothing is written.
	first.Call("querySelector", ".explain").Call("click")
	shows("why", "so: ask")
	part("tool").Set("value", "read")
	part("args").Set("value", `{"path": "b.txt"}`)
	part("form").Call("requestSubmit")
	shows("why", "so: allow")
	part("args").Set("value", `{"path": `)
	part("form").Call("requestSubmit")
	shows("why", "This call can't be made")
	if _, err := work.Stat("a.txt"); err == nil {
		t.Error("the panel's explanation has made the call")
	}

	for range dev.Chunks(func(yield func(sandbox.Chunk, error) bool) {
		for range 50 {
			yield(sandbox.Chunk{Type: sandbox.ChunkText, ID: "1", Delta: markup}, nil)
		}
		yield(sandbox.Chunk{Type: "tool-output-denied", ToolCallID: "c"}, nil)
	}) {
	}
	part("tab1").Call("click")
	shows("page1", fmt.Sprintf("50 pieces, %d bytes", 50*len(markup)))
	shows("page1", "tool-output-denied")
	if n := part("page1").Get("childElementCount").Int(); n != 2 {
		t.Errorf("%d rows for one text and one refusal", n)
	}
	for range 2 * maxRows {
		for range dev.Chunks(func(yield func(sandbox.Chunk, error) bool) { yield(sandbox.Chunk{Type: "start-step"}, nil) }) {
		}
	}
	until.True(t, "the newest rows are there", func() bool { return part("page1").Get("childElementCount").Int() == maxRows })
	part("clear").Call("click")
	if n := part("page1").Get("childElementCount").Int(); n != 0 {
		t.Errorf("%d rows after Clear", n)
	}

	ready := 7
	dev.Pool("programs "+markup, func() any { return struct{ Ready int }{ready} })
	part("tab3").Call("click")
	shows("page3", "Ready7")
	ready = 8
	shows("page3", "Ready8") // within a second

	part("tab4").Call("click")
	shows("page4", "Content")
	if root.Call("querySelector", "img, script").OK() || dom.Global().Get("panelBroken").OK() {
		t.Error("markup became elements")
	}
	if err := dev.Close(); err != nil || !host.Get("hidden").True() || root.Get("childElementCount").Int() != 0 {
		t.Errorf("after Close: %v", err)
	}
}
