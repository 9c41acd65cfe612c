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

// versions are those of the protocol that are spoken, the one that is asked for last.
var versions = []string{"2025-03-26", "2025-06-18", "2025-11-25"}

// Options say which server. Name and URL are needed.
type Options struct {
	// Name is what the server is called here: letters, digits, _ and -, at most 64.
	Name string
	// URL is the server's address: https, or http on this machine.
	URL       string
	Transport fetch.Transport   // fetch.Browser() if nil
	Header    map[string]string // more headers, such as authorization
	Time      time.Duration     // of one call; default 60 s, at most 300 s
	MaxBytes  int64             // of one answer; default 8 MiB
}

// Client is a session with a server. It is safe for several goroutines. Make one with
// [Connect].
type Client struct {
	o         Options
	target    string // host:port
	transport sandbox.Held[fetch.Transport]

	mu      sync.Mutex
	session string
	version string
	server  Server
	next    int64
	closed  bool
	late    sync.WaitGroup // cancellations on their way
}

// Server is what a server says of itself. It is not to be trusted.
type Server struct {
	Name         string `json:"name"`
	Version      string `json:"version"`
	Instructions string `json:"-"`
}

// Connect begins a session. That is the app's own doing, not a tool's, and so is under
// the page's Content-Security-Policy alone.
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
	c := &Client{o: o, target: target, transport: sandbox.Hold(o.Transport)}
	if err := c.initialize(ctx, o.Transport); err != nil {
		return nil, err
	}
	return c, nil
}

// targetOf is the host with its port, as policies have it.
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

// Server is what the server says of itself.
func (c *Client) Server() Server {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.server
}

// Version is the version of the protocol that is spoken.
func (c *Client) Version() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version
}

// Target is the server's "host:port", which the policy must grant, and the page's
// Content-Security-Policy list.
func (c *Client) Target() string { return c.target }

// errGone says that the server has forgotten the session.
var errGone = errors.New("the server has forgotten the session")

// call asks, in a session that is begun anew if the server has forgotten it: what it
// forgot it did not do.
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

// unseen adds to an error what it may come from where the server gave no session: that a
// page could not read its id.
func (c *Client) unseen(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session != "" || !errors.Is(err, protocol.ErrExecution) {
		return err
	}
	return fmt.Errorf("%w; if the server keeps sessions, it must expose Mcp-Session-Id to pages of other origins (Access-Control-Expose-Headers)", err)
}

// Close ends the session at the server, as far as it lets one. It is idempotent.
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
	return res.Body.Close() // 405 is a server that keeps its sessions
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

// unanswered makes an error of a transport's, which may hold what a header does.
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
