package iframe

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailey-go/bailey/iframe/internal/xss"
	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/jsx/trust"
	"github.com/bailey-go/bailey/internal/testpage"
	"github.com/bailey-go/bailey/internal/until"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
)

// markers records the messages of attacks to the top of the page.
type markers struct {
	mu    sync.Mutex
	heard []string
}

func listen(t *testing.T) *markers {
	t.Helper()
	m := &markers{}
	scope := jsx.NewScope(jsx.ScopeOptions{})
	t.Cleanup(func() { scope.Close() })
	if _, err := scope.Listen(jsx.Global(), "message", func(e jsx.Value) {
		data, err := jsx.Get(e, "data")
		if err != nil {
			return
		}
		text, err := jsx.String(data, 1000)
		if err != nil {
			return
		}
		if id, ok := strings.CutPrefix(text, "xss:"); ok {
			m.mu.Lock()
			m.heard = append(m.heard, id)
			m.mu.Unlock()
		}
	}); err != nil {
		t.Fatal(err)
	}
	return m
}

// take returns the markers recorded since the last take.
func (m *markers) take() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.heard
	m.heard = nil
	return slices.Compact(slices.Sorted(slices.Values(h)))
}

// unsafeMarkdown is the renderer of a page without a sanitiser.
var unsafeMarkdown = goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote), goldmark.WithRendererOptions(html.WithUnsafe()))

// rawAttacks returns the rows of the collection that pick accepts, as a page without a
// sanitiser would insert them, several to a document.
func rawAttacks(t *testing.T, sink string, each int, pick func(xss.Payload) bool) (groups [][]string, ids [][]string) {
	t.Helper()
	all, err := xss.Load()
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		all = xss.Sample(all, 12) // make attack and make soak show all of it
	}
	all = slices.DeleteFunc(all, func(p xss.Payload) bool { return !pick(p) || strings.Contains(p.ID, "-huge") })
	for group := range slices.Chunk(all, each) {
		var texts, names []string
		for _, p := range group {
			text := p.Expand(sink)
			if p.Category == "markdown" {
				var b strings.Builder
				if err := unsafeMarkdown.Convert([]byte(text), &b); err != nil {
					t.Fatal(err)
				}
				text = b.String()
			}
			texts = append(texts, text)
			names = append(names, p.ID)
		}
		groups, ids = append(groups, texts), append(ids, names)
	}
	return groups, ids
}

// assault shows raw texts in a new document, each in its own section. Then it acts like a user:
// it clicks everywhere, and walks through the document with the keyboard. It returns the number
// of violations that the frames' policy stopped.
func assault(t *testing.T, raw []string) (stopped int64) {
	t.Helper()
	var violations atomic.Int64
	// At the top of the page, so that the mouse finds it.
	at := element(t, "div", map[string]string{"style": "position:fixed;top:0;left:0;width:800px;z-index:1"})
	defer jsx.Call(at, "remove")
	d, err := NewDocument(testContext(t), ElementOf(jsx.ToRaw(at)), DocumentOptions{MaxHeight: 600, OnViolation: func(CSPViolation) { violations.Add(1) }})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for i, text := range raw {
		s := d.Section(fmt.Sprint(i))
		s.c.mu.Lock()
		s.show(trust.AuthoredHTML(text))
		s.c.mu.Unlock()
	}
	// An attack may navigate its frame repeatedly. The navigation is refused, the frame is lost
	// and rebuilt, and at last the document fails. All of that is allowed here.
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_ = d.Flush(ctx)
	until.Passed(60 * time.Millisecond) // the attacks of timers and animations
	for y := 12; y < 600; y += 42 {
		testpage.ClickAt(t, 14, float64(y))
	}
	for range 8 {
		testpage.Press(t, "Tab")
		testpage.Press(t, "Enter")
	}
	until.Passed(40 * time.Millisecond) // and those that a click or a key began
	return violations.Load()
}

// With the sanitiser off, the two frames hold alone: of all attacks, none runs
// and none sends a request.
func TestXSSInDocumentWithoutSanitiser(t *testing.T) {
	count := attack.Start(t, "xss")
	count.NoSwitch("TestXSSRawRuns holds the controls")
	sink := testpage.Sink(t)
	m := listen(t)
	groups, ids := rawAttacks(t, sink.URL+"/sink", 48, func(xss.Payload) bool { return true })
	n, stopped := 0, int64(0)
	for i, group := range groups {
		stopped += assault(t, group)
		n += len(group)
		ran := m.take()
		for _, id := range ids[i] {
			count.Try(id+" inside the document", slices.Contains(ran, id))
		}
		for _, id := range ran {
			t.Errorf("%s ran inside the document", id)
		}
		if got := sink.Traffic(); len(got.Requests) > 0 {
			for _, r := range got.Requests {
				t.Errorf("%s to %s sent %s %s", ids[i][0], ids[i][len(ids[i])-1], r.Method, r.URL)
			}
			sink.Reset()
		}
	}
	if got := sink.Quiet(500 * time.Millisecond); len(got.Requests) > 0 {
		t.Errorf("requests reached the network at the end: %+v", got.Requests)
	}
	t.Logf("%d attacks in %d documents, %d things stopped by the policy", n, len(groups), stopped)
	if floor := int64(n) * 2 / 9; stopped < floor {
		t.Errorf("the policy stopped %d things; want at least %d, or the attacks were not there", stopped, floor)
	}
	controls(t, m, sink)
}

// controls shows that markers are heard and requests counted from two sandboxed
// frames without a policy, so that the silence above means something.
func controls(t *testing.T, m *markers, sink *testpage.Endpoint) {
	t.Helper()
	inner := `<img src=x: onerror=` + xss.Marker("control") + `><img src='` + sink.URL + `/control'>`
	outer := `<iframe sandbox="allow-scripts" srcdoc="` + strings.NewReplacer("&", "&amp;", `"`, "&quot;").Replace(inner) + `"></iframe>`
	element(t, "iframe", map[string]string{"sandbox": "allow-scripts", "srcdoc": outer})
	eventually(t, "the control's marker", func() bool { return slices.Contains(m.take(), "control") })
	if got := sink.Wait(1, time.Minute); len(got.Requests) == 0 {
		t.Error("the control's request did not reach the sink")
	}
}

// Where the page sends Connection-Allowlist and the engine knows it, not even a
// connection without a request gets out.
func TestXSSInDocumentConnectsNowhere(t *testing.T) {
	if testpage.Has(testpage.NoConnectionAllowlist) {
		t.Skipf("%s does not know Connection-Allowlist", testpage.Engine())
	}
	header := map[string]string{"Connection-Allowlist": "(response-origin)"}
	testpage.Run(t, testpage.Page{Header: header}, func(t *testing.T) {
		sink := testpage.Sink(t)
		groups, ids := rawAttacks(t, sink.URL+"/sink", 48, func(p xss.Payload) bool { return p.Does == "load" || p.Does == "go" })
		for i, group := range groups {
			assault(t, group)
			if got := sink.Quiet(50 * time.Millisecond); got.Total() > 0 {
				t.Errorf("%s to %s: %d requests, %d connections, %d datagrams", ids[i][0], ids[i][len(ids[i])-1], len(got.Requests), got.Connections, got.Datagrams)
				sink.Reset()
			}
		}
		if got := sink.Quiet(500 * time.Millisecond); got.Total() > 0 {
			t.Errorf("at the end: %+v", got)
		}
	})
}
