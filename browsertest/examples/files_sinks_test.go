package examples

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// sinks record everything that reaches them over HTTP, TCP and UDP on one port of loopback. Lookups
// of names are in the browser's own log.
type sinks struct {
	host, port string
	mu         sync.Mutex
	heard      []string // paths, "tcp" for a connection, "udp" for a datagram
}

func listenAll(t *testing.T) *sinks {
	t.Helper()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	s := &sinks{}
	s.host, s.port, err = net.SplitHostPort(tcp.Addr().String())
	must(t, err)
	udp, err := net.ListenPacket("udp", tcp.Addr().String())
	must(t, err)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.add(r.URL.Path)
		w.Header().Set("Access-Control-Allow-Origin", "*")
	}), ConnState: func(_ net.Conn, c http.ConnState) {
		if c == http.StateNew {
			s.add("tcp")
		}
	}}
	go server.Serve(tcp)
	go func() {
		b := make([]byte, 1500)
		for {
			if _, _, err := udp.ReadFrom(b); err != nil {
				return
			}
			s.add("udp")
		}
	}()
	t.Cleanup(func() { server.Close(); udp.Close() })
	return s
}

func (s *sinks) add(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = append(s.heard, what)
}

// take returns the records since its last call.
func (s *sinks) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.heard
	s.heard = nil
	return list
}

// ids returns the first parts of the requested paths.
func ids(heard []string) map[string]bool {
	found := map[string]bool{}
	for _, h := range heard {
		if id, ok := strings.CutPrefix(h, "/"); ok {
			id, _, _ = strings.Cut(id, "/")
			id, _, _ = strings.Cut(id, ".")
			if id, err := url.PathUnescape(id); err == nil {
				found[id] = true
			}
		}
	}
	return found
}

// bare serves a page without any defence, and returns its address.
func bare(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte("<!doctype html><body>"))
	}))
	t.Cleanup(s.Close)
	return s.URL
}
