package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/bailey-go/bailey/internal/strictjson"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/internal/eventstream"
)

// message is a JSON-RPC message of any kind.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// ask sends a request, waits for its response in either form, and returns the response's headers.
func (c *Client) ask(ctx context.Context, t fetch.Transport, method string, params, into any) (map[string]string, error) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil, c.errorf(method, "the client is closed")
	}
	c.next++
	id := c.next
	c.mu.Unlock()
	res, err := c.post(ctx, t, method, map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		c.cancelled(ctx, t, method, id)
		return nil, err
	}
	defer res.Body.Close()
	body := &bounded{r: res.Body, left: c.o.MaxBytes}
	a := &answer{c: c, ctx: ctx, t: t, id: id}
	switch kind, _, _ := strings.Cut(res.Header["content-type"], ";"); strings.TrimSpace(strings.ToLower(kind)) {
	case "text/event-stream":
		err = eventstream.Read(body, func(e eventstream.Event) error {
			if e.Name != "message" || e.Data == "" {
				return nil
			}
			return a.take([]byte(e.Data))
		})
	case "application/json":
		var data []byte
		if data, err = io.ReadAll(body); err == nil {
			err = a.take(data)
		}
	default:
		return nil, c.errorf(method, "the server answered with %q; an MCP server sends JSON or an event stream", clip(kind, 80))
	}
	switch {
	case errors.Is(err, errDone):
	case errors.Is(err, errLong):
		c.cancelled(ctx, t, method, id)
		return nil, protocol.Errorf(protocol.ErrOutputTooLarge, method, c.o.Name, "the answer has more than %d bytes", c.o.MaxBytes)
	case err != nil:
		c.cancelled(ctx, t, method, id)
		return nil, c.unanswered(ctx, method, err)
	default:
		return nil, c.errorf(method, "the server ended without an answer; whether it did it is not known")
	}
	if e := a.msg.Error; e != nil {
		return nil, c.errorf(method, "the server says: %s (%d)", clip(e.Message, 2000), e.Code)
	}
	if err := json.Unmarshal(a.msg.Result, into); err != nil {
		return nil, c.errorf(method, "the server's answer can't be read")
	}
	return res.Header, nil
}

// post sends one message and returns the response if its status is 2xx.
func (c *Client) post(ctx context.Context, t fetch.Transport, op string, msg any) (*fetch.Response, error) {
	body, err := json.Marshal(msg)
	if err != nil {
		return nil, err
	}
	h := c.header()
	res, err := t.Do(ctx, fetch.Request{Method: "POST", URL: c.o.URL, Header: h, Body: body})
	if err != nil {
		return nil, c.unanswered(ctx, op, err)
	}
	if res.Status >= 200 && res.Status < 300 {
		return res, nil
	}
	defer res.Body.Close()
	if res.Status == 404 && h["mcp-session-id"] != "" {
		return nil, errGone
	}
	switch res.Status {
	case 401, 403:
		return nil, c.errorf(op, "the server wants other credentials (%d); set Options.Header", res.Status)
	case 429, 503:
		return nil, protocol.Errorf(protocol.ErrResourceLimit, op, c.o.Name, "the server is busy (%d); try again later", res.Status)
	}
	if res.Status >= 300 && res.Status < 400 {
		return nil, c.errorf(op, "the server redirects (%d), which is not followed; use the address it means", res.Status)
	}
	text, _ := io.ReadAll(io.LimitReader(res.Body, 500))
	return nil, c.errorf(op, "the server answered %d: %s", res.Status, clip(strings.TrimSpace(string(text)), 500))
}

// tell sends a message that has no response.
func (c *Client) tell(ctx context.Context, t fetch.Transport, msg any) error {
	res, err := c.post(ctx, t, "notify", msg)
	if err != nil {
		return err
	}
	return res.Body.Close()
}

// cancelWait is the time limit for sending a cancellation.
const cancelWait = 5 * time.Second

// cancelled notifies the server that a request was cancelled. Closing the connection does not
// cancel it. Only Close waits for the notification.
func (c *Client) cancelled(ctx context.Context, t fetch.Transport, method string, id int64) {
	if method == "initialize" || ctx.Err() == nil {
		return
	}
	c.late.Go(func() {
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelWait)
		defer stop()
		_ = c.tell(ctx, t, map[string]any{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": map[string]any{"requestId": id, "reason": "stopped"}})
	})
}

var (
	errDone = errors.New("answered")
	errLong = errors.New("too long")
)

// answer finds the response to one request among the messages of a server.
type answer struct {
	c     *Client
	ctx   context.Context
	t     fetch.Transport
	id    int64
	asked int
	msg   message
}

// maxAsked is the maximum number of requests that a server may send before its response.
const maxAsked = 100

// take reads a message. It returns errDone if the message is the response.
func (a *answer) take(data []byte) error {
	var m message
	if strictjson.TooDeep(data) {
		return protocol.Errorf(protocol.ErrResourceLimit, "decode", "", "the text is nested more than %d deep", strictjson.MaxDepth)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return a.c.errorf("read", "the server sent what is no message")
	}
	var id int64
	switch {
	case m.Method != "" && len(m.ID) > 0 && string(m.ID) != "null":
		return a.reply(m)
	case m.Method != "": // progress, a log line, a changed list: ignored
		return nil
	case json.Unmarshal(m.ID, &id) != nil || id != a.id:
		return nil // a response to another request
	case m.Error == nil && len(m.Result) == 0:
		return a.c.errorf("read", "the server's answer has no result")
	}
	a.msg = m
	return errDone
}

// reply answers a request of the server. A ping succeeds, and any other request is refused.
func (a *answer) reply(m message) error {
	if a.asked++; a.asked > maxAsked {
		return protocol.Errorf(protocol.ErrResourceLimit, "read", a.c.o.Name, "the server asked %d times before it answered", maxAsked)
	}
	out := map[string]any{"jsonrpc": "2.0", "id": m.ID}
	if m.Method == "ping" {
		out["result"] = map[string]any{}
	} else {
		out["error"] = map[string]any{"code": -32601, "message": "this client does not do that"}
	}
	return a.c.tell(a.ctx, a.t, out)
}

// bounded reads up to a limit and then returns errLong.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errLong
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n, errLong
	}
	return n, err
}
