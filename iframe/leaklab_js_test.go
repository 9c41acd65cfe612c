package iframe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/jsx/trust"
	"github.com/bailey-go/bailey/internal/leaklab"
	"github.com/bailey-go/bailey/internal/testpage"
	"github.com/bailey-go/bailey/internal/until"
	"github.com/bailey-go/bailey/protocol"
)

// leakResult is what the lab's host reads of a vector.
type leakResult struct {
	ID       string
	Ran      bool
	Stopped  bool // refused before its first line
	Requests int
	Conns    int
	Packets  int
	Effect   string // what an attack on the realm achieved
	Text     string // what it tries, of an attack on the realm
	Note     string
}

// TestLeakLab is the page's half of make leaklab: it runs every vector in the layout
// that LEAKLAB names and prints what reached the vector's own sink.
func TestLeakLab(t *testing.T) {
	layout := os.Getenv("LEAKLAB")
	if layout == "" {
		t.Skip("run by make leaklab")
	}
	page := testpage.Page{}
	if strings.HasSuffix(layout, "-allowlist") || layout == "app" {
		page.Header = map[string]string{"Connection-Allowlist": "(response-origin)"}
	}
	testpage.Run(t, page, func(t *testing.T) { runLeakLab(t, layout) })
}

func runLeakLab(t *testing.T, layout string) {
	if strings.HasPrefix(layout, "realm") {
		runRealmLab(t, layout)
		return
	}
	vectors := leaklab.All()
	if only := os.Getenv("LEAKLAB_ONLY"); only != "" {
		vectors = slices.DeleteFunc(vectors, func(v leaklab.Vector) bool { return !strings.HasPrefix(v.ID, only) })
	}
	results := make([]leakResult, len(vectors))
	sinks := make([]*testpage.Endpoint, len(vectors))
	for i, v := range vectors {
		sinks[i] = testpage.Sink(t)
		at, err := url.Parse(sinks[i].URL)
		if err != nil {
			t.Fatal(err)
		}
		host := at.Hostname()
		if os.Getenv("LEAKLAB_DNS") != "" && strings.HasPrefix(host, "127.") {
			host = v.ID + "." + layout + ".ip-" + strings.ReplaceAll(host, ".", "-") + ".leak.test"
		}
		vectors[i] = v.Expand(leaklab.Target{Host: host, Port: at.Port()})
		results[i].ID = v.ID
	}
	base := strings.TrimSuffix(layout, "-allowlist")
	switch base {
	case "plain", "single":
		m := listen(t)
		for i := range batches(len(vectors), 12) {
			var frames []jsx.Value
			for k := i[0]; k < i[1]; k++ {
				frames = append(frames, leakFrame(t, vectors[k], base == "single"))
			}
			var heard []string
			until.Met(func() bool {
				heard = append(heard, m.take()...)
				for k := i[0]; k < i[1]; k++ {
					if !slices.Contains(heard, vectors[k].ID) {
						return false
					}
				}
				return true
			})
			until.Passed(700 * time.Millisecond) // what the vectors' own timers send
			for k := i[0]; k < i[1]; k++ {
				results[k].Ran = slices.Contains(heard, vectors[k].ID)
			}
			for _, f := range frames {
				_, _ = jsx.Call(f, "remove")
			}
		}
	case "document", "document-raw":
		for i := range batches(len(vectors), 8) {
			leakDocument(t, vectors[i[0]:i[1]], results[i[0]:i[1]], base == "document-raw")
		}
	case "app", "app-conforming":
		skipInnermost(t)
		proxy := ""
		if base == "app-conforming" { // the page has no header at all, the proxy's own closes what leaks
			page, err := AppOptions{}.Page(here(t))
			proxy = host(t, 1, page, err)
		}
		for i := range batches(len(vectors), 8) {
			leakApps(t, proxy, vectors[i[0]:i[1]], results[i[0]:i[1]])
		}
	case "compute", "compute-strict", "compute-warm", "compute-url", "dom", "dom-url":
		run := leakRuns(t, base)
		var wg sync.WaitGroup
		slots := make(chan struct{}, 4)
		for i := range vectors {
			wg.Add(1)
			slots <- struct{}{}
			go func() {
				defer wg.Done()
				run(vectors[i], &results[i])
				<-slots
			}()
		}
		wg.Wait()
	default:
		t.Fatalf("no layout %q", layout)
	}
	until.Passed(2 * time.Second) // what the browser sends late
	for i, r := range results {
		got := sinks[i].Traffic()
		r.Requests, r.Conns, r.Packets = len(got.Requests), got.Connections, got.Datagrams
		line, _ := json.Marshal(r)
		fmt.Printf("LEAKLAB %s\n", line)
	}
	// Run shows a page's output only together with a verdict.
	t.Log("done")
}

// runRealmLab runs the attacks of the table that aim at the runtime, the broker, another run or
// the host instead of the network. In the layout realm-open, the positive control, all layers
// inside the realm are off.
func runRealmLab(t *testing.T, layout string) {
	all := attacks(t)
	sink := testpage.Sink(t)
	opts := EnclaveOptions{Warm: strings.HasSuffix(layout, "-warm")}
	open := layout == "realm-open"
	if open {
		opts.off = []frame.Layer{frame.LayerGlobals, frame.LayerPrototypes, frame.LayerGuards, frame.LayerTame, frame.LayerMemory}
	}
	done := map[string]bool{}
	for _, opts.Level = range []protocol.Level{protocol.Strict, protocol.Permissive, protocol.Secure, protocol.Standard} {
		var list []realmAttack
		for _, a := range all {
			if id := a.id(); a.at(opts.Level) && !done[id] {
				done[id] = true
				list = append(list, a)
			}
		}
		if len(list) == 0 {
			continue
		}
		b := newBattle(t, opts, sink.URL)
		b.each(t, list, func(a realmAttack, o outcome) {
			// Without layers a run is lost now and then. Its output shows that it ran.
			line, _ := json.Marshal(leakResult{ID: a.id(), Ran: o.said != "", Effect: o.escaped, Text: a.Code, Note: o.said})
			fmt.Printf("LEAKLAB %s\n", line)
		})
		b.pool.Close()
	}
	if got := sink.Quiet(time.Second); got.Total() != 0 && !open {
		t.Errorf("%d things reached the sink: %+v", got.Total(), got)
	}
	t.Log("done")
}

// id names an attack in the lab.
func (a realmAttack) id() string { return "realm: " + a.Group + ": " + a.Name }

func batches(n, each int) func(func([2]int) bool) {
	return func(yield func([2]int) bool) {
		for i := 0; i < n; i += each {
			if !yield([2]int{i, min(n, i+each)}) {
				return
			}
		}
	}
}

// leakCode is a vector as the body of an async function that can't fail.
func leakCode(v leaklab.Vector) string {
	code := v.JS
	if v.HTML != "" {
		html, _ := json.Marshal(v.HTML)
		code = "document.body.insertAdjacentHTML('beforeend', " + string(html) + ")"
	}
	return code
}

// leakFrame shows a vector in a frame within a frame, so that its parent is not the
// lab: with sandbox=allow-scripts around it, or with no defence at all.
func leakFrame(t *testing.T, v leaklab.Vector, sandboxed bool) jsx.Value {
	body := "<script>top.postMessage('xss:" + v.ID + "', '*')</script>"
	if v.HTML != "" {
		body += v.HTML
	} else {
		body += "<body><script>(async () => {" + strings.ReplaceAll(v.JS, "</", `<\/`) + "\n})().catch(() => {})</script>"
	}
	inner := `<iframe allow="*" srcdoc="` + strings.NewReplacer("&", "&amp;", `"`, "&quot;").Replace(body) + `"></iframe>`
	attrs := map[string]string{"srcdoc": inner, "allow": "*"}
	if sandboxed {
		attrs["sandbox"] = "allow-scripts"
	}
	return element(t, "iframe", attrs)
}

// leakDocument gives vectors to a document: as a model's Markdown, or past the
// sanitiser. Code comes as the handler of an element.
func leakDocument(t *testing.T, vectors []leaklab.Vector, results []leakResult, raw bool) {
	at := element(t, "div", map[string]string{"style": "position:fixed;top:0;left:0;width:800px;z-index:1"})
	defer jsx.Call(at, "remove")
	d, err := NewDocument(testContext(t), ElementOf(jsx.ToRaw(at)), DocumentOptions{MaxHeight: 600})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for i, v := range vectors {
		text := v.HTML
		if text == "" {
			text = `<img src="x:" onerror="(async () => {` + strings.NewReplacer("&", "&amp;", `"`, "&quot;", "\n", " ").Replace(v.JS) + `})()">`
		}
		s := d.Section(v.ID)
		if raw {
			s.c.mu.Lock()
			s.show(trust.AuthoredHTML(text))
			s.c.mu.Unlock()
		} else {
			write(t, s, text+"\n\n[link]("+v.ID+") ![image](http://x.invalid/)\n")
			results[i].Note = strings.Join(strings.Fields(fmt.Sprint(s.Report())), " ")
		}
		results[i].Ran = true
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	// A vector may navigate its frame, which loses it: that is no failure here.
	if err := d.Flush(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, ErrClosed) && d.Err() == nil {
		for i := range results {
			results[i].Ran, results[i].Note = false, err.Error()
		}
	}
	until.Passed(400 * time.Millisecond) // the vectors of timers
}

// leakApps gives each vector an app of its own, below a proxy or in the opaque mode. One has run if the app's
// script before it has sent a message.
func leakApps(t *testing.T, proxy string, vectors []leaklab.Vector, results []leakResult) {
	var wg sync.WaitGroup
	ran := make([]chan struct{}, len(vectors))
	for i, v := range vectors {
		ran[i] = make(chan struct{}, 1)
		page := `<script>parent.postMessage({jsonrpc: "2.0", method: "notifications/message", params: {level: "info", data: "ran"}}, "*")</script>`
		if strings.Contains(v.HTML, "http-equiv=refresh") { // which leaves the page before its first script, in Firefox always
			text, _ := protocol.EncodeJSON(v.HTML, protocol.JSONLimits{})
			page += `<script>addEventListener("load", () => document.head.insertAdjacentHTML("beforeend", ` + text + `))</script>`
		} else if v.HTML != "" {
			page += v.HTML
		} else {
			page += "<body><script>(async () => {" + strings.ReplaceAll(v.JS, "</", `<\/`) + "\n})().catch(() => {})</script>"
		}
		a, err := NewApp(testContext(t), place(t), protocol.App{HTML: page}, AppOptions{Proxy: proxy, AllowWithoutConnectionAllowlist: testpage.Has(testpage.NoConnectionAllowlist),
			OnLog: func(_, text string) {
				if text != "ran" {
					return
				}
				select {
				case ran[i] <- struct{}{}:
				default: // a vector that loads its page again says so each time
				}
			}, off: appOff{state: true}})
		if err != nil {
			results[i].Note = err.Error()
			continue
		}
		defer a.Close()
		wg.Go(func() {
			limit := time.NewTimer(until.Patience / 4)
			defer limit.Stop()
			select {
			case <-ran[i]:
				results[i].Ran = true
			case <-limit.C:
				results[i].Note = fmt.Sprint("the app said nothing: ", a.Err())
			}
		})
	}
	wg.Wait()
	until.Passed(700 * time.Millisecond) // what the vectors' own timers send
}

// leakRuns makes the enclaves of a layout and returns the function that runs a vector there.
func leakRuns(t *testing.T, layout string) func(leaklab.Vector, *leakResult) {
	level := protocol.Permissive
	if layout == "compute-strict" {
		level = protocol.Strict
	}
	opts := EnclaveOptions{Level: level, Limits: protocol.Limits{Time: 1500 * time.Millisecond}, Warm: layout == "compute-warm" || layout == "compute-url"}
	var e interface {
		Run(context.Context, string, RunOptions) (*protocol.RunResult, error)
	}
	switch layout {
	case "dom-url": // the page has no header at all, the enclave's own page closes what leaks
		page, err := DOMEnclaveOptions{EnclaveOptions: opts}.Page(here(t))
		opts.URL = host(t, 1, page, err)
		d, err := NewDOMEnclave(testContext(t), DOMEnclaveOptions{EnclaveOptions: opts})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		e = d
	case "dom":
		e = domEnclave(t, DOMEnclaveOptions{EnclaveOptions: opts})
	default:
		if layout == "compute-url" {
			opts.URL = hostedEnclave(t, 1, opts)
		}
		e = pool(t, PoolOptions{Max: 4, Spare: 4, EnclaveOptions: opts})
	}
	return func(v leaklab.Vector, r *leakResult) {
		res, err := e.Run(testContext(t), "console.log('RAN');\n"+leakCode(v)+"\n;await sleep(150)", RunOptions{})
		if res != nil {
			for _, row := range res.Console {
				r.Ran = r.Ran || strings.Contains(wire(row.Args), "RAN")
			}
		}
		if err != nil {
			r.Note = err.Error()
			var coded *protocol.Error
			r.Stopped = !r.Ran && errors.As(err, &coded) && !errors.Is(err, protocol.ErrSandbox)
		}
	}
}
