// Package btcprelay is a relay of the Browser Tool Calling Protocol (BTCP): pages offer tools in a session,
// and agents that know the session call them. The relay runs no tool and keeps no content. It forwards
// messages between the clients of one tenant.
//
// GET /events is the stream of a client, and POST /message takes its messages, as in the relay of BTCP's
// authors. In addition each request needs a token, all sizes and numbers have limits, nobody can list
// sessions, and only a page's token answers for a page. Package sandbox/btcp has both kinds of clients.
package btcprelay

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bailey-go/bailey/internal/wire/btcp"
	"github.com/bailey-go/bailey/protocol"
)

// Limits of the relay.
const (
	MaxBytes    = 1 << 20 // of one message
	MaxQueue    = 4 << 20 // of the messages that wait for a client that reads slowly
	MaxSessions = 1000    // of a tenant
	MaxClients  = 4000    // of a tenant
	MaxAgents   = 16      // of a session
	MaxPending  = 64      // requests of a session without an answer
	MaxTools    = 256     // of a page
)

const (
	noMethod    = -32601       // of JSON-RPC
	disconnects = "disconnect" // the id of the message to a page that lost its session to another
)

// Role is the part that a token's owner may take.
type Role string

const (
	Page  Role = "page"  // offers tools
	Agent Role = "agent" // calls tools
	Both  Role = "both"
)

// Token is a credential.
type Token struct {
	Tenant string
	Role   Role
	SHA256 [sha256.Size]byte
}

// ParseTokens reads lines of a tenant, a role and the SHA-256 of a token in hexadecimal. Lines that are empty
// or begin with # are left out.
func ParseTokens(text string) ([]Token, error) {
	var list []Token
	for i, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(f[0], "#") {
			continue
		}
		bad := func(why string) error { return fmt.Errorf("btcprelay: line %d of the tokens: %s", i+1, why) }
		if len(f) != 3 {
			return nil, bad("want a tenant, a role and a SHA-256")
		}
		t := Token{Tenant: f[0], Role: Role(f[1])}
		if t.Role != Page && t.Role != Agent && t.Role != Both {
			return nil, bad("the role is page, agent or both")
		}
		sum, err := hex.DecodeString(f[2])
		if err != nil || len(sum) != sha256.Size {
			return nil, bad("the last word is no SHA-256 in hexadecimal; bailey-relay token prints a line")
		}
		copy(t.SHA256[:], sum)
		if slices.ContainsFunc(list, func(o Token) bool { return o.SHA256 == t.SHA256 }) {
			return nil, bad("the token is there twice")
		}
		list = append(list, t)
	}
	if len(list) == 0 {
		return nil, errors.New("btcprelay: there is no token; bailey-relay token prints a line")
	}
	return list, nil
}

// Options configure a relay. Tokens is required.
type Options struct {
	Tokens []Token
	// Origins are the origins of pages that may use the relay, such as https://app.example. A request with
	// another origin is refused. Agents outside of a browser send none.
	Origins []string
	// PathTokens also accepts the token in the path, as /token/TOKEN/events, for clients that can't send a
	// header. Addresses end up in logs, so it is off by default.
	PathTokens bool
	// Time is the limit of one request of an agent. The default is 60 s.
	Time time.Duration
	// Grace is the time for which a session waits for a page that was disconnected. The default is 60 s.
	Grace time.Duration
	// Keep is the interval of comments that keep a stream alive. The default is 15 s.
	Keep time.Duration
	// Log receives events without contents. nil discards them.
	Log *slog.Logger

	off               bool // the checks of tokens, roles and senders are off, for attack tests
	sessions, clients int  // MaxSessions and MaxClients, or less in a test
}

// Relay is an http.Handler.
type Relay struct {
	o      Options
	tokens map[[sha256.Size]byte]Token

	mu      sync.Mutex
	closed  bool
	tenants map[string]*tenant
}

type tenant struct {
	clients  map[string]*client
	sessions map[string]*session
}

type session struct {
	id      string
	page    *client // nil while it is disconnected
	agents  map[*client]bool
	tools   json.RawMessage
	pending map[string]*pending
	gone    *time.Timer // ends the session, while the page is disconnected
}

// pending is a request of an agent that the page has not answered yet.
type pending struct {
	agent *client
	id    json.RawMessage // the agent's own
	limit *time.Timer
	list  bool // tools/list, for which the relay can answer
}

// New returns a relay.
func New(o Options) (*Relay, error) {
	if len(o.Tokens) == 0 {
		return nil, errors.New("btcprelay: Options.Tokens is empty")
	}
	for _, origin := range o.Origins {
		if !strings.HasPrefix(origin, "https://") && !strings.HasPrefix(origin, "http://") || strings.Count(origin, "/") != 2 {
			return nil, fmt.Errorf("btcprelay: origin %q: want scheme and host, such as https://app.example", origin)
		}
	}
	if o.Time < 0 || o.Grace < 0 || o.Keep < 0 {
		return nil, errors.New("btcprelay: a duration of Options is negative")
	}
	o.Time, o.Grace, o.Keep = cmp.Or(o.Time, time.Minute), cmp.Or(o.Grace, time.Minute), cmp.Or(o.Keep, 15*time.Second)
	o.sessions, o.clients = cmp.Or(o.sessions, MaxSessions), cmp.Or(o.clients, MaxClients)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	r := &Relay{o: o, tokens: map[[sha256.Size]byte]Token{}, tenants: map[string]*tenant{}}
	for _, t := range o.Tokens {
		r.tokens[t.SHA256] = t
	}
	return r, nil
}

// Close ends all streams.
func (r *Relay) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for _, t := range r.tenants {
		for _, c := range t.clients {
			c.end()
		}
	}
}

// ServeHTTP serves /events, /message and /health.
func (r *Relay) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Add("Vary", "Origin")
	if origin := req.Header.Get("Origin"); origin != "" {
		if !slices.Contains(r.o.Origins, origin) && !r.o.off {
			refuse(w, http.StatusForbidden, "the relay does not serve pages of this origin")
			return
		}
		h.Set("Access-Control-Allow-Origin", origin)
		if req.Method == http.MethodOptions {
			h.Set("Access-Control-Allow-Methods", "GET, POST")
			h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type")
			h.Set("Access-Control-Max-Age", "600")
			w.WriteHeader(http.StatusNoContent)
			return
		}
	}
	path, token := req.URL.Path, ""
	if rest, ok := strings.CutPrefix(path, "/token/"); ok && r.o.PathTokens {
		token, path, _ = strings.Cut(rest, "/")
		path = "/" + path
	}
	if bearer, ok := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer "); ok {
		token = bearer
	}
	if path == "/health" && req.Method == http.MethodGet {
		h.Set("Content-Type", "application/json")
		io.WriteString(w, `{"status":"ok"}`)
		return
	}
	who, ok := r.tokens[sha256.Sum256([]byte(token))]
	if r.o.off {
		who, ok, token = Token{Tenant: "a", Role: Both}, true, "any"
	}
	if token == "" || !ok {
		h.Set("WWW-Authenticate", "Bearer")
		refuse(w, http.StatusUnauthorized, "the relay needs a token that it knows, as Authorization: Bearer")
		return
	}
	id := req.URL.Query().Get("sessionId")
	if !btcp.ValidSession(id) {
		refuse(w, http.StatusBadRequest, "sessionId: want 16 to 128 letters, digits, dots, underscores and hyphens, made at random")
		return
	}
	switch {
	case path == "/events" && req.Method == http.MethodGet:
		r.events(w, req, who, id)
	case path == "/message" && req.Method == http.MethodPost:
		r.message(w, req, who, id)
	default:
		refuse(w, http.StatusNotFound, "the relay has GET /events, POST /message and GET /health")
	}
}

func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	data, _ := json.Marshal(map[string]string{"error": text})
	w.Write(data)
}

// tenant returns a tenant's state. The lock is held.
func (r *Relay) tenant(name string) *tenant {
	t := r.tenants[name]
	if t == nil {
		t = &tenant{map[string]*client{}, map[string]*session{}}
		r.tenants[name] = t
	}
	return t
}

// message takes a message of a client.
func (r *Relay) message(w http.ResponseWriter, req *http.Request, who Token, id string) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(30 * time.Second))
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, MaxBytes))
	if err != nil {
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("a message has at most %d bytes", MaxBytes))
			return
		}
		refuse(w, http.StatusBadRequest, "the message did not arrive")
		return
	}
	var m rpc
	_, err = protocol.ParseJSON(string(body), protocol.JSONLimits{Bytes: MaxBytes})
	if err == nil {
		err = json.Unmarshal(body, &m)
	}
	if err != nil || m.Version != "2.0" || m.Method == "" && len(m.ID) == 0 || len(m.ID) > 300 {
		refuse(w, http.StatusBadRequest, "want one message of JSON-RPC 2.0")
		return
	}
	if status, text := r.route(who, id, req.URL.Query().Get("clientId"), m); status != 0 {
		refuse(w, status, text)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, `{"success":true}`)
}

// route handles a message, and returns the status of a refusal, or 0.
func (r *Relay) route(who Token, id, from string, m rpc) (int, string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.tenants[who.Tenant]
	if t == nil {
		return http.StatusNotFound, "there is no such session; open /events first"
	}
	s := t.sessions[id]
	var sender *client
	if from != "" {
		if sender = t.clients[from]; sender == nil || sender.isEnded() {
			return http.StatusNotFound, "there is no such client; open /events first"
		}
		if sender.token != who.SHA256 {
			return http.StatusForbidden, "the client has another token"
		}
	}
	fromPage := m.Method == "" || m.Method == "tools/register"
	if fromPage || m.Method == "ping" && from == "" {
		// A page of BTCP's own client does not give its name.
		if s == nil || (who.Role == Agent || sender != nil && sender != s.page) && !r.o.off {
			if m.Method != "ping" {
				return http.StatusForbidden, "only the page of the session may send this"
			}
		} else {
			sender = s.page
		}
	}
	if fromPage {
		if s.page == nil && m.Method != "" {
			return http.StatusConflict, "the page of the session is not connected"
		}
		if m.Method == "" {
			s.answered(m)
			return 0, ""
		}
		return s.register(m)
	}
	if sender == nil && s != nil && len(s.agents) == 1 {
		for a := range s.agents {
			if a.token == who.SHA256 {
				sender = a
			}
		}
	}
	if sender == nil {
		return http.StatusBadRequest, "clientId: give the name that the relay sent as the first message of /events"
	}
	if len(m.ID) == 0 {
		return 0, "" // a notification
	}
	switch {
	case m.Method == "ping":
		sender.send(rpc{ID: m.ID, Result: marshal(map[string]any{"pong": true, "timestamp": time.Now().UnixMilli()})})
	case sender.kind != Agent:
		sender.fail(m.ID, noMethod, "only an agent may send this")
	case m.Method == "session/join":
		r.join(t, sender, m)
	case s == nil || !s.agents[sender] && !r.o.off:
		sender.fail(m.ID, btcp.ServerNumber(protocol.ErrSession), "join the session first, with session/join")
	case m.Method == "tools/list", m.Method == "tools/call":
		s.ask(r, sender, m)
	default:
		sender.fail(m.ID, noMethod, "the relay does not know this method")
	}
	return 0, ""
}

// join makes an agent a member of a session.
func (r *Relay) join(t *tenant, c *client, m rpc) {
	var p struct {
		SessionID string `json:"sessionId"`
	}
	_ = json.Unmarshal(m.Params, &p)
	s := t.sessions[p.SessionID]
	switch {
	case s == nil:
		c.fail(m.ID, btcp.ServerNumber(protocol.ErrSession), "there is no such session")
	case len(s.agents) >= MaxAgents && !s.agents[c]:
		c.fail(m.ID, btcp.ServerNumber(protocol.ErrResourceLimit), fmt.Sprintf("the session has %d agents, the most that it may have", MaxAgents))
	default:
		s.agents[c] = true
		c.send(rpc{ID: m.ID, Result: marshal(map[string]any{"success": true, "sessionId": s.id, "tools": s.tools})})
	}
}

// register stores the tools of the page, and tells the agents.
func (s *session) register(m rpc) (int, string) {
	var p struct {
		Tools []json.RawMessage `json:"tools"`
	}
	if json.Unmarshal(m.Params, &p) != nil || p.Tools == nil {
		return http.StatusBadRequest, "tools/register: want params with a list of tools"
	}
	if len(p.Tools) > MaxTools {
		return http.StatusBadRequest, fmt.Sprintf("a page has at most %d tools", MaxTools)
	}
	s.tools = marshal(p.Tools)
	for a := range s.agents {
		a.send(rpc{Method: "tools/updated", Params: marshal(map[string]any{"tools": s.tools})})
	}
	if len(m.ID) > 0 {
		s.page.send(rpc{ID: m.ID, Result: marshal(map[string]any{"success": true, "registered": len(p.Tools)})})
	}
	return 0, ""
}

// ask forwards a request of an agent to the page.
func (s *session) ask(r *Relay, c *client, m rpc) {
	list := m.Method == "tools/list"
	switch {
	case s.page == nil && list:
		c.send(rpc{ID: m.ID, Result: marshal(map[string]any{"tools": s.tools})})
		return
	case s.page == nil:
		c.fail(m.ID, btcp.ServerNumber(protocol.ErrSession), "the page of the session is not connected")
		return
	case len(s.pending) >= MaxPending:
		c.fail(m.ID, btcp.ServerNumber(protocol.ErrResourceLimit), fmt.Sprintf("%d requests wait for the page; try again later", MaxPending))
		return
	}
	// Only the page learns this id, so nobody else can answer.
	id := rand.Text()
	s.pending[id] = &pending{agent: c, id: m.ID, list: list, limit: time.AfterFunc(r.o.Time, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		s.give(id, func(p *pending) {
			if p.list {
				p.agent.send(rpc{ID: p.id, Result: marshal(map[string]any{"tools": s.tools})})
				return
			}
			p.agent.fail(p.id, btcp.ServerNumber(protocol.ErrTimeout), fmt.Sprintf("the page did not answer within %v", r.o.Time))
		})
	})}
	s.page.send(rpc{ID: marshal(id), Method: m.Method, Params: m.Params})
}

// answered forwards an answer of the page to the agent that waits for it.
func (s *session) answered(m rpc) {
	var id string
	_ = json.Unmarshal(m.ID, &id)
	s.give(id, func(p *pending) { p.agent.send(rpc{ID: p.id, Result: m.Result, Error: m.Error}) })
}

// give ends a request that waits.
func (s *session) give(id string, do func(*pending)) {
	if p := s.pending[id]; p != nil {
		delete(s.pending, id)
		p.limit.Stop()
		do(p)
	}
}

// end removes a session.
func (s *session) end(t *tenant, why string) {
	for id := range s.pending {
		s.give(id, func(p *pending) { p.agent.fail(p.id, btcp.ServerNumber(protocol.ErrSession), why) })
	}
	if s.gone != nil {
		s.gone.Stop()
	}
	delete(t.sessions, s.id)
}

// name returns a name of a session for logs, from which nobody can join it.
func name(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:4])
}

func marshal(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil { // v is made of texts, numbers and JSON that was read
		panic(err)
	}
	return data
}
