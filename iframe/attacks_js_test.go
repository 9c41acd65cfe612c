package iframe

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/testpage"
	"github.com/bailey-go/bailey/protocol"
)

// realmAttack is a row of testdata/attacks.json. An attack succeeds if its code returns or logs
// "ESCAPED", if it reaches SINK, or if it sends the broker a message of its own, which ends the
// run with SECURITY_VIOLATION.
type realmAttack struct {
	Group, Name, Code string
	First             string // code of another run before it
	Levels            string // the levels at which it is an attack, all if empty
	Expect            string // the result it must have, as on the wire
	Error             protocol.Code
	Alone             frame.Layer // the only layer that stops it: with the layer off it succeeds
	In                string      // the engines in which that layer is the only one, all if empty
	Flaky             string      // with that layer off it succeeds sometimes
}

// alone returns the layer without which the attack is sure to succeed in this engine. In other
// engines the browser itself stops it, except for an odd rounding of a clock in WebKit.
func (a realmAttack) alone() frame.Layer {
	if a.In == "" {
		return a.Alone
	}
	for engine := range strings.FieldsSeq(a.In) {
		if engine == testpage.Engine() {
			return a.Alone
		}
	}
	return ""
}

//go:embed testdata/attacks.json
var attacksJSON []byte

func attacks(t *testing.T) []realmAttack {
	t.Helper()
	var list []realmAttack
	if err := json.Unmarshal(attacksJSON, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func (a realmAttack) at(level protocol.Level) bool {
	if a.Levels == "" {
		return true
	}
	for l := range strings.FieldsSeq(a.Levels) {
		if l == level.String() {
			return true
		}
	}
	return false
}

// leaves reports whether a is an attack on the wrapper. Such attacks have no meaning where
// postMessage may be called from inside of it.
func (a realmAttack) leaves() bool { return a.Group == "leaving the function" }

type battle struct {
	pool *EnclavePool
	sink string

	mu   sync.Mutex
	late []string // tool calls of runs that had ended
}

func newBattle(t *testing.T, opts EnclaveOptions, sink string) *battle {
	b := &battle{sink: sink}
	probe := func(_ context.Context, args any) (any, error) {
		if m, ok := args.(map[string]any); ok && m["late"] == true {
			b.mu.Lock()
			b.late = append(b.late, wire(args))
			b.mu.Unlock()
		}
		return "probe", nil
	}
	opts.Tools = toolset(t, protocol.Tool{ID: "probe", Parameters: anything, Execute: probe}, protocol.Tool{ID: "s_probe", Server: "s", Parameters: anything, Execute: probe})
	opts.Limits = protocol.Limits{Time: time.Minute} // it ends only attacks without an end
	opts.Heartbeat = 5 * time.Second                 // a busy machine is no attack
	b.pool = pool(t, PoolOptions{Max: 4, Spare: 4, EnclaveOptions: opts})
	return b
}

// outcome is how an attack ended.
type outcome struct {
	escaped string // how it succeeded, or nothing
	said    string // the result or the error
	code    protocol.Code
}

func (b *battle) run(t *testing.T, a realmAttack) (o outcome) {
	code := strings.ReplaceAll(a.Code, "SINKURL", b.sink)
	opts := RunOptions{Context: map[string]any{"SINK": b.sink}}
	if a.Error == protocol.ErrTimeout {
		opts.Limits.Time = 2 * time.Second
	}
	if a.First != "" {
		if _, err := b.pool.Run(testContext(t), a.First, opts); err != nil && !errors.Is(err, protocol.ErrExecution) {
			return outcome{said: "the run before it: " + err.Error()}
		}
	}
	res, err := b.pool.Run(testContext(t), code, opts)
	if res == nil {
		return outcome{escaped: "no result", said: fmt.Sprint(err)}
	}
	o.said = wire(res.Value)
	if err != nil {
		o.said, o.code = err.Error(), res.Error.Code
	}
	for _, row := range res.Console {
		if strings.Contains(wire(row.Args), "ESCAPED") {
			o.escaped = "said so on the console"
		}
	}
	switch {
	case res.Value == "ESCAPED":
		o.escaped = "said so"
	case errors.Is(err, protocol.ErrSecurityViolation):
		o.escaped = "reached the broker"
	case errors.Is(err, protocol.ErrSandbox):
		o.escaped = "broke the sandbox"
	}
	if len(o.said) > 200 {
		o.said = o.said[:200] + "…"
	}
	return o
}

// each runs the attacks, several at once.
func (b *battle) each(t *testing.T, list []realmAttack, check func(a realmAttack, o outcome)) {
	t.Helper()
	var wg sync.WaitGroup
	slots := make(chan struct{}, 4)
	for _, a := range list {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			check(a, b.run(t, a))
		})
	}
	wg.Wait()
	if res, err := b.pool.Run(testContext(t), `return 1`, RunOptions{}); err != nil || res.Value != 1.0 {
		t.Errorf("after the attacks: %v", err)
	}
	if len(b.late) > 0 {
		t.Logf("calls that were made while their run went on: %q", b.late)
	}
}

func TestAttacks(t *testing.T) {
	count := attack.Start(t, "realm")
	count.NoSwitch("TestAttacksWithALayerOff holds the controls")
	all := attacks(t)
	sink := testpage.Sink(t)
	ran := 0
	type realm struct {
		level protocol.Level
		warm  bool
	}
	realms := []realm{{protocol.Strict, false}, {protocol.Permissive, true}}
	if !testing.Short() { // make soak
		realms = append(realms, realm{protocol.Secure, false}, realm{protocol.Standard, false}, realm{protocol.Permissive, false}, realm{protocol.Strict, true})
	}
	for _, c := range realms {
		level, name := c.level, c.level.String()
		if c.warm {
			name += ", warm"
		}
		var list []realmAttack
		for i, a := range all {
			if testing.Short() && c.warm && i%12 != 0 {
				continue // the table is in the order of its groups, so a part of each is left; make attack runs all of it
			}
			if a.at(level) {
				list = append(list, a)
			}
		}
		ran += len(list)
		t.Run(name, func(t *testing.T) {
			b := newBattle(t, EnclaveOptions{Level: level, Warm: c.warm}, sink.URL)
			b.each(t, list, func(a realmAttack, o outcome) {
				count.Try(fmt.Sprintf("%s: %s: %s; %s", a.Group, a.Name, o.escaped, o.said), o.escaped != "")
				if a.Expect != "" && o.said != a.Expect {
					t.Errorf("%s: %s: %s, want %s", a.Group, a.Name, o.said, a.Expect)
				}
				if a.Error != "" && o.code != a.Error {
					t.Errorf("%s: %s: %s, want %s", a.Group, a.Name, o.said, a.Error)
				}
				if a.Error != protocol.ErrTimeout && o.code == protocol.ErrTimeout {
					t.Errorf("%s: %s: did not end: %s", a.Group, a.Name, o.said)
				}
			})
			if st := b.pool.Stats(); st.Lost != 0 || st.Rebuilt != 0 {
				t.Errorf("%+v", st)
			}
		})
	}
	if traffic := sink.Quiet(time.Second); traffic.Total() != 0 {
		t.Errorf("%d things reached the sink: %+v", traffic.Total(), traffic)
	}
	t.Logf("%d attacks, %d runs, 0 may succeed", len(all), ran)
}

// With any single layer of the realm off, the other layers stop all attacks of the table,
// except rows that name it as the only layer. Those must then succeed, or the row is wrong.
func TestAttacksWithALayerOff(t *testing.T) {
	count := attack.Start(t, "realm")
	all := attacks(t)
	sink := testpage.Sink(t)
	for n, layer := range []frame.Layer{frame.LayerGlobals, frame.LayerPrototypes, frame.LayerGuards, frame.LayerTame, frame.LayerMemory} {
		t.Run(string(layer), func(t *testing.T) {
			for _, level := range []protocol.Level{protocol.Strict, protocol.Standard} {
				var list []realmAttack
				for i, a := range all {
					first := a.at(protocol.Strict) == (level == protocol.Strict)
					if testing.Short() && a.alone() != layer && (i+n)%40 != 0 {
						continue // make attack and make soak run all of them
					}
					if a.at(level) && first && !(layer == frame.LayerGlobals && a.leaves()) {
						list = append(list, a)
					}
				}
				b := newBattle(t, EnclaveOptions{Level: level, off: []frame.Layer{layer}}, sink.URL)
				b.each(t, list, func(a realmAttack, o outcome) {
					count.Off(a.Name, o.escaped != "")
					switch {
					case a.alone() == layer && o.escaped == "" && a.Flaky == "":
						t.Errorf("%s: %s: did not succeed with the layer off that is said to be alone: %s", a.Group, a.Name, o.said)
					case a.Alone != layer && o.escaped != "":
						t.Errorf("%s: %s: ESCAPED: %s; %s", a.Group, a.Name, o.escaped, o.said)
					}
				})
				b.pool.Close()
			}
		})
	}
	if traffic := sink.Quiet(time.Second); traffic.Total() != 0 {
		t.Errorf("%d things reached the sink: %+v", traffic.Total(), traffic)
	}
}

// The sink receives requests that a page may make. Otherwise its silence would mean nothing.
func TestAttackSinkHears(t *testing.T) {
	count := attack.Start(t, "realm")
	sink := testpage.Sink(t)
	element(t, "img", map[string]string{"src": sink.URL + "/control"})
	got := sink.Wait(1, time.Minute)
	count.Off("a page without an enclave", len(got.Requests) == 1)
	if len(got.Requests) != 1 {
		t.Errorf("%+v", got)
	}
}
