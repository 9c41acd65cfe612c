//go:build !js

package mcp_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailey-go/bailey/internal/until"
)

// site is the SDK's server with the conditions that a page meets: CORS, restarts and expired
// sessions. A page selects one by POST /control?do=…, which accepts every origin.
type site struct {
	mu      sync.Mutex
	handler http.Handler // a new handler has no sessions
	web     *http.Server
	address string
	mode    string
	log     []string
	stuck   *stuckCall
}

func (s *site) fresh() {
	server, stuck := farServer()
	s.handler, s.stuck = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil), stuck
}

func (s *site) listen(t *testing.T) {
	t.Helper()
	address := s.address
	if address == "" {
		address = "127.0.0.1:0"
	}
	var l net.Listener
	var err error
	for range 5000 { // the earlier port may be busy for a moment
		if l, err = net.Listen("tcp", address); err == nil {
			break
		}
		until.Turn()
	}
	must(t, err)
	s.address = l.Addr().String()
	s.web = &http.Server{Handler: http.HandlerFunc(s.serve)}
	go func() { _ = s.web.Serve(l) }()
}

func (s *site) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	mode, handler := s.mode, s.handler
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<22))
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.log = append(s.log, fmt.Sprintf("%s session=%t cookie=%t", r.Method, r.Header.Get("Mcp-Session-Id") != "", r.Header.Get("Cookie") != ""))
	s.mu.Unlock()
	if mode != "no CORS" {
		w.Header().Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
		w.Header().Set("Access-Control-Allow-Headers", "content-type, accept, mcp-session-id, mcp-protocol-version")
		w.Header().Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
		w.Header().Set("Access-Control-Allow-Private-Network", "true")
		if mode != "no session header" {
			w.Header().Set("Access-Control-Expose-Headers", "Mcp-Session-Id")
		}
	}
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if bytes.Contains(body, []byte(`"tools/call"`)) && s.odd(w, r, mode) {
		return
	}
	handler.ServeHTTP(w, r)
}

// odd answers a call in ways that no correct server uses.
func (s *site) odd(w http.ResponseWriter, r *http.Request, mode string) bool {
	stream := func(text string) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, text)
		_ = http.NewResponseController(w).Flush()
	}
	switch mode {
	case "no JSON":
		stream("data: {\"jsonrpc\n\n")
	case "half an event":
		stream("event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":")
	case "cut":
		stream(": hello\n\n")
		panic(http.ErrAbortHandler) // the connection breaks in the middle
	case "html":
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<h1>Gateway</h1>")
	case "redirect":
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	case "slow":
		stream(": wait\n\n")
		<-r.Context().Done()
	default:
		return false
	}
	return true
}

func (s *site) control(t *testing.T) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Access-Control-Allow-Private-Network", "true")
		s.mu.Lock()
		defer s.mu.Unlock()
		switch do := r.URL.Query().Get("do"); do {
		case "forget":
			s.fresh()
		case "stop":
			_ = s.web.Close()
		case "start":
			s.fresh()
			s.listen(t)
		case "begun", "stopped":
			signal := s.stuck.begun
			if do == "stopped" {
				signal = s.stuck.stopped
			}
			s.mu.Unlock() // another request must be able to end the wait
			select {
			case <-signal:
				_, _ = io.WriteString(w, "yes")
			case <-r.Context().Done():
			}
			s.mu.Lock()
		case "log":
			_, _ = io.WriteString(w, strings.Join(s.log, "\n"))
			s.log = nil
		default:
			s.mode = do
		}
	}
}

// TestInBrowsers runs this package's tests for pages in Chromium, or in the engines in
// BROWSERTEST_ENGINES, with a server for them.
func TestInBrowsers(t *testing.T) {
	s := &site{}
	s.fresh()
	s.listen(t)
	t.Cleanup(func() { _ = s.web.Close() })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	control := &http.Server{Handler: s.control(t)}
	go func() { _ = control.Serve(l) }()
	t.Cleanup(func() { _ = control.Close() })

	runner := filepath.Join(t.TempDir(), "browsertest")
	build := exec.Command("go", "build", "-o", runner, "./cmd/browsertest")
	build.Dir = filepath.Join("..", "browsertest")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	names := os.Getenv("BROWSERTEST_ENGINES")
	switch names {
	case "":
		names = "chromium"
	case "all":
		names = "chromium,firefox,webkit"
	}
	for engine := range strings.SplitSeq(names, ",") {
		t.Run(engine, func(t *testing.T) {
			cmd := exec.Command("go", "test", "-trimpath", "-count=1", "-short", "-timeout", "4m", "-exec", runner, "-v", ".")
			cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "BROWSERTEST_ENGINE="+engine,
				"BAILEY_MCP_URL=http://"+s.address+"/mcp", "BAILEY_MCP_CONTROL=http://"+l.Addr().String()+"/")
			out, err := cmd.CombinedOutput()
			if err != nil || !bytes.Contains(out, []byte("--- PASS: TestClientInAPage")) {
				t.Errorf("%v\n%s", err, out)
			}
			t.Logf("%d tests", bytes.Count(out, []byte("\n--- PASS")))
		})
	}
}
