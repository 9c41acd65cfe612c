package mcp

import (
	"context"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailey-go/bailey/internal/jsx"
)

// Limits of a port. They limit the messages that wait to be read. Beyond them the connection fails.
const (
	maxMessage = 16 << 20 // UTF-16 units of one message
	maxWaiting = 64 << 20 // UTF-8 bytes of all waiting messages
	maxQueued  = 1000     // number of waiting messages
)

// Port returns a transport over a MessagePort, for a client in this page: a frame, a worker or a
// script. Each message is one JSON-RPC message as a string. An empty string announces that the
// other side has closed, because ports have no event for that. The holder of the other end can make
// calls in the session, so pass it only to code that may. The transport owns the port from Connect
// on, and closes it.
func Port(port jsx.Raw) sdk.Transport { return portTransport{jsx.FromRaw(port)} }

type portTransport struct{ port jsx.Value }

func (t portTransport) Connect(context.Context) (sdk.Connection, error) {
	s := jsx.NewScope(jsx.ScopeOptions{})
	port, err := s.Port(t.port)
	if err != nil {
		return nil, err
	}
	in, err := jsx.NewQueue(jsx.QueueOptions[string]{Max: maxQueued, MaxWeight: maxWaiting, Weigh: func(s string) int { return len(s) }, Full: jsx.CloseFull})
	if err != nil {
		return nil, err
	}
	if _, err := s.AddCloser(in); err != nil {
		return nil, err
	}
	err = port.OnMessage(func(m jsx.Message) {
		text, err := jsx.String(m.Data, maxMessage)
		switch {
		case err != nil:
			in.Fail(err)
		case text == "":
			in.Fail(io.EOF)
		default:
			_ = in.Push(text) // beyond the limits, Push fails the queue
		}
	})
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return &portConn{s, port, in}, nil
}

type portConn struct {
	scope *jsx.Scope
	port  *jsx.Port
	in    *jsx.Queue[string]
}

func (c *portConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	text, err := c.in.Recv(ctx)
	switch {
	case err == nil:
		return jsonrpc.DecodeMessage([]byte(text))
	case c.scope.Closed():
		return nil, io.EOF
	}
	return nil, err
}

func (c *portConn) Write(_ context.Context, m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	return c.port.Post(string(data))
}

func (c *portConn) Close() error {
	if !c.scope.Closed() {
		_ = c.port.Post("")
	}
	return c.scope.Close()
}

func (c *portConn) SessionID() string { return "" }
