package mcpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bailey-go/bailey/internal/strictjson"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/internal/eventstream"
)

// message is a JSON-RPC message of any kind.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// ask sends a request, waits for its response in either form, and returns the response's headers.
func (c *Client) ask(ctx context.Context, t fetch.Transport, method string, params map[string]any, into any) (map[string]string, error) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil, c.errorf(method, "the client is closed")
	}
	c.next++
	id := c.next
	c.mu.Unlock()
	if method == "tools/call" {
		params["_meta"] = map[string]any{"progressToken": id}
	}
	res, err := c.post(ctx, t, method, map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		c.cancelled(ctx, t, method, id)
		return nil, err
	}
	header := res.Header
	a := &answer{c: c, ctx: ctx, t: t, id: id, left: c.o.MaxBytes}
	switch kind, _, _ := strings.Cut(header["content-type"], ";"); strings.TrimSpace(strings.ToLower(kind)) {
	case "text/event-stream":
		err = a.stream(res.Body)
		a.rest(err)
	case "application/json":
		var data []byte
		if data, err = io.ReadAll(&bounded{res.Body, &a.left}); err == nil {
			err = a.take(data)
		}
		_ = res.Body.Close()
	default:
		_ = res.Body.Close()
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
		return nil, c.errorf(method, "the server says: %s (%d)", clip(c.clean(c.legible(e.Message)), 2000), e.Code)
	}
	if err := json.Unmarshal([]byte(c.clean(c.unescaped(string(a.msg.Result)))), into); err != nil {
		return nil, c.errorf(method, "the server's answer can't be read")
	}
	return header, nil
}

// unescaped returns JSON in which printable ASCII characters are not escaped, so that a credential in it is
// one text. Some servers write a slash as \/, and any character can be written as \u00xx.
func (c *Client) unescaped(data string) string {
	if c.o.echoes || strings.IndexByte(data, '\\') < 0 {
		return data
	}
	var b strings.Builder
	at := 0
	for i := 0; i+1 < len(data); i++ {
		if data[i] != '\\' {
			continue
		}
		char, size := data[i+1], 2
		if char == 'u' && i+6 <= len(data) {
			if n, err := strconv.ParseUint(data[i+2:i+6], 16, 16); err == nil && n > ' ' && n < 0x7f && n != '"' && n != '\\' {
				char, size = byte(n), 6
			}
		}
		if size == 6 || char == '/' {
			b.WriteString(data[at:i])
			b.WriteByte(char)
			at = i + size
		}
		i += size - 1
	}
	return b.String() + data[at:]
}

// clean replaces the client's credentials in a text of the server's, such as a report of the request's
// headers. The model must not see them.
func (c *Client) clean(text string) string {
	if c.o.echoes {
		return text
	}
	secrets := c.auth.secrets()
	for _, v := range c.o.Header {
		_, token, ok := strings.Cut(v, " ") // "Bearer …"
		if !ok {
			token = v
		}
		secrets = append(secrets, token)
	}
	for _, s := range secrets {
		if len(s) >= 8 {
			text = strings.ReplaceAll(text, s, "{{secret:"+c.o.Name+"}}")
		}
	}
	return text
}

// post sends one message and returns the response if its status is 2xx.
func (c *Client) post(ctx context.Context, t fetch.Transport, op string, msg any) (*fetch.Response, error) {
	body, err := json.Marshal(msg)
	if err != nil {
		return nil, err
	}
	return c.send(ctx, t, op, fetch.Request{Method: "POST", URL: c.o.URL, Body: body})
}

// maxChallenges is the number of times that one request is sent again with other credentials.
const maxChallenges = 2

// send sends a request with the session's headers. If the server wants other credentials, and the client
// can get some, it sends the request again with them.
func (c *Client) send(ctx context.Context, t fetch.Transport, op string, r fetch.Request) (*fetch.Response, error) {
	more := r.Header
	for try := 0; ; try++ {
		r.Header = c.header(r.Body != nil)
		for k, v := range more {
			r.Header[k] = v
		}
		res, err := t.Do(ctx, r)
		if err != nil {
			return nil, c.unanswered(ctx, op, err)
		}
		if res.Status >= 200 && res.Status < 300 {
			return res, nil
		}
		challenge := challengeOf(res)
		if try == maxChallenges || !c.auth.can(res.Status, challenge) {
			defer res.Body.Close()
			return nil, c.refused(op, r.Header["mcp-session-id"], res)
		}
		_ = res.Body.Close()
		if err := c.auth.authorize(ctx, r.Header["authorization"], challenge); err != nil {
			return nil, err
		}
	}
}

// refused returns the error of a response without success.
func (c *Client) refused(op, session string, res *fetch.Response) error {
	if res.Status == 404 && session != "" {
		return errGone
	}
	switch res.Status {
	case 401, 403:
		return errCredentials{c.errorf(op, "the server wants other credentials (%d)", res.Status)}
	case 429, 503:
		return protocol.Errorf(protocol.ErrResourceLimit, op, c.o.Name, "the server is busy (%d); try again later", res.Status)
	}
	if res.Status >= 300 && res.Status < 400 {
		return c.errorf(op, "the server redirects (%d), which is not followed; use the address it means", res.Status)
	}
	text, _ := io.ReadAll(io.LimitReader(res.Body, 500))
	return c.errorf(op, "the server answered %d: %s", res.Status, clip(c.clean(c.unescaped(c.legible(strings.TrimSpace(string(text))))), 500))
}

// errCredentials is the error of a request whose credentials the server refused.
type errCredentials struct{ err *protocol.Error }

func (e errCredentials) Error() string { return e.err.Error() }
func (e errCredentials) Unwrap() error { return e.err }

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
	c.afterwards(ctx, t, map[string]any{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": map[string]any{"requestId": id, "reason": "stopped"}})
}

// afterwards sends a message although ctx has ended.
func (c *Client) afterwards(ctx context.Context, t fetch.Transport, msg any) {
	c.late.Go(func() {
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelWait)
		defer stop()
		_ = c.tell(ctx, t, msg)
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
	id    int64 // 0 for a stream without a request
	left  int64 // bytes that may still come
	asked int
	shown time.Time // of the last progress
	msg   message

	last  chan struct{}             // closed when all requests of the server are answered, nil without one
	ends  []context.CancelCauseFunc // of these requests
	waits atomic.Int32              // number of those that are not answered
}

// Limits of a stream that is continued.
const (
	maxLost   = 5                      // times in a row that nothing came before it was cut again
	maxID     = 1024                   // bytes of an event's id
	leastWait = time.Second            // before it is continued, unless the server wants another time
	least     = 100 * time.Millisecond // whatever the server wants
	mostWait  = 30 * time.Second       // whatever the server wants
)

// stream reads an event stream until the response comes. If the stream ends before, and its events have
// ids, the server is asked to continue it.
func (a *answer) stream(body io.ReadCloser) error {
	last, wait := "", leastWait
	for lost := 0; ; {
		before := last
		err := eventstream.Read(&bounded{body, &a.left}, func(e eventstream.Event) error {
			if validID(e.ID) {
				last = e.ID
			}
			if ms, err := strconv.Atoi(e.Retry); err == nil && ms >= 0 {
				wait = min(max(time.Duration(min(ms, 1e6))*time.Millisecond, least), mostWait)
			}
			if e.Name != "message" || e.Data == "" {
				return nil
			}
			return a.take([]byte(e.Data))
		})
		_ = body.Close()
		var e *protocol.Error
		if errors.Is(err, errDone) || errors.Is(err, errLong) || errors.As(err, &e) || a.ctx.Err() != nil || last == "" {
			return err
		}
		if lost++; last != before {
			lost = 0
		}
		for {
			if lost > maxLost {
				return a.c.errorf("read", "the server ended the stream %d times without an answer; whether it did it is not known", lost)
			}
			if err := pause(a.ctx, wait); err != nil {
				return err
			}
			res, err := a.c.send(a.ctx, a.t, "continue", fetch.Request{Method: "GET", URL: a.c.o.URL, Header: map[string]string{"last-event-id": last}})
			if err == nil {
				body = res.Body
				break
			}
			if lost++; a.ctx.Err() != nil || errors.Is(err, errGone) {
				return err
			}
		}
	}
}

// validID reports whether an event's id can be sent back in a header.
func validID(id string) bool {
	return id != "" && len(id) <= maxID && !strings.ContainsFunc(id, func(r rune) bool { return r < 0x20 || r > 0x7e })
}

// pause waits, and returns the cause if ctx ends before.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
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
	case m.Method != "":
		a.hear(m)
		return nil
	case json.Unmarshal(m.ID, &id) != nil || id != a.id:
		return nil // a response to another request
	case m.Error == nil && len(m.Result) == 0:
		return a.c.errorf("read", "the server's answer has no result")
	}
	a.msg = m
	return errDone
}

// between is the least time between two lines of progress of a call. A server may send thousands a second.
const between = 100 * time.Millisecond

// hear takes a message without a response: progress, a line of a log, or an announcement.
func (a *answer) hear(m message) {
	var p struct {
		Progress, Total float64
		Message         string
		Data            json.RawMessage
		Token           json.RawMessage `json:"progressToken"`
		Request         json.RawMessage `json:"requestId"`
	}
	if strings.HasSuffix(m.Method, "/list_changed") {
		a.c.announce()
		return
	}
	if json.Unmarshal(m.Params, &p) != nil {
		return
	}
	if m.Method == "notifications/cancelled" {
		a.c.taken(p.Request)
		return
	}
	now := time.Now()
	if now.Sub(a.shown) < between {
		return
	}
	text := ""
	switch {
	case m.Method == "notifications/progress" && string(bytes.TrimSpace(p.Token)) == strconv.FormatInt(a.id, 10):
		if text = p.Message; p.Total > 0 {
			text = strings.TrimSpace(fmt.Sprintf("%.0f %% %s", 100*min(max(p.Progress/p.Total, 0), 1), text))
		} else if text == "" {
			text = strconv.FormatFloat(p.Progress, 'g', 6, 64)
		}
	case m.Method == "notifications/message":
		if json.Unmarshal(p.Data, &text) != nil {
			text = string(p.Data)
		}
	}
	if text = strings.Join(strings.Fields(a.c.clean(a.c.legible(clip(text, 500)))), " "); text != "" {
		a.shown = now
		sandbox.ReportProgress(a.ctx, text)
	}
}

// reply answers a request of the server. It refuses what the app did not offer. A request that waits for the user or
// the model is answered beside the stream, after those before it, so that the server can take it back.
func (a *answer) reply(m message) error {
	if a.asked++; a.asked > maxAsked && a.id != 0 {
		return protocol.Errorf(protocol.ErrResourceLimit, "read", a.c.o.Name, "the server asked %d times before it answered", maxAsked)
	}
	switch {
	case m.Method == "ping":
		return a.respond(m, map[string]any{}, nil)
	case m.Method == "elicitation/create" && a.c.o.Ask != nil:
		return a.later(m, func(ctx context.Context) (map[string]any, error) {
			if err := a.c.mayAsk(); err != nil {
				return nil, err
			}
			return a.c.elicit(ctx, m.Params)
		})
	case m.Method == "sampling/createMessage" && a.c.o.Sample != nil:
		return a.later(m, func(ctx context.Context) (map[string]any, error) {
			if err := a.c.maySample(ctx); err != nil {
				return nil, err
			}
			defer a.c.endSample()
			return a.c.sample(ctx, m.Params)
		})
	}
	return a.c.tell(a.ctx, a.t, map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32601, "message": "this client does not do that"}})
}

// respond sends the answer to a request of the server.
func (a *answer) respond(m message, result map[string]any, err error) error {
	out := map[string]any{"jsonrpc": "2.0", "id": m.ID}
	switch {
	case errors.Is(err, protocol.ReasonRejected): // the user said no
		out["error"] = map[string]any{"code": -1, "message": protocol.Public(err).Message}
	case err != nil:
		out["error"] = map[string]any{"code": -32602, "message": protocol.Public(err).Message}
	default:
		out["result"] = result
	}
	return a.c.tell(a.ctx, a.t, out)
}

// errTaken is the cause of a request that the server has taken back. It gets no answer.
var errTaken = errors.New("the server has taken the request back")

// open is a request of the server that is not answered yet.
type open struct{ cancel context.CancelCauseFunc }

// later calls do beside the stream, after the requests before it, and sends the answer.
func (a *answer) later(m message, do func(ctx context.Context) (map[string]any, error)) error {
	if a.waits.Add(1) > maxAsked {
		a.waits.Add(-1)
		return a.respond(m, nil, protocol.Errorf(protocol.ErrResourceLimit, "read", a.c.o.Name, "%d requests of the server wait already", maxAsked))
	}
	ctx, cancel := context.WithCancelCause(a.ofCall())
	stop := context.AfterFunc(a.ctx, func() { cancel(context.Cause(a.ctx)) })
	id, o := string(bytes.TrimSpace(m.ID)), &open{cancel}
	a.c.mu.Lock()
	if a.c.open == nil {
		a.c.open = map[string]*open{}
	}
	a.c.open[id] = o
	a.c.mu.Unlock()
	before, done := a.last, make(chan struct{})
	if len(a.ends) >= 2*maxAsked { // the older ones are answered
		a.ends = slices.Delete(a.ends, 0, len(a.ends)-maxAsked)
	}
	a.last, a.ends = done, append(a.ends, cancel)
	go func() {
		defer close(done)
		defer a.waits.Add(-1)
		defer stop()
		if before != nil {
			<-before
		}
		var result map[string]any
		err := context.Cause(ctx)
		if err == nil {
			a.waiting(ctx, func() { result, err = do(ctx) })
		}
		a.c.mu.Lock()
		if a.c.open[id] == o {
			delete(a.c.open, id)
		}
		a.c.mu.Unlock()
		if !errors.Is(context.Cause(ctx), errTaken) {
			_ = a.respond(m, result, err)
		}
		cancel(nil)
	}()
	return nil
}

// rest waits until the requests of the server are answered, at the end of its stream. After an error it ends them.
func (a *answer) rest(err error) {
	if !errors.Is(err, errDone) {
		for _, end := range a.ends {
			end(err)
		}
	}
	if a.last != nil {
		<-a.last
	}
}

// taken ends a request that the server has taken back.
func (c *Client) taken(id json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o := c.open[string(bytes.TrimSpace(id))]; o != nil {
		o.cancel(errTaken)
	}
}

// maxQuestions is the number of questions that a server may ask the user while its tools run.
const maxQuestions = 20

// mayAsk returns an error if the server may not ask the user now. A question without a call would come out of
// the blue, and again and again.
func (c *Client) mayAsk() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	switch {
	case c.o.naive:
	case len(c.calls) == 0:
		return protocol.Errorf(protocol.ErrCapabilityDenied, "elicit", c.o.Name, "the user is asked only while a tool of the server runs")
	case c.asked > maxQuestions:
		return protocol.Errorf(protocol.ErrResourceLimit, "elicit", c.o.Name, "the user was asked %d times during this call", maxQuestions)
	}
	return nil
}

// maxSamples is the number of times that a server may ask the model while its tools run.
const maxSamples = 10

// maySample returns an error if the server may not ask the model now. Otherwise endSample must follow.
func (c *Client) maySample(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sampled++
	switch {
	case c.o.naive:
	case len(c.calls) == 0:
		return protocol.Errorf(protocol.ErrCapabilityDenied, "sample", c.o.Name, "the model is asked only while a tool of the server runs")
	case ctx.Value(callKey{}) == nil:
		return protocol.Errorf(protocol.ErrCapabilityDenied, "sample", c.o.Name, "several calls run: ask the model on the stream of the one that needs it")
	case c.samples:
		return protocol.Errorf(protocol.ErrResourceLimit, "sample", c.o.Name, "the model is asked once at a time")
	case c.sampled > maxSamples:
		return protocol.Errorf(protocol.ErrResourceLimit, "sample", c.o.Name, "the model was asked %d times during this call", maxSamples)
	}
	c.samples = true
	return nil
}

func (c *Client) endSample() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.samples = false
}

// ofCall returns the context of the call that a request of the server is about: of the stream's own, or of the
// only one that runs. Otherwise it is that of the stream.
func (a *answer) ofCall() context.Context {
	if a.ctx.Value(callKey{}) != nil {
		return a.ctx
	}
	a.c.mu.Lock()
	defer a.c.mu.Unlock()
	if len(a.c.calls) == 1 {
		for _, ctx := range a.c.calls {
			return ctx
		}
	}
	return a.ctx
}

// callKey is the context's key of the tool's call.
type callKey struct{}

// waiting calls do, whose time does not count for the call. A question on the stream of announcements may be
// of any call.
func (a *answer) waiting(ctx context.Context, do func()) {
	if call, ok := ctx.Value(callKey{}).(*sandbox.Call); ok {
		call.Await(do)
		return
	}
	a.c.mu.Lock()
	calls := slices.Collect(maps.Keys(a.c.calls))
	a.c.mu.Unlock()
	for _, call := range calls {
		then := do
		do = func() { call.Await(then) }
	}
	do()
}

// bounded reads up to a limit, which several readers may share, and then returns errLong.
type bounded struct {
	r    io.Reader
	left *int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if *b.left < 0 {
		return 0, errLong
	}
	if int64(len(p)) > *b.left+1 {
		p = p[:*b.left+1]
	}
	n, err := b.r.Read(p)
	if *b.left -= int64(n); *b.left < 0 {
		return n, errLong
	}
	return n, err
}
