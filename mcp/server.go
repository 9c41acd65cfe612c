// Package mcp serves the tools of a [sandbox.Box] as a server of the Model Context
// Protocol, by the official Go SDK. It is a module of its own: the SDK brings net/http and
// some 2.4 MB, which an app that only calls servers doesn't need (see
// sandbox/mcpclient).
//
//	server, err := mcp.NewServer(box, mcp.Options{Tools: []string{"read", "grep"}})
//	err = server.Run(ctx, &sdk.StdioTransport{})
//
// Every call goes through the box: schema, policy, watchdog, the person's consent, trace.
// Who connects is as little trusted as a model, and is told what a model elsewhere is told.
// In a page, [Port] serves frames, workers and scripts. Nothing is served that was not
// named.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// Options shape a server.
type Options struct {
	// Tools are the ids of those that are served. None is an error.
	Tools []string
	// Session is whose grants, refusals and versions of files count; the box's own if nil.
	Session *sandbox.Session
	// Name and Version are what the server calls itself; "bailey" and "1" if empty.
	Name, Version string
	// Instructions are handed to those who connect.
	Instructions string
	// Local says that who connects, and the model behind it, is on this machine: it sees
	// results whole. Otherwise it sees what the policy's "send" allows, and no credentials.
	Local bool
	// SDK are the SDK's own options; Instructions, if not empty, are in place of theirs.
	SDK *sdk.ServerOptions
}

// NewServer makes a server of some of the box's tools. It has to be connected to a
// transport of the SDK's: standard input, streamable HTTP, one in memory.
func NewServer(box *sandbox.Box, o Options) (*sdk.Server, error) {
	if len(o.Tools) == 0 {
		return nil, errors.New("mcp: Options.Tools is empty: name the tools to serve")
	}
	if o.Name == "" {
		o.Name = "bailey"
	}
	if o.Version == "" {
		o.Version = "1"
	}
	so := sdk.ServerOptions{}
	if o.SDK != nil {
		so = *o.SDK
	}
	if o.Instructions != "" {
		so.Instructions = o.Instructions
	}
	server := sdk.NewServer(&sdk.Implementation{Name: o.Name, Version: o.Version}, &so)
	for _, id := range o.Tools {
		t, err := box.Toolset().Lookup(id)
		if err != nil {
			return nil, fmt.Errorf("mcp: %w", err)
		}
		if t.Untrusted {
			return nil, fmt.Errorf("mcp: %s is another server's tool; connect to that server itself", id)
		}
		schema := json.RawMessage(t.Parameters)
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object"}`)
		}
		server.AddTool(&sdk.Tool{Name: id, Description: t.Description, InputSchema: schema}, handler(box, o, id))
	}
	return server, nil
}

func handler(box *sandbox.Box, o Options, id string) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		args, err := arguments(req.Params.Arguments)
		if err != nil {
			return failed(err), nil
		}
		if o.Session != nil {
			ctx = o.Session.Context(ctx)
		}
		told := box.CallFor(ctx, id, args, o.Local)
		out := &sdk.CallToolResult{IsError: told.Result.Type == protocol.ResultError, Content: []sdk.Content{&sdk.TextContent{Text: told.Text}}}
		if !out.IsError && strings.HasPrefix(told.Text, "{") {
			out.StructuredContent = json.RawMessage(told.Text)
		}
		if len(told.Kept) > 0 {
			out.Content = append(out.Content, &sdk.TextContent{Text: "kept back: " + strings.Join(told.Kept, "; ")})
		}
		return out, nil
	}
}

// arguments reads them as strictly as those of a model: no key twice, none that reaches
// a prototype.
func arguments(raw json.RawMessage) (any, error) {
	if len(raw) == 0 || strings.TrimSpace(string(raw)) == "null" {
		return map[string]any{}, nil
	}
	return protocol.ParseJSON(string(raw), protocol.JSONLimits{})
}

// failed tells the other side what a model would be told.
func failed(err error) *sdk.CallToolResult {
	p := protocol.Public(err)
	text := fmt.Sprintf("error %s: %s", string(p.Code), p.Message)
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}
