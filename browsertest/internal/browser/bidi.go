package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/coder/websocket"
)

// bidi is a connection by WebDriver BiDi. It has commands with results, and events.
type bidi struct {
	conn *websocket.Conn
	next atomic.Int64

	mu      sync.Mutex
	waiting map[int64]chan bidiMessage
	onEvent func(method string, params json.RawMessage)
	lost    chan struct{}
}

type bidiMessage struct {
	ID      int64           `json:"id"`
	Type    string          `json:"type"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   string          `json:"error"`
	Message string          `json:"message"`
}

func dialBiDi(ctx context.Context, url string, onEvent func(string, json.RawMessage)) (*bidi, error) {
	conn, _, err := websocket.Dial(ctx, url, nil)
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(256 << 20)
	b := &bidi{conn: conn, waiting: map[int64]chan bidiMessage{}, onEvent: onEvent, lost: make(chan struct{})}
	go b.read()
	return b, nil
}

func (b *bidi) read() {
	defer close(b.lost)
	for {
		_, data, err := b.conn.Read(context.Background())
		if err != nil {
			return
		}
		var m bidiMessage
		if json.Unmarshal(data, &m) != nil {
			continue
		}
		if m.Type == "event" {
			b.onEvent(m.Method, m.Params)
			continue
		}
		b.mu.Lock()
		ch := b.waiting[m.ID]
		delete(b.waiting, m.ID)
		b.mu.Unlock()
		if ch != nil {
			ch <- m
		}
	}
}

// call runs a command, and decodes its result unless result is nil. The error wraps ErrUnsupported
// if the browser has no such command.
func (b *bidi) call(ctx context.Context, method string, params, result any) error {
	if params == nil {
		params = struct{}{}
	}
	id := b.next.Add(1)
	data, err := json.Marshal(map[string]any{"id": id, "method": method, "params": params})
	if err != nil {
		return err
	}
	ch := make(chan bidiMessage, 1)
	b.mu.Lock()
	b.waiting[id] = ch
	b.mu.Unlock()
	if err := b.conn.Write(ctx, websocket.MessageText, data); err != nil {
		return fmt.Errorf("browser: %s: %w", method, err)
	}
	select {
	case m := <-ch:
		if m.Type == "error" {
			err := fmt.Errorf("browser: %s: %s: %s", method, m.Error, m.Message)
			if m.Error == "unsupported operation" || m.Error == "unknown command" {
				err = fmt.Errorf("%w: %w", err, ErrUnsupported)
			}
			return err
		}
		if result != nil {
			return json.Unmarshal(m.Result, result)
		}
		return nil
	case <-b.lost:
		return fmt.Errorf("browser: %s: the browser is gone", method)
	case <-ctx.Done():
		return fmt.Errorf("browser: %s: %w", method, ctx.Err())
	}
}

func (b *bidi) close() { b.conn.CloseNow() }
