package mcp_test

import (
	"context"
	"fmt"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailey-go/bailey/mcp"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// The page of a box's own tool is a resource of the server, and a host finds it from the tool.
func TestPageOfATool(t *testing.T) {
	run := func(context.Context, *sandbox.Call) (any, error) { return map[string]any{"t": 20.0}, nil }
	p, err := policy.Parse(`{"capabilities": {"stream.send": true}}`, policy.Options{})
	must(t, err)
	box, err := sandbox.New(sandbox.Options{Policy: p, Tools: []sandbox.Tool{
		{Tool: protocol.Tool{ID: "chart", Description: "Shows a chart."}, Run: run, App: &protocol.App{HTML: "<p>chart", Connect: []string{"https://a.example"}, Frames: []string{"https://f.example"}, Permissions: []string{"camera", "clipboard-write"}, Border: true}},
		{Tool: protocol.Tool{ID: "plain", Description: "x"}, Run: run},
		{Tool: protocol.Tool{ID: "odd", Description: "x"}, Run: run, App: &protocol.App{URI: "https://a.example/", HTML: "x"}},
		{Tool: protocol.Tool{ID: "empty", Description: "x"}, Run: run, App: &protocol.App{}},
	}})
	must(t, err)
	s := connected(t, box, mcp.Options{Tools: []string{"chart", "plain"}})
	list, err := s.ListTools(t.Context(), nil)
	must(t, err)
	for _, tool := range list.Tools {
		want := "map[]"
		if tool.Name == "chart" {
			want = "map[ui:map[resourceUri:ui://bailey/chart]]"
		}
		if got := fmt.Sprint(map[string]any(tool.Meta)); got != want {
			t.Errorf("%s: %s", tool.Name, got)
		}
	}
	res, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "ui://bailey/chart"})
	must(t, err)
	c := res.Contents[0]
	if c.Text != "<p>chart" || c.MIMEType != "text/html;profile=mcp-app" || fmt.Sprint(map[string]any(c.Meta)) != "map[ui:map[csp:map[connectDomains:[https://a.example] frameDomains:[https://f.example]] permissions:map[camera:map[] clipboardWrite:map[]] prefersBorder:true]]" {
		t.Errorf("%+v", c)
	}
	for _, bad := range []string{"odd", "empty"} {
		if _, err := mcp.NewServer(box, mcp.Options{Tools: []string{bad}}); err == nil {
			t.Errorf("%s: a page that no host can show", bad)
		}
	}
}
