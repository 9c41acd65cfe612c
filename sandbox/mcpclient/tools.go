package mcpclient

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/internal/raster"
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
			return c.run(ctx, transport, l.Name, call)
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

// run calls a tool. Images, audio and other files become files of the result, and a line about each is
// in its text.
func (c *Client) run(ctx context.Context, t fetch.Transport, name string, call *sandbox.Call) (any, error) {
	args := call.Args
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
		b.WriteString(p.line(i, call, res.Failed))
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

// line returns a piece of a result as text, and adds the file in it to the result of the call. The
// result of a failed call has no files.
func (p *part) line(at int, call *sandbox.Call, failed bool) string {
	kind, media, data, name := p.Type, p.MIME, p.Data, fmt.Sprint(p.Type, "-", at+1)
	switch {
	case p.Type == "text":
		return p.Text
	case p.Type == "resource" && p.Resource != nil && p.Resource.Blob == "":
		return p.Resource.Text
	case p.Type == "resource" && p.Resource != nil:
		kind, media, data = p.Resource.URI, p.Resource.MIME, p.Resource.Blob
		if base := path.Base(p.Resource.URI); base != "." && base != "/" {
			name = base
		}
	case p.Type == "resource_link":
		return fmt.Sprintf("(a link to %s: %s)", clip(p.Name, 200), clip(p.URI, 500))
	}
	why := "which are not shown"
	if !failed && (p.Type == "image" || p.Type == "audio" || p.Type == "resource") {
		f, err := fileOf(name, media, data)
		if err == nil {
			err = call.AddFile(f)
		}
		if err == nil {
			return f.String()
		}
		why = "which are left out: " + protocol.Public(err).Message
	}
	return fmt.Sprintf("(%s: %s, about %d bytes, %s)", clip(kind, 500), clip(media, 100), base64.StdEncoding.DecodedLen(len(data)), why)
}

// fileOf returns the file of a part.
func fileOf(name, media, data string) (f sandbox.File, err error) {
	content, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return f, protocol.Errorf(protocol.ErrInvalidParams, "call", "", "the data is not base64")
	}
	media = raster.MediaType(media, content)
	if kind, ext, _ := strings.Cut(media, "/"); (kind == "image" || kind == "audio") && !strings.Contains(name, ".") {
		name += "." + ext
	}
	return sandbox.File{Name: name, MediaType: media, Data: content}, nil
}
