package mcp_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/jsx/jsxtest"
	"github.com/bailey-go/bailey/mcp"
)

func TestMain(m *testing.M) { jsxtest.Main(m) }

// transports returns the ends of a MessageChannel.
func transports(t *testing.T) (near, there sdk.Transport) {
	t.Helper()
	a, b := channel(t)
	return mcp.Port(jsx.ToRaw(a)), mcp.Port(jsx.ToRaw(b))
}

func channel(t *testing.T) (a, b jsx.Value) {
	t.Helper()
	c, err := jsx.NewGlobal("MessageChannel")
	must(t, err)
	a, err = jsx.Get(c, "port1")
	must(t, err)
	b, err = jsx.Get(c, "port2")
	must(t, err)
	return a, b
}

// Invalid messages, values that are not text, and a closed port end the connection with an error.
func TestPortsThatSayWhatTheyShouldNot(t *testing.T) {
	for name, c := range map[string]struct {
		says any
		end  bool
	}{
		"no JSON":       {"{", false},
		"not a message": {`[1]`, false},
		"an object":     {map[string]any{"jsonrpc": "2.0", "method": "ping", "id": 1}, false},
		"closed":        {"", true},
	} {
		a, b := channel(t)
		conn, err := mcp.Port(jsx.ToRaw(b)).Connect(context.Background())
		must(t, err)
		_, err = jsx.Call(a, "postMessage", c.says)
		must(t, err)
		if m, err := conn.Read(context.Background()); err == nil || errors.Is(err, io.EOF) != c.end {
			t.Errorf("%s: %v %v", name, m, err)
		}
		must(t, conn.Close())
		must(t, conn.Close())
		if err := conn.Write(context.Background(), &jsonrpc.Request{Method: "ping"}); err == nil {
			t.Errorf("%s: written after Close", name)
		}
		_, err = jsx.Call(a, "close")
		must(t, err)
	}
}
