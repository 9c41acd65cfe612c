package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bailey-go/bailey/internal/legible"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/internal/eventstream"
)

// versions are the supported versions of the protocol. The client requests the last one.
var versions = []string{"2025-03-26", "2025-06-18", "2025-11-25"}

// Options configure a [Client]. Name and URL are required.
type Options struct {
	// Name is the app's name for the server: a letter, then letters, digits, _ and -, at most 64
	// characters.
	Name string
	// URL is the server's address: https, or http on this machine.
	URL       string
	Transport fetch.Transport   // nil is fetch.Browser()
	Header    map[string]string // additional headers, such as authorization
	Time      time.Duration     // limit of one call, default 60 s, at most 300 s
	MaxBytes  int64             // limit of one response, default 8 MiB
	// Port, if set, is a MessagePort to a server in this page, as a js.Value. URL must be empty then. Each
	// message is one JSON-RPC message as a string, and an empty string announces the end. The client owns
	// the port from Connect on, and closes it.
	Port any

	// OnChange, if set, is called when the server announced that its tools, resources or prompts have
	// changed, at most once a second, on a goroutine of its own. Announcements that come while it runs are one
	// further call after it. The client keeps a stream open for such announcements.
	OnChange func()
	// Ask, if set, shows questions of the server's (elicitation) to the user, one for each field that the
	// server wants to know. It returns a list of answers for each, which is empty for a field that the user
	// left out, an error if the user declined, or [context.Canceled] if they chose nothing. It returns when ctx
	// ends, also because the server takes the questions back. Say whose questions these are: the server has written them.
	// The client asks only while a call of a tool runs, at most 20 times in it, and never for a password or a
	// key. It does not send an answer that looks like a credential. With nil, such requests are refused.
	Ask func(ctx context.Context, questions []sandbox.ModelQuestion) ([][]string, error)
	// Sample, if set, lets the server ask the app's model (sampling). It returns the model's answer and the
	// reason of its end, as in a [sandbox.PartFinish]. The server has written the request, and receives the
	// answer. Use [sandbox.ModelRequest.Sample], which asks the user about the request and about the answer. The client
	// calls it only while a call of a tool runs, with the context of that call, at most 10 times in it and once at a
	// time. It refuses requests with tools or files, and sends nothing of the conversation, whatever the server wants.
	// With nil, such requests are refused.
	Sample func(ctx context.Context, r sandbox.ModelRequest) (text, finish string, err error)

	// Apps tells the server that the app shows pages of tools (MCP Apps), with [Client.App] and iframe.NewApp.
	Apps bool

	// Authorize, if set, lets the server be used with OAuth 2.1. It opens an address at the authorization
	// server for the user, waits until the user is sent to Redirect, and returns that address with its
	// query. Show the user the host of the address first.
	Authorize func(ctx context.Context, address string) (redirected string, err error)
	Redirect  string // the app's own address to which the user is sent back
	// ClientID and ClientSecret are the app's registration with the authorization server. An https address
	// is that of the app's metadata document, for the authorization servers that support it. Without them,
	// the client registers itself.
	ClientID, ClientSecret string
	// Tokens is the state of the authorization, as OnTokens received it last. It contains tokens: no model
	// and no enclave may see it.
	Tokens   string
	OnTokens func(state string)

	// In attack tests.
	echoes bool // a credential in a response is not removed
	trusts bool // what the authorization server sends is not checked
	naive  bool // texts of the server are taken as they are, and its questions at all times
}

// Client is a session with a server. It is safe for concurrent use. Create it with [Connect].
type Client struct {
	o         Options
	target    string // host:port
	transport sandbox.Gated[fetch.Transport]

	auth *authorizer // nil if the client has no OAuth
	life context.Context
	end  context.CancelFunc // of life

	mu      sync.Mutex
	session string
	version string
	server  Server
	offers  offers
	next    int64
	closed  bool
	due     *time.Timer                       // of OnChange
	changed bool                              // again, while OnChange runs
	calls   map[*sandbox.Call]context.Context // that run now
	asked   int                               // questions of the server since the first of calls began
	sampled int                               // requests of the server to the model since then
	samples bool                              // one of them is open
	open    map[string]*open                  // requests of the server that wait for the user or the model, by their ids
	late    sync.WaitGroup                    // what Close waits for
}

// offers are the capabilities of a server that the client uses.
type offers struct {
	Tools, Resources, Prompts *struct {
		Changes bool `json:"listChanged"`
	}
}

func (o offers) changes() bool {
	return o.Tools != nil && o.Tools.Changes || o.Resources != nil && o.Resources.Changes || o.Prompts != nil && o.Prompts.Changes
}

// Server is the server's description of itself. It must not be trusted.
type Server struct {
	Name         string `json:"name"`
	Version      string `json:"version"`
	Instructions string `json:"-"`
}

// Connect begins a session. The app makes this request, and not a tool, so only the page's
// Content-Security-Policy limits it. Invalid options are [protocol.ErrInvalidParams]. A server that
// supports no version of the protocol that the client has is [protocol.ErrExecution].
func Connect(ctx context.Context, o Options) (*Client, error) {
	if err := protocol.ValidToolName(o.Name); err != nil || len(o.Name) > 64 || strings.Contains(o.Name, ":") {
		return nil, protocol.Errorf(protocol.ErrInvalidParams, "connect", o.Name, "the name must be a letter, then letters, digits, _ and -, at most 64")
	}
	if o.Port != nil {
		if o.URL != "" || o.Transport != nil || o.Authorize != nil {
			return nil, protocol.Errorf(protocol.ErrInvalidParams, "connect", o.Name, "a server behind a port has no address, no transport and no authorization")
		}
		port, err := newPort(o.Port)
		if err != nil {
			return nil, err
		}
		o.Transport = port
	}
	target := ""
	if o.Port == nil {
		var err error
		if target, err = targetOf(o.URL); err != nil {
			return nil, err
		}
	}
	if o.Time == 0 {
		o.Time = time.Minute
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 8 << 20
	}
	if o.Time < 0 || o.Time > 300*time.Second || o.MaxBytes < 0 {
		return nil, protocol.Errorf(protocol.ErrInvalidParams, "connect", o.Name, "Time must be 0 to 300 s, and MaxBytes not negative")
	}
	if o.Transport == nil {
		o.Transport = fetch.Browser()
	}
	c := &Client{o: o, target: target, transport: sandbox.Gate(o.Transport)}
	c.life, c.end = context.WithCancel(context.WithoutCancel(ctx))
	if o.Authorize != nil || o.Tokens != "" {
		var err error
		if c.auth, err = newAuthorizer(&c.o); err != nil {
			return nil, err
		}
	}
	if err := c.initialize(ctx, o.Transport); err != nil {
		c.end()
		c.closePort()
		return nil, err
	}
	asks := o.Ask != nil || o.Sample != nil
	if asks || o.OnChange != nil && c.offers.changes() {
		ready := make(chan struct{})
		c.late.Go(func() { c.listen(sync.OnceFunc(func() { close(ready) })) })
		if asks { // a server drops a question that comes before the stream for it
			late := time.NewTimer(maxReady)
			defer late.Stop()
			select {
			case <-ready:
			case <-late.C:
			case <-ctx.Done():
			}
		}
	}
	return c, nil
}

// maxReady is how long Connect waits for the server to open the stream for its questions.
const maxReady = 2 * time.Second

func (c *Client) closePort() {
	if p, ok := c.o.Transport.(io.Closer); ok && c.o.Port != nil {
		_ = p.Close()
	}
}

// listen keeps a stream open for the server's announcements and questions, until Close. It calls ready when
// the server has opened it, or does not.
func (c *Client) listen(ready func()) {
	last := "" // id of the last event, from which the stream goes on after a break
	for wait := leastWait; ; wait = min(2*wait, mostWait) {
		began := time.Now()
		r := fetch.Request{Method: "GET", URL: c.o.URL}
		if last != "" {
			r.Header = map[string]string{"last-event-id": last}
		}
		res, err := c.send(c.life, c.o.Transport, "listen", r)
		ready()
		if err == nil {
			a := &answer{c: c, ctx: c.life, t: c.o.Transport, left: maxListened}
			_ = eventstream.Read(&bounded{res.Body, &a.left}, func(e eventstream.Event) error {
				if validID(e.ID) {
					last = e.ID
				}
				if e.Name != "message" || e.Data == "" {
					return nil
				}
				return a.take([]byte(e.Data))
			})
			_ = res.Body.Close()
			a.rest(errDone)
			if time.Since(began) > mostWait {
				wait = leastWait
			}
		} else if e := (*protocol.Error)(nil); errors.As(err, &e) && strings.Contains(e.Message, "answered 405") {
			return // the server has no such stream
		} else if c.o.Port != nil {
			c.announce() // it has closed its port, so nothing of it can be used
			return
		} else if strings.Contains(err.Error(), unconnected) || strings.Contains(err.Error(), "answered 5") || errors.Is(err, protocol.ErrResourceLimit) {
			// The server is away, and may still have the events after the last one.
		} else if last = ""; errors.Is(err, errGone) && c.initialize(c.life, c.o.Transport) == nil {
			c.announce() // it began anew, and may have other tools
		}
		if pause(c.life, wait) != nil {
			return
		}
	}
}

// maxListened is the number of bytes after which the stream of announcements begins anew.
const maxListened = 64 << 20

// announce calls OnChange soon.
func (c *Client) announce() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.o.OnChange == nil || c.closed {
		return
	}
	if c.due != nil {
		c.changed = true
		return
	}
	c.soon()
}

// soon calls OnChange after a second. mu is held.
func (c *Client) soon() {
	c.changed = false
	c.due = time.AfterFunc(time.Second, func() {
		c.mu.Lock()
		closed := c.closed
		c.changed = false // the call is about all announcements before it
		c.mu.Unlock()
		if closed {
			return
		}
		c.o.OnChange()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.due = nil
		if c.changed && !c.closed {
			c.soon()
		}
	})
}

// targetOf returns the address's "host:port", as in policies.
func targetOf(address string) (string, error) {
	bad := func(why string) (string, error) {
		return "", protocol.Errorf(protocol.ErrInvalidParams, "connect", "", "the server's address %s", why)
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return bad("must be https://host/path, without user or fragment")
	}
	host, port, err := protocol.SplitHost(u.Host)
	if err != nil {
		return "", err
	}
	switch {
	case u.Scheme != "https" && (u.Scheme != "http" || !protocol.Loopback(host)):
		return bad("must be https; http is for this machine alone")
	case port == 0 && u.Scheme == "http":
		port = 80
	case port == 0:
		port = 443
	}
	return host + ":" + strconv.Itoa(port), nil
}

func (c *Client) initialize(ctx context.Context, t fetch.Transport) error {
	c.mu.Lock()
	c.session, c.version = "", ""
	c.mu.Unlock()
	var res struct {
		Version      string `json:"protocolVersion"`
		Offers       offers `json:"capabilities"`
		Server       Server `json:"serverInfo"`
		Instructions string `json:"instructions"`
	}
	capabilities := map[string]any{}
	if c.o.Ask != nil {
		capabilities["elicitation"] = map[string]any{"form": map[string]any{}}
	}
	if c.o.Apps {
		capabilities["extensions"] = map[string]any{"io.modelcontextprotocol/ui": map[string]any{"mimeTypes": []string{appType}}}
	}
	if c.o.Sample != nil {
		capabilities["sampling"] = map[string]any{}
	}
	header, err := c.ask(ctx, t, "initialize", map[string]any{"protocolVersion": versions[len(versions)-1], "capabilities": capabilities,
		"clientInfo": map[string]any{"name": "bailey", "version": "1"}}, &res)
	if err != nil {
		return err
	}
	if !slices.Contains(versions, res.Version) {
		return c.errorf("initialize", "the server speaks version %q of the protocol; this client has %s", clip(res.Version, 40), strings.Join(versions, ", "))
	}
	session := header["mcp-session-id"]
	if strings.ContainsFunc(session, func(r rune) bool { return r < 0x21 || r > 0x7e }) || len(session) > 1024 {
		return c.errorf("initialize", "the session's id is none: it must be visible ASCII")
	}
	res.Server = Server{Name: c.legible(res.Server.Name), Version: c.legible(res.Server.Version), Instructions: c.legible(clip(res.Instructions, 16<<10))}
	c.mu.Lock()
	c.session, c.version, c.server, c.offers = session, res.Version, res.Server, res.Offers
	c.mu.Unlock()
	return c.tell(ctx, t, map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
}

// legible returns a text of the server's without characters that a model reads and a person does not see.
func (c *Client) legible(text string) string {
	if c.o.naive {
		return text
	}
	return legible.Text(text)
}

func clip(s string, most int) string {
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

func (c *Client) errorf(op, format string, args ...any) *protocol.Error {
	return protocol.Errorf(protocol.ErrExecution, op, c.o.Name, format, args...)
}

// Server returns the server's description of itself.
func (c *Client) Server() Server {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.server
}

// Version returns the version of the protocol in use.
func (c *Client) Version() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version
}

// Target returns the server's "host:port". The policy must grant it, and the page's
// Content-Security-Policy must list it.
func (c *Client) Target() string { return c.target }

// errGone is the error of a session that the server no longer has.
var errGone = errors.New("the server has forgotten the session")

// call sends a request. If the server no longer has the session, call begins a new session and
// repeats the request, which the server has not executed.
func (c *Client) call(ctx context.Context, t fetch.Transport, method string, params map[string]any, into any) error {
	if _, err := c.ask(ctx, t, method, params, into); !errors.Is(err, errGone) {
		return c.unseen(err)
	}
	if err := c.initialize(ctx, t); err != nil {
		return err
	}
	_, err := c.ask(ctx, t, method, params, into)
	return err
}

// unseen adds a likely cause to an error if the server sent no session id: a page may be unable to
// read it.
func (c *Client) unseen(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session != "" || c.o.Port != nil || !errors.Is(err, protocol.ErrExecution) || errors.As(err, new(errCredentials)) {
		return err
	}
	return fmt.Errorf("%w; if the server keeps sessions, it must expose Mcp-Session-Id to pages of other origins (Access-Control-Expose-Headers)", err)
}

// Close ends the session on the server, if the server supports it. It first waits up to 5 s for
// cancellations that are being sent. It ends the stream of announcements, and closes the port. Close is idempotent. Later calls fail.
func (c *Client) Close(ctx context.Context) error {
	c.mu.Lock()
	session, closed := c.session, c.closed
	c.closed = true
	if c.due != nil {
		c.due.Stop()
	}
	c.mu.Unlock()
	c.end()
	c.late.Wait()
	defer c.closePort()
	if closed || session == "" {
		return nil
	}
	res, err := c.o.Transport.Do(ctx, fetch.Request{Method: "DELETE", URL: c.o.URL, Header: c.header(false)})
	if err != nil {
		return c.unanswered(ctx, "close", err)
	}
	return res.Body.Close() // 405 is a server that does not end sessions
}

func (c *Client) header(body bool) map[string]string {
	h := map[string]string{}
	for k, v := range c.o.Header {
		h[strings.ToLower(k)] = v
	}
	h["accept"] = "text/event-stream"
	if body {
		h["content-type"], h["accept"] = "application/json", "application/json, text/event-stream"
	}
	if token := c.auth.token(); token != "" {
		h["authorization"] = "Bearer " + token
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session != "" {
		h["mcp-session-id"] = c.session
	}
	if c.version != "" {
		h["mcp-protocol-version"] = c.version
	}
	return h
}

// unconnected is in the error of a request without a response.
const unconnected = "the connection failed or was cut off"

// unanswered returns an error without the text of a transport's error, which may contain headers.
func (c *Client) unanswered(ctx context.Context, op string, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	var e *protocol.Error
	if errors.As(err, &e) {
		return e
	}
	return c.errorf(op, unconnected+"; whether the server did it is not known")
}
