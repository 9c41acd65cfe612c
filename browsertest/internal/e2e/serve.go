package e2e

import (
	"mime"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
)

// Site is a folder, served on a port of 127.0.0.1.
type Site struct {
	// URL is the origin: http://127.0.0.1:PORT.
	URL string

	server *httptest.Server
	mu     sync.Mutex
	paths  []string
}

// Serve serves a folder. Each answer has the given headers, the right Content-Type, and
// Cache-Control: no-store.
func Serve(dir string, header map[string]string) *Site {
	return ServeHandler(http.FileServer(http.Dir(dir)), header)
}

// ServeHandler serves a handler like [Serve].
func ServeHandler(h http.Handler, header map[string]string) *Site {
	// The system's table may lack these types, or have wrong ones.
	types := map[string]string{".wasm": "application/wasm", ".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8"}
	s := &Site{}
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.paths = append(s.paths, r.URL.RequestURI())
		s.mu.Unlock()
		w.Header().Set("Cache-Control", "no-store")
		ext := filepath.Ext(r.URL.Path)
		if t := types[ext]; t != "" {
			w.Header().Set("Content-Type", t)
		} else if t := mime.TypeByExtension(ext); t != "" {
			w.Header().Set("Content-Type", t)
		}
		for k, v := range header {
			w.Header().Set(k, v)
		}
		h.ServeHTTP(w, r)
	}))
	s.URL = s.server.URL
	return s
}

// Paths returns the paths and queries of all requests, in order.
func (s *Site) Paths() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.paths...)
}

// Close ends the server and all its connections.
func (s *Site) Close() {
	s.server.CloseClientConnections()
	s.server.Close()
}
