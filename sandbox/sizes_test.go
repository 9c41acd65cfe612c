package sandbox_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

const mib = 1 << 20

// An edit multiplies: the file sets the number of matches, and the model sets the new text. The
// size of the result is checked before any work and before a question.
func TestAttackEditSizes(t *testing.T) {
	a := attack.Start(t, "07")
	rep := strings.Repeat
	for _, c := range []struct {
		name, file, from, to string
		all                  bool
	}{
		{"20,000 places of 150,000 bytes", rep("a", 20_000), "a", rep("b", 150_000), true},
		{"a million places of 17 bytes", rep("a", mib), "a", rep("b", 17), true},
		{"one byte more than the limit", rep("a", mib) + "c", "a", rep("b", 16), true},
		{"pairs", rep("ab", 300_000), "ab", rep("ab", 10_000), true},
		{"lines", rep("\n", 100_000), "\n", rep("\n", 100_000), true},
		{"what is put in has the pattern again", rep("a", 50_000), "a", rep("a", 50_000), true},
		{"letters of several bytes", rep("ä", 100_000), "ä", rep("ä", 1_000), true},
		{"one place, one large text", "a", "a", rep("b", 16*mib+1), false},
		{"one place, all", "a", "a", rep("b", 16*mib+1), true},
		{"spread thin", rep(rep("x", 1000)+"a", 500), "a", rep("b", 40_000), true},
	} {
		asker := sandboxtest.Always(policy.AnswerOnce)
		h := build(t, policy.AskBeforeChanges(), asker, map[string]string{"a.txt": c.file})
		h.ok(t, "read", args{"path": "a.txt", "limit": 1})
		res := h.Call(t.Context(), "edit", args{"path": "a.txt", "old_string": c.from, "new_string": c.to, "replace_all": c.all})
		a.Try(c.name, res.Err() == nil || res.Code != protocol.ErrResourceLimit || len(asker.Requests()) > 0 || h.file(t, "a.txt") != c.file)
	}
	h := build(t, policy.AskBeforeChanges(), sandboxtest.Always(policy.AnswerOnce), map[string]string{"a.txt": rep("a", 9_000)}, func(o *sandbox.Options) { o.Without("sizes"); o.Without("marks") })
	h.ok(t, "read", args{"path": "a.txt"})
	res := h.Call(t.Context(), "edit", args{"path": "a.txt", "old_string": "a", "new_string": rep("b", 2_000), "replace_all": true})
	a.Off("9,000 places of 2,000 bytes", res.Err() == nil && len(h.file(t, "a.txt")) == 18_000_000)
}

// The limits of edit and of reading, below, at and above.
func TestSizesOfFileToolsAreBounded(t *testing.T) {
	for _, c := range []struct {
		size, to int
		ok       bool
	}{{mib, 15, true}, {mib, 16, true}, {mib, 17, false}, {16 * mib, 0, true}, {16*mib + 1, 0, false}} {
		if c.ok && runtime.GOOS == "js" && testing.Short() {
			continue // 16 MiB take seconds in a page, and the code is the same as natively
		}
		h := build(t, parse(t, open), nil, map[string]string{"a.txt": strings.Repeat("a", c.size)}) // unasked: a question shows less
		h.ok(t, "read", args{"path": "a.txt", "limit": 1})
		e := args{"path": "a.txt", "old_string": "a", "new_string": strings.Repeat("b", c.to), "replace_all": true}
		if !c.ok {
			h.fails(t, "edit", e, protocol.ErrResourceLimit)
			continue
		}
		h.ok(t, "edit", e)
		if n := len(h.file(t, "a.txt")); n != c.size*c.to {
			t.Errorf("%d bytes to %d each: %d", c.size, c.to, n)
		}
	}
	if runtime.GOOS == "js" && testing.Short() {
		return // the same holds for 64 MiB
	}
	for _, more := range []int{0, 1} {
		h := build(t, policy.AskBeforeChanges(), sandboxtest.Always(policy.AnswerOnce), map[string]string{"a.txt": strings.Repeat("a", 64*mib+more), "b.txt": "b"})
		for tool, a := range map[string]args{"read": {"path": "a.txt", "limit": 1}, "diff": {"a": "a.txt", "b": "b.txt"}} {
			if more == 0 {
				h.ok(t, tool, a)
			} else if res := h.fails(t, tool, a, protocol.ErrResourceLimit); !strings.Contains(res.ErrorText, fmt.Sprint(64*mib+1)) {
				t.Errorf("%s: %s", tool, res.ErrorText)
			}
		}
	}
}
