package sandbox_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// appBox returns a box with a server's tools, one of which has a page, another server's and the app's own.
func appBox(t *testing.T, answer policy.Answer, without ...string) (*sandbox.Box, *sandboxtest.Asker, *bytes.Buffer) {
	t.Helper()
	ask, log := sandboxtest.Always(answer), &bytes.Buffer{}
	o := sandbox.Options{Policy: policy.AskBeforeChanges(), Ask: ask, Audit: sandbox.NewAudit(log)}
	for _, w := range without {
		o.Without(w)
	}
	tool := func(server, id string, change func(*sandbox.Tool)) {
		x := sandbox.Tool{Tool: protocol.Tool{ID: id, Server: server, Untrusted: server != "", Description: "x", Parameters: `{"type":"object","properties":{"n":{"type":"number"}},"additionalProperties":false}`},
			Run: func(_ context.Context, c *sandbox.Call) (any, error) {
				return map[string]any{"content": "ran " + id, "structured": map[string]any{"id": id}}, nil
			}}
		if _, name, ok := strings.Cut(id, "_"); ok && server != "" {
			x.Served = name
		}
		if change != nil {
			change(&x)
		}
		o.Tools = append(o.Tools, x)
	}
	both := func(x *sandbox.Tool) { x.ForApps = true }
	tool("web", "web_chart", func(x *sandbox.Tool) { both(x); x.App = &protocol.App{URI: "ui://web/chart"} })
	tool("web", "web_more", both)
	tool("web", "web_models", nil)
	tool("web", "web_page", func(x *sandbox.Tool) { both(x); x.NotForModel = true })
	tool("web", "web_nobody", func(x *sandbox.Tool) { x.NotForModel = true })
	tool("bank", "bank_pay", both)
	tool("bank", "bank_hidden", func(x *sandbox.Tool) { both(x); x.NotForModel = true })
	tool("", "own", nil)
	tool("", "own_page", func(x *sandbox.Tool) { x.App = &protocol.App{URI: "ui://own", HTML: "x"} })
	tool("", "own_save", both)
	b, err := sandbox.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return b, ask, log
}

func ran(res sandbox.ToolResult) bool { return res.Err() == nil }

// The page of a tool calls the tools of its own server that are for pages, and a model none that are for pages
// alone.
func TestAttackAppTools(t *testing.T) {
	a := attack.Start(t, "apps")
	byPage := func(page, name string) func(*sandbox.Box) bool {
		return func(b *sandbox.Box) bool { return ran(b.CallForApp(t.Context(), page, name, nil)) }
	}
	for name, wins := range map[string]func(*sandbox.Box) bool{
		"a tool for models":                  byPage("web_chart", "models"),
		"a tool for models by its id":        byPage("web_chart", "web_models"),
		"a tool for nobody":                  byPage("web_chart", "nobody"),
		"another server's tool":              byPage("web_chart", "pay"),
		"another server's tool by its id":    byPage("web_chart", "bank_pay"),
		"another server's hidden tool":       byPage("web_chart", "bank_hidden"),
		"the app's own tool":                 byPage("web_chart", "own"),
		"the app's tool for its own pages":   byPage("web_chart", "own_save"),
		"a server's tool by the app's page":  byPage("own_page", "more"),
		"a tool that is not for its page":    byPage("own_page", "own"),
		"a hidden tool by a model":           func(b *sandbox.Box) bool { return ran(b.Call(t.Context(), "web_page", nil)) },
		"a hidden tool by a client":          func(b *sandbox.Box) bool { return ran(b.CallForModel(t.Context(), "web_page", nil, true).Result) },
		"a hidden tool by a model's program": func(b *sandbox.Box) bool { _, err := b.Toolset().Lookup("web_page"); return err == nil },
	} {
		b, _, _ := appBox(t, policy.AnswerOnce)
		a.Try(name, wins(b))
		b, _, _ = appBox(t, policy.AnswerOnce, "apps")
		won := wins(b)
		a.Off(name, won)
		if !won {
			t.Errorf("%s: does not succeed with the defence off", name)
		}
	}
	// These have no switch: there is no code that would do it.
	b, ask, log := appBox(t, policy.AnswerReject)
	a.Try("a page that there is not", ran(b.CallForApp(t.Context(), "web_more", "more", nil)))
	a.Try("a tool that there is not", ran(b.CallForApp(t.Context(), "nothing", "more", nil)))
	a.Try("no name", ran(b.CallForApp(t.Context(), "web_chart", "", nil)))
	a.Try("arguments that the schema has not", ran(b.CallForApp(t.Context(), "web_chart", "more", map[string]any{"__proto__": 1.0})))
	a.Try("before the user agreed", ran(b.CallForApp(t.Context(), "web_chart", "more", map[string]any{"n": 2.0})))
	r := ask.Requests()
	if len(r) != 1 {
		t.Fatalf("%d questions", len(r))
	}
	a.Try("in the assistant's name", r[0].App != "web_chart")
	a.Try("without a trace", !strings.Contains(log.String(), `"app":"web_chart"`))
}

// An honest page's calls are asked about as its own, and have the results that its protocol has.
func TestCallForApp(t *testing.T) {
	b, ask, _ := appBox(t, policy.AnswerOnce)
	for name, id := range map[string]string{"more": "web_more", "web_more": "web_more", "page": "web_page"} {
		res := b.CallForApp(t.Context(), "web_chart", name, map[string]any{"n": 1.0})
		if got := fmt.Sprint(res.ForApp()); got != fmt.Sprintf("map[content:[map[text:ran %s type:text]] isError:false structuredContent:map[id:%s]]", id, id) {
			t.Errorf("%s: %s", name, got)
		}
	}
	if res := b.CallForApp(t.Context(), "own_page", "own_save", nil); !ran(res) {
		t.Error(res.Err())
	}
	for _, r := range ask.Requests() {
		if r.App == "" || r.Title == "" {
			t.Errorf("%+v", r)
		}
	}
	if n := len(ask.Requests()); n != 3 {
		t.Errorf("%d questions, want one for each call of an untrusted tool", n)
	}
	if got := fmt.Sprint(b.CallForApp(t.Context(), "web_chart", "models", nil).ForApp()); !strings.Contains(got, "isError:true") || !strings.Contains(got, "models") {
		t.Error(got)
	}
	if page, server := b.AppOf("web_chart"); page == nil || server != "web" || page.URI != "ui://web/chart" {
		t.Error(page, server)
	}
	if page, _ := b.AppOf("own"); page != nil {
		t.Error("a page of a tool without one")
	}
	if got, err := (sandbox.ToolResult{Type: "output", Data: map[string]any{"content": "text\n"}}).Contents("ui://x"); err != nil || fmt.Sprint(got) != "map[contents:[map[text:text uri:ui://x]]]" {
		t.Error(got, err)
	}
	files := sandbox.ToolResult{Type: "output", Data: "x", Files: []sandbox.File{{Name: "a.png", MediaType: "image/png", Data: []byte("p")}, {Name: "b.bin", MediaType: "application/x", Data: []byte("q")}}}
	if got := fmt.Sprint(files.ForApp()); !strings.Contains(got, "map[data:cA== mimeType:image/png type:image]") || !strings.Contains(got, "uri:file:///b.bin") {
		t.Error(got)
	}
}
