package sandbox_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/native"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

const asksToUndo = `{"capabilities": {"fs.read": ["."], "fs.write": ["."]}, "rules": [{"permission": "fs.read", "action": "allow"}]}`

// The question about an undo names the action and its files, and its diff has the direction of the
// undo.
func TestQuestionOfAnUndo(t *testing.T) {
	write := func(name, text string) func(f fsaccess.FS) error {
		return func(f fsaccess.FS) error { return f.WriteFile(name, []byte(text), 0o644) }
	}
	for _, c := range []struct {
		name  string
		do    func(f fsaccess.FS) error // the change to undo
		title string
		diff  string
		risk  protocol.Risk
		lost  bool
	}{
		{"a file that was made", write("notes/new.md", "one\ntwo\n"), "undo the change to notes/new.md, and delete notes/new.md",
			"--- a/notes/new.md\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n", protocol.RiskHigh, true},
		{"a file that was changed", write("notes/plan.md", "a\nDONE\nc\n"), "undo the change to notes/plan.md",
			"--- a/notes/plan.md\n+++ b/notes/plan.md\n@@ -1,3 +1,3 @@\n a\n-DONE\n+TODO\n c\n", protocol.RiskMedium, false},
		{"a file that was deleted", func(f fsaccess.FS) error { return f.Remove("notes/plan.md") }, "undo the removal of notes/plan.md",
			"--- /dev/null\n+++ b/notes/plan.md\n@@ -0,0 +1,3 @@\n+a\n+TODO\n+c\n", protocol.RiskMedium, false},
		{"a file that was moved", func(f fsaccess.FS) error { return f.Rename("notes/plan.md", "b.md") }, "undo the move of notes/plan.md to b.md",
			"rename from b.md\nrename to notes/plan.md\n", protocol.RiskMedium, false},
		{"a folder that was moved", func(f fsaccess.FS) error { return f.Rename("notes", "papers") }, "undo the move of notes to papers",
			"rename from papers\nrename to notes\n", protocol.RiskMedium, false},
		{"a folder that was made", func(f fsaccess.FS) error { return f.Mkdir("new", 0o755) }, "undo the new folder new",
			"deleted folder new\n", protocol.RiskMedium, false},
		{"a name like words", write("a, and b", "x\n"), `undo the change to "a, and b", and delete "a, and b"`,
			"--- a/a, and b\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", protocol.RiskHigh, true},
		{"several files", func(f fsaccess.FS) error {
			if err := f.WriteFile("notes/plan.md", []byte("a\nDONE\nc\n"), 0o644); err != nil {
				return err
			}
			return f.Remove("old.txt")
		}, "undo the change to notes/plan.md and old.txt",
			"--- /dev/null\n+++ b/old.txt\n@@ -0,0 +1 @@\n+old\n--- a/notes/plan.md\n+++ b/notes/plan.md\n@@ -1,3 +1,3 @@\n a\n-DONE\n+TODO\n c\n", protocol.RiskMedium, false},
	} {
		asker := sandboxtest.Always(policy.AnswerOnce)
		h := build(t, parse(t, asksToUndo), asker, map[string]string{"notes/plan.md": "a\nTODO\nc\n", "old.txt": "old\n"})
		before := all(t, h.mem)
		must(t, h.journal.Group(t.Context(), "step", c.do))
		res := h.Call(t.Context(), "undo", args{})
		must(t, res.Err())
		if len(asker.Requests()) != 1 {
			t.Fatalf("%s: %d questions", c.name, len(asker.Requests()))
		}
		r := asker.Requests()[0]
		if r.Title != c.title || r.Diff != c.diff || r.Risk != c.risk || r.Destroys != c.lost {
			t.Errorf("%s: %q (%s, lost: %v)\n%q\nwant %q (%s, lost: %v)\n%q", c.name, r.Title, r.Risk, r.Destroys, r.Diff, c.title, c.risk, c.lost, c.diff)
		}
		sayAll(t, r)
		if now := all(t, h.mem); now != before {
			t.Errorf("%s: the undo makes %s of %s", c.name, now, before)
		}
	}
}

// all returns each file with its content.
func all(t *testing.T, f fsaccess.FS) (out string) {
	t.Helper()
	for e, err := range fsaccess.Walk(context.Background(), f, ".", fsaccess.WalkOptions{}) {
		must(t, err)
		data := []byte("a folder")
		if !e.Dir {
			data, err = f.ReadFile(e.Path)
			must(t, err)
		}
		out += e.Path + ": " + string(data) + "; "
	}
	return out
}

// The title of an undo names up to twenty files. For more files it has their number, and each file
// is an effect of its own.
func TestQuestionOfAnUndoOfManyFiles(t *testing.T) {
	native.Only(t)
	for _, n := range []int{19, 20, 21, 2000} {
		asker := sandboxtest.Always(policy.AnswerOnce)
		h := build(t, parse(t, asksToUndo), asker, nil)
		for i := range n {
			must(t, h.mem.WriteFile(fmt.Sprintf("f%d", i), []byte("old\n"), 0o644))
		}
		must(t, h.journal.Group(t.Context(), "step", func(f fsaccess.FS) error {
			for i := range n {
				if err := f.WriteFile(fmt.Sprintf("f%d", i), []byte("new\n"), 0o644); err != nil {
					return err
				}
			}
			return nil
		}))
		must(t, h.Call(t.Context(), "undo", args{}).Err())
		r := asker.Requests()[0]
		effects, title := 1, "undo the change to f0, f1, "
		if n > 20 {
			effects, title = n, fmt.Sprintf("undo the change to %d files, and %[1]d more", n)
		}
		if len(r.Effects) != effects || len(r.Needs) != n || !strings.HasPrefix(r.Title, title) {
			t.Errorf("%d files: %d effects: %s", n, len(r.Effects), r.Title)
		}
		shown := asShown(r)
		for i := range n {
			if !strings.Contains(shown, fmt.Sprintf("f%d", i)) {
				t.Errorf("%d files: f%d is not named", n, i)
			}
		}
		if got := strings.Count(r.Diff, "-new\n+old\n"); got != n {
			t.Errorf("%d files: %d go back in the difference", n, got)
		}
		if got := h.file(t, "f0"); got != "old\n" {
			t.Errorf("%d files: f0 is %q after the undo", n, got)
		}
	}
}

// A question names the receiver of the content that a call reads, and how much of it is sent.
func TestQuestionsSayWhereTheContentGoes(t *testing.T) {
	const pol = `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "stream.send": true}, "rules": [{"permission": "*", "action": "ask"}],
		"send": {"nothing": ["private"], "summaries": ["data"]}}`
	const model, client = "; what is read is sent to the model scripted", "; what is read is sent to the client that is connected"
	for _, c := range []struct {
		tool  string
		a     args
		words string
		how   string        // how much of the content is sent: "", "all", "summary" or "part"
		risk  protocol.Risk // if something is sent; otherwise it is low
	}{
		{"read", args{"path": "b.md"}, "read b.md", "all", protocol.RiskMedium},
		{"read", args{"path": "data/a.csv"}, "read data/a.csv", "summary", protocol.RiskMedium},
		{"read", args{"path": "private/diary"}, "read private/diary", "", protocol.RiskLow},
		{"grep", args{"pattern": "x", "path": "private"}, "read every file in private", "", protocol.RiskLow},
		{"grep", args{"pattern": "x", "path": "data"}, "read every file in data", "summary", protocol.RiskMedium},
		{"grep", args{"pattern": "x"}, "read every file in the whole folder", "part", protocol.RiskMedium},
		{"mkdir", args{"path": "new"}, "make the folder new", "", protocol.RiskLow}, // it reads nothing
	} {
		for who, ask := range map[string]func(h *house){
			"a model on this machine": func(h *house) {
				_, _ = h.talk(t, h.session(t), &sandboxtest.Model{OnDevice: true, Turns: []sandboxtest.Turn{sandboxtest.CallTool(c.tool, c.a), sandboxtest.Say("done")}}, "go")
			},
			"a model elsewhere": func(h *house) {
				_, _ = h.talk(t, h.session(t), &sandboxtest.Model{Turns: []sandboxtest.Turn{sandboxtest.CallTool(c.tool, c.a), sandboxtest.Say("done")}}, "go")
			},
			"a client elsewhere":       func(h *house) { h.CallForModel(t.Context(), c.tool, c.a, false) },
			"a client on this machine": func(h *house) { h.CallForModel(t.Context(), c.tool, c.a, true) },
			"the app itself":           func(h *house) { h.Call(t.Context(), c.tool, c.a) },
		} {
			asker := sandboxtest.Always(policy.AnswerReject)
			h := build(t, parse(t, pol), asker, map[string]string{"b.md": "x", "data/a.csv": "x", "private/diary": "x"})
			ask(h)
			if len(asker.Requests()) != 1 {
				t.Fatalf("%s for %s: %d questions", c.tool, who, len(asker.Requests()))
			}
			want, risk := c.words, protocol.RiskLow
			if to := map[string]string{"a model elsewhere": model, "a client elsewhere": client}[who]; to != "" && c.how != "" {
				want, risk = want+to, c.risk
				want += map[string]string{"summary": " as a summary", "part": " as far as the policy allows"}[c.how]
			}
			r := asker.Requests()[0]
			if len(r.Effects) != 1 || r.Effects[0].Text != want || r.Title != want || r.Risk != risk {
				t.Errorf("%s %v for %s: %q (%s): %+v, want %q (%s)", c.tool, c.a, who, r.Title, r.Risk, r.Effects, want, risk)
			}
		}
	}
}
