// Package mcp serves the tools of a [sandbox.Box] as a server of the Model Context Protocol, with
// the official Go SDK. It is a separate module, because the SDK adds net/http and about 2.4 MB. An
// app that only calls servers uses sandbox/mcpclient instead.
//
//	server, err := mcp.NewServer(box, mcp.Options{Tools: []string{"read", "grep"}})
//	err = server.Run(ctx, &sdk.StdioTransport{})
//
// Every call goes through the box: schema, policy, watchdog, the user's consent and trace. A client
// is trusted as little as a model, and receives the same data as a model on another machine. In a
// page, [Port] serves frames, workers and scripts. Only the tools in [Options].Tools are served, and the
// resources and prompts that Options names. A client that wants the progress of a call gets a
// notification for each line, whose text only a client on this machine sees.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailey-go/bailey/internal/progress"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// Options configure a server.
type Options struct {
	// Tools are the ids of the served tools. An empty list is an error.
	Tools []string
	// Resources are the paths of files that are listed as resources, with addresses such as
	// file:///notes.md. With any, each file of the folder can be read as a resource. Like a call of the
	// tool read, which must be in Tools, it passes the policy and the user's consent.
	Resources []string
	// Prompts are skills of the box that are served as prompts. Each use is a call of the box's tool skill.
	Prompts []sandbox.Skill
	// Session is the session whose grants, refusals and versions of files apply. nil is the box's
	// own.
	Session *sandbox.Session
	// Name and Version are the server's description of itself. The defaults are "bailey" and "1".
	Name, Version string
	// Instructions are sent to each client.
	Instructions string
	// Local declares that the client, and the model behind it, are on this machine: it receives
	// complete results. Otherwise it receives the content that the policy's "send" allows, without
	// credentials.
	Local bool
	// SDK are further options of the SDK. Instructions, if not empty, replaces theirs.
	SDK *sdk.ServerOptions
}

// NewServer returns a server for some of the box's tools. Connect it to a transport of the SDK,
// such as standard input, streamable HTTP, or memory. An unknown tool, or a tool of another server,
// is an error.
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
		made := &sdk.Tool{Name: id, Description: t.Description, InputSchema: schema}
		if err := addApp(server, box, made); err != nil {
			return nil, err
		}
		server.AddTool(made, handler(box, o, id))
	}
	if err := addResources(server, box, o); err != nil {
		return nil, err
	}
	return server, addPrompts(server, box, o)
}

func handler(box *sandbox.Box, o Options, id string) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		args, err := arguments(req.Params.Arguments)
		if err != nil {
			return failed(err), nil
		}
		ctx = notifying(o.context(ctx), req, o.Local)
		res := box.CallForModel(ctx, id, args, o.Local)
		out := &sdk.CallToolResult{IsError: res.Result.Err() != nil, Content: []sdk.Content{&sdk.TextContent{Text: res.Text}}}
		if !out.IsError && strings.HasPrefix(res.Text, "{") {
			out.StructuredContent = json.RawMessage(res.Text)
		}
		for i, f := range res.Files {
			out.Content = append(out.Content, content(id, i, f))
		}
		if len(res.Withheld) > 0 {
			out.Content = append(out.Content, &sdk.TextContent{Text: "kept back: " + strings.Join(res.Withheld, "; ")})
		}
		return out, nil
	}
}

func (o Options) context(ctx context.Context) context.Context {
	if o.Session != nil {
		return o.Session.Context(ctx)
	}
	return ctx
}

// between is the least time between two notifications of a call's progress.
const between = 100 * time.Millisecond

// notifying returns a context whose calls notify the client of their progress, if it wants that. A line may
// hold what the policy does not send, so a client elsewhere gets a count only.
func notifying(ctx context.Context, req *sdk.CallToolRequest, local bool) context.Context {
	token := req.Params.GetProgressToken()
	if token == nil {
		return ctx
	}
	var mu sync.Mutex
	lines, last := 0.0, time.Time{}
	return progress.With(ctx, func(text string) {
		mu.Lock()
		defer mu.Unlock()
		lines++
		if now := time.Now(); now.Sub(last) >= between {
			last = now
			p := &sdk.ProgressNotificationParams{ProgressToken: token, Progress: lines}
			if local {
				p.Message = text
			}
			_ = req.Session.NotifyProgress(ctx, p) // the call goes on without it
		}
	})
}

// content returns a file of a result in the form of the protocol: an image, audio, or a resource whose
// address is its tool, its number and its name.
func content(tool string, at int, f sandbox.File) sdk.Content {
	switch kind, _, _ := strings.Cut(f.MediaType, "/"); kind {
	case "image":
		return &sdk.ImageContent{Data: f.Data, MIMEType: f.MediaType}
	case "audio":
		return &sdk.AudioContent{Data: f.Data, MIMEType: f.MediaType}
	}
	uri := url.URL{Scheme: "bailey", Host: "result", Path: fmt.Sprintf("/%s/%d/%s", tool, at+1, f.Name)}
	return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: uri.String(), MIMEType: f.MediaType, Blob: f.Data}}
}

// arguments decodes the arguments of a call as strictly as those of a model: without duplicate
// keys, and without keys that reach a prototype.
func arguments(raw json.RawMessage) (any, error) {
	if len(raw) == 0 || strings.TrimSpace(string(raw)) == "null" {
		return map[string]any{}, nil
	}
	return protocol.ParseJSON(string(raw), protocol.JSONLimits{})
}

// failed returns an error as a result, with the text that a model would receive.
func failed(err error) *sdk.CallToolResult {
	p := protocol.Public(err)
	text := fmt.Sprintf("error %s: %s", string(p.Code), p.Message)
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}
