package mcpclient

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// Limits of a list of tools. maxDescription is in bytes.
const (
	maxPages       = 100
	maxTools       = 1000
	maxDescription = 4 << 10
)

type listed struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"inputSchema"`
}

// Tools returns the server's tools for a box. A tool with an unusable schema or name is in the list
// with the reason in Missing. More than 100 pages or 1,000 tools are [protocol.ErrResourceLimit].
func (c *Client) Tools(ctx context.Context) ([]sandbox.Tool, error) {
	var out []sandbox.Tool
	taken := map[string]bool{}
	cursor := ""
	budget := jsx.Budget{Slice: time.Millisecond} // one schema may take as long as several others
	for page := 0; ; page++ {
		if page == maxPages {
			return nil, protocol.Errorf(protocol.ErrResourceLimit, "tools/list", c.o.Name, "the list has more than %d pages", maxPages)
		}
		params := map[string]any{}
		if cursor != "" {
			params["cursor"] = cursor
		}
		var res struct {
			Tools []listed `json:"tools"`
			Next  string   `json:"nextCursor"`
		}
		if err := c.call(ctx, c.o.Transport, "tools/list", params, &res); err != nil {
			return nil, err
		}
		for _, l := range res.Tools {
			if err := budget.Spend(ctx); err != nil {
				return nil, err
			}
			out = append(out, c.tool(l, taken))
		}
		if len(out) > maxTools {
			return nil, protocol.Errorf(protocol.ErrResourceLimit, "tools/list", c.o.Name, "the server has more than %d tools", maxTools)
		}
		if cursor = res.Next; cursor == "" {
			return out, nil
		}
	}
}

// toolID returns a tool's id in the box: its name with invalid characters replaced, and a number if
// the id is taken.
func (c *Client) toolID(name string, taken map[string]bool) string {
	id := c.o.Name + "_" + strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' {
			return r
		}
		return '_'
	}, name)
	id = id[:min(len(id), protocol.MaxToolName-8)]
	for base, i := id, 2; taken[id]; i++ {
		id = base + "_" + strconv.Itoa(i)
	}
	taken[id] = true
	return id
}

func (c *Client) tool(l listed, taken map[string]bool) sandbox.Tool {
	need := policy.Need{Capability: protocol.NetFetch, Subject: c.target}
	about := l.Description
	if about == "" {
		about = l.Title
	}
	t := sandbox.Tool{
		Tool: protocol.Tool{ID: c.toolID(l.Name, taken), Server: c.o.Name, Untrusted: true, Time: c.o.Time,
			Requires:    []protocol.Grant{{Capability: protocol.NetFetch}},
			Description: "A tool of the MCP server " + c.o.Name + ", which says of it: " + clip(about, maxDescription),
			Parameters:  string(l.Schema)},
		Needs: func(context.Context, *sandbox.Call) ([]policy.Need, error) { return []policy.Need{need}, nil },
		Preview: func(_ context.Context, call *sandbox.Call) (string, string) {
			args, _ := json.MarshalIndent(call.Args, "", "  ")
			return "send to the MCP server " + c.o.Name + " at " + c.target + ", for its tool " + clip(l.Name, 200), string(args)
		},
		Run: func(ctx context.Context, call *sandbox.Call) (any, error) {
			transport, err := c.transport.Get(call.Permit, need)
			if err != nil {
				return nil, err
			}
			return c.run(ctx, transport, l.Name, call.Args)
		},
		Text: "content",
	}
	if l.Name == "" || len(l.Name) > protocol.MaxToolName {
		t.Missing = "the server gives it no name that can be used"
	} else if _, err := protocol.ParseSchema(t.Parameters); err != nil {
		t.Missing = "its schema can't be checked: " + protocol.Public(err).Message
	}
	return t
}

// part is a piece of a result's content.
type part struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Data     string `json:"data"`
	MIME     string `json:"mimeType"`
	URI      string `json:"uri"`
	Name     string `json:"name"`
	Resource *struct {
		URI  string `json:"uri"`
		MIME string `json:"mimeType"`
		Text string `json:"text"`
		Blob string `json:"blob"`
	} `json:"resource"`
}

// run calls a tool. Content that is not text becomes a line about it.
func (c *Client) run(ctx context.Context, t fetch.Transport, name string, args any) (any, error) {
	if args == nil {
		args = map[string]any{}
	}
	var res struct {
		Content    []part `json:"content"`
		Structured any    `json:"structuredContent"`
		Failed     bool   `json:"isError"`
	}
	if err := c.call(ctx, t, "tools/call", map[string]any{"name": name, "arguments": args}, &res); err != nil {
		return nil, err
	}
	var b strings.Builder
	for i, p := range res.Content {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.line())
	}
	text := strings.ToValidUTF8(b.String(), "\uFFFD")
	if res.Failed {
		if text == "" {
			text = "the tool failed and does not say why"
		}
		return nil, c.errorf("call", "%s", clip(text, 4<<10))
	}
	out := map[string]any{"content": text}
	if res.Structured != nil {
		out["structured"] = res.Structured
	}
	return out, nil
}

func (p *part) line() string {
	size := func(data string) int { return base64.StdEncoding.DecodedLen(len(data)) }
	switch {
	case p.Type == "text":
		return p.Text
	case p.Type == "resource" && p.Resource != nil && p.Resource.Blob == "":
		return p.Resource.Text
	case p.Type == "resource" && p.Resource != nil:
		return fmt.Sprintf("(%s: %s, about %d bytes, which are not shown)", clip(p.Resource.URI, 500), clip(p.Resource.MIME, 100), size(p.Resource.Blob))
	case p.Type == "resource_link":
		return fmt.Sprintf("(a link to %s: %s)", clip(p.Name, 200), clip(p.URI, 500))
	}
	return fmt.Sprintf("(%s: %s, about %d bytes, which are not shown)", clip(p.Type, 40), clip(p.MIME, 100), size(p.Data))
}
