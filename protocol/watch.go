package protocol

import (
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Watch is an optional watchdog over the calls of tools. Its rate, its names and
// its count of repetitions are limits. Its sequences are heuristics: they go by what
// tools are called and what arguments look like, find what honest code does too, and
// miss what somebody hides well. They are for asking a person in time, and no wall:
// capabilities and policies are. It is safe for several goroutines.
type Watch struct {
	mu      sync.Mutex
	o       WatchOptions
	allow   *regexp.Regexp
	deny    []*regexp.Regexp
	rate    *RateLimiter
	last    time.Time
	repeats map[string][]time.Time
	history []seen
	words   map[string]StepKind
}

// WatchOptions says what a watchdog looks for. The zero value has the limits of
// STRICT and the sequences of [DefaultSequences], and asks about those.
type WatchOptions struct {
	Now       func() time.Time // time.Now if nil
	Rate      int              // calls in any second; 100
	Repeats   int              // calls of one tool in RepeatsIn; 30
	RepeatsIn time.Duration    // 5 s

	// Allow is a regular expression (RE2) that the whole of a tool's name must match;
	// empty allows every name. Deny are ones that it must not.
	Allow string
	Deny  []string

	// Sequences are looked for within Window, which is 60 s. A call that is long
	// forgotten by then no longer counts; one that is not, does.
	Sequences []Sequence
	Window    time.Duration
	// OnSequence is what is decided about a call that ends a sequence: ask if empty.
	OnSequence Action
}

type seen struct {
	at   time.Time
	kind StepKind
}

// maxWatched is the most calls a window is remembered for. More than that can't be
// looked over, so the next one is denied.
const maxWatched = 20_000

// NewWatch makes a watchdog; a pattern that can't be read is an error.
func NewWatch(o WatchOptions) (*Watch, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	l := Strict.Limits()
	o.Rate = orDefault(o.Rate, l.Rate)
	o.Repeats = orDefault(o.Repeats, l.Repeats)
	o.RepeatsIn = orDefault(o.RepeatsIn, l.RepeatsIn)
	o.Window = orDefault(o.Window, time.Minute)
	if o.Sequences == nil {
		o.Sequences = DefaultSequences()
	}
	if o.OnSequence == "" {
		o.OnSequence = ActionAsk
	}
	if err := (Limits{Rate: o.Rate, Repeats: o.Repeats, RepeatsIn: o.RepeatsIn}).Validate(); err != nil {
		return nil, err
	}
	if o.Window < time.Second || o.Window > time.Hour || o.OnSequence != ActionAsk && o.OnSequence != ActionDeny {
		return nil, Errorf(ErrInvalidParams, "watch", "", "the window must be 1 s to 1 h, and a sequence is denied or asked about")
	}
	w := &Watch{o: o, repeats: map[string][]time.Time{}, words: stepWords()}
	var err error
	if w.rate, err = NewRateLimiter(o.Rate, time.Second, o.Now); err != nil {
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
		if err := s.validate(); err != nil {
			return nil, err
		}
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

// wholeName compiles a pattern for the whole of a name. An empty one would match
// nothing or everything, whichever the reader did not expect.
func wholeName(text string) (*regexp.Regexp, error) {
	if text == "" || len(text) > MaxPattern {
		return nil, Errorf(ErrInvalidParams, "watch", quote(text), "a pattern for names must have 1 to %d bytes", MaxPattern)
	}
	re, err := regexp.Compile(`^(?:` + text + `)$`)
	if err != nil {
		return nil, Errorf(ErrInvalidParams, "watch", quote(text), "this is not a regular expression in RE2's syntax")
	}
	return re, nil
}

// Check takes note of a call and decides about it. What it can't look over it
// denies.
func (w *Watch) Check(c WatchedCall) Decision {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := forward(w.o.Now(), &w.last)
	if err := ValidToolName(c.Tool); err != nil {
		return Deny(Public(err).Message)
	}
	if w.allow != nil && !w.allow.MatchString(c.Tool) {
		return Deny("the tool " + c.Tool + " is not among those that are allowed")
	}
	for _, re := range w.deny {
		if re.MatchString(c.Tool) {
			return Deny("the tool " + c.Tool + " is denied by its name")
		}
	}
	if err := w.rate.Allow(); err != nil {
		return Deny(Public(err).Message)
	}
	if n := w.repeated(c.Tool, now); n > w.o.Repeats {
		return Deny("the tool " + c.Tool + " was called more than " + strconv.Itoa(w.o.Repeats) + " times in " + w.o.RepeatsIn.String())
	}
	return w.sequence(c, now)
}

// repeated counts the calls of a tool in the window, with this one. Calls over the
// limit are not remembered: a steady flood stays denied by those that were.
func (w *Watch) repeated(tool string, now time.Time) int {
	times := w.repeats[tool]
	for len(times) > 0 && now.Sub(times[0]) >= w.o.RepeatsIn {
		times = times[1:]
	}
	n := len(times) + 1
	if n <= w.o.Repeats {
		times = append(times, now)
	}
	if _, known := w.repeats[tool]; !known && len(w.repeats) >= maxTools {
		for name, t := range w.repeats {
			if len(t) == 0 || now.Sub(t[len(t)-1]) >= w.o.RepeatsIn {
				delete(w.repeats, name)
			}
		}
		if len(w.repeats) >= maxTools {
			return w.o.Repeats + 1
		}
	}
	w.repeats[tool] = times
	return n
}

func (w *Watch) sequence(c WatchedCall, now time.Time) Decision {
	old := 0
	for old < len(w.history) && now.Sub(w.history[old].at) > w.o.Window {
		old++
	}
	w.history = slices.Delete(w.history, 0, old)
	if len(w.history) >= maxWatched {
		return Deny("there were more than " + strconv.Itoa(maxWatched) + " calls in " + w.o.Window.String() + ", too many to look over")
	}
	kind, whole := c.kinds(w.words)
	if !whole {
		return Deny("the arguments are too large to look over")
	}
	d := Allow()
	for _, s := range w.o.Sequences {
		if s.ends(w.history, kind) {
			d = d.Narrow(Decision{Action: w.o.OnSequence, Reason: s.Name + ": " + s.Reason})
		}
	}
	w.history = append(w.history, seen{now, kind})
	return d
}
