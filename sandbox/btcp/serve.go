package btcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	wire "github.com/bailey-go/bailey/internal/wire/btcp"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// maxCalls is the number of calls that run at once.
const maxCalls = 16

// Serve offers tools of the box to the agents of a session until ctx ends, and returns the reason of its
// end. Each call passes the box: schema, policy, watchdog, the user's consent and trace. An agent is trusted
// as little as a model.
//
// A lost connection is made again after 1 to 30 s, and calls that run meanwhile are answered then. A relay that
// sends comments as signs of life, and then nothing for 2 minutes, counts as lost. Serve
// ends if the relay refuses the token or the session, or if another page takes the session over. That is
// [protocol.ErrSession]. Calls that still run are cancelled and waited for. Up to 16 calls run at once, and
// further ones are refused. An unknown tool in Options.Tools, or a tool of another server, is
// [protocol.ErrInvalidParams].
func Serve(ctx context.Context, box *sandbox.Box, o Options) error {
	o, err := o.withDefaults()
	if err != nil {
		return err
	}
	tools, err := definitions(box, o.Tools)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &server{box: box, o: o, tools: tools, life: ctx, running: map[string]bool{}}
	defer s.calls.Wait()
	defer cancel()
	for try := 1; ; try++ {
		registered, err := s.connect(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if o.OnState != nil {
			o.OnState(err)
		}
		if e := (errFinal{}); errors.As(err, &e) {
			return e.err
		}
		if registered {
			try = 1
		}
		select {
		case <-o.pause(try):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// server is one run of Serve.
type server struct {
	box   *sandbox.Box
	o     Options
	tools []definition
	life  context.Context // of Serve, which a call may not outlive
	calls sync.WaitGroup

	mu      sync.Mutex
	running map[string]bool // by the relay's id of the call
	link    *link           // the newest one
}

// definition is a tool as an agent sees it.
type definition struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	Capabilities []string        `json:"capabilities,omitempty"`
}

func definitions(box *sandbox.Box, ids []string) ([]definition, error) {
	bad := func(id, text string) error {
		return protocol.Errorf(protocol.ErrInvalidParams, "btcp.Options.Tools", id, "%s", text)
	}
	if len(ids) == 0 {
		return nil, bad("", "the list is empty: name the tools to offer")
	}
	var list []definition
	for _, id := range ids {
		t, err := box.Toolset().Lookup(id)
		if err != nil {
			return nil, bad(id, "the box has no such tool")
		}
		if t.Untrusted {
			return nil, bad(id, "it is another server's tool; agents connect to that server themselves")
		}
		if err := wire.ValidName(id); err != nil {
			return nil, err
		}
		d := definition{Name: id, Description: t.Description, InputSchema: json.RawMessage(t.Parameters)}
		if len(d.InputSchema) == 0 {
			d.InputSchema = json.RawMessage(`{"type":"object"}`)
		}
		for _, g := range t.Requires {
			// The scopes of a policy are not the agent's to know.
			names, err := wire.Capabilities([]protocol.Grant{{Capability: g.Capability}})
			if err != nil {
				return nil, err
			}
			d.Capabilities = append(d.Capabilities, names...)
		}
		list = append(list, d)
	}
	return list, nil
}

// connect serves one connection, and reports whether its tools were registered.
func (s *server) connect(ctx context.Context) (registered bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l := &link{o: s.o, session: s.o.Session, kind: "browser"}
	body, err := l.open(ctx)
	if err != nil {
		return false, err
	}
	defer body.Close()
	return registered, l.read(body, func(m message) error {
		if m.Method == "connected" && l.client == "" {
			l.client = clientOf(m)
			s.mu.Lock()
			s.link = l
			s.mu.Unlock()
			return l.post(ctx, s.o.Session, message{ID: quoted("register"), Method: "tools/register", Params: object(map[string]any{"tools": s.tools})})
		}
		if l.client == "" {
			return nil
		}
		switch id := text(m.ID); {
		case m.Method != "" && len(m.ID) > 0:
			s.request(m)
		case m.Error != nil && (id == "disconnect" || id == "register"):
			return errFinal{l.errorf("%s", l.clean(clip(m.Error.Message, 500)))}
		case id == "register":
			registered = true
			if s.o.OnState != nil {
				s.o.OnState(nil)
			}
		}
		return nil
	})
}

// clientOf returns the relay's name for the connection, from the message with which it begins. It is "" if the
// message has none.
func clientOf(m message) string {
	var p struct {
		ClientID string `json:"clientId"`
	}
	if json.Unmarshal(m.Params, &p) != nil || len(p.ClientID) > 128 {
		return ""
	}
	return p.ClientID
}

// maxAttempts is the number of times that an answer is sent, before it is given up.
const maxAttempts = 5

// request answers a request of an agent. It goes on after the connection.
func (s *server) request(m message) {
	id := string(m.ID)
	s.mu.Lock()
	full, twice := len(s.running) >= maxCalls, s.running[id]
	if !full && !twice {
		s.running[id] = true
	}
	s.mu.Unlock()
	if twice {
		return // the first one will be answered
	}
	if full {
		// Not on a goroutine of its own, so that a flood waits here.
		s.mu.Lock()
		l := s.link
		s.mu.Unlock()
		_ = l.post(s.life, s.o.Session, refusal(m.ID, protocol.Errorf(protocol.ErrResourceLimit, "btcp", "", "%d requests are running; try again later", maxCalls)))
		return
	}
	s.calls.Go(func() {
		s.send(s.answer(m))
		s.mu.Lock()
		delete(s.running, id)
		s.mu.Unlock()
	})
}

// send posts an answer on the newest connection. If that is lost, it tries again on the next one.
func (s *server) send(m message) {
	for try := 1; try <= maxAttempts; try++ {
		s.mu.Lock()
		l := s.link
		s.mu.Unlock()
		err := l.post(s.life, s.o.Session, m)
		if protocol.CodeOf(err) == protocol.ErrOutputTooLarge && m.Error == nil {
			m = refusal(m.ID, err)
			continue
		}
		if e := (errFinal{}); err == nil || errors.As(err, &e) {
			return
		}
		select {
		case <-s.o.pause(try):
		case <-s.life.Done():
			return
		}
	}
}

func (s *server) answer(m message) message {
	switch m.Method {
	case "ping":
		return message{ID: m.ID, Result: object(map[string]any{"pong": true, "timestamp": time.Now().UnixMilli()})}
	case "tools/list":
		return message{ID: m.ID, Result: object(map[string]any{"tools": s.filtered(m.Params)})}
	case "tools/call":
		return s.call(m)
	}
	return message{ID: m.ID, Error: &problem{-32601, "this page has no method " + clip(m.Method, 64)}}
}

// filtered returns the tools that a list asks for: those with one of the names, and with all capabilities.
func (s *server) filtered(params json.RawMessage) []definition {
	var p struct {
		Filter struct {
			Names        []string `json:"names"`
			Capabilities []string `json:"capabilities"`
		} `json:"filter"`
	}
	if len(params) > 0 && json.Unmarshal(params, &p) != nil {
		return []definition{}
	}
	list := []definition{}
	for _, d := range s.tools {
		if p.Filter.Names != nil && !slices.Contains(p.Filter.Names, d.Name) {
			continue
		}
		if slices.ContainsFunc(p.Filter.Capabilities, func(c string) bool { return !slices.Contains(d.Capabilities, c) }) {
			continue
		}
		list = append(list, d)
	}
	return list
}

// call makes a call of an agent, and returns the answer.
func (s *server) call(m message) message {
	var p struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(m.Params, &p); err != nil {
		return refusal(m.ID, protocol.Errorf(protocol.ErrInvalidParams, "tools/call", "", "want params with a name and arguments"))
	}
	if !slices.Contains(s.o.Tools, p.Name) {
		return refusal(m.ID, protocol.Errorf(protocol.ErrToolNotFound, "tools/call", clip(p.Name, 64), "this page does not offer the tool"))
	}
	var args any = map[string]any{}
	if raw := string(p.Arguments); raw != "" && raw != "null" {
		var err error
		if args, err = protocol.ParseJSON(raw, protocol.JSONLimits{}); err != nil {
			return refusal(m.ID, err)
		}
	}
	ctx, cancel := context.WithTimeout(s.life, s.o.Time)
	defer cancel()
	if s.o.Caller != nil {
		ctx = s.o.Caller.Context(ctx)
	}
	res := s.box.CallForModel(ctx, p.Name, args, s.o.Local)
	if code := res.Result.Code; code != "" && code != protocol.ErrExecution {
		return message{ID: m.ID, Error: &problem{wire.ServerNumber(code), res.Text}}
	}
	content := []any{map[string]any{"type": "text", "text": res.Text}}
	for i, f := range res.Files {
		content = append(content, block(p.Name, i, f))
	}
	if len(res.Withheld) > 0 {
		content = append(content, map[string]any{"type": "text", "text": "kept back: " + strings.Join(res.Withheld, "; ")})
	}
	return message{ID: m.ID, Result: object(map[string]any{"content": content, "isError": res.Result.Err() != nil})}
}

// block returns a file of a result as BTCP's content: an image, or a resource.
func block(tool string, at int, f sandbox.File) any {
	data := base64.StdEncoding.EncodeToString(f.Data)
	if strings.HasPrefix(f.MediaType, "image/") {
		return map[string]any{"type": "image", "data": data, "mimeType": f.MediaType}
	}
	return map[string]any{"type": "resource", "uri": fmt.Sprintf("bailey://result/%s/%d/%s", tool, at+1, url.PathEscape(f.Name)), "mimeType": f.MediaType, "blob": data}
}

// refusal returns the answer to a request that failed, with the number of BTCP's server.
func refusal(id json.RawMessage, err error) message {
	p := protocol.Public(err)
	return message{ID: id, Error: &problem{wire.ServerNumber(p.Code), p.Message}}
}

func object(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil { // v is made of texts, numbers and JSON that was read
		panic(err)
	}
	return data
}

func quoted(s string) json.RawMessage { return object(s) }

// text returns the text of an id, or "" if it is none.
func text(id json.RawMessage) (s string) {
	_ = json.Unmarshal(id, &s)
	return s
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
