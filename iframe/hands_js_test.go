package iframe

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/jsx/trust"
	"github.com/bailey-go/bailey/internal/testpage"
	"github.com/bailey-go/bailey/internal/until"
)

// show puts unsanitised HTML into the frames, so the following tests hold even for content that
// a sanitiser might miss.
func show(t *testing.T, d *Document, raw string) *Section {
	t.Helper()
	s := d.Section("raw")
	s.c.mu.Lock()
	s.show(trust.AuthoredHTML(raw))
	s.c.mu.Unlock()
	flush(t, d)
	return s
}

// click clicks at a point of the document, in CSS pixels from its corner.
func click(t *testing.T, d *Document, x, y float64) {
	t.Helper()
	outer := make(chan jsx.Value, 1)
	d.impl.do(func() { outer <- d.impl.frame.outer })
	rect := must(jsx.Call(<-outer, "getBoundingClientRect"))(t)
	left, top := must(jsx.GetFinite(rect, "left"))(t), must(jsx.GetFinite(rect, "top"))(t)
	if x < 0 {
		x += must(jsx.GetFinite(rect, "width"))(t)
	}
	testpage.ClickAt(t, left+x, top+y)
}

func receive[T any](t *testing.T, from <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(until.Patience):
		t.Fatalf("never came: %s", what)
	}
	return v
}

// clickFor clicks until something arrives, because a frame that was just laid out may not
// receive clicks yet. Further arrivals are dropped.
func clickFor[T any](t *testing.T, d *Document, x, y float64, from <-chan T, what string) (v T) {
	t.Helper()
	for n := range 15 {
		click(t, d, x, y)
		select {
		case v = <-from:
			if n == 0 {
				return v
			}
			for until.Passed(150 * time.Millisecond); len(from) > 0; { // another click of ours on its way
				<-from
			}
			return v
		case <-time.After(400 * time.Millisecond):
		}
	}
	t.Fatalf("never came: %s", what)
	return v
}

func TestLinkToAFileReachesTheHost(t *testing.T) {
	links := make(chan Link, 100)
	d := open(t, DocumentOptions{OnLink: func(_ context.Context, l Link) { links <- l }})
	show(t, d, `<a data-path="notes/my plan.md" role="link" tabindex="0">the plan of the project</a>`)
	got := clickFor(t, d, 20, 12, links, "the link")
	if got != (Link{Section: "raw", Path: "notes/my plan.md", Text: "the plan of the project"}) {
		t.Errorf("got %+v", got)
	}
	if err := got.Open(t.Context()); err == nil {
		t.Error("a file was opened as an address")
	}
}

func TestLinkReachesTheHost(t *testing.T) {
	links := make(chan Link, 100)
	d := open(t, DocumentOptions{OnLink: func(_ context.Context, l Link) { links <- l }})
	show(t, d, `<a data-href="https://example.org/a?b" role="link" tabindex="0">somewhere else</a>`)
	if got := clickFor(t, d, 20, 12, links, "the link"); got != (Link{Section: "raw", URL: "https://example.org/a?b", Text: "somewhere else"}) {
		t.Errorf("got %+v", got)
	}
	if testpage.Has(testpage.KeysToTheTopOnly) {
		t.Log("WebKit's driver sends keys to the top document only: Enter on a link is not tested here")
	} else {
		testpage.Press(t, "Enter") // the click gave it the focus
		if got := receive(t, links, "the link by keyboard"); got.URL != "https://example.org/a?b" {
			t.Errorf("got %+v", got)
		}
	}
	for _, bad := range []string{"javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "//example.org", ""} {
		show(t, d, `<a data-href="`+bad+`" tabindex="0">a link that is none</a>`)
		click(t, d, 20, 12)
	}
	show(t, d, `<a data-href="https://example.org/last">last</a>`)
	if got := clickFor(t, d, 12, 12, links, "the last link"); got.URL != "https://example.org/last" {
		t.Errorf("a link that is none reached the host: %+v", got)
	}
}

func TestLinksDoNothingByThemselves(t *testing.T) {
	d := open(t, DocumentOptions{})
	show(t, d, `<a data-href="https://example.org/" tabindex="0">inert</a>`)
	before := must(jsx.GetString(must(jsx.Get(jsx.Global(), "location"))(t), "href", 1000))(t)
	click(t, d, 12, 12)
	flush(t, d) // behind the click, through the same frames
	until.Turns(20)
	if now := must(jsx.GetString(must(jsx.Get(jsx.Global(), "location"))(t), "href", 1000))(t); now != before {
		t.Errorf("the page went to %s", now)
	}
}

func TestImages(t *testing.T) {
	chart, err := os.ReadFile("../examples/markdown/chart.png") // 320 × 120
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan ImageRequest, 10)
	d := open(t, DocumentOptions{OnImage: func(_ context.Context, r ImageRequest) ([]byte, error) {
		asked <- r
		switch r.URL {
		case "chart":
			return chart, nil
		case "svg":
			return []byte("<svg xmlns='http://www.w3.org/2000/svg' height='900'/>"), nil
		}
		return nil, errors.New("no such image")
	}})
	show(t, d, `<p><img data-image="svg" alt="words"></p><p><img data-image="none" alt="words"></p>`)
	receive(t, asked, "the first request")
	receive(t, asked, "the second request")
	flush(t, d)
	low := d.Height()
	if low > 120 {
		t.Errorf("height %d: an image that was refused is shown", low)
	}
	show(t, d, `<p><img data-image="chart" alt="a chart"></p>`)
	if got := receive(t, asked, "the request for the chart"); got != (ImageRequest{"raw", "chart", "chart"}) {
		t.Errorf("asked for %+v", got)
	}
	eventually(t, "the chart's height", func() bool { return d.Height() >= 120 })
}

func TestImagesAreRefusedByDefault(t *testing.T) {
	d := open(t, DocumentOptions{})
	show(t, d, `<img data-image="https://example.org/x.png" alt="words">`)
	flush(t, d)
	if d.Height() > 60 {
		t.Errorf("height %d", d.Height())
	}
}

func TestCopyTakesTheHostsText(t *testing.T) {
	copied := make(chan string, 100)
	d := open(t, DocumentOptions{OnCopy: func(_ context.Context, s string) error { copied <- s; return nil }})
	show(t, d, "<p>text</p><pre><code class=\"language-go\">a &lt; b\n</code></pre>")
	if got := clickFor(t, d, -30, 56, copied, "the text"); got != "a < b" {
		t.Errorf("copied %q", got)
	}
}

// The copied text is the code beside the button, whatever other <pre> there are.
func TestCopyIsWhatIsSeen(t *testing.T) {
	copied := make(chan string, 100)
	d := open(t, DocumentOptions{OnCopy: func(_ context.Context, s string) error { copied <- s; return nil }})
	block := "<pre><code>seen</code></pre>"
	for _, decoy := range []string{
		"<pre><pre><code>decoy</code></pre></pre>", "<pre>none</pre>", "<pre><details><summary>a</summary><code>b</code></details></pre>",
		"<pre><code>a<details><summary>b</summary>c</details></code></pre>", "<pre><i><code>a</code></i></pre>",
	} {
		show(t, d, decoy+"<pre><code>hidden</code></pre>")
		above := d.Height()
		show(t, d, decoy+block+"<pre><code>hidden</code></pre>")
		below := d.Height() - above // is one line of code and the space about it
		if got := clickFor(t, d, -30, float64(above-below)+26, copied, "the text behind "+decoy); got != "seen" {
			t.Errorf("behind %s: copied %q, seen is %q", decoy, got, "seen")
		}
	}
}

// A link reports its section. A fragment refers to an id in its own section, even if the text
// contains elements with the same id.
func TestLinkKnowsItsSection(t *testing.T) {
	links := make(chan Link, 100)
	d := open(t, DocumentOptions{OnLink: func(_ context.Context, l Link) { links <- l }})
	show(t, d, `<section><a data-href="https://example.org/" role="link" tabindex="0">somewhere</a></section>`)
	if got := clickFor(t, d, 20, 12, links, "the link"); got.Section != "raw" {
		t.Errorf("got %+v", got)
	}
}

// A link to an id goes to the id in its own section, and not to another answer's footnote.
func TestFragmentsStayInTheirSection(t *testing.T) {
	d := open(t, DocumentOptions{})
	first := d.Section("first")
	first.c.mu.Lock()
	first.show(trust.AuthoredHTML(`<p id="x">not here</p>`))
	first.c.mu.Unlock()
	show(t, d, `<a data-fragment="x" role="link" tabindex="0">down</a>`+strings.Repeat("<p>text</p>", 200)+`<p id="x">here</p>`)
	t.Cleanup(func() { jsx.Call(jsx.Global(), "scrollTo", 0, 0) })
	y := 0.0
	for range 15 {
		click(t, d, 20, 56)
		for range 200 {
			if y = must(jsx.GetFinite(jsx.Global(), "scrollY"))(t); y > 1000 {
				return
			}
			until.Turn()
		}
	}
	t.Errorf("the page is at %.0f px: the link led to another section", y)
}

// loaders is markup that tries to load resources.
const loaders = `<img src="SINK/img"><img srcset="SINK/srcset 2x"><picture><source srcset="SINK/source"><img></picture>
	<video src="SINK/video" poster="SINK/poster" autoplay></video><audio src="SINK/audio" autoplay></audio>
	<object data="SINK/object"></object><embed src="SINK/embed"><link rel="stylesheet" href="SINK/css">
	<link rel="prefetch" href="SINK/prefetch"><link rel="preload" as="image" href="SINK/preload">
	<style>@import "SINK/import"; body { background: url(SINK/background) }</style>
	<div style="background: url(SINK/style)">x</div><svg><image href="SINK/svg"/></svg><input type="image" src="SINK/input">
	<script src="SINK/script"></script><img src=x onerror="new Image().src='SINK/handler'">`

// connectors is markup with addresses that browsers connect to without a request, whatever a
// policy says. Only the sanitiser or Connection-Allowlist stops this.
const connectors = `<link rel="preconnect" href="SINK"><iframe src="SINK/iframe"></iframe>`

func from(sink *testpage.Endpoint, markup string) string {
	return strings.ReplaceAll(markup, "SINK", sink.URL)
}

// With the sanitiser off, the frame's policy still stops all loads and reports them, and no
// request reaches the network.
func TestPolicyHoldsAlone(t *testing.T) {
	sink := testpage.Sink(t)
	seen := make(chan CSPViolation, 1000)
	d := open(t, DocumentOptions{OnViolation: func(v CSPViolation) { seen <- v }})
	show(t, d, from(sink, loaders))
	if v := receive(t, seen, "a violation"); !v.Enforced || v.Directive == "" {
		t.Errorf("violation %+v", v)
	}
	if got := sink.Quiet(400 * time.Millisecond); got.Total() != 0 {
		t.Errorf("reached the network: %+v", got)
	}
	// Connections that this policy can't stop. If no engine makes any, remove the row from
	// THREATMODEL.md.
	show(t, d, from(sink, connectors))
	got := sink.Quiet(time.Second)
	if len(got.Requests) != 0 {
		t.Errorf("requests reached the network: %+v", got)
	}
	if !testpage.Has(testpage.NoConnectionAllowlist) && got.Connections == 0 {
		t.Error("preconnect and iframe connect no more without Connection-Allowlist: say so in THREATMODEL.md")
	}
	// The sink does receive requests from outside the frames.
	sink.Reset()
	element(t, "img", map[string]string{"src": sink.URL + "/control"})
	if got := sink.Wait(1, time.Minute); len(got.Requests) == 0 {
		t.Error("the control did not reach the sink: this test shows nothing")
	}
}

// Connection-Allowlist closes the rest, sanitiser off, in engines that know it.
func TestConnectionAllowlistStopsTheRest(t *testing.T) {
	if testpage.Has(testpage.NoConnectionAllowlist) {
		t.Skipf("%s does not know Connection-Allowlist", testpage.Engine())
	}
	testpage.Run(t, testpage.Page{Header: map[string]string{"Connection-Allowlist": "(response-origin)"}}, func(t *testing.T) {
		sink := testpage.Sink(t)
		d := open(t, DocumentOptions{})
		show(t, d, from(sink, connectors+loaders))
		if got := sink.Quiet(time.Second); got.Total() != 0 {
			t.Errorf("reached the network: %+v", got)
		}
	})
}
