package mcpclient_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/mcpclient"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// serving returns a server with tools, and contents of the resource ui://far/page.
func serving(tools []any, contents ...any) *server {
	s := &server{}
	s.do = func(method string, msg args) (r fetch.Response, b string) {
		switch method {
		case "tools/list":
			return r, result(msg, args{"tools": tools})
		case "resources/read":
			return r, result(msg, args{"contents": contents})
		}
		return r, b
	}
	return s
}

func shown(name string, meta any) any {
	return args{"name": name, "inputSchema": args{"type": "object"}, "_meta": meta}
}

// What a server says about the page of a tool decides who calls the tool. What can't be read opens nothing.
func TestPagesOfTools(t *testing.T) {
	for name, c := range map[string]struct {
		meta  any
		uri   string
		app   bool // pages may call it
		model bool
	}{
		"none":                       {nil, "", true, true},
		"a page":                     {args{"ui": args{"resourceUri": "ui://far/page"}}, "ui://far/page", true, true},
		"a page of an older server":  {args{"ui/resourceUri": "ui://far/page"}, "ui://far/page", true, true},
		"both, the newer one counts": {args{"ui": args{"resourceUri": "ui://far/new"}, "ui/resourceUri": "ui://far/old"}, "ui://far/new", true, true},
		"for pages":                  {args{"ui": args{"visibility": []any{"app"}}}, "", true, false},
		"for models":                 {args{"ui": args{"visibility": []any{"model"}}}, "", false, true},
		"for both":                   {args{"ui": args{"visibility": []any{"app", "model"}}}, "", true, true},
		"for nobody":                 {args{"ui": args{"visibility": []any{}}}, "", false, false},
		"for somebody else":          {args{"ui": args{"visibility": []any{"admin"}}}, "", false, false},
		"visibility is no list":      {args{"ui": args{"visibility": "model"}}, "", false, false},
		"visibility is null":         {args{"ui": args{"visibility": nil}}, "", true, true},
		"another kind of address":    {args{"ui": args{"resourceUri": "https://evil.example/"}}, "", true, true},
		"an address too long":        {args{"ui": args{"resourceUri": "ui://" + strings.Repeat("x", 2000)}}, "", true, true},
		"an address that is none":    {args{"ui": args{"resourceUri": 5}}, "", true, true},
		"no object":                  {"x", "", true, true},
		"ui is no object":            {args{"ui": []any{1}}, "", true, true},
	} {
		client, err := connect(t, serving([]any{shown("t", c.meta)}))
		must(t, err)
		tools, err := client.Tools(t.Context())
		must(t, err)
		x, uri := tools[0], ""
		if x.App != nil {
			uri = x.App.URI
		}
		if uri != c.uri || x.ForApps != c.app || x.NotForModel == c.model || x.Served != "t" {
			t.Errorf("%s: page %q, for pages %v, for models %v, served as %q", name, uri, x.ForApps, !x.NotForModel, x.Served)
		}
	}
}

func TestApp(t *testing.T) {
	const kind = "text/html;profile=mcp-app"
	page := func(mime string, more args) args {
		out := args{"uri": "ui://far/page", "mimeType": mime}
		for k, v := range more {
			out[k] = v
		}
		return out
	}
	for name, c := range map[string]struct {
		contents []any
		want     string // of the page, empty if there is none
	}{
		"text":                     {[]any{page(kind, args{"text": "<p>x"})}, "{ui://far/page <p>x [] [] [] [] false}"},
		"base64":                   {[]any{page(kind, args{"blob": base64.StdEncoding.EncodeToString([]byte("<p>y"))})}, "{ui://far/page <p>y [] [] [] [] false}"},
		"a type in another manner": {[]any{page(`text/HTML; profile="mcp-app"`, args{"text": "<p>x"})}, "{ui://far/page <p>x [] [] [] [] false}"},
		"with wishes": {[]any{page(kind, args{"text": "x", "_meta": args{"ui": args{"prefersBorder": true, "csp": args{"connectDomains": []any{"https://a.example", "bad one", "https://b.example;x"}, "resourceDomains": []any{"https://c.example"}, "frameDomains": []any{"https://d.example", "*;"}},
			"permissions": args{"microphone": args{}, "clipboardWrite": args{}, "camera": nil, "usb": args{}}}}})},
			"{ui://far/page x [https://a.example] [https://c.example] [https://d.example] [clipboard-write microphone] true}"},
		"wishes that are none": {[]any{page(kind, args{"text": "x", "_meta": args{"ui": "x"}})}, "{ui://far/page x [] [] [] [] false}"},
		"the second":           {[]any{page("text/plain", args{"text": "no"}), page(kind, args{"text": "x"})}, "{ui://far/page x [] [] [] [] false}"},
		"another type":         {[]any{page("text/html", args{"text": "x"})}, ""},
		"another address":      {[]any{args{"uri": "ui://far/other", "mimeType": kind, "text": "x"}}, ""},
		"nothing in it":        {[]any{page(kind, nil)}, ""},
		"no base64":            {[]any{page(kind, args{"blob": "%"})}, ""},
		"none":                 {nil, ""},
	} {
		client, err := connect(t, serving(nil, c.contents...))
		must(t, err)
		got, err := client.App(t.Context(), "ui://far/page")
		if c.want == "" && !errors.Is(err, protocol.ErrExecution) || c.want != "" && (err != nil || fmt.Sprint(got) != c.want) {
			t.Errorf("%s: %v %v", name, got, err)
		}
	}
	const most = 8 << 20
	for _, n := range []int{most - 1, most, most + 1} {
		client, err := connect(t, serving(nil, page(kind, args{"text": strings.Repeat("x", n)})), func(o *mcpclient.Options) { o.MaxBytes = 32 << 20 })
		must(t, err)
		if _, err := client.App(t.Context(), "ui://far/page"); (err == nil) != (n <= most) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	client, err := connect(t, serving(nil))
	must(t, err)
	if _, err := client.App(t.Context(), "file:///etc/passwd"); !errors.Is(err, protocol.ErrInvalidParams) {
		t.Error(err)
	}
}

func TestAppsAreAnnounced(t *testing.T) {
	for _, on := range []bool{false, true} {
		s := &server{}
		_, err := connect(t, s, func(o *mcpclient.Options) { o.Apps = on })
		must(t, err)
		if got := fmt.Sprint(s.body[0]); strings.Contains(got, "io.modelcontextprotocol/ui:map[mimeTypes:[text/html;profile=mcp-app]]") != on {
			t.Errorf("%v: %s", on, got)
		}
	}
}

// A tool that a server keeps for its pages reaches no model, and a page calls it after the user's answer.
func TestAttackHiddenToolsOfServers(t *testing.T) {
	a := attack.Start(t, "apps")
	a.NoSwitch("sandbox.TestAttackAppTools has the switch")
	s := serving([]any{shown("chart", args{"ui": args{"resourceUri": "ui://far/page"}}), shown("refresh", args{"ui": args{"visibility": []any{"app"}}}), shown("delete", args{"ui": args{"visibility": []any{"model"}}})})
	client, err := connect(t, s)
	must(t, err)
	asker := sandboxtest.Always(policy.AnswerOnce)
	b := box(t, client, "", asker)
	ctx := context.Background()
	ok := func(res sandbox.ToolResult) bool { return res.Err() == nil }
	a.Try("the model calls what is for pages", ok(b.Call(ctx, "far_refresh", args{})))
	a.Try("the page calls what is for models", ok(b.CallForApp(ctx, "far_chart", "delete", args{})))
	a.Try("the page calls a built-in tool", ok(b.CallForApp(ctx, "far_chart", "write", args{"path": "a", "content": "x"})))
	a.Try("the page of a tool without one", ok(b.CallForApp(ctx, "far_refresh", "chart", args{})))
	if n := len(asker.Requests()); n != 0 {
		t.Errorf("%d questions about calls that can't be", n)
	}
	if res := b.CallForApp(ctx, "far_chart", "refresh", args{}); res.Err() != nil {
		t.Error(res.Err())
	}
	if r := asker.Requests(); len(r) != 1 || r[0].App != "far_chart" || !r[0].Untrusted {
		t.Errorf("%+v", r)
	}
	no := box(t, client, "", sandboxtest.Always(policy.AnswerReject))
	a.Try("in spite of the user's no", ok(no.CallForApp(ctx, "far_chart", "refresh", args{})))
}
