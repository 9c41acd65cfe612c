// Package daemon serves a box to one user of the machine, over HTTP on a Unix socket or loopback:
//
//	POST /mcp        the Model Context Protocol (streamable HTTP), with the box's tools
//	POST /chat       {"text": …} runs the model in the daemon's session; the response is a UI message stream, in
//	                 which each question is a part data-question
//	POST /stop       interrupts the run, whose stream then ends
//	GET  /questions  the questions that wait for an answer
//	POST /answer     {"id": …, "answers": ["once", "reject", …]}
//	GET  /about      the version of these requests, the model's name, the protections, and the files that were copied in
//	PUT  /files      a ZIP archive takes the place of the folder, and a new session begins. With ?keep=ID, the id of the
//	                 files before, the session goes on. The response has their new id
//	GET  /changes    ?since=ID: a ZIP archive of the changes since the files with the id were copied in
//
// The last two are there if the folder is the daemon's own, which begins empty. A file of an archive that the checks of
// names refuse is left out, and listed in the response. A link, a name that leads out of the folder, a name that is there
// twice or more than the limits allow refuse the whole archive, before anything is changed.
//
// Each request has the credential of this launch, and comes from no page but those of the origins that the user named.
// The package trusts whoever has the credential to answer questions, and no content of a request.
package daemon

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/chat"
	"github.com/bailey-go/bailey/mcp"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/uistream"
)

// Options configure a daemon, see [New].
type Options struct {
	Box        *sandbox.Box
	Asker      *chat.Asker
	Session    *sandbox.Session
	Open       func(context.Context) (*sandbox.Session, error) // in place of Session: it is opened by the first request
	Model      sandbox.Model                                   // nil serves no /chat
	Credential string                                          // see NewCredential
	Version    int                                             // of AI SDK, 6 or 7, the default

	// Origins are the origins whose pages may send requests, such as https://app.example. The default is none.
	Origins []string
	// Files is the folder below the box's own layers, if it is for files that clients copy in. Begin makes a session for
	// new ones, and closes none.
	Files fsaccess.FS
	Begin func(context.Context) (*sandbox.Session, error)
	// Walls and Lacks are the protections that hold here and those that do not, for the user.
	Walls []Wall
	Lacks []string

	off off
}

// off are defences that a test switches off.
type off struct{ guard, origin, host, names, limits bool }

// NewCredential returns a credential for one launch.
func NewCredential() string { return chat.Random(32) }

const maxBody = 8 << 20

// CheckOrigin returns an error if pages of an origin can't be let in. An http page of another machine can be anyone on
// the way.
func CheckOrigin(origin string) error {
	u, err := url.Parse(origin)
	if err != nil || !originForm.MatchString(origin) || u.Scheme == "http" && !protocol.Loopback(u.Hostname()) {
		return fmt.Errorf("%q is no origin of a page: want https://host or https://host:port, or http for a page of this machine", origin)
	}
	return nil
}

var originForm = regexp.MustCompile(`^https?://([a-z0-9.-]+|\[[0-9a-f:]+\])(:[0-9]{1,5})?$`)

// New returns the daemon's handler.
func New(o Options) (http.Handler, error) {
	if len(o.Credential) < 64 {
		return nil, errors.New("daemon: Options.Credential is needed: NewCredential returns one")
	}
	if o.Box == nil || o.Asker == nil || (o.Session == nil) == (o.Open == nil) {
		return nil, errors.New("daemon: Options.Box and Asker are needed, and one of Session and Open")
	}
	if (o.Files == nil) != (o.Begin == nil) {
		return nil, errors.New("daemon: Options.Files and Begin belong together")
	}
	for _, origin := range o.Origins {
		if err := CheckOrigin(origin); err != nil {
			return nil, fmt.Errorf("daemon: Options.Origins: %w", err)
		}
	}
	if o.Version == 0 {
		o.Version = 7
	}
	var ids []string
	for t := range o.Box.Toolset().All() {
		if !t.Untrusted {
			ids = append(ids, t.ID)
		}
	}
	d := &daemon{o: o, tools: ids}
	if o.Session != nil {
		if _, err := d.session(context.Background()); err != nil {
			return nil, err
		}
	}
	mux := http.NewServeMux()
	tools := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return d.server }, nil)
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if _, err := d.session(r.Context()); err != nil {
			fail(w, http.StatusServiceUnavailable, err)
			return
		}
		tools.ServeHTTP(w, r)
	})
	mux.HandleFunc("GET /questions", func(w http.ResponseWriter, r *http.Request) { send(w, o.Asker.Questions()) })
	mux.HandleFunc("POST /answer", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			ID      string          `json:"id"`
			Answers []policy.Answer `json:"answers"`
		}
		if err := receive(r, &in); err == nil {
			err = o.Asker.Reply(in.ID, in.Answers)
			if err != nil {
				fail(w, http.StatusConflict, err)
				return
			}
		} else {
			fail(w, http.StatusBadRequest, err)
			return
		}
		send(w, map[string]bool{"ok": true})
	})
	mux.HandleFunc("GET /about", d.about)
	if o.Files != nil {
		mux.HandleFunc("PUT /files", d.put)
		mux.HandleFunc("GET /changes", d.changes)
	}
	if o.Model != nil {
		mux.HandleFunc("POST /chat", d.chat)
		mux.HandleFunc("POST /stop", func(w http.ResponseWriter, r *http.Request) {
			send(w, map[string]bool{"ok": d.interrupt()})
		})
	}
	return &guard{o, mux}, nil
}

// daemon is what the requests share.
type daemon struct {
	o     Options
	tools []string // the ids of those that clients of MCP have

	mu     sync.Mutex
	opened *sandbox.Session
	server *sdk.Server
	stop   func() // of the active run, or nil
	base   *base  // the files that were copied in, or nil
}

// session returns the session, which the first call opens.
func (d *daemon) session(ctx context.Context) (*sandbox.Session, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.opened != nil {
		return d.opened, nil
	}
	s := d.o.Session
	if s == nil {
		var err error
		if s, err = d.o.Open(ctx); err != nil {
			return nil, err
		}
	}
	return s, d.adopt(s)
}

// adopt makes a session the daemon's. The lock is held.
func (d *daemon) adopt(s *sandbox.Session) error {
	server, err := mcp.NewServer(d.o.Box, mcp.Options{Tools: d.tools, Session: s, Name: "bailey-box"})
	if err != nil {
		return err
	}
	d.opened, d.server = s, server
	return nil
}

// interrupt reports whether there was a run to end.
func (d *daemon) interrupt() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stop == nil {
		return false
	}
	d.stop()
	return true
}

// begin reserves the daemon for a run, until its end. It reports whether no other one is active.
func (d *daemon) begin(ctx context.Context) (_ context.Context, end func(), ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stop != nil {
		return nil, nil, false
	}
	ctx, d.stop = context.WithCancel(ctx)
	return ctx, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.stop()
		d.stop = nil
	}, true
}

// guard lets only requests with the credential through.
type guard struct {
	o    Options
	next http.Handler
}

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Add("Vary", "Origin")
	most := int64(maxBody)
	if r.URL.Path == "/files" {
		most = MaxArchive
	}
	if g.o.off.limits {
		most = 1 << 40
	}
	r.Body = http.MaxBytesReader(w, r.Body, most)
	// A name that leads to loopback is not one of these: a page of that name would have the daemon's own origin.
	if !local(r.Host) && !g.o.off.host {
		fail(w, http.StatusForbidden, errors.New("this daemon is reached by an address of loopback alone"))
		return
	}
	// A page of the user's browser may send requests to loopback. It can't hide where it comes from.
	if origins := r.Header.Values("Origin"); len(origins) > 0 || r.Header.Get("Sec-Fetch-Site") != "" {
		if !g.o.off.origin && (len(origins) != 1 || !slices.Contains(g.o.Origins, origins[0])) {
			fail(w, http.StatusForbidden, errors.New("pages of this origin may not use this daemon: its user can name it with -origin"))
			return
		}
		if len(origins) > 0 {
			h.Set("Access-Control-Allow-Origin", origins[0])
			h.Set("Access-Control-Expose-Headers", "X-Vercel-AI-UI-Message-Stream")
		}
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" { // it has no credential
			h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, DELETE")
			h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Mcp-Session-Id, Mcp-Protocol-Version, Last-Event-ID")
			if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
				h.Set("Access-Control-Allow-Private-Network", "true")
			}
			h.Set("Access-Control-Max-Age", "600")
			w.WriteHeader(http.StatusNoContent)
			return
		}
	}
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !g.o.off.guard && (!ok || subtle.ConstantTimeCompare([]byte(given), []byte(g.o.Credential)) != 1) {
		h.Set("WWW-Authenticate", "Bearer")
		fail(w, http.StatusUnauthorized, errors.New("the credential of this launch is needed, as Authorization: Bearer …"))
		return
	}
	g.next.ServeHTTP(w, r)
}

// local reports whether the header Host names loopback itself.
func local(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return host == "localhost" || host == "bailey-box" || net.ParseIP(strings.Trim(host, "[]")).IsLoopback()
}

func (d *daemon) chat(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Text string `json:"text"`
	}
	if err := receive(r, &in); err != nil || strings.TrimSpace(in.Text) == "" {
		fail(w, http.StatusBadRequest, errors.Join(err, errors.New(`the body must be {"text": "…"}`)))
		return
	}
	session, err := d.session(r.Context())
	if err != nil {
		fail(w, http.StatusServiceUnavailable, err)
		return
	}
	ctx, end, ok := d.begin(r.Context())
	if ok {
		defer end()
	}
	if !ok || session.Status() == sandbox.StatusBusy {
		fail(w, http.StatusConflict, errors.New("a run is active; wait until it has ended"))
		return
	}
	if _, err := session.Say(ctx, in.Text); err != nil {
		fail(w, http.StatusUnprocessableEntity, err)
		return
	}
	format := func(w io.Writer) (chat.Writer, error) { return uistream.NewWriter(w, d.o.Version) }
	if err := d.o.Asker.Stream(ctx, w, format, d.o.Box, session, d.o.Model, sandbox.RunOptions{}); err != nil {
		fail(w, http.StatusInternalServerError, err)
	}
}

func receive(r *http.Request, to any) error {
	if t, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); t != "application/json" {
		return errors.New("the content type must be application/json")
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	return d.Decode(to)
}

func send(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func fail(w http.ResponseWriter, code int, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": err.Error()})
}
