package mcp

import (
	"context"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailey-go/bailey/internal/jsx"
)

// Limits of a port: what waits to be read. Who sends more is not listened to any more.
const (
	maxMessage = 16 << 20 // UTF-16 units of one message
	maxWaiting = 64 << 20 // of all that wait
	maxQueued  = 1000
)

// Port is a transport over a MessagePort, for whoever is in this page: a frame, a
// worker, a script. Each message is one message of JSON-RPC as text (a string), and the
// empty text says that the other side has closed, as ports themselves tell nobody. Who
// holds the other end is the one that calls: give it to no one that the session is not
// for. The port is the transport's from Connect on, and is closed with it.
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
			_ = in.Push(text) // a flood fails the queue
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
