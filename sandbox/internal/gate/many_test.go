package gate

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// many returns n needs for each kind of merging.
func many(n int) map[string][]policy.Need {
	out := map[string][]policy.Need{}
	for i := range n {
		name := fmt.Sprintf("a/folder/file-%05d.txt", i)
		gone := policy.Need{Capability: protocol.FSWrite, Op: protocol.OpRemove, Subject: name, Destroys: true}
		out["files"] = append(out["files"], write(protocol.OpWrite, name))
		out["files that are replaced"] = append(out["files that are replaced"], write(protocol.OpWrite, name), gone)
		out["files that go"] = append(out["files that go"], gone)
		out["moves"] = append(out["moves"], policy.Need{Capability: protocol.FSWrite, Op: protocol.OpRemove, Subject: name, Tree: true}, policy.Need{Capability: protocol.FSWrite, Op: protocol.OpWrite, Subject: "to/" + name, Tree: true})
		out["commands"] = append(out["commands"], policy.Need{Capability: protocol.ShellRun, Subject: name})
		same := write(protocol.OpWrite, "one.txt")
		same.Words = "change one.txt"
		out["the same words"] = append(out["the same words"], same)
	}
	return out
}

// The work for a question is linear in its needs: each need inspects at most two earlier effects,
// and ten times as many needs use about ten times as much memory.
func TestManyNeedsAreSaidInTheirNumber(t *testing.T) {
	for kind, needs := range many(10_000) {
		s := speech{at: map[place]int{}}
		said := 0
		for _, n := range moves(needs) {
			text := situation{Need: n}.words()
			s.say(Effect{Text: text, Destroys: n.Destroys, Needs: []policy.Need{n}})
		}
		for _, e := range s.done() {
			said += len(e.Needs)
		}
		if s.looked > 2*len(needs) || said != len(needs) {
			t.Errorf("%s: %d needs in %d effects, %d looks", kind, said, len(s.out), s.looked)
		}
	}
	if runtime.GOOS == "js" {
		return // memory is the same, and slower to count
	}
	g := &Gate{}
	ask := func(needs []policy.Need) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := Request{Tool: "t", Effects: g.effects(t.Context(), Passage{Tool: &protocol.Tool{ID: "t"}, Needs: needs})}
		entitle(&r, false)
		r.Patterns = patterns(needs)
		rules := (&Gate{o: Options{Now: time.Now}}).answerRules(Passage{Tool: &protocol.Tool{ID: "t"}, Needs: needs}, Reply{Answer: policy.AnswerSession}, policy.SourceSession)
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(rules)
		runtime.KeepAlive(r)
		return after.TotalAlloc - before.TotalAlloc
	}
	for kind, needs := range many(10_000) {
		few, all := ask(needs[:len(needs)/10]), ask(needs)
		if all > 20*few {
			t.Errorf("%s: a tenth of the needs takes %d KB, all of them take %d KB", kind, few>>10, all>>10)
		}
	}
}
