package quickjs

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/protocol"
)

// realmAttack is a row of iframe/testdata/attacks.json. See there.
type realmAttack struct {
	Group, Name, Code, First, Levels, Expect string
	Error                                    protocol.Code
	Alone                                    frame.Layer
	In, Flaky                                string
}

func attacks(t *testing.T) (list []realmAttack) {
	t.Helper()
	text, err := os.ReadFile("../../../iframe/testdata/attacks.json")
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func (a realmAttack) at(level protocol.Level) bool {
	return a.Levels == "" || strings.Contains(" "+a.Levels+" ", " "+level.String()+" ")
}

// outcome is how an attack ended.
type outcome struct {
	escaped, said string
	code          protocol.Code
}

func (r *Runner) attacked(t *testing.T, a realmAttack) (o outcome) {
	const sink = "http://192.0.2.1:9"
	limits := r.o.Limits
	if a.Error == protocol.ErrTimeout {
		limits.Time = 300 * time.Millisecond
	}
	tools := &protocol.Toolset{}
	probe := func(context.Context, any) (any, error) { return "probe", nil }
	for _, tool := range []protocol.Tool{{ID: "probe", Parameters: `{"type":"object"}`, Execute: probe}, {ID: "s_probe", Server: "s", Parameters: `{"type":"object"}`, Execute: probe}} {
		if err := tools.Add(tool); err != nil {
			t.Fatal(err)
		}
	}
	constants := map[string]any{"SINK": sink}
	if a.First != "" {
		if _, err := r.run(t.Context(), tools, a.First, nil, constants, limits, nil); err != nil {
			return outcome{said: "the run before it: " + err.Error()}
		}
	}
	res, err := r.run(t.Context(), tools, strings.ReplaceAll(a.Code, "SINKURL", sink), nil, constants, limits, nil)
	if err != nil {
		return outcome{escaped: "no result", said: err.Error()}
	}
	o.said = wire(res.Value)
	if res.Error != nil {
		o.said, o.code = res.Error.Error(), res.Error.Code
	}
	for _, row := range res.Console {
		if strings.Contains(wire(row.Args), "ESCAPED") {
			o.escaped = "said so on the console"
		}
	}
	switch {
	case res.Value == "ESCAPED":
		o.escaped = "said so"
	case o.code == protocol.ErrSecurityViolation:
		o.escaped = "reached the host"
	case o.code == protocol.ErrSandbox:
		o.escaped = "broke the sandbox"
	}
	return o
}

// each runs the attacks, two at once.
func (r *Runner) each(t *testing.T, list []realmAttack, check func(realmAttack, outcome)) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	slots := make(chan struct{}, 2)
	for _, a := range list {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			o := r.attacked(t, a)
			mu.Lock()
			defer mu.Unlock()
			check(a, o)
		})
	}
	wg.Wait()
}

// absent are the page's globals that the engine has not. A row about one of them has nothing to attack.
var absent = []string{"URL", "Intl", "Temporal"}

// The attacks on a page's enclave fail here too. The engine has no network, so there is no sink that
// could hear one.
func TestAttackRealm(t *testing.T) {
	count := attack.Start(t, "realm")
	for n, level := range []protocol.Level{protocol.Strict, protocol.Permissive} {
		r := runner(t, Options{Level: level, Limits: protocol.Limits{Time: time.Minute}})
		var list []realmAttack
		for i, a := range attacks(t) {
			if a.at(level) && !(testing.Short() && (i+n)%16 != 0) {
				list = append(list, a)
			}
		}
		r.each(t, list, func(a realmAttack, o outcome) {
			count.Try(a.Group+": "+a.Name+": "+o.escaped+"; "+o.said, o.escaped != "")
			if a.Expect != "" && o.said != a.Expect {
				t.Errorf("%s: %s: %s: %s, want %s", level, a.Group, a.Name, o.said, a.Expect)
			}
			if a.Error != "" && o.code != a.Error {
				t.Errorf("%s: %s: %s: %s, want %s", level, a.Group, a.Name, o.said, a.Error)
			}
			if a.Error != protocol.ErrTimeout && o.code == protocol.ErrTimeout {
				t.Errorf("%s: %s: %s: did not end: %s", level, a.Group, a.Name, o.said)
			}
		})
	}
	// With a layer of the realm off, the rows for which it is the only one in every browser succeed. A page's
	// globals are not there, and the engine's own limit of memory holds where the estimate is off.
	for _, layer := range []frame.Layer{frame.LayerPrototypes, frame.LayerGuards} {
		r := runner(t, Options{Level: protocol.Strict, off: []frame.Layer{layer}})
		var list []realmAttack
		for _, a := range attacks(t) {
			if a.at(protocol.Strict) && a.Alone == layer && a.In == "" && a.Flaky == "" {
				list = append(list, a)
			}
		}
		if testing.Short() {
			list = list[:3]
		}
		r.each(t, list, func(a realmAttack, o outcome) {
			if name, ok := strings.CutSuffix(strings.TrimPrefix(o.said, "ReferenceError: "), " is not defined (EXECUTION_ERROR)"); ok && slices.Contains(absent, name) {
				t.Logf("%s off: %s: no control here, as the engine has no %s", layer, a.Name, name)
				return
			}
			count.Off(a.Name, o.escaped != "")
			if o.escaped == "" {
				t.Errorf("%s off: %s: did not succeed with the layer off that is alone: %s", layer, a.Name, o.said)
			}
		})
	}
}
