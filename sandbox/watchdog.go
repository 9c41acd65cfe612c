package sandbox

import (
	"context"
	"time"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/internal/watch"
)

// WatchOptions are the options of the watchdog, which looks at the calls of a session and of its
// subagents together. The rate, the rules about names and the count of repetitions are limits. The
// sequences are heuristics: they use the names and the arguments of calls, match some honest code
// too, and miss a well hidden attack. Their purpose is to ask the user in time. They do not replace
// capabilities and policies.
type WatchOptions struct {
	Now       func() time.Time // the clock, [Options.Now] if nil
	Rate      int              // calls in any second, 1 to 100,000, 100 if 0
	Repeats   int              // calls of one tool within RepeatsIn, 1 to 100,000, 30 if 0
	RepeatsIn time.Duration    // 10 ms to 300 s, 5 s if 0
	// Allow is a regular expression (RE2) that the whole name of a tool must match. Empty allows
	// every name. Deny are expressions that it must not match. Each has at most 1,024 bytes.
	Allow string
	Deny  []string
	// Sequences are the sequences to detect. nil is the sequences of calls that exfiltrate, that use
	// a secret and then the network, that collect in bulk, and that delete after reading. An empty
	// list detects none.
	Sequences []Sequence
	// Window is how long a call counts towards a sequence. It must be 1 s to 1 h. The default is
	// 60 s.
	Window time.Duration
	// OnSequence is the decision about a call that ends a sequence: [protocol.ActionDeny] or
	// [protocol.ActionAsk], the default.
	OnSequence protocol.Action
}

// Sequence is a list of calls that are harmless one by one. Other calls may come between them. It has
// a name, a reason for the question to the user, and 2 to 8 steps. A step is a kind of call: list,
// access, credential, external, send, bulk or delete. A number from 1 to 20,000 before it, as in "20
// access", is the number of calls, 1 by default.
type Sequence struct {
	Name   string
	Reason string
	Steps  []string
}

// Authorize returns a watchdog for an enclave without a box, as [iframe.EnclaveOptions].Authorize:
//
//	opts.Authorize, err = sandbox.WatchOptions{Deny: []string{"admin:.*"}, Repeats: 10}.Authorize()
//
// It counts the calls of all runs of the enclave. Nobody can be asked there, so a call that would be asked about is
// refused, also one that ends a sequence. An option out of its range is [protocol.ErrInvalidParams].
//
// [iframe.EnclaveOptions]: https://pkg.go.dev/github.com/bailey-go/bailey/iframe#EnclaveOptions
func (o WatchOptions) Authorize() (func(ctx context.Context, tool *protocol.Tool, args any) error, error) {
	w, err := o.start(nil)
	if err != nil {
		return nil, err
	}
	return func(_ context.Context, tool *protocol.Tool, args any) error {
		c := watch.Call{Tool: tool.ID, Args: args}
		for _, g := range tool.Requires {
			if c.Capability == "" || g.Capability == protocol.NetFetch { // the end of most sequences
				c.Capability = g.Capability
			}
		}
		d := w.Check(c)
		if d.Action == protocol.ActionAllow {
			return nil
		}
		return protocol.Errorf(protocol.ErrCapabilityDenied, "call", tool.ID, "%s", d.Reason)
	}, nil
}

// start returns a watchdog with these options. now is the clock if the options have none.
func (o WatchOptions) start(now func() time.Time) (*watch.Watch, error) {
	w := watch.Options{
		Now: o.Now, Rate: o.Rate, Repeats: o.Repeats, RepeatsIn: o.RepeatsIn,
		Allow: o.Allow, Deny: o.Deny, Window: o.Window, OnSequence: o.OnSequence,
	}
	if w.Now == nil {
		w.Now = now
	}
	if o.Sequences != nil {
		w.Sequences = []watch.Sequence{}
	}
	for _, s := range o.Sequences {
		w.Sequences = append(w.Sequences, watch.Sequence(s))
	}
	return watch.New(w)
}
