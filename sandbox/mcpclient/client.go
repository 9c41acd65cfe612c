package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
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
}

// Client is a session with a server. It is safe for concurrent use. Create it with [Connect].
type Client struct {
	o         Options
	target    string // host:port
	transport sandbox.Gated[fetch.Transport]

	mu      sync.Mutex
	session string
	version string
	server  Server
	next    int64
	closed  bool
	late    sync.WaitGroup // cancellations that are being sent
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
	target, err := targetOf(o.URL)
	if err != nil {
		return nil, err
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
	if err := c.initialize(ctx, o.Transport); err != nil {
		return nil, err
	}
	return c, nil
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
		Server       Server `json:"serverInfo"`
		Instructions string `json:"instructions"`
	}
	header, err := c.ask(ctx, t, "initialize", map[string]any{"protocolVersion": versions[len(versions)-1], "capabilities": map[string]any{},
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
	res.Server.Instructions = clip(res.Instructions, 16<<10)
	c.mu.Lock()
	c.session, c.version, c.server = session, res.Version, res.Server
	c.mu.Unlock()
	return c.tell(ctx, t, map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
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
func (c *Client) call(ctx context.Context, t fetch.Transport, method string, params, into any) error {
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
	if c.session != "" || !errors.Is(err, protocol.ErrExecution) {
		return err
	}
	return fmt.Errorf("%w; if the server keeps sessions, it must expose Mcp-Session-Id to pages of other origins (Access-Control-Expose-Headers)", err)
}

// Close ends the session on the server, if the server supports it. It first waits up to 5 s for
// cancellations that are being sent. Close is idempotent. Later calls fail.
func (c *Client) Close(ctx context.Context) error {
	c.mu.Lock()
	session, closed := c.session, c.closed
	c.closed = true
	c.mu.Unlock()
	c.late.Wait()
	if closed || session == "" {
		return nil
	}
	res, err := c.o.Transport.Do(ctx, fetch.Request{Method: "DELETE", URL: c.o.URL, Header: c.header()})
	if err != nil {
		return c.unanswered(ctx, "close", err)
	}
	return res.Body.Close() // 405 is a server that does not end sessions
}

func (c *Client) header() map[string]string {
	h := map[string]string{}
	for k, v := range c.o.Header {
		h[strings.ToLower(k)] = v
	}
	h["content-type"], h["accept"] = "application/json", "application/json, text/event-stream"
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

// unanswered returns an error without the text of a transport's error, which may contain headers.
func (c *Client) unanswered(ctx context.Context, op string, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	var e *protocol.Error
	if errors.As(err, &e) {
		return e
	}
	return c.errorf(op, "the connection failed or was cut off; whether the server did it is not known")
}
