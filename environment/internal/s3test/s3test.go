// Package s3test is an S3-compatible server in the memory of a test.
package s3test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// Server is a server with an empty bucket.
type Server struct {
	Address string // of a folder in the bucket, for package sessions
	real    http.Handler

	mu     sync.Mutex
	before func(http.ResponseWriter, *http.Request, http.Handler)
}

// Start starts a server on loopback, and sets the credentials in the environment of the test.
func Start(t testing.TB) *Server {
	t.Helper()
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null"} {
		t.Setenv(name, value)
	}
	backend := s3mem.New()
	if err := backend.CreateBucket("bailey"); err != nil {
		t.Fatal(err)
	}
	s := &Server{real: gofakes3.New(backend).Server()}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.Address = "s3://bailey/a/b?region=us-east-1&endpoint=" + server.URL
	return s
}

// Between has do answer each request, with the real server as its last parameter. Nil is the real server alone.
func (s *Server) Between(do func(http.ResponseWriter, *http.Request, http.Handler)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = do
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	do := s.before
	s.mu.Unlock()
	if do == nil {
		s.real.ServeHTTP(w, r)
		return
	}
	do(w, r, s.real)
}
