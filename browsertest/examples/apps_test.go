package examples

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/e2e"
	"github.com/bailey-go/bailey/browsertest/internal/poll"
)

func openApps(t *testing.T, b *e2e.Browser) *e2e.Page {
	t.Helper()
	ctx := testContext(t)
	p, err := b.Page(ctx, site+"apps/")
	must(t, err)
	must(t, p.WaitFor(ctx, `!document.getElementById("thief").disabled`))
	return p
}

// openApp opens the page of a tool and waits until it holds.
func openApp(t *testing.T, p *e2e.Page, tool, holds string) {
	t.Helper()
	must(t, p.Click(testContext(t), "#"+tool))
	appHolds(t, p, holds)
}

func appHolds(t *testing.T, p *e2e.Page, holds string) {
	t.Helper()
	poll.Until(t, "the page of the tool holds "+holds, func() bool { return inApp(t, p, `String(!!(`+holds+`))`) == "true" },
		func() string { return inApp(t, p, `document.body?.innerText ?? ""`) + logOf(t, p) })
}

// inApp evaluates an expression in the page of the tool, and returns "" while there is none.
func inApp(t *testing.T, p *e2e.Page, expression string) string {
	t.Helper()
	values, err := p.EvalFrames(testContext(t), `["Sales", "Order", "Thief"].includes(document.title) ? String(`+expression+`) : null`)
	must(t, err)
	for _, v := range values {
		var text string
		if s := string(v.Value); s != "null" && s != "" {
			must(t, json.Unmarshal(v.Value, &text))
			return text
		}
	}
	return ""
}

func logOf(t *testing.T, p *e2e.Page) string {
	t.Helper()
	return eval[string](t, p, `document.getElementById("log").innerText`)
}

const drawn = `document.querySelectorAll("#rows li").length === 6`

// A chart calls its tool again without a question. An order is a question, which names the page.
func TestApps(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	p := openApps(t, launch(t, e2e.Options{}))
	openApp(t, p, "chart", drawn+` && document.querySelector("#rows li").innerText.includes("42")`)
	inApp(t, p, `document.getElementById("south").click()`)
	appHolds(t, p, `document.querySelector("#rows li").innerText.includes("31")`)
	if got := logOf(t, p); !strings.Contains(got, "chart map[region:south]: done") {
		t.Errorf("the log says %q", got)
	}

	openApp(t, p, "order", `document.getElementById("item").options.length === 2`)
	for _, c := range []struct{ button, key, asks, shows, log string }{
		{"place", once, "orders/coffee.txt", "Ordered.", "done"},
		{"place", reject, "orders/coffee.txt", "Not done", "declined"},
		{"tell", reject, "I would like 2", "Not done", "refused"},
		{"tell", once, "I would like 2", "Sent.", "sent in your name: I would like 2"},
	} {
		inApp(t, p, `document.getElementById("`+c.button+`").click()`)
		if got := asked(t, p); !strings.Contains(got, c.asks) || !strings.Contains(got, "page of") {
			t.Errorf("%s asks %q", c.button, got)
		}
		must(t, p.WaitFor(ctx, `document.activeElement.id === "ask"`))
		answerKey(t, p, c.key)
		must(t, p.WaitFor(ctx, `document.getElementById("ask").hidden`))
		appHolds(t, p, `document.getElementById("result").textContent.startsWith(`+js(c.shows)+`)`)
		if got := logOf(t, p); !strings.Contains(got, c.log) {
			t.Errorf("%s: the log says %q", c.button, got)
		}
	}
	noErrors(t, p)
}

// Nothing of the thief reaches a server, which the browser itself reaches.
func TestAppsThief(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	var mu sync.Mutex
	var heard []string
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, r.Method+" "+r.URL.String())
	}))
	defer sink.Close()
	b := launch(t, e2e.Options{})
	p := openApps(t, b)
	must(t, p.Eval(ctx, `document.getElementById("to").value = `+js(sink.URL), nil))
	openApp(t, p, "thief", `document.querySelectorAll("#tries li").length === 12`)
	must(t, p.WaitFor(ctx, `document.getElementById("log").innerText.includes("12 ways tried, 0 open")`))
	if got := eval[string](t, p, `location.pathname`); got != "/apps/" {
		t.Errorf("the page is at %s", got)
	}
	control, err := b.Page(ctx, sink.URL+"/control")
	must(t, err)
	defer control.Close()
	mu.Lock()
	defer mu.Unlock()
	if len(heard) == 0 || slices.ContainsFunc(heard, func(s string) bool { return s != "GET /control" && s != "GET /favicon.ico" }) {
		t.Errorf("the server has heard %q", heard)
	}
}

// The same pages run in the conforming mode, below a proxy that serve -apps serves at another port.
func TestAppsConforming(t *testing.T) {
	long(t)
	t.Parallel()
	ctx := testContext(t)
	serve := exec.Command(command, "serve", "-addr", "127.0.0.1:0", "-apps", "127.0.0.1:0", built)
	serve.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := serve.StdoutPipe()
	must(t, err)
	must(t, serve.Start())
	t.Cleanup(func() {
		_ = serve.Process.Signal(syscall.SIGTERM)
		_ = serve.Wait()
	})
	var own, proxy string
	for lines := bufio.NewScanner(out); (own == "" || proxy == "") && lines.Scan(); {
		for before, to := range map[string]*string{"serving ": &own, "the proxy ": &proxy} {
			if _, rest, ok := strings.Cut(lines.Text(), "http://"); ok && strings.HasPrefix(lines.Text(), before) {
				*to = "http://" + strings.Fields(rest)[0]
			}
		}
	}
	p, err := launch(t, e2e.Options{}).Page(ctx, own+"apps/?proxy="+proxy+"apps/")
	must(t, err)
	must(t, p.WaitFor(ctx, `!document.getElementById("thief").disabled`))
	openApp(t, p, "chart", drawn)
	if got := eval[string](t, p, `document.querySelector("#stage iframe").src`); got != proxy+"apps/" {
		t.Errorf("the frame is at %q", got)
	}
	inApp(t, p, `document.getElementById("south").click()`)
	appHolds(t, p, `document.querySelector("#rows li").innerText.includes("31")`)
	openApp(t, p, "order", `document.getElementById("item").options.length === 2`)
	inApp(t, p, `document.getElementById("place").click()`)
	if got := asked(t, p); !strings.Contains(got, "orders/coffee.txt") {
		t.Errorf("it asks %q", got)
	}
	must(t, p.WaitFor(ctx, `document.activeElement.id === "ask"`))
	answerKey(t, p, once)
	appHolds(t, p, `document.getElementById("result").textContent.startsWith("Ordered.")`)
	openApp(t, p, "thief", `document.querySelectorAll("#tries li").length === 12`)
	must(t, p.WaitFor(ctx, `document.getElementById("log").innerText.includes("12 ways tried, 0 open")`))
	noErrors(t, p)
}

// Two presses, one right after the other, show one page.
func TestAppsOneAtATime(t *testing.T) {
	t.Parallel()
	p := openApps(t, launch(t, e2e.Options{}))
	must(t, p.Eval(testContext(t), `(document.getElementById("chart").click(), document.getElementById("order").click())`, nil))
	poll.Until(t, "the second page is shown", func() bool {
		return eval[string](t, p, `document.getElementById("status").textContent`) == "Open: the page of order"
	},
		func() string { return logOf(t, p) })
	if n := eval[int](t, p, `document.querySelectorAll("#stage iframe").length`); n != 1 {
		t.Errorf("%d pages are shown", n)
	}
	noErrors(t, p)
}

func TestAppsLooks(t *testing.T) {
	t.Parallel()
	show := func(tool, holds string) func(t *testing.T, p *e2e.Page) {
		return func(t *testing.T, p *e2e.Page) { openApp(t, p, tool, holds) }
	}
	order := func(t *testing.T, p *e2e.Page) {
		openApp(t, p, "order", `document.getElementById("item").options.length === 2`)
		inApp(t, p, `document.getElementById("place").click()`)
		asked(t, p)
	}
	looks(t, "apps", openApps, []look{
		{name: "light", width: 1280, height: 900, show: show("chart", drawn)},
		{name: "asks", width: 1024, height: 768, show: order},
		{name: "narrow", width: 390, height: 844, show: show("chart", drawn)},
		{name: "dark", dark: true, width: 1280, height: 900, loud: true, show: func(t *testing.T, p *e2e.Page) {
			show("thief", `document.querySelectorAll("#tries li").length === 12`)(t, p)
			must(t, p.WaitFor(testContext(t), `document.getElementById("log").innerText.includes("ways tried")`))
		}},
		{name: "narrow-asks", dark: true, width: 320, height: 568, show: order},
	})
}
