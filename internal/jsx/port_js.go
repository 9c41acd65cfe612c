package jsx

import (
	"context"
	"sync"
	"syscall/js"
)

// A Port is one end of a MessageChannel. A scope owns it.
type Port struct {
	v Value
	s *Scope

	mu     sync.Mutex
	closed bool
}

// A Message is a message that was received from a port.
type Message struct {
	// Data is a structured clone. It has no code of its own, and nothing else about it is certain.
	Data  Value
	event Value
}

// Ports returns the ports that were transferred with the message.
func (m Message) Ports() ([]Value, error) {
	list, err := Get(m.event, "ports")
	if err != nil || Nullish(list) {
		return nil, err
	}
	n, err := Length(list)
	if err != nil {
		return nil, err
	}
	ports := make([]Value, n)
	for i := range ports {
		if ports[i], err = Index(list, i); err != nil {
			return nil, err
		}
	}
	return ports, nil
}

// OnlyPort returns the port of a message event. ok is false if the event does not have exactly one.
func OnlyPort(event Value) (port Value, ok bool) {
	list, err := Message{event: event}.Ports()
	if err != nil || len(list) != 1 {
		return Value{}, false
	}
	return list[0], true
}

// Channel creates a MessageChannel. It returns the port to keep, and the other end to transfer.
func (s *Scope) Channel() (*Port, Value, error) {
	ch, err := NewGlobal("MessageChannel")
	if err != nil {
		return nil, Value{}, err
	}
	near, err := Get(ch, "port1")
	if err != nil {
		return nil, Value{}, err
	}
	far, err := Get(ch, "port2")
	if err != nil {
		return nil, Value{}, err
	}
	p, err := s.Port(near)
	return p, far, err
}

// Port returns a Port of a MessagePort that was received. The scope owns it.
func (s *Scope) Port(v Value) (*Port, error) {
	if !InstanceOf(v, "MessagePort") {
		return nil, withOp(wrongType("MessagePort", v), "take a port")
	}
	inner, err := s.Child()
	if err != nil {
		_, _ = Call(v, "close")
		return nil, err
	}
	p := &Port{v: v, s: inner}
	count := hold(Ports)
	// Added first, so it runs last, after the listeners are removed.
	_, err = inner.Add(func() {
		p.mu.Lock()
		p.closed = true
		p.mu.Unlock()
		drop(Ports, count)
		_, _ = Call(v, "close")
	})
	return p, err
}

var postMessage = sync.OnceValues(func() (Method, error) { return NewMethod("MessagePort.prototype.postMessage") })

// Post posts a value that [ToJS] accepts. The buffer of a []byte is transferred and not copied
// again. transfer lists other objects to transfer. A value that cannot be cloned gives
// [ErrDataClone], and a closed port [ErrClosed].
func (p *Port) Post(data any, transfer ...Value) error {
	if p.Closed() {
		return ErrClosed
	}
	post, err := postMessage()
	if err != nil {
		return err
	}
	v, list, err := message(data, transfer)
	if err != nil {
		return withOp(err, "post to a port")
	}
	if list == nil {
		_, err = post.Call(p.v, v)
	} else {
		_, err = post.Call(p.v, v, list)
	}
	return withOp(err, "post to a port")
}

// message returns the value and the transfer list for a postMessage. The list is nil, not empty, if
// there is nothing to transfer.
func message(data any, transfer []Value) (v any, list any, err error) {
	if v, err = arg(data); err != nil {
		return nil, nil, err
	}
	items := make([]any, 0, len(transfer)+1)
	if _, ok := data.([]byte); ok {
		buffer, err := invoke(prim().viewBuffer, v.(js.Value))
		if err != nil {
			return nil, nil, err
		}
		items = append(items, buffer)
	}
	for _, t := range transfer {
		items = append(items, raw(t))
	}
	if len(items) == 0 {
		return v, nil, nil
	}
	arr, err := invoke(prim().arrayOf, items...)
	return v, arr, err
}

// PostTo calls postMessage of a window, a worker or another object that has it. origin is the
// target origin of a window, and empty for other objects.
func PostTo(target Value, origin string, data any, transfer ...Value) error {
	v, list, err := message(data, transfer)
	if err == nil {
		args := []any{v}
		if origin != "" {
			args = append(args, origin)
		}
		if list != nil {
			args = append(args, list)
		}
		_, err = Call(target, "postMessage", args...)
	}
	return withOp(err, "post a message")
}

// OnMessage calls fn for each message from now on, and starts the port. fn must not block.
func (p *Port) OnMessage(fn func(Message)) error {
	_, err := p.s.Listen(p.v, "message", func(ev Value) {
		data, err := Get(ev, "data")
		if err != nil {
			p.s.onError(withOp(err, "read a message"))
			return
		}
		fn(Message{Data: data, event: ev})
	})
	if err != nil {
		return err
	}
	_, err = Call(p.v, "start")
	return err
}

// OnMessageError calls fn for each message that cannot be cloned here. fn must not block.
func (p *Port) OnMessageError(fn func()) error {
	_, err := p.s.Listen(p.v, "messageerror", func(Value) { fn() })
	return err
}

// Receive starts the port and returns a queue of its messages. The port's Close ends the queue. A
// message that cannot be cloned ends it too, with [ErrDataClone].
func (p *Port) Receive(opts QueueOptions[Message]) (*Queue[Message], error) {
	q, err := NewQueue(opts)
	if err != nil {
		return nil, err
	}
	if _, err := p.s.AddCloser(q); err != nil {
		return q, err
	}
	if err := p.OnMessageError(func() {
		q.Fail(&Error{Name: string(ErrDataClone), Op: "receive from a port", Message: "the message cannot be read here"})
	}); err != nil {
		return q, err
	}
	return q, p.OnMessage(func(m Message) {
		if q.Push(m) != nil && q.opts.Full == CloseFull {
			_ = p.Close() // a flood: stop listening to it
		}
	})
}

// Ask posts data with one end of a new channel, and returns the first message that comes back on
// it.
func (p *Port) Ask(ctx context.Context, data any, transfer ...Value) (Message, error) {
	reply, far, err := p.s.Channel()
	if err != nil {
		return Message{}, err
	}
	defer reply.Close()
	q, err := reply.Receive(QueueOptions[Message]{Max: 1})
	if err != nil {
		return Message{}, err
	}
	if err := p.Post(data, append(transfer[:len(transfer):len(transfer)], far)...); err != nil {
		return Message{}, err
	}
	return q.Recv(ctx)
}

// Value returns the MessagePort itself.
func (p *Port) Value() Value { return p.v }

// Closed reports whether Close was called.
func (p *Port) Closed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// Close removes the listeners and closes the port. Messages on their way are dropped. It is
// idempotent.
func (p *Port) Close() error { return p.s.Close() }
