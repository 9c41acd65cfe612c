package mcpclient

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/legible"
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
	Execution   struct {
		Task string `json:"taskSupport"` // required, optional or forbidden
	} `json:"execution"`
	Meta json.RawMessage `json:"_meta"`
}

// Tools returns the server's tools for a box. If the server has resources or prompts, two more tools list
// and read them: resources and prompts, or one of these names with a number. A tool with an unusable schema or name is in the list
// with the reason in Missing. More than 100 pages or 1,000 tools are [protocol.ErrResourceLimit].
func (c *Client) Tools(ctx context.Context) ([]sandbox.Tool, error) {
	var out []sandbox.Tool
	taken := map[string]bool{}
	budget := jsx.Budget{Slice: time.Millisecond} // one schema may take as long as several others
	c.mu.Lock()
	has := c.offers
	c.mu.Unlock()
	if has.Tools != nil || has.Resources == nil && has.Prompts == nil {
		err := c.pages(ctx, c.o.Transport, "tools/list", "tools", func(raw json.RawMessage) error {
			var l listed
			if err := json.Unmarshal(raw, &l); err != nil {
				return c.errorf("tools/list", "the server's answer can't be read")
			}
			out = append(out, c.tool(l, taken))
			return budget.Spend(ctx)
		})
		if err != nil {
			return nil, err
		}
	}
	if has.Resources != nil {
		out = append(out, c.resources(taken))
	}
	if has.Prompts != nil {
		out = append(out, c.prompts(taken))
	}
	return out, nil
}

// pages calls do for each entry of a list, page by page.
func (c *Client) pages(ctx context.Context, t fetch.Transport, method, key string, do func(json.RawMessage) error) error {
	cursor := ""
	n := 0
	for page := 0; ; page++ {
		if page == maxPages {
			return protocol.Errorf(protocol.ErrResourceLimit, method, c.o.Name, "the list has more than %d pages", maxPages)
		}
		params := map[string]any{}
		if cursor != "" {
			params["cursor"] = cursor
		}
		var res map[string]json.RawMessage
		if err := c.call(ctx, t, method, params, &res); err != nil {
			return err
		}
		var list []json.RawMessage
		if err := json.Unmarshal(res[key], &list); len(res[key]) > 0 && err != nil {
			return c.errorf(method, "the server's answer can't be read")
		}
		if n += len(list); n > maxTools {
			return protocol.Errorf(protocol.ErrResourceLimit, method, c.o.Name, "the server has more than %d %s", maxTools, key)
		}
		for _, raw := range list {
			if err := do(raw); err != nil {
				return err
			}
		}
		cursor = ""
		if next := res["nextCursor"]; len(next) > 0 {
			_ = json.Unmarshal(next, &cursor)
		}
		if cursor == "" {
			return nil
		}
	}
}

// maxToolName is the limit of [protocol.ValidToolName].
const maxToolName = 256

// toolID returns a tool's id in the box: its name with invalid characters replaced, and a number if
// the id is taken.
func (c *Client) toolID(name string, taken map[string]bool) string {
	id := c.o.Name + "_" + strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' {
			return r
		}
		return '_'
	}, name)
	id = id[:min(len(id), maxToolName-8)]
	for base, i := id, 2; taken[id]; i++ {
		id = base + "_" + strconv.Itoa(i)
	}
	taken[id] = true
	return id
}

func (c *Client) tool(l listed, taken map[string]bool) sandbox.Tool {
	about := l.Description
	if about == "" {
		about = l.Title
	}
	t := c.served(c.toolID(l.Name, taken), "for its tool "+clip(l.Name, 200), func(ctx context.Context, t fetch.Transport, call *sandbox.Call) (any, error) {
		return c.run(ctx, t, l, call)
	})
	t.Description = "A tool of the MCP server " + c.o.Name + c.where() + ", which says of it: " + c.legible(clip(about, maxDescription))
	c.page(&t, l)
	var err error
	if t.Parameters, err = c.schema(string(l.Schema)); err != nil {
		t.Missing = err.Error()
		return t
	}
	if l.Name == "" || len(l.Name) > maxToolName {
		t.Missing = "the server gives it no name that can be used"
	} else if _, err := protocol.ParseSchema(t.Parameters); err != nil {
		t.Missing = "its schema can't be checked: " + protocol.Public(err).Message
	}
	return t
}

// page sets what a server says about the page of its tool, and about who may call the tool.
func (c *Client) page(t *sandbox.Tool, l listed) {
	var ui struct {
		URI        json.RawMessage `json:"resourceUri"`
		Visibility json.RawMessage `json:"visibility"`
	}
	var meta toolMeta
	_ = json.Unmarshal(l.Meta, &meta)
	_ = json.Unmarshal(meta.UI, &ui)
	uri := ""
	if json.Unmarshal(ui.URI, &uri) != nil {
		_ = json.Unmarshal(meta.URI, &uri)
	}
	if strings.HasPrefix(uri, "ui://") && len(uri) <= maxURI {
		t.App = &protocol.App{URI: uri}
	}
	t.Served, t.ForApps = l.Name, true
	var visibility []string
	if len(ui.Visibility) == 0 || string(ui.Visibility) == "null" {
		return
	}
	// A list that can't be read is for nobody.
	_ = json.Unmarshal(ui.Visibility, &visibility)
	t.ForApps, t.NotForModel = slices.Contains(visibility, "app"), !slices.Contains(visibility, "model")
}

// App reads the page of a tool, whose address is in [sandbox.Tool].App. Like the list of tools, it is a request
// of the app itself: the address is the server's own. The page is untrusted. A resource that is no page, or
// more than 8 MiB, is [protocol.ErrExecution].
func (c *Client) App(ctx context.Context, uri string) (protocol.App, error) {
	if !strings.HasPrefix(uri, "ui://") || len(uri) > maxURI {
		return protocol.App{}, protocol.Errorf(protocol.ErrInvalidParams, "app", c.o.Name, "%.80q is no address of a page: it must begin with ui://", uri)
	}
	var res struct {
		Contents []struct {
			resource
			Meta struct {
				UI json.RawMessage `json:"ui"`
			} `json:"_meta"`
		}
	}
	if err := c.call(ctx, c.o.Transport, "resources/read", map[string]any{"uri": uri}, &res); err != nil {
		return protocol.App{}, err
	}
	for _, r := range res.Contents {
		kind := strings.ToLower(strings.Join(strings.Fields(r.MIME), ""))
		if r.URI != uri || strings.ReplaceAll(kind, `"`, "") != appType {
			continue
		}
		page := protocol.App{URI: uri, HTML: r.Text}
		if r.Text == "" {
			data, err := base64.StdEncoding.DecodeString(r.Blob)
			if err != nil {
				return protocol.App{}, c.errorf("app", "the page is no base64")
			}
			page.HTML = strings.ToValidUTF8(string(data), "\uFFFD")
		}
		if page.HTML == "" || len(page.HTML) > maxApp {
			return protocol.App{}, c.errorf("app", "the page has %d bytes: want 1 to %d", len(page.HTML), maxApp)
		}
		var ui struct {
			CSP struct {
				Connect   []string `json:"connectDomains"`
				Resources []string `json:"resourceDomains"`
				Frames    []string `json:"frameDomains"`
			} `json:"csp"`
			Permissions map[string]json.RawMessage `json:"permissions"`
			Border      bool                       `json:"prefersBorder"`
		}
		if json.Unmarshal(r.Meta.UI, &ui) == nil {
			page.Connect, page.Resources, page.Frames, page.Border = origins(ui.CSP.Connect), origins(ui.CSP.Resources), origins(ui.CSP.Frames), ui.Border
			for _, f := range [][2]string{{"camera", "camera"}, {"clipboardWrite", "clipboard-write"}, {"geolocation", "geolocation"}, {"microphone", "microphone"}} {
				if wish := ui.Permissions[f[0]]; wish != nil && string(wish) != "null" {
					page.Permissions = append(page.Permissions, f[1])
				}
			}
		}
		return page, nil
	}
	return protocol.App{}, c.errorf("app", "the server has no page of type %s at %s", appType, clip(uri, 200))
}

// where returns the server's place for a text. It is a part of what a lasting answer about a tool is for.
func (c *Client) where() string {
	if c.o.Port != nil {
		return " in this page"
	}
	return " at " + c.target
}

// schema returns a schema whose texts for the model have no invisible characters. In names and values they
// are an error.
func (c *Client) schema(text string) (string, error) {
	if c.o.naive || !strings.Contains(text, `\u`) && strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return text, nil
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var tree any
	if d.Decode(&tree) != nil {
		return text, nil // the check of the schema has the reason
	}
	odd, changed := false, false
	var walk func(v any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for key, e := range v {
				odd = odd || legible.Text(key) != key
				s, ok := e.(string)
				if ok && (key == "description" || key == "title" || key == "$comment") {
					v[key] = legible.Text(s)
					changed = changed || v[key] != s
				} else {
					v[key] = walk(e)
				}
			}
		case []any:
			for i := range v {
				v[i] = walk(v[i])
			}
		case string:
			odd = odd || legible.Text(v) != v
		}
		return v
	}
	tree = walk(tree)
	if odd {
		return text, errors.New("its schema has names or values with invisible characters")
	}
	if !changed {
		return text, nil
	}
	out, err := json.Marshal(tree)
	return string(out), err
}

// served returns a tool that sends a request to the server. purpose ends the title of its question.
func (c *Client) served(id, purpose string, run func(context.Context, fetch.Transport, *sandbox.Call) (any, error)) sandbox.Tool {
	need := policy.Need{Capability: protocol.NetFetch, Subject: c.target}
	t := sandbox.Tool{
		Tool: protocol.Tool{ID: id, Server: c.o.Name, Untrusted: true, Time: c.o.Time},
		Preview: func(_ context.Context, call *sandbox.Call) (string, string) {
			args, _ := json.MarshalIndent(call.Args, "", "  ")
			return "send to the MCP server " + c.o.Name + c.where() + ", " + purpose, string(args)
		},
		Run: func(ctx context.Context, call *sandbox.Call) (any, error) {
			transport := c.o.Transport
			if c.o.Port == nil {
				var err error
				if transport, err = c.transport.Get(call.Permit, need); err != nil {
					return nil, err
				}
			}
			c.mu.Lock()
			if len(c.calls) == 0 {
				c.calls, c.asked, c.sampled = map[*sandbox.Call]context.Context{}, 0, 0
			}
			ctx = context.WithValue(ctx, callKey{}, call)
			c.calls[call] = ctx
			c.mu.Unlock()
			defer func() {
				c.mu.Lock()
				defer c.mu.Unlock()
				delete(c.calls, call)
			}()
			return run(ctx, transport, call)
		},
		Text: "content",
	}
	if c.o.Port == nil { // a server in the page reaches no network
		t.Requires = []protocol.Grant{{Capability: protocol.NetFetch}}
		t.Needs = func(context.Context, *sandbox.Call) ([]policy.Need, error) { return []policy.Need{need}, nil }
	}
	return t
}

// object returns the arguments of a call.
func object(call *sandbox.Call) map[string]any {
	m, _ := call.Args.(map[string]any)
	return m
}

// resources returns the tool that lists and reads the server's resources.
func (c *Client) resources(taken map[string]bool) sandbox.Tool {
	t := c.served(c.toolID("resources", taken), "for a resource", func(ctx context.Context, t fetch.Transport, call *sandbox.Call) (any, error) {
		var b strings.Builder
		if uri, _ := object(call)["uri"].(string); uri != "" {
			var res struct{ Contents []*resource }
			if err := c.call(ctx, t, "resources/read", map[string]any{"uri": uri}, &res); err != nil {
				return nil, err
			}
			for i, r := range res.Contents {
				p := part{Type: "resource", Resource: r}
				b.WriteString(p.line(i, call, false) + "\n")
			}
			return map[string]any{"content": strings.ToValidUTF8(b.String(), "\uFFFD")}, nil
		}
		add := func(raw json.RawMessage) error {
			var r struct{ URI, Template, Name, Description, MIME string }
			var as map[string]any
			_ = json.Unmarshal(raw, &as)
			for key, to := range map[string]*string{"uri": &r.URI, "uriTemplate": &r.Template, "name": &r.Name, "description": &r.Description, "mimeType": &r.MIME} {
				*to, _ = as[key].(string)
			}
			if r.URI == "" {
				r.URI = r.Template
			}
			fmt.Fprintf(&b, "%s  %s  %s  %s\n", clip(r.URI, 1000), c.legible(clip(r.Name, 200)), c.legible(clip(r.MIME, 100)), c.legible(clip(r.Description, 500)))
			return nil
		}
		if err := c.pages(ctx, t, "resources/list", "resources", add); err != nil {
			return nil, err
		}
		b.WriteString("Templates, whose parts in braces are to be filled in:\n")
		err := c.pages(ctx, t, "resources/templates/list", "resourceTemplates", add)
		if err != nil && ctx.Err() != nil { // a server may have none
			return nil, err
		}
		return map[string]any{"content": strings.ToValidUTF8(b.String(), "\uFFFD")}, nil
	})
	t.ForApps, t.Served = true, "resources/read"
	t.Description = "Lists the resources of the MCP server " + c.o.Name + ", or reads the one with the given uri."
	t.Parameters = `{"type":"object","properties":{"uri":{"type":"string","maxLength":8192}},"additionalProperties":false}`
	return t
}

// prompts returns the tool that lists the server's prompts, and fills one in.
func (c *Client) prompts(taken map[string]bool) sandbox.Tool {
	t := c.served(c.toolID("prompts", taken), "for a prompt", func(ctx context.Context, t fetch.Transport, call *sandbox.Call) (any, error) {
		var b strings.Builder
		args := object(call)
		if name, _ := args["name"].(string); name != "" {
			params := map[string]any{"name": name}
			if given, ok := args["arguments"]; ok {
				params["arguments"] = given
			}
			var res struct {
				Description string
				Messages    []struct {
					Role    string
					Content part
				}
			}
			if err := c.call(ctx, t, "prompts/get", params, &res); err != nil {
				return nil, err
			}
			for i, m := range res.Messages {
				b.WriteString(clip(m.Role, 20) + ": " + m.Content.line(i, call, false) + "\n")
			}
			return map[string]any{"content": strings.ToValidUTF8(b.String(), "\uFFFD")}, nil
		}
		err := c.pages(ctx, t, "prompts/list", "prompts", func(raw json.RawMessage) error {
			var p struct {
				Name, Description string
				Arguments         []struct {
					Name, Description string
					Required          bool
				}
			}
			_ = json.Unmarshal(raw, &p)
			fmt.Fprintf(&b, "%s: %s\n", clip(p.Name, 200), c.legible(clip(p.Description, 500)))
			for _, a := range p.Arguments[:min(len(p.Arguments), maxFields)] {
				needed := ""
				if a.Required {
					needed = ", required"
				}
				fmt.Fprintf(&b, "  %s%s: %s\n", clip(a.Name, 200), needed, c.legible(clip(a.Description, 500)))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		return map[string]any{"content": strings.ToValidUTF8(b.String(), "\uFFFD")}, nil
	})
	t.Description = "Lists the prompts of the MCP server " + c.o.Name + ", or returns the one with the given name, filled in with the arguments."
	t.Parameters = `{"type":"object","properties":{"name":{"type":"string","maxLength":1000},"arguments":{"type":"object","additionalProperties":{"type":"string"}}},"additionalProperties":false}`
	return t
}

// part is a piece of a result's content.
type part struct {
	Type     string    `json:"type"`
	Text     string    `json:"text"`
	Data     string    `json:"data"`
	MIME     string    `json:"mimeType"`
	URI      string    `json:"uri"`
	Name     string    `json:"name"`
	Resource *resource `json:"resource"`
}

type resource struct {
	URI  string `json:"uri"`
	MIME string `json:"mimeType"`
	Text string `json:"text"`
	Blob string `json:"blob"`
}

// result is the result of a tool.
type result struct {
	Content    []part `json:"content"`
	Structured any    `json:"structuredContent"`
	Failed     bool   `json:"isError"`
}

// run calls a tool. Images, audio and other files become files of the result, and a line about each is
// in its text.
func (c *Client) run(ctx context.Context, t fetch.Transport, l listed, call *sandbox.Call) (any, error) {
	args := call.Args
	if args == nil {
		args = map[string]any{}
	}
	var res result
	params := map[string]any{"name": l.Name, "arguments": args}
	var err error
	if l.Execution.Task == "required" {
		err = c.task(ctx, t, params, &res)
	} else {
		err = c.call(ctx, t, "tools/call", params, &res)
	}
	if err != nil {
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

// Limits of the time between two looks at a task.
const (
	leastPoll = 100 * time.Millisecond
	mostPoll  = 10 * time.Second
)

// task calls a tool as a task: the server answers at once, and is asked for the result later.
func (c *Client) task(ctx context.Context, t fetch.Transport, params map[string]any, into any) error {
	type state struct {
		ID      string  `json:"taskId"`
		Status  string  `json:"status"`
		Message string  `json:"statusMessage"`
		Poll    float64 `json:"pollInterval"` // milliseconds
	}
	params["task"] = map[string]any{"ttl": (10 * time.Minute).Milliseconds()}
	var made struct{ Task state }
	if err := c.call(ctx, t, "tools/call", params, &made); err != nil {
		return err
	}
	s := made.Task
	id := s.ID
	if id == "" || len(id) > 1000 {
		return c.errorf("call", "the server gave the task no id that can be used")
	}
	defer func() {
		if ctx.Err() != nil {
			c.afterwards(ctx, t, map[string]any{"jsonrpc": "2.0", "id": -1, "method": "tasks/cancel", "params": map[string]any{"taskId": id}})
		}
	}()
	said := ""
	for s.Status == "working" {
		if err := pause(ctx, min(max(time.Duration(s.Poll)*time.Millisecond, leastPoll), mostPoll)); err != nil {
			return err
		}
		if err := c.call(ctx, t, "tasks/get", map[string]any{"taskId": id}, &s); err != nil {
			return err
		}
		if s.Message != said {
			said = s.Message
			sandbox.ReportProgress(ctx, c.clean(c.legible(clip(said, 500))))
		}
	}
	// The server sends its questions with the result, for which it waits if there are any.
	return c.call(ctx, t, "tasks/result", map[string]any{"taskId": id}, into)
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
