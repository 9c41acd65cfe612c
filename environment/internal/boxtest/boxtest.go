// Package boxtest has what the tests of bailey-box and of the packages below it share. It is for tests only.
package boxtest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Cached runs the tests of m with a folder of compiled programs that is empty at first, and removes it.
func Cached(m *testing.M) int {
	dir, err := os.MkdirTemp("", "bailey-cache-")
	if err == nil {
		err = os.Setenv("XDG_CACHE_HOME", dir)
	}
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	return m.Run()
}

// Program builds bailey-box into a folder that every user can enter. Call it from a package below internal.
func Program(dir string) (string, error) {
	box := filepath.Join(dir, "bailey-box")
	out, err := exec.Command("go", "build", "-o", box, "../../cmd/bailey-box").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, out)
	}
	return box, err
}

// Log is an output that is read while it is written.
type Log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write adds to the log.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// String returns all that was written.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Connect returns a session of MCP with a bailey-box that listens at a socket.
func Connect(ctx context.Context, socket, credential string) (*sdk.ClientSession, error) {
	return ConnectBy(ctx, &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}, credential)
}

// ConnectBy returns a session of MCP with a bailey-box that web reaches.
func ConnectBy(ctx context.Context, web http.RoundTripper, credential string) (*sdk.ClientSession, error) {
	return sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, &sdk.StreamableClientTransport{
		Endpoint: "http://bailey-box/mcp", HTTPClient: &http.Client{Transport: bearer{web, credential}}, MaxRetries: -1, DisableStandaloneSSE: true}, nil)
}

type bearer struct {
	next       http.RoundTripper
	credential string
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.credential)
	return b.next.RoundTrip(r)
}
