//go:build js && wasm

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/uistream"
	"github.com/bailey-go/bailey/wasm_exec/prebuilt/internal/page"
)

// maxUnread is the number of chunks that a run makes ahead of the page. Then it waits.
const maxUnread = 1000

// theSession is an open session.
type theSession struct {
	t     *theBox
	s     *sandbox.Session
	scope *jsx.Scope

	mu     sync.Mutex
	answer *answer // that streams, or nil
}

// adopt returns the object of a session.
func (t *theBox) adopt(s *sandbox.Session) (any, error) {
	scope, err := t.scope.Child()
	if err != nil {
		s.Close()
		return nil, errClosed
	}
	one := &theSession{t: t, s: s, scope: scope}
	object, err := t.api.Object(scope, naming(one.methods()))
	if err == nil {
		err = jsx.Set(object, "id", s.ID())
	}
	if err != nil {
		s.Close()
		return nil, errors.Join(err, scope.Close())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sessions[s.ID()] = one
	return object, nil
}

func (o *theSession) methods() map[string]page.Method {
	s := o.s
	one := func(what string, do func(ctx context.Context, text string) (any, error)) page.Method {
		return page.Method{Run: func(ctx context.Context, args []jsx.Value) (any, error) {
			text, err := page.Text(args, 0, what)
			if err != nil {
				return nil, err
			}
			return do(ctx, text)
		}}
	}
	return map[string]page.Method{
		"send":     {Run: o.send},
		"messages": {Run: o.messages},
		"steer": {Run: func(ctx context.Context, args []jsx.Value) (any, error) {
			text, files, none, err := message(args, "steer(message)")
			if err == nil && none {
				err = errors.New("steer(message): message is missing")
			}
			if err != nil {
				return nil, err
			}
			return nil, s.Steer(ctx, text, files...)
		}},
		"stop": {Run: func(_ context.Context, args []jsx.Value) (any, error) {
			why, err := reason(args)
			if err == nil {
				s.Interrupt(why)
			}
			return nil, err
		}},
		"stopCall": one("stopCall(toolCallId): toolCallId", func(_ context.Context, id string) (any, error) { return s.StopCall(id, "the user stopped it"), nil }),
		"rewind": {Run: func(ctx context.Context, args []jsx.Value) (any, error) {
			id, err := page.Text(args, 0, "rewind(message, options): message")
			files := false
			if err == nil && len(args) > 1 && !jsx.Nullish(args[1]) {
				err = page.Each(args[1], "rewind(message, options)", func(key string, value jsx.Value) (err error) {
					if key != "files" {
						return page.ErrNoOption
					}
					files, err = jsx.Bool(value)
					return err
				})
			}
			if err != nil {
				return nil, err
			}
			return nil, s.Rewind(ctx, id, files)
		}},
		"fork": {Run: func(ctx context.Context, args []jsx.Value) (any, error) {
			id := ""
			if len(args) > 0 && !jsx.Nullish(args[0]) {
				var err error
				if id, err = page.Text(args, 0, "fork(message): message"); err != nil {
					return nil, err
				}
			}
			other, err := s.Fork(ctx, id)
			if err != nil {
				return nil, err
			}
			return o.t.adopt(other)
		}},
		"rename": one("rename(title): title", func(ctx context.Context, title string) (any, error) { return nil, s.Rename(ctx, title) }),
		"compact": {Run: func(ctx context.Context, _ []jsx.Value) (any, error) {
			return o.t.box.Compact(ctx, s, o.t.model, sandbox.RunOptions{})
		}},
		"forget": {Run: func(context.Context, []jsx.Value) (any, error) { s.Forget(); return nil, nil }},
		"info":   {Run: func(context.Context, []jsx.Value) (any, error) { return record(s.Record()), nil }},
		"todos": {Run: func(context.Context, []jsx.Value) (any, error) {
			list := []any{}
			for _, t := range s.Todos() {
				list = append(list, map[string]any{"content": t.Content, "status": t.Status, "priority": t.Priority})
			}
			return list, nil
		}},
		"export": {Run: func(context.Context, []jsx.Value) (any, error) {
			var b strings.Builder
			err := s.Export(&b)
			return b.String(), err
		}},
		"close": {Run: func(context.Context, []jsx.Value) (any, error) { o.close(); return nil, nil }},
	}
}

func (o *theSession) close() {
	o.t.mu.Lock()
	delete(o.t.sessions, o.s.ID())
	o.t.mu.Unlock()
	o.mu.Lock()
	a := o.answer
	o.mu.Unlock()
	if a != nil {
		a.end("the session is closed")
	}
	o.s.Close()
	_ = o.scope.Close()
}

// messages implements messages().
func (o *theSession) messages(ctx context.Context, _ []jsx.Value) (any, error) {
	list, err := o.s.History(ctx)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(messages(list, func(p sandbox.PartRecord) []sandbox.File {
		files, err := o.s.Files(ctx, p)
		if err != nil {
			return nil
		}
		return files
	}))
	if err != nil {
		return nil, err
	}
	return parsed(string(text))
}

// message reads a Message of agent.d.mts: a text, or an object with a text and files. none reports that there is none.
func message(args []jsx.Value, what string) (text string, files []sandbox.File, none bool, err error) {
	if len(args) == 0 || jsx.Nullish(args[0]) {
		return "", nil, true, nil
	}
	if jsx.TypeOf(args[0]) == "string" {
		text, err = page.Text(args, 0, what+": message")
		return text, nil, false, err
	}
	err = page.Each(args[0], what, func(key string, value jsx.Value) (err error) {
		switch key {
		case "text":
			text, err = jsx.String(value, 64<<20)
		case "files":
			n, err := jsx.Length(value)
			if err != nil || !jsx.IsArray(value) {
				return errors.New("must be a list")
			}
			for i := range min(n, 100) { // the session refuses more than ten
				item, err := jsx.Index(value, i)
				if err != nil {
					return err
				}
				f, err := file(item)
				if err != nil {
					return err
				}
				files = append(files, f)
			}
		default:
			err = page.ErrNoOption
		}
		return err
	})
	return text, files, false, err
}

// answer is one run, whose chunks the page takes.
type answer struct {
	chunks chan string   // as JSON
	done   chan struct{} // closed after err is set
	err    error
	end    func(why string) // stops the run
}

// sendOptions are the SendOptions of agent.d.mts.
type sendOptions struct {
	signal  jsx.Value
	version int
	model   sandbox.Model
	run     sandbox.RunOptions
}

func (o *theSession) sendOptions(args []jsx.Value) (sendOptions, error) {
	so := sendOptions{version: 7, model: o.t.model}
	if len(args) < 2 || jsx.Nullish(args[1]) {
		return so, nil
	}
	return so, page.Each(args[1], "send(message, options)", func(key string, value jsx.Value) (err error) {
		var n int
		switch key {
		case "signal":
			so.signal = value
			if !jsx.InstanceOf(value, "AbortSignal") {
				err = errors.New("must be an AbortSignal")
			}
		case "version":
			if so.version, err = jsx.Int(value); err == nil && so.version != 6 && so.version != 7 {
				err = errors.New("must be 6 or 7, a major version of AI SDK")
			}
		case "model":
			so.model, err = modelOf(value)
		case "steps":
			so.run.Steps, err = positive(value)
		case "tokens":
			n, err = positive(value)
			so.run.Tokens = int64(n)
		case "time":
			so.run.Time, err = page.Milliseconds(value)
		case "maxTokens":
			so.run.MaxTokens, err = positive(value)
		case "retries":
			if so.run.Retries, err = jsx.Int(value); so.run.Retries == 0 {
				so.run.Retries = -1
			}
		case "agents":
			so.run.Agents, err = positive(value)
		case "progress":
			so.run.Progress, err = page.Milliseconds(value)
		default:
			err = page.ErrNoOption
		}
		return err
	})
}

// errBusy is the error of a message during an answer.
var errBusy = protocol.Errorf(protocol.ErrSession, "send", "", "an answer is under way in this session; use steer(), or wait for stop()")

// send implements send(message, options). It stores the message, starts the run, and returns an object with next, end and the id of the message.
func (o *theSession) send(ctx context.Context, args []jsx.Value) (any, error) {
	text, files, none, err := message(args, "send(message)")
	if err != nil {
		return nil, err
	}
	so, err := o.sendOptions(args)
	if err != nil {
		return nil, err
	}
	scope, err := o.scope.Child()
	if err != nil {
		return nil, errClosed
	}
	aborted, release, err := jsx.WithSignal(scope.Context(), scope, so.signal)
	if err != nil {
		return nil, errors.Join(err, scope.Close())
	}
	if aborted.Err() != nil { // before anything is stored
		release()
		return nil, errors.Join(&jsx.Error{Name: "AbortError", Message: "send(message, options): the signal is aborted"}, scope.Close())
	}
	run, cancel := context.WithCancelCause(context.WithoutCancel(ctx)) // the promise of send settles before the run ends
	a := &answer{chunks: make(chan string, maxUnread), done: make(chan struct{}), end: func(why string) {
		cancel(protocol.Errorf(protocol.ErrAborted, "run", "", "%s", why))
	}}
	over := func() {
		o.mu.Lock()
		o.answer = nil
		o.mu.Unlock()
		release()
		cancel(nil)
	}
	o.mu.Lock()
	busy := o.answer != nil
	if !busy {
		o.answer = a
	}
	o.mu.Unlock()
	if busy {
		release()
		return nil, errors.Join(errBusy, scope.Close())
	}
	id := ""
	if !none {
		if id, err = o.s.Say(ctx, text, files...); err != nil {
			over()
			return nil, errors.Join(err, scope.Close())
		}
	}
	unlisten := context.AfterFunc(aborted, func() { a.end("the page aborted it") })
	go func() {
		err := o.stream(run, a, so)
		unlisten()
		over()
		a.err = err
		close(a.done)
		close(a.chunks)
	}()
	object, err := o.t.api.Object(scope, naming(map[string]page.Method{
		"next": {Run: func(ctx context.Context, _ []jsx.Value) (any, error) { return a.next(ctx) }},
		"end": {Run: func(ctx context.Context, _ []jsx.Value) (any, error) {
			a.end("the page has stopped reading")
			<-a.done
			return nil, scope.Close()
		}},
	}))
	if err == nil {
		err = jsx.Set(object, "message", id)
	}
	if err != nil {
		a.end(err.Error())
		return nil, err
	}
	return object, nil
}

// stream makes the run, and returns its error.
func (o *theSession) stream(ctx context.Context, a *answer, so sendOptions) error {
	var b bytes.Buffer
	w, err := uistream.NewWriter(&b, so.version)
	if err != nil {
		return err
	}
	for c, err := range o.t.box.Run(ctx, o.s, so.model, so.run) {
		if err != nil {
			return err
		}
		b.Reset()
		if err := w.Write(c); err != nil {
			return err
		}
		for line := range strings.Lines(b.String()) {
			data, ok := strings.CutPrefix(line, "data: ")
			if !ok {
				continue
			}
			select {
			case a.chunks <- data:
				continue
			default:
			}
			select {
			case a.chunks <- data:
			case <-ctx.Done(): // a page that has stopped reading holds up no run that is stopped
				return nil
			}
		}
	}
	return nil
}

// next returns the chunks that are there, at least one, as a list. It returns null at the end, and the run's error once.
func (a *answer) next(ctx context.Context) (any, error) {
	var b strings.Builder
	select {
	case c, ok := <-a.chunks:
		if !ok {
			err := a.err
			a.err = nil
			return jsx.Null(), err
		}
		fmt.Fprint(&b, "[", c)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	for {
		select {
		case c, ok := <-a.chunks:
			if !ok {
				return parsed(b.String() + "]")
			}
			b.WriteString("," + c)
			continue
		default:
		}
		return parsed(b.String() + "]")
	}
}
