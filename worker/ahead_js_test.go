package worker

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// A worker makes an instance ahead, of the module that ran last. Commands with other modules,
// modes and limits, run in turn, still get instances of their own.
func TestAhead(t *testing.T) {
	each(t, Options{Max: 1, Spare: 1}, func(t *testing.T, p *Pool) {
		m, started := probe(t, p), compile(t, p, assemble(onePage, nil, true, growMemory...))
		grow := compile(t, p, assemble(onePage, nil, false, growMemory...))
		if m.m.Start || !started.m.Start {
			t.Fatal("the modules are not what this test is for")
		}
		for i := range 12 {
			var out bytes.Buffer
			cmd := p.Command(testContext(t), m, "probe", "hello", strings.Repeat("x", i))
			cmd.Stdout = &out
			switch i % 4 {
			case 1: // back-pressure
				cmd.Stdout = struct{ io.Writer }{&out}
			case 2: // another variant of the module
				cmd.Limits.Memory = 100 << 16
			case 3:
				other := p.Command(testContext(t), started, "grow")
				if err := other.Run(); other.ProcessState.ExitCode() <= 1 {
					t.Errorf("%d: the other module: %v", i, err)
				}
			}
			if err := cmd.Run(); err != nil || !strings.HasSuffix(out.String(), "\n2 "+strings.Repeat("x", i)+"\n") {
				t.Errorf("%d: %v, %q", i, err, out.String())
			}
			for n := range 1 + i%3 { // the second and third are made ahead
				c := p.Command(testContext(t), grow, "grow")
				c.Limits.Memory = int64(7+i%2) << 16
				_ = c.Run()
				if got := c.ProcessState.ExitCode(); got != 7+i%2 {
					t.Errorf("%d, %d: it got %d pages", i, n, got)
				}
			}
		}
		if s := p.Stats(); s.Kills != 0 || s.Lost != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// A program is started so that it can wait only if it may have to wait.
func TestMode(t *testing.T) {
	p := newTestPool(t, Options{Trusted: true})
	awake, sleeps := compile(t, p, assemble(onePage, nil, false, growMemory...)), probe(t, p)
	for _, tt := range []struct {
		m           *Module
		whole, lazy bool
		out         io.Writer
		want        string
	}{
		{awake, true, false, nil, ""}, {awake, true, false, &bytes.Buffer{}, ""}, {awake, true, false, io.Discard, "s"},
		{awake, true, true, nil, "ls"}, {awake, false, false, nil, "is"}, {sleeps, true, false, nil, "fs"},
	} {
		j := &job{c: p.Command(testContext(t), tt.m, "x"), whole: tt.whole}
		j.stats.Lazy, j.c.Stdout = tt.lazy, tt.out
		if got := j.mayWait().String(); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
}
