package sandbox_test

import (
	"bytes"
	"context"
	"io/fs"
	"regexp/syntax"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/native"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// instructions returns the size of an expression.
func instructions(t *testing.T, text string) int {
	t.Helper()
	re, err := syntax.Parse(text, syntax.Perl)
	must(t, err)
	p, err := syntax.Compile(re.Simplify())
	must(t, err)
	return len(p.Inst)
}

// Expressions that a backtracking engine could not finish are searched like others. Otherwise this
// test would not end.
func TestCatastrophicExpressionsEnd(t *testing.T) {
	line := strings.Repeat("a", 100_000)
	h := build(t, parse(t, open), nil, map[string]string{"a.txt": line + "!\n" + line + "b\n"})
	for _, pattern := range []string{`(a+)+$`, `(a|a)*$`, `(a|aa)+$`, `^(a*)*$`, `(.*)*x$`, `([a-zA-Z]+)*$`} {
		res := h.Call(context.Background(), "grep", args{"pattern": pattern})
		if res.Err() != nil {
			t.Errorf("%s: %s", pattern, res.ErrorText)
		}
	}
	if _, err := syntax.Parse(`(a)\1`, syntax.Perl); err == nil {
		t.Error("there are back references")
	}
	h.fails(t, "grep", args{"pattern": `(a)\1`}, protocol.ErrInvalidParams)
	h.fails(t, "grep", args{"pattern": `(?=a)a`}, protocol.ErrInvalidParams)
}

// Expressions are limited by their text, and by their size after repetitions are written out.
func TestExpressionsAreBounded(t *testing.T) {
	h := build(t, parse(t, open), nil, map[string]string{"a.txt": "x\n"})
	for n, want := range map[int]bool{1023: true, 1024: true, 1025: false} {
		if res := h.Call(context.Background(), "grep", args{"pattern": strings.Repeat("x", n)}); (res.Err() == nil) != want {
			t.Errorf("%d bytes: %s", n, res.ErrorText)
		}
	}
	// b{999} is one instruction each, and so is each further b.
	for n := 985; n <= 1000; n++ {
		pattern := "b{999}" + strings.Repeat("b", n)
		want := instructions(t, pattern) <= 2000
		if res := h.Call(context.Background(), "grep", args{"pattern": pattern}); (res.Err() == nil) != want {
			t.Errorf("%d instructions: %s", instructions(t, pattern), res.ErrorText)
		}
	}
	if small, large := instructions(t, "b{999}"+strings.Repeat("b", 985)), instructions(t, "b{999}"+strings.Repeat("b", 1000)); small > 1999 || large < 2001 {
		t.Errorf("%d to %d instructions are not on both sides of the limit", small, large)
	}
}

// The work of a large expression is limited over all files. Further files are skipped, and the
// result has their number.
func TestExpressionsHaveABudget(t *testing.T) {
	native.Only(t)
	const pattern = `[ab](?:c{900}d{900})`
	most := 2 << 30 / instructions(t, pattern)
	for size, skipped := range map[int]bool{most - 1: false, most: false, most + 1: true} {
		h := build(t, parse(t, open), nil, map[string]string{"small": "x\n"})
		must(t, h.mem.WriteFile("big", bytes.Repeat([]byte("x"), size-2), 0o644)) // beside the two of small
		if got := h.ok(t, "grep", args{"pattern": pattern}); (got["skipped"] != nil) != skipped {
			t.Errorf("%d bytes: %v", size, got)
		}
	}
}

// stopping is a folder that stops the call when the third file is opened.
type stopping struct {
	fsaccess.FS
	opened atomic.Int32
	stop   func()
}

func (s *stopping) count() {
	if s.opened.Add(1) == 3 {
		s.stop()
	}
}

func (s *stopping) ReadFile(name string) ([]byte, error) {
	s.count()
	return s.FS.ReadFile(name)
}

func (s *stopping) Open(name string) (fs.File, error) {
	s.count()
	return s.FS.Open(name)
}

func (s *stopping) OpenFile(name string, flag int, perm fs.FileMode) (fs.File, error) {
	s.count()
	return s.FS.OpenFile(name, flag, perm)
}

// A stopped search opens no further file, and the call does not wait for it.
func TestStoppedSearchesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
		line := bytes.Repeat([]byte("x"), 200_000)
		for i := range 200 {
			must(t, mem.WriteFile("f"+string(rune('a'+i/26))+string(rune('a'+i%26)), line, 0o644))
		}
		ctx, stop := context.WithCancel(context.Background())
		s := &stopping{FS: mem, stop: stop}
		b, err := sandbox.New(sandbox.Options{FS: s, Policy: parse(t, open)})
		must(t, err)
		if res := b.Call(ctx, "grep", args{"pattern": "(x+x+)+y"}); res.Code != protocol.ErrAborted {
			t.Errorf("%+v", res)
		}
		synctest.Wait() // until the tool's goroutine has ended
		if n := s.opened.Load(); n < 3 || n > 64 {
			t.Errorf("%d of 200 files were opened", n)
		}
	})
}
