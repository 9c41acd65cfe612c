// Package watch checks the calls of tools: their rate, their names, repetitions and suspicious
// sequences.
package watch

import (
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/bailey-go/bailey/internal/rate"
	"github.com/bailey-go/bailey/internal/strictjson"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// Watch is an optional check of tool calls. Its rate limit, its rules about names and its count of
// repetitions are limits. Its sequences are heuristics: they use the names and the arguments of
// calls, match some honest code too, and miss a well hidden attack. Their purpose is to ask the
// user in time. They do not replace capabilities and policies. A Watch is safe for concurrent use.
type Watch struct {
	mu      sync.Mutex
	o       Options
	allow   *regexp.Regexp
	deny    []*regexp.Regexp
	rate    *rate.Limiter
	last    time.Time
	repeats map[string][]time.Time
	history []seen
	words   map[string]kinds
	look    []sequence // the parsed Sequences
}

// Options are the options of a [Watch]. The zero value has the limits of [protocol.Strict] and the
// sequences of [Defaults], and asks the user about those.
type Options struct {
	Now       func() time.Time // the clock, time.Now if nil
	Rate      int              // calls in any second, 100 if 0
	Repeats   int              // calls of one tool within RepeatsIn, 30 if 0
	RepeatsIn time.Duration    // 5 s if 0

	// Allow is a regular expression (RE2) that the whole name of a tool must match. Empty allows
	// every name. Deny are expressions that it must not match.
	Allow string
	Deny  []string

	// Sequences are the sequences to detect, by default [Defaults]. Window is how long a
	// call counts towards a sequence. It must be 1 s to 1 h. The default is 60 s.
	Sequences []Sequence
	Window    time.Duration
	// OnSequence is the decision about a call that ends a sequence: [protocol.ActionDeny] or [protocol.ActionAsk],
	// the default.
	OnSequence protocol.Action
}

type seen struct {
	at   time.Time
	kind kinds
}

// maxWatched is the maximum number of calls in a window. The next call is denied, because more
// calls take too long to check.
const maxWatched = 20_000

const (
	maxExpression = 1024   // bytes of an expression for names
	maxNames      = 10_000 // names of tools whose calls are counted
)

// New returns a watch. An option out of its range, or an expression that cannot be parsed,
// gives [protocol.ErrInvalidParams].
func New(o Options) (*Watch, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	l := protocol.Strict.Limits()
	o.Rate = orDefault(o.Rate, l.Rate)
	o.Repeats = orDefault(o.Repeats, l.Repeats)
	o.RepeatsIn = orDefault(o.RepeatsIn, l.RepeatsIn)
	o.Window = orDefault(o.Window, time.Minute)
	if o.Sequences == nil {
		o.Sequences = Defaults()
	}
	if o.OnSequence == "" {
		o.OnSequence = protocol.ActionAsk
	}
	if err := (protocol.Limits{Rate: o.Rate, Repeats: o.Repeats, RepeatsIn: o.RepeatsIn}).Validate(); err != nil {
		return nil, err
	}
	if o.Window < time.Second || o.Window > time.Hour || o.OnSequence != protocol.ActionAsk && o.OnSequence != protocol.ActionDeny {
		return nil, protocol.Errorf(protocol.ErrInvalidParams, "watch", "", "the window must be 1 s to 1 h, and a sequence is denied or asked about")
	}
	w := &Watch{o: o, repeats: map[string][]time.Time{}, words: stepWords()}
	var err error
	if w.rate, err = rate.New(o.Rate, time.Second, o.Now); err != nil {
		return nil, err
	}
	if o.Allow != "" {
		if w.allow, err = wholeName(o.Allow); err != nil {
			return nil, err
		}
	}
	for _, text := range o.Deny {
		re, err := wholeName(text)
		if err != nil {
			return nil, err
		}
		w.deny = append(w.deny, re)
	}
	for _, s := range o.Sequences {
		parsed, err := s.parse()
		if err != nil {
			return nil, err
		}
		w.look = append(w.look, parsed)
	}
	return w, nil
}

func orDefault[T comparable](v, standard T) T {
	var zero T
	if v == zero {
		return standard
	}
	return v
}

// wholeName compiles an expression for the whole of a name. An empty text is an error, because it
// is not clear whether it should match every name or none.
func wholeName(text string) (*regexp.Regexp, error) {
	if text == "" || len(text) > maxExpression {
		return nil, protocol.Errorf(protocol.ErrInvalidParams, "watch", strictjson.Quote(text), "a pattern for names must have 1 to %d bytes", maxExpression)
	}
	re, err := regexp.Compile(`^(?:` + text + `)$`)
	if err != nil {
		return nil, protocol.Errorf(protocol.ErrInvalidParams, "watch", strictjson.Quote(text), "this is not a regular expression in RE2's syntax")
	}
	return re, nil
}

// Check records a call and returns the decision about it: allow, ask or deny. A call that it cannot
// check completely is denied.
func (w *Watch) Check(c Call) policy.Decision {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := rate.Forward(w.o.Now(), &w.last)
	if err := protocol.ValidToolName(c.Tool); err != nil {
		return Denied(protocol.Public(err).Message)
	}
	if w.allow != nil && !w.allow.MatchString(c.Tool) {
		return Denied("the tool " + c.Tool + " is not among those that are allowed")
	}
	for _, re := range w.deny {
		if re.MatchString(c.Tool) {
			return Denied("the tool " + c.Tool + " is denied by its name")
		}
	}
	if err := w.rate.Allow(); err != nil {
		return Denied(protocol.Public(err).Message)
	}
	if n := w.repeated(c.Tool, now); n > w.o.Repeats {
		return Denied("the tool " + c.Tool + " was called more than " + strconv.Itoa(w.o.Repeats) + " times in " + w.o.RepeatsIn.String())
	}
	return w.sequence(c, now)
}

// repeated returns the number of calls of a tool in the window, with this one. It does not store calls
// over the limit: in a steady flood, the stored calls are enough to deny the others.
func (w *Watch) repeated(tool string, now time.Time) int {
	times := w.repeats[tool]
	for len(times) > 0 && now.Sub(times[0]) >= w.o.RepeatsIn {
		times = times[1:]
	}
	n := len(times) + 1
	if n <= w.o.Repeats {
		times = append(times, now)
	}
	if _, known := w.repeats[tool]; !known && len(w.repeats) >= maxNames {
		for name, t := range w.repeats {
			if len(t) == 0 || now.Sub(t[len(t)-1]) >= w.o.RepeatsIn {
				delete(w.repeats, name)
			}
		}
		if len(w.repeats) >= maxNames {
			return w.o.Repeats + 1
		}
	}
	w.repeats[tool] = times
	return n
}

func (w *Watch) sequence(c Call, now time.Time) policy.Decision {
	old := 0
	for old < len(w.history) && now.Sub(w.history[old].at) > w.o.Window {
		old++
	}
	w.history = slices.Delete(w.history, 0, old)
	if len(w.history) >= maxWatched {
		return Denied("there were more than " + strconv.Itoa(maxWatched) + " calls in " + w.o.Window.String() + ", too many to look over")
	}
	kind, whole := c.look(w.words)
	if !whole {
		return Denied("the arguments are too large to look over")
	}
	d := policy.Decision{Action: protocol.ActionAllow}
	for _, s := range w.look {
		if s.ends(w.history, kind) {
			d = d.Narrow(policy.Decision{Action: w.o.OnSequence, Reason: s.Name + ": " + s.Reason})
		}
	}
	w.history = append(w.history, seen{now, kind})
	return d
}

// Denied returns the decision that refuses a call. The model receives the reason.
func Denied(reason string) policy.Decision {
	return policy.Decision{Action: protocol.ActionDeny, Reason: reason}
}
