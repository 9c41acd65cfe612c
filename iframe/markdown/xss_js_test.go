//go:build js

package markdown_test

import (
	"context"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/iframe/internal/xss"
	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/testpage"
)

// xssAttack is one insertion of one text.
type xssAttack struct {
	ID   string `json:"id"`
	HTML string `json:"html"`
}

// xssOutcome is the effect of a batch of attacks on a page.
type xssOutcome struct {
	Heard  []string `json:"heard"`  // ids whose marker ran
	Moved  []string `json:"moved"`  // frames that have navigated away
	Loaded []string `json:"loaded"` // requests in the frames' own resource timing
}

// xssPage is the harness in a frame of this page.
type xssPage struct {
	t      *testing.T
	window jsx.Value
	sink   *testpage.Endpoint
}

func newXSSPage(t *testing.T) *xssPage {
	t.Helper()
	if !testpage.Available() {
		t.Skip("needs a browser: GOOS=js GOARCH=wasm go test -exec .bin/browsertest")
	}
	must := func(v jsx.Value, err error) jsx.Value {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	testpage.Serve(t, testpage.Response{Path: "/xss/harness.js", Body: xss.HarnessJS, Header: map[string]string{"Content-Type": "text/javascript; charset=utf-8"}})
	at := testpage.Serve(t, testpage.Response{Path: "/xss/harness.html", Body: xss.HarnessHTML, Header: map[string]string{"Content-Type": "text/html; charset=utf-8"}})
	doc := must(jsx.Get(jsx.Global(), "document"))
	frame := must(jsx.Call(doc, "createElement", "iframe"))
	scope := jsx.NewScope(jsx.ScopeOptions{})
	loaded := make(chan struct{}, 1)
	if _, err := scope.Listen(frame, "load", func(jsx.Value) {
		select {
		case loaded <- struct{}{}:
		default:
		}
	}); err != nil {
		t.Fatal(err)
	}
	if err := jsx.Set(frame, "src", at.URL); err != nil {
		t.Fatal(err)
	}
	must(jsx.Call(must(jsx.Get(doc, "body")), "append", frame))
	t.Cleanup(func() {
		jsx.Call(frame, "remove")
		scope.Close()
	})
	select {
	case <-loaded:
	case <-time.After(10 * time.Second):
		t.Fatal("the harness did not load in 10 s")
	}
	return &xssPage{t: t, window: must(jsx.Get(frame, "contentWindow")), sink: testpage.Sink(t)}
}

// run inserts all attacks, some at a time.
func (p *xssPage) run(attacks []xssAttack, way string, fenced bool) xssOutcome {
	p.t.Helper()
	var all xssOutcome
	for batch := range slices.Chunk(attacks, 40) {
		orders, err := json.Marshal(map[string]any{"attacks": batch, "way": way, "fenced": fenced})
		if err != nil {
			p.t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(p.t.Context(), 30*time.Second)
		v, err := jsx.CallAwait(ctx, p.window, "attack", string(orders))
		cancel()
		if err != nil {
			p.t.Fatalf("%s, from %s on: %v", way, batch[0].ID, err)
		}
		text, err := jsx.String(v, 1<<22)
		if err != nil {
			p.t.Fatal(err)
		}
		var one xssOutcome
		if err := json.Unmarshal([]byte(text), &one); err != nil {
			p.t.Fatal(err)
		}
		all.Heard = append(all.Heard, one.Heard...)
		all.Moved = append(all.Moved, one.Moved...)
		all.Loaded = append(all.Loaded, one.Loaded...)
	}
	return all
}

// phoned returns the ids whose requests reached the sink.
func (p *xssPage) phoned() map[string]bool {
	ids := map[string]bool{}
	id := regexp.MustCompile(`(?:sink|share)/+([a-z]+-[a-z0-9-]+)`)
	for _, r := range p.sink.Requests() {
		u, err := url.PathUnescape(r.URL)
		if err != nil {
			u = r.URL
		}
		if m := id.FindStringSubmatch(u); m != nil {
			ids[m[1]] = true
		} else {
			ids[r.URL] = true
		}
	}
	return ids
}

// scaledInPage returns 1 in make soak and make attack, which insert the whole collection. In
// make test it returns the number of rows of each class of which one is inserted.
// TestXSSIsInert checks the sanitised form of all rows natively.
func scaledInPage(short int) int {
	if testing.Short() {
		return short
	}
	return 1
}

// The collection is really hostile: without a sanitiser, most rows marked run do run, and most
// rows marked load do load, in this browser.
func TestXSSRawRuns(t *testing.T) {
	count := attack.Start(t, "xss")
	p := newXSSPage(t)
	sink := p.sink.URL + "/sink"
	all := sampleXSS(t, scaledInPage(16))
	attacks := map[string][]xssAttack{}
	for _, a := range all {
		if strings.Contains(a.ID, "-huge") {
			continue
		}
		attacks["write"] = append(attacks["write"], xssAttack{a.ID, a.expand(sink)})
		attacks["innerHTML"] = append(attacks["innerHTML"], xssAttack{a.ID, a.raw(t, sink)[0]})
	}
	ran := map[string]bool{}
	for way, attacks := range attacks {
		o := p.run(attacks, way, true)
		for _, id := range o.Heard {
			ran[id] = true
		}
		t.Logf("%s: %d markers heard, %d frames moved", way, len(o.Heard), len(o.Moved))
	}
	loaded := p.phoned()
	want, silent := map[string]int{}, map[string][]string{}
	for _, a := range all {
		want[a.Does]++
		count.Off(a.ID, ran[a.ID] || loaded[a.ID])
		if a.Does == "run" && !ran[a.ID] || (a.Does == "load" || a.Does == "go") && !loaded[a.ID] {
			silent[a.Does] = append(silent[a.Does], a.ID)
		}
	}
	got := want["run"] - len(silent["run"])
	t.Logf("of %d that run, %d ran; of %d that load, %d loaded; of %d that go, %d went", want["run"], got,
		want["load"], want["load"]-len(silent["load"]), want["go"], want["go"]-len(silent["go"]))
	if testing.Verbose() {
		for does, ids := range silent {
			t.Logf("silent in this engine, %s: %s", does, strings.Join(ids, " "))
		}
	}
	// The other rows are for other or older engines, for hosts with libraries, or are made
	// harmless by Markdown alone.
	if floor := want["run"] / 2; got < floor {
		t.Errorf("%d payloads ran with no defence; want at least %d, or the collection shows nothing", got, floor)
	}
	if floor := want["load"] * 4 / 9; want["load"]-len(silent["load"]) < floor {
		t.Errorf("%d payloads loaded something with no defence; want at least %d", want["load"]-len(silent["load"]), floor)
	}
}

// The sanitiser as the only defence: a plain page without policy and sandbox, and a user who
// clicks and focuses everything. No script runs, no request is made, and no frame navigates.
func TestXSSSanitisedDoesNothing(t *testing.T) {
	count := attack.Start(t, "xss")
	count.NoSwitch("TestXSSRawRuns holds the controls")
	p := newXSSPage(t)
	sink := p.sink.URL + "/sink"
	r := newXSSRenderer(t)
	// Many renderings go into one frame: each is balanced, and markers say whose
	// they are.
	var attacks []xssAttack
	const each = 24
	rendered := 0
	all := sampleXSS(t, scaledInPage(8))
	for group := range slices.Chunk(all, each) {
		var html strings.Builder
		for _, a := range group {
			for _, text := range a.forms(sink) {
				h, _, err := r.Render([]byte(text))
				if err != nil {
					t.Fatal(err)
				}
				html.WriteString("<section>" + h.String() + "</section>")
				rendered++
			}
		}
		attacks = append(attacks, xssAttack{group[0].ID, html.String()})
	}
	for _, way := range []string{"innerHTML", "write", "template", "twice"} {
		o := p.run(attacks, way, false)
		for _, a := range all {
			count.Try(a.ID+" by "+way, slices.Contains(o.Heard, a.ID))
		}
		for _, id := range o.Heard {
			t.Errorf("%s: %s ran", way, id)
		}
		for _, m := range o.Moved {
			t.Errorf("%s: a frame left: from %s on", way, m)
		}
		for _, l := range o.Loaded {
			t.Errorf("%s: loaded: from %s", way, l)
		}
	}
	if got := p.sink.Quiet(500 * time.Millisecond); got.Total() > 0 {
		t.Errorf("traffic: %d requests, %d connections, %d datagrams; from %v", len(got.Requests), got.Connections, got.Datagrams, p.phoned())
	}
	t.Logf("%d renderings, each inserted in four ways", rendered)

	// The harness still hears and the sink still counts.
	control := []xssAttack{{"control-run", "<img src=x: onerror=" + xss.Marker("control-run") + ">"}, {"control-load", `<img src="` + sink + `/control-load">`}}
	if o := p.run(control, "innerHTML", false); !slices.Contains(o.Heard, "control-run") {
		t.Error("the control did not run: this test proves nothing")
	}
	if got := p.sink.Wait(1, time.Minute); len(got.Requests) == 0 {
		t.Error("the control did not load: this test proves nothing")
	}
}
