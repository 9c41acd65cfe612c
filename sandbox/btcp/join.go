package btcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/fetch"
)

// Join returns a transport for package mcpclient, with which the tools that another page offers in a session
// become tools of a box:
//
//	t, err := btcp.Join(btcp.Options{URL: relay, Session: id, Token: token})
//	client, err := mcpclient.Connect(ctx, mcpclient.Options{Name: "page", URL: relay, Transport: t})
//	tools, err := client.Tools(ctx)
//
// They have the names, the rules and the limits that package mcpclient documents, and are untrusted. The
// policy must grant net.fetch for the relay's host. Closing the client ends the connection. A lost
// connection fails the calls that wait for an answer, and is made again by the next call. If the other page
// registers other tools, mcpclient's OnChange is called.
//
// Options.Tools, Caller, Local and OnState have no meaning here.
func Join(o Options) (fetch.Transport, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	return &agent{o: o}, nil
}

// agent is a session's side of an agent. It answers the requests of an MCP client.
type agent struct {
	o Options

	mu   sync.Mutex
	conn *connection // nil without a connection
}

// connection is a connection that has joined the session.
type connection struct {
	id     string // the session id of the MCP client
	link   *link
	cancel context.CancelFunc
	done   chan struct{} // closed at its end

	mu      sync.Mutex
	ended   error
	waiting map[string]chan message
	next    int
	changes chan struct{} // has an element if the tools have changed
}

// Do answers one request of the client.
func (a *agent) Do(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
	switch r.Method {
	case "DELETE":
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.conn != nil {
			a.conn.cancel()
			a.conn = nil
		}
		return respond(200, nil), nil
	case "POST":
	default:
		return a.announcements(ctx, r.Header["mcp-session-id"])
	}
	m, err := decode(string(r.Body))
	if err != nil {
		return nil, err
	}
	if len(m.ID) == 0 {
		return respond(202, nil), nil // BTCP has no notifications of agents
	}
	if m.Method == "initialize" {
		c, err := a.join(ctx)
		if err != nil {
			return nil, err
		}
		res := respond(200, result(m.ID, object(map[string]any{
			"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": map[string]any{"listChanged": true}},
			"serverInfo": map[string]any{"name": "btcp", "version": "1.0"},
		})))
		res.Header["mcp-session-id"] = c.id
		return res, nil
	}
	c := a.current(r.Header["mcp-session-id"])
	if c == nil {
		return respond(404, nil), nil // the client begins a new session
	}
	var params map[string]json.RawMessage
	if len(m.Params) > 0 {
		if err := json.Unmarshal(m.Params, &params); err != nil {
			return nil, err
		}
	}
	switch m.Method {
	case "ping", "tools/list", "tools/call":
	default:
		return respond(200, object(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": problem{-32601, "BTCP has no such method"}})), nil
	}
	delete(params, "_meta")
	answer, err := c.ask(ctx, a.o.Session, m.Method, object(params))
	if err != nil {
		return nil, err
	}
	if answer.Error != nil {
		return respond(200, object(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": answer.Error})), nil
	}
	if m.Method == "tools/call" {
		answer.Result = embedded(answer.Result)
	}
	return respond(200, result(m.ID, answer.Result)), nil
}

// current returns the connection of a client's session, or nil if it has ended.
func (a *agent) current(id string) *connection {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.conn == nil || a.conn.id != id {
		return nil
	}
	select {
	case <-a.conn.done:
		return nil
	default:
		return a.conn
	}
}

// join connects, and joins the session. An earlier connection ends.
func (a *agent) join(ctx context.Context) (*connection, error) {
	life, cancel := context.WithCancel(context.Background())
	c := &connection{
		id: rand.Text(), link: &link{o: a.o, session: "agent-" + rand.Text(), kind: "agent"}, cancel: cancel, done: make(chan struct{}),
		waiting: map[string]chan message{}, changes: make(chan struct{}, 1),
	}
	// The stream outlives the request, but not a request that was given up while it opens.
	ctx, done := context.WithTimeout(ctx, a.o.Time)
	defer done()
	stop := context.AfterFunc(ctx, cancel)
	body, err := c.link.open(life)
	if err != nil {
		cancel()
		return nil, err
	}
	begun := make(chan struct{})
	go func() {
		err := c.link.read(body, func(m message) error {
			if m.Method == "connected" && c.link.client == "" {
				if c.link.client = clientOf(m); c.link.client != "" {
					close(begun)
				}
			}
			c.take(m)
			return nil
		})
		_ = body.Close()
		c.end(err)
	}()
	select {
	case <-begun:
	case <-c.done:
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, protocol.Errorf(protocol.ErrTimeout, "btcp", a.o.URL, "the relay did not greet within %v", a.o.Time)
		}
		return nil, errors.Join(c.ended, ctx.Err())
	}
	answer, err := c.ask(ctx, a.o.Session, "session/join", object(map[string]any{"sessionId": a.o.Session}))
	if err == nil && answer.Error != nil {
		err = c.link.errorf("%s (%d)", c.link.clean(clip(answer.Error.Message, 500)), answer.Error.Code)
	}
	if err != nil || !stop() {
		cancel()
		return nil, errors.Join(err, ctx.Err())
	}
	a.mu.Lock()
	old := a.conn
	a.conn = c
	a.mu.Unlock()
	if old != nil {
		old.cancel()
	}
	return c, nil
}

// take handles a message of the relay.
func (c *connection) take(m message) {
	switch {
	case m.Method == "tools/updated", m.Method == "browser/disconnected":
		select {
		case c.changes <- struct{}{}:
		default:
		}
	case m.Method == "" && len(m.ID) > 0:
		c.mu.Lock()
		to := c.waiting[text(m.ID)]
		delete(c.waiting, text(m.ID))
		c.mu.Unlock()
		if to != nil {
			to <- m
		}
	}
}

// end fails all that waits.
func (c *connection) end(err error) {
	c.cancel()
	c.mu.Lock()
	c.ended = err
	c.mu.Unlock()
	close(c.done)
}

// ask sends a request and waits for its answer.
func (c *connection) ask(ctx context.Context, session, method string, params json.RawMessage) (message, error) {
	to := make(chan message, 1)
	c.mu.Lock()
	c.next++
	id := fmt.Sprintf("%s-%d", c.id, c.next)
	c.waiting[id] = to
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.waiting, id)
		c.mu.Unlock()
	}()
	ctx, cancel := context.WithTimeout(ctx, c.link.o.Time)
	defer cancel()
	if err := c.link.post(ctx, session, message{ID: quoted(id), Method: method, Params: params}); err != nil {
		return message{}, err
	}
	select {
	case m := <-to:
		return m, nil
	case <-c.done:
		c.mu.Lock()
		defer c.mu.Unlock()
		return message{}, c.link.errorf("the connection ended before the answer to %s; whether it was done is not known: %v", method, c.ended)
	case <-ctx.Done():
		if context.Cause(ctx) == context.DeadlineExceeded {
			return message{}, protocol.Errorf(protocol.ErrTimeout, method, "", "no answer within %v; whether it was done is not known", c.link.o.Time)
		}
		return message{}, ctx.Err()
	}
}

// announcements returns the stream in which the client learns of changes.
func (a *agent) announcements(ctx context.Context, id string) (*fetch.Response, error) {
	c := a.current(id)
	if c == nil {
		return respond(404, nil), nil
	}
	r, w := io.Pipe()
	go func() {
		for {
			select {
			case <-c.changes:
				if _, err := io.WriteString(w, `data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`+"\n\n"); err != nil {
					return
				}
			case <-c.done:
				_ = w.Close()
				return
			case <-ctx.Done():
				_ = w.CloseWithError(ctx.Err())
				return
			}
		}
	}()
	return &fetch.Response{Status: 200, Header: map[string]string{"content-type": "text/event-stream"}, Body: r}, nil
}

// embedded returns the result of a call with BTCP's resources in the form of MCP.
func embedded(raw json.RawMessage) json.RawMessage {
	var r map[string]json.RawMessage
	var blocks []map[string]json.RawMessage
	if json.Unmarshal(raw, &r) != nil || json.Unmarshal(r["content"], &blocks) != nil {
		return raw
	}
	for _, b := range blocks {
		if text(b["type"]) != "resource" || b["resource"] != nil {
			continue
		}
		inner := map[string]json.RawMessage{}
		for _, key := range []string{"uri", "text", "blob", "mimeType"} {
			if v := b[key]; v != nil {
				inner[key] = v
				delete(b, key)
			}
		}
		b["resource"] = object(inner)
	}
	r["content"] = object(blocks)
	return object(r)
}

func result(id, result json.RawMessage) []byte {
	return object(map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
}

func respond(status int, body []byte) *fetch.Response {
	header := map[string]string{}
	if body != nil {
		header["content-type"] = "application/json"
	}
	return &fetch.Response{Status: status, Header: header, Body: io.NopCloser(bytes.NewReader(body))}
}
