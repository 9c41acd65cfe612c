//go:build js && wasm

package main

import (
	"context"
	"fmt"
	"syscall/js"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// boxes adds the functions for the sandbox.* benches. Times are in milliseconds.
func boxes(all js.Value) {
	ctx := context.Background()
	api := js.Global().Get("Object").New()
	all.Set("sandbox", api)
	trivial := sandbox.Tool{
		Tool: protocol.Tool{ID: "trivial", Requires: []protocol.Grant{{Capability: protocol.FSRead}},
			Parameters: `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`},
		Needs: func(context.Context, *sandbox.Call) ([]policy.Need, error) {
			return []policy.Need{{Capability: protocol.FSRead, Subject: "a/b.txt"}}, nil
		},
		Run: func(context.Context, *sandbox.Call) (any, error) { return map[string]any{"done": true}, nil },
	}
	// stuck ignores every stop.
	inside := make(chan struct{}, 1)
	stuck := sandbox.Tool{Tool: protocol.Tool{ID: "stuck", Parameters: `{"type":"object"}`}, Run: func(context.Context, *sandbox.Call) (any, error) {
		inside <- struct{}{}
		time.Sleep(time.Minute)
		return nil, nil
	}}
	box := func(store sandbox.Store) (*sandbox.Box, error) {
		p, err := policy.Parse(`{"capabilities": {"fs.read": ["."], "fs.write": ["."]}, "rules": [{"permission": "*", "action": "allow"}]}`, policy.Options{})
		if err != nil {
			return nil, err
		}
		return sandbox.New(sandbox.Options{FS: fsaccess.NewMemory(fsaccess.MemoryOptions{}), Policy: p, Sessions: store, Tools: append(sandbox.Standard(), trivial, stuck),
			Watch: &sandbox.WatchOptions{Rate: 100_000, Repeats: 100_000}})
	}
	arguments := map[string]any{"path": "a/b.txt"}
	// calls(n) returns the mean time of n calls through a new box, and bare(n) that of the tool
	// itself.
	var b *sandbox.Box
	api.Set("calls", promise(func(args []js.Value) (any, error) {
		var err error
		if b, err = box(nil); err != nil {
			return nil, err
		}
		for range 100 {
			b.Call(ctx, "trivial", arguments)
		}
		start := time.Now()
		for range args[0].Int() {
			if res := b.Call(ctx, "trivial", arguments); res.Err() != nil {
				return nil, fmt.Errorf("%s", res.ErrorText)
			}
		}
		return ms(start) / float64(args[0].Int()), nil
	}))
	api.Set("bare", promise(func(args []js.Value) (any, error) {
		start := time.Now()
		for range args[0].Int() {
			if _, err := trivial.Run(ctx, &sandbox.Call{Args: arguments}); err != nil {
				return nil, err
			}
		}
		return ms(start) / float64(args[0].Int()), nil
	}))
	const database, session = "bench-sandbox", "ses-bench"
	// fillSession(n) stores n messages in IndexedDB, each with a part.
	api.Set("fillSession", promise(func(args []js.Value) (any, error) {
		store, err := sandbox.IndexedStore(ctx, database)
		if err != nil {
			return nil, err
		}
		now := time.Unix(1, 0).UTC()
		rec := sandbox.SessionRecord{ID: session, Agent: "main", CreatedAt: now, UpdatedAt: now}
		var list []sandbox.MessageRecord
		var parts []sandbox.PartRecord
		for i := range args[0].Int() {
			m := sandbox.MessageRecord{ID: fmt.Sprint("m", i), SessionID: session, Role: sandbox.RoleUser, CreatedAt: now, UpdatedAt: now}
			list = append(list, m)
			parts = append(parts, sandbox.PartRecord{ID: fmt.Sprint("p", i), MessageID: m.ID, SessionID: session, Type: "text",
				Data: map[string]any{"text": "a line of what somebody said, as long as lines are"}, CreatedAt: now, UpdatedAt: now})
		}
		return nil, store.Put(ctx, rec, list, parts)
	}))
	// openSession(n) opens them with a new store and a new box, and returns the time until they are
	// loaded.
	api.Set("openSession", promise(func(args []js.Value) (any, error) {
		start := time.Now()
		store, err := sandbox.IndexedStore(ctx, database)
		if err != nil {
			return nil, err
		}
		b, err := box(store)
		if err != nil {
			return nil, err
		}
		s, err := b.OpenSession(ctx, session)
		if err != nil {
			return nil, err
		}
		defer s.Close()
		if n := len(s.Messages()); n != args[0].Int() {
			return nil, fmt.Errorf("%d messages", n)
		}
		return ms(start), nil
	}))
	// stop() returns the time from a session's interrupt to the end of its run, while the tool
	// continues. By then the run has yielded everything and is stored.
	api.Set("stop", promise(func([]js.Value) (any, error) {
		b, err := box(nil)
		if err != nil {
			return nil, err
		}
		s, err := b.NewSession(ctx, sandbox.SessionOptions{})
		if err != nil {
			return nil, err
		}
		defer s.Close()
		if _, err := s.Say(ctx, "go"); err != nil {
			return nil, err
		}
		var start time.Time
		go func() {
			<-inside
			start = time.Now()
			s.Interrupt("enough")
		}()
		model := &sandboxtest.Model{OnDevice: true, Turns: []sandboxtest.Turn{sandboxtest.CallTool("stuck", map[string]any{})}}
		last := ""
		for c, err := range b.Run(ctx, s, model, sandbox.RunOptions{}) {
			if err != nil {
				return nil, err
			}
			last = string(c.Type)
		}
		if start.IsZero() || last != "abort" {
			return nil, fmt.Errorf("the run ended with %q", last)
		}
		return ms(start), nil
	}))
}
