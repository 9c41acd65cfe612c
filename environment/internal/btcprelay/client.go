package btcprelay

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/bailey-go/bailey/internal/wire/btcp"
	"github.com/bailey-go/bailey/protocol"
)

// rpc is a message of JSON-RPC. Members that it does not have are not forwarded.
type rpc struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

// client is the stream of a page or of an agent.
type client struct {
	id    string
	kind  Role // Page or Agent
	token [sha256.Size]byte

	mu    sync.Mutex
	queue [][]byte
	bytes int
	ended bool
	more  chan struct{} // has an element if the queue or ended has changed
}

// send puts a message into the queue. A client that reads too slowly is ended, as it would miss messages.
func (c *client) send(m rpc) {
	m.Version = "2.0"
	data, err := json.Marshal(m)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	if c.bytes += len(data); err != nil || c.bytes > MaxQueue {
		c.ended, c.queue = true, nil
	} else {
		c.queue = append(c.queue, data)
	}
	c.wake()
}

func (c *client) fail(id json.RawMessage, code int, text string) {
	c.send(rpc{ID: id, Error: marshal(map[string]any{"code": code, "message": text})})
}

// end ends the stream, after the messages that are in the queue.
func (c *client) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	c.wake()
}

func (c *client) isEnded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

func (c *client) wake() {
	select {
	case c.more <- struct{}{}:
	default:
	}
}

// take returns the messages in the queue, and whether more may come.
func (c *client) take() (list [][]byte, more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list, c.queue, c.bytes = c.queue, nil, 0
	return list, !c.ended
}

// events serves the stream of a client until it ends.
func (r *Relay) events(w http.ResponseWriter, req *http.Request, who Token, id string) {
	kind := Agent
	if req.URL.Query().Get("clientType") == "browser" {
		kind = Page
	}
	if who.Role != Both && who.Role != kind {
		refuse(w, http.StatusForbidden, fmt.Sprintf("the token is for the role %s", who.Role))
		return
	}
	c := &client{id: rand.Text(), kind: kind, token: who.SHA256, more: make(chan struct{}, 1)}
	if status, text := r.connect(who, c, id); status != 0 {
		refuse(w, status, text)
		return
	}
	defer r.disconnect(who, c, id)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // nginx forwards each message at once
	out := http.NewResponseController(w)
	keep := time.NewTicker(r.o.Keep)
	defer keep.Stop()
	for {
		list, more := c.take()
		_ = out.SetWriteDeadline(time.Now().Add(30 * time.Second))
		for _, data := range list {
			if _, err := fmt.Fprintf(w, "data: %s\n\n", data); err != nil {
				return
			}
		}
		if out.Flush() != nil || !more {
			return
		}
		select {
		case <-c.more:
		case <-keep.C:
			if _, err := io.WriteString(w, ": keepalive\n\n"); err != nil {
				return
			}
		case <-req.Context().Done():
			return
		}
	}
}

// connect adds a client. A page begins its session, or takes it over from another one.
func (r *Relay) connect(who Token, c *client, id string) (int, string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.tenant(who.Tenant)
	switch {
	case r.closed:
		return http.StatusServiceUnavailable, "the relay is ending"
	case len(t.clients) >= r.o.clients:
		return http.StatusTooManyRequests, fmt.Sprintf("%d clients are connected, the most that there may be", r.o.clients)
	}
	s := t.sessions[id]
	if c.kind == Page {
		if s == nil {
			if len(t.sessions) >= r.o.sessions {
				return http.StatusTooManyRequests, fmt.Sprintf("there are %d sessions, the most that there may be", r.o.sessions)
			}
			s = &session{id: id, agents: map[*client]bool{}, tools: json.RawMessage("[]"), pending: map[string]*pending{}}
			t.sessions[id] = s
		}
		if s.gone != nil {
			s.gone.Stop()
			s.gone = nil
		}
		if old := s.page; old != nil {
			old.fail(marshal(disconnects), btcp.ServerNumber(protocol.ErrSession), "another page has connected to this session")
			old.end()
		}
		s.page = c
	}
	t.clients[c.id] = c
	c.send(rpc{Method: "connected", Params: marshal(map[string]any{"clientId": c.id, "sessionId": id, "clientType": map[Role]string{Page: "browser", Agent: "agent"}[c.kind]})})
	r.o.Log.Info("connected", "tenant", who.Tenant, "session", name(id), "role", c.kind)
	return 0, ""
}

// disconnect removes a client.
func (r *Relay) disconnect(who Token, c *client, id string) {
	c.end()
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.tenants[who.Tenant]
	delete(t.clients, c.id)
	r.o.Log.Info("disconnected", "tenant", who.Tenant, "session", name(id), "role", c.kind)
	for _, s := range t.sessions {
		if c.kind == Agent {
			delete(s.agents, c)
			for id, p := range s.pending {
				if p.agent == c {
					s.give(id, func(*pending) {})
				}
			}
			continue
		}
		if s.page != c {
			continue
		}
		s.page = nil
		for a := range s.agents {
			a.send(rpc{Method: "browser/disconnected", Params: marshal(map[string]any{"sessionId": s.id})})
		}
		s.gone = time.AfterFunc(r.o.Grace, func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			if s.page == nil && t.sessions[s.id] == s {
				s.end(t, "the page did not come back")
			}
		})
	}
	if len(t.clients) == 0 && len(t.sessions) == 0 {
		delete(r.tenants, who.Tenant)
	}
}
