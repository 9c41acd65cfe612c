package gate

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// Each row of the table applies to an effect that just matches it, and not to one that just does
// not.
func TestEachRowOfTheRiskTable(t *testing.T) {
	change := func(path string) policy.Need { return write(protocol.OpWrite, path) }
	need := func(op protocol.FSOp, path string, tree, destroys bool) policy.Need {
		return policy.Need{Capability: protocol.FSWrite, Op: op, Subject: path, Tree: tree, Destroys: destroys}
	}
	worded := need(protocol.OpWrite, "docs", true, false)
	worded.Words = "move notes to docs"
	seen := map[string]bool{}
	const unknown = "\xff" // the content is not known
	for _, c := range []struct {
		row     string
		need    policy.Need
		content string // of every path that is written
		want    protocol.Risk
		bare    bool   // the folder keeps no journal
		foreign bool   // the tool is not trusted
		sent    string // to whom what is read is sent
	}{
		{row: "a tool that is not trusted", need: read("a.md"), want: protocol.RiskCritical, foreign: true},
		{row: "a tool that is not trusted", need: policy.Need{Capability: protocol.DOMRead}, want: protocol.RiskCritical, foreign: true},
		{row: "content of a dangerous kind", need: change("run.bat"), content: "echo", want: protocol.RiskCritical},
		{row: "content of a dangerous kind", need: change("page.svg"), content: "<svg><script>x</script></svg>", want: protocol.RiskCritical},
		{row: "content of a dangerous kind", need: change("old.txt"), content: "#!/bin/sh\n", want: protocol.RiskCritical},
		{row: "a new file whose content is not shown", need: change("run.bat"), content: unknown, want: protocol.RiskMedium},
		{row: "content is lost", need: need(protocol.OpRemove, "old.txt", false, true), want: protocol.RiskHigh},
		{row: "content is lost", need: need(protocol.OpRemove, "docs", true, true), want: protocol.RiskHigh},
		{row: "a file or a folder that is there", need: need(protocol.OpRemove, "old.txt", false, false), want: protocol.RiskMedium},
		{row: "any file of a folder", need: need(protocol.OpWrite, "docs", true, false), content: unknown, want: protocol.RiskHigh},
		{row: "any file of a folder", need: need(protocol.OpWrite, "new", true, false), content: unknown, want: protocol.RiskHigh},
		{row: "a file or a folder that is there", need: worded, content: unknown, want: protocol.RiskMedium},
		{row: "a hidden file or folder", need: change(".env"), content: "x", want: protocol.RiskHigh},
		{row: "a hidden file or folder", need: change("docs/.config/x.txt"), content: "x", want: protocol.RiskHigh},
		{row: "a hidden file or folder", need: need(protocol.OpMkdir, ".x", false, false), want: protocol.RiskHigh},
		{row: "a new text file in an ordinary folder", need: change("a.b.txt"), content: "x", want: protocol.RiskLow},
		{row: "a file that build tools run", need: change("Makefile"), content: "all:\n", want: protocol.RiskHigh},
		{row: "a file that build tools run", need: change("sub/package.json"), content: "{}", want: protocol.RiskHigh},
		{row: "a new text file in an ordinary folder", need: change("Makefile.txt"), content: "all:\n", want: protocol.RiskLow},
		{row: "a change that cannot be undone", need: change("old.txt"), content: "new", want: protocol.RiskHigh, bare: true},
		{row: "a file or a folder that is there", need: change("old.txt"), content: "new", want: protocol.RiskMedium},
		{row: "a file or a folder that is there", need: change("old.txt"), content: unknown, want: protocol.RiskMedium},
		{row: "a new folder", need: need(protocol.OpMkdir, "new", false, false), want: protocol.RiskLow},
		{row: "a new text file in an ordinary folder", need: change("new.txt"), content: "one\n\ttwo\r\n", want: protocol.RiskLow},
		{row: "a new text file in an ordinary folder", need: change("new.txt"), content: "", want: protocol.RiskLow},
		{row: "a new text file in an ordinary folder", need: change("new.txt"), content: "new", want: protocol.RiskLow, bare: true},
		{row: "a new file whose content is not shown", need: change("new.txt"), content: "one\x00", want: protocol.RiskMedium},
		{row: "a new file whose content is not shown", need: change("new.txt"), content: "one\x7f", want: protocol.RiskMedium},
		{row: "a new file whose content is not shown", need: change("new.txt"), content: unknown, want: protocol.RiskMedium},
		{row: "reading a file that is sent", need: read("old.txt"), want: protocol.RiskMedium, sent: "the model m"},
		{row: "reading a file", need: read("old.txt"), want: protocol.RiskLow},
		{row: "reading a file", need: read(".env"), want: protocol.RiskLow},
		{row: "anything else", need: policy.Need{Capability: protocol.ShellRun, Subject: "cat"}, want: protocol.RiskCritical},
		{row: "anything else", need: policy.Need{Capability: protocol.NetFetch, Subject: "a.example"}, want: protocol.RiskHigh},
		{row: "anything else", need: policy.Need{Capability: protocol.ClipboardWrite}, want: protocol.RiskMedium},
		{row: "anything else", need: policy.Need{Capability: protocol.DOMRead}, want: protocol.RiskLow},
		{row: "anything else", need: policy.Need{Capability: "future.thing"}, want: protocol.RiskCritical},
	} {
		mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
		if err := mem.MkdirAll("docs", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := mem.WriteFile("old.txt", []byte("old"), 0o644); err != nil {
			t.Fatal(err)
		}
		var fsys fsaccess.FS = mem
		if !c.bare {
			fsys = fsaccess.NewJournal(mem, fsaccess.NewMemory(fsaccess.MemoryOptions{}), fsaccess.JournalOptions{})
		}
		folder := NewFolder(fsys, &policy.Policy{}, fsaccess.GuardOptions{})
		p := Passage{Tool: &protocol.Tool{ID: "t", Untrusted: c.foreign}, Needs: []policy.Need{c.need}, Folder: &folder,
			Sent: func(policy.Need) string { return c.sent }, Content: func(string) ([]byte, bool) { return []byte(c.content), c.content != unknown }}
		about := (&Gate{}).situation(t.Context(), p, c.need)
		got := ""
		for _, r := range risks() {
			if r.is(about) {
				got = r.when
				break
			}
		}
		effects := (&Gate{}).effects(t.Context(), p)
		if got != c.row || effects[0].Risk != c.want {
			t.Errorf("%v with %q: %q has a %s risk, want %q with a %s one", c.need, c.content, got, effects[0].Risk, c.row, c.want)
		}
		seen[c.row] = true
	}
	for _, r := range risks() {
		if !seen[r.when] {
			t.Errorf("no effect here fits the row %q", r.when)
		}
	}
}

// The documented table is the one in the code.
func TestRiskTableIsDocumented(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("the source is not in a page")
	}
	source, err := os.ReadFile("../../../protocol/capability.go")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(source[:strings.Index(string(source), "type Risk string")])
	for _, r := range risks() {
		level := string(r.risk)
		if level == "" {
			level = "its own"
		}
		at := strings.Index(doc, "//\t"+r.when+"  ")
		if at < 0 {
			t.Errorf("the documentation of protocol.Risk has no row %q behind the one before it", r.when)
			continue
		}
		doc = doc[at:]
		row, _, _ := strings.Cut(doc, "\n")
		if got := strings.Fields(strings.TrimPrefix(row, "//\t"+r.when)); !strings.HasPrefix(strings.Join(got, " "), level+" "+r.why) {
			t.Errorf("the documentation of protocol.Risk says %q, want %q: %s, %s", row, r.when, level, r.why)
		}
	}
}
