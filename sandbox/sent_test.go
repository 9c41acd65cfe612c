package sandbox_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
	"github.com/bailey-go/bailey/sandbox/shell"
)

// secretLines is a file whose lines are all different. linesIn counts those that a model has.
func secretLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %04d of it with %08x\n", i, uint32(i+1)*2654435761)
	}
	return b.String()
}

func linesIn(text string, n int) (have int) {
	for i := range n {
		if strings.Contains(text, fmt.Sprintf("with %08x", uint32(i+1)*2654435761)) {
			have++
		}
	}
	return have
}

// spelled returns the text that the lists of numbers in a text are the bytes of.
func spelled(text string) string {
	var b strings.Builder
	for _, list := range regexp.MustCompile(`\[[0-9,\s]+\]`).FindAllString(text, -1) {
		for _, n := range strings.FieldsFunc(list, func(r rune) bool { return r < '0' || r > '9' }) {
			c, _ := strconv.Atoi(n)
			b.WriteByte(byte(c))
		}
	}
	return b.String()
}

// collected makes calls in one conversation, one each step, and returns all that a model elsewhere received.
func collected(t *testing.T, send string, asker *sandboxtest.Asker, files map[string]string, code sandbox.CodeRunner, local bool, calls ...sandbox.ToolCall) (string, *house, *sandbox.Session) {
	t.Helper()
	h := build(t, parse(t, fmt.Sprintf(excerpts, send)), asker, files, func(o *sandbox.Options) {
		o.Tools = append(sandbox.Standard(), shell.Bash(shell.Options{}), sandbox.CodeRun(code), sandbox.ToolRun(scripted(func(_ context.Context, c sandbox.Command) (int, error) {
			data, err := c.FS.ReadFile(c.Args[0])
			if err != nil {
				return 1, err
			}
			from, most := 0, 0
			_, _ = fmt.Sscan(strings.Join(c.Args[1:], " "), &from, &most)
			_, err = c.Stdout.Write(data[min(from, len(data)):min(from+most, len(data))])
			return 0, err
		})))
	})
	s := h.session(t)
	return collect(t, h, s, local, calls...), h, s
}

func collect(t *testing.T, h *house, s *sandbox.Session, local bool, calls ...sandbox.ToolCall) string {
	t.Helper()
	m := &sandboxtest.Model{OnDevice: local}
	for _, c := range calls {
		m.Turns = append(m.Turns, sandboxtest.CallTool(c.Tool, c.Args))
	}
	_, err := h.talk(t, s, m, "go", sandbox.RunOptions{Steps: len(calls) + 2})
	must(t, err)
	return fmt.Sprint(m.Requests()[len(m.Requests())-1].Messages)
}

// ranges returns calls of a tool for each range of a file of 9,000 bytes and 300 lines.
func ranges(make func(i int) sandbox.ToolCall) (calls []sandbox.ToolCall) {
	for i := range 10 {
		calls = append(calls, make(i))
	}
	return calls
}

func bash(format string, v ...any) sandbox.ToolCall {
	return sandbox.ToolCall{Tool: "bash", Args: args{"command": fmt.Sprintf(format, v...)}}
}

// A model can't collect a file above the limit in pieces unless the user agrees.
func TestAttackCollectTextInPieces(t *testing.T) {
	count := attack.Start(t, "sent")
	const n = 300 // 30 bytes each
	files, parts := map[string]string{"a": secretLines(n), "0/1/2/3/4/5/6/7/8/9/deep": secretLines(n)}, 0
	for _, c := range []struct {
		name  string
		code  sandbox.CodeRunner
		calls []sandbox.ToolCall
	}{
		{"ranges of read", nil, ranges(func(i int) sandbox.ToolCall {
			return sandbox.ToolCall{Tool: "read", Args: args{"path": "a", "offset": 30*i + 1, "limit": 30}}
		})},
		{"ranges of sed", nil, ranges(func(i int) sandbox.ToolCall { return bash("sed -n %d,%dp a", 30*i+1, 30*i+30) })},
		{"bytes of tail and head", nil, ranges(func(i int) sandbox.ToolCall { return bash("tail -c +%d a | head -c 900", 900*i+1) })},
		{"searches", nil, ranges(func(i int) sandbox.ToolCall {
			return sandbox.ToolCall{Tool: "grep", Args: args{"pattern": fmt.Sprintf("line 0%d%d[0-9]|line 0%d%d[0-9]|line 0%d%d[0-9]", 3*i/10, 3*i%10, (3*i+1)/10, (3*i+1)%10, (3*i+2)/10, (3*i+2)%10)}}
		})},
		{"a program", nil, ranges(func(i int) sandbox.ToolCall {
			return sandbox.ToolCall{Tool: "tool_run", Args: args{"command": "prog", "args": []any{"a", fmt.Sprint(900 * i), "900"}, "read": []any{"a"}}}
		})},
		{"a program with the folder", nil, ranges(func(i int) sandbox.ToolCall {
			return sandbox.ToolCall{Tool: "tool_run", Args: args{"command": "prog", "args": []any{"a", fmt.Sprint(900 * i), "900"}, "read": []any{"."}}}
		})},
		{"copies of parts", nil, ranges(func(i int) sandbox.ToolCall { return bash("sed -n %d,%dp a > p%d; cat p%d", 30*i+1, 30*i+30, i, i) })},
		{"copies of parts, read later", nil, append(ranges(func(i int) sandbox.ToolCall { return bash("sed -n %d,%dp a > p%d", 30*i+1, 30*i+30, i) }),
			ranges(func(i int) sandbox.ToolCall {
				return sandbox.ToolCall{Tool: "read", Args: args{"path": fmt.Sprint("p", i)}}
			})...)},
		{"a moved file, each part under another name", nil, ranges(func(i int) sandbox.ToolCall {
			if i == 0 {
				return bash("mv a a1; sed -n 1,30p a1")
			}
			return bash("mv a%d a%d; sed -n %d,%dp a%d", i, i+1, 30*i+1, 30*i+30, i+1)
		})},
		{"a moved folder of parts", nil, append([]sandbox.ToolCall{bash("mkdir d; for i in 0 1 2 3 4 5 6 7 8 9; do sed -n $((i*30+1)),$((i*30+30))p a > d/$i; done; mv d e")},
			ranges(func(i int) sandbox.ToolCall {
				return sandbox.ToolCall{Tool: "read", Args: args{"path": fmt.Sprint("e/", i)}}
			})...)},
		{"an archive's other form", nil, ranges(func(i int) sandbox.ToolCall { return bash("sed -n %d,%dp a | sed 's/^/x/'", 30*i+1, 30*i+30) })},
		{"code", valued(func(read func(string) string) any {
			parts++
			return read("a")[900*((parts-1)%10) : 900*((parts-1)%10)+900]
		}),
			ranges(func(int) sandbox.ToolCall { return sandbox.ToolCall{Tool: "code_run", Args: args{"code": "x"}} })},
		{"code, bytes as numbers", valued(func(read func(string) string) any {
			var list []any
			for _, b := range []byte(read("a")[300*(parts%30) : 300*(parts%30)+300]) {
				list = append(list, float64(b))
			}
			parts++
			return list
		}), slices.Repeat([]sandbox.ToolCall{{Tool: "code_run", Args: args{"code": "x"}}}, 30)},
		{"differences of steps", nil, append(ranges(func(i int) sandbox.ToolCall { return bash("sed -n %d,%dp a > p%d", 30*i+1, 30*i+30, i) }),
			ranges(func(i int) sandbox.ToolCall { return sandbox.ToolCall{Tool: "diff", Args: args{"step": i + 1}} })...)},
		{"copies of parts, and a short file in place of the long one", nil, append(append(ranges(func(i int) sandbox.ToolCall { return bash("sed -n %d,%dp a > p%d", 30*i+1, 30*i+30, i) }),
			sandbox.ToolCall{Tool: "read", Args: args{"path": "a", "limit": 1}}, sandbox.ToolCall{Tool: "write", Args: args{"path": "a", "content": "short"}}),
			ranges(func(i int) sandbox.ToolCall {
				return sandbox.ToolCall{Tool: "read", Args: args{"path": fmt.Sprint("p", i)}}
			})...)},
		{"a program with a folder in a folder, each of them once", nil, ranges(func(i int) sandbox.ToolCall {
			return sandbox.ToolCall{Tool: "tool_run", Args: args{"command": "prog", "args": []any{"0/1/2/3/4/5/6/7/8/9/deep", fmt.Sprint(900 * i), "900"}, "read": []any{"0/1/2/3/4/5/6/7/8/9"[:2*i+1]}}}
		})},
	} {
		tries := func(send string) int {
			got, _, _ := collected(t, send, nil, files, c.code, false, c.calls...)
			return linesIn(got+spelled(got), n)
		}
		count.Try(c.name, tries(`"above": 2048`) > n*6/10)
		count.Off(c.name, tries(`"default": "contents"`) == n)
	}
}

// Up to the limit of a file nothing is asked. Above it the question shows the text, and the answer holds
// for the file and the conversation.
func TestMoreOfAFileIsAskedAbout(t *testing.T) {
	read := func(path string, from, lines int) sandbox.ToolCall {
		return sandbox.ToolCall{Tool: "read", Args: args{"path": path, "offset": from, "limit": lines}}
	}
	long := func(n int) string { return secretLines(n / 30) }
	for _, c := range []struct {
		name  string
		size  int // of the file
		calls []sandbox.ToolCall
		asked int
	}{
		{"a file at the limit, twice", 2040, []sandbox.ToolCall{read("a", 1, 100), bash("sed 's/^/x/' a")}, 0},
		{"one that is longer: its limit is that of a text", 3000, []sandbox.ToolCall{read("a", 1, 68)}, 0},
		{"a line more", 3000, []sandbox.ToolCall{read("a", 1, 68), read("a", 69, 1)}, 1},
		{"the same lines again", 3000, []sandbox.ToolCall{read("a", 1, 68), read("a", 1, 68), bash("head -n 60 a")}, 0},
		{"half of a file", 9000, []sandbox.ToolCall{read("a", 1, 60), read("a", 61, 60), read("a", 121, 30)}, 0},
		{"more than half", 9000, []sandbox.ToolCall{read("a", 1, 60), read("a", 61, 60), read("a", 121, 31)}, 1},
		{"four times the limit", 90000, []sandbox.ToolCall{read("a", 1, 68), read("a", 101, 68), read("a", 201, 68), read("a", 301, 68)}, 0},
		{"above that", 90000, []sandbox.ToolCall{read("a", 1, 68), read("a", 101, 68), read("a", 201, 68), read("a", 301, 68), read("a", 401, 20)}, 1},
		{"once for a file", 9000, []sandbox.ToolCall{read("a", 1, 60), read("a", 61, 60), read("a", 121, 60), read("a", 181, 60), read("a", 241, 60)}, 1},
		{"names of files are not counted", 3000, []sandbox.ToolCall{read("a", 1, 68), {Tool: "glob", Args: args{"pattern": "**"}}, bash("ls -l"), bash("ls")}, 0},
		{"what the model writes is its own", 3000, []sandbox.ToolCall{read("a", 1, 68), {Tool: "write", Args: args{"path": "own", "content": long(3000)}}}, 0},
	} {
		for _, yes := range []bool{true, false} {
			answer := policy.AnswerReject
			if yes {
				answer = policy.AnswerOnce
			}
			asker := sandboxtest.Always(answer)
			got, _, _ := collected(t, `"above": 2048`, asker, map[string]string{"a": long(c.size)}, nil, false, c.calls...)
			qs := asker.Requests()
			if len(qs) != c.asked {
				t.Errorf("%s: %d questions: %+v", c.name, len(qs), qs)
				continue
			}
			if c.asked == 1 {
				last := c.calls[len(c.calls)-1]
				if from, ok := last.Args.(args)["offset"].(int); ok {
					mark := fmt.Sprintf("line %04d of it", from-1)
					if strings.Contains(got, mark) != yes || !strings.Contains(qs[0].Diff, "line 0") {
						t.Errorf("%s: answered %t, and the model has line %d: %t", c.name, yes, from, strings.Contains(got, mark))
					}
				}
				if !strings.Contains(qs[0].Title, "a (") || !strings.Contains(qs[0].Title, "bytes were sent") || !strings.Contains(qs[0].Title, "scripted") {
					t.Errorf("%s: the question is %q", c.name, qs[0].Title)
				}
				if !yes && (!strings.Contains(got, "not sent")) {
					t.Errorf("%s: the model is told %s", c.name, got)
				}
			}
		}
	}
}

// The count is that of the conversation and its subagents: it outlasts a reload and a copy, and
// a model on this machine is not asked about.
func TestCountOfWhatIsSentStays(t *testing.T) {
	files := map[string]string{"a": secretLines(100)}
	first := sandbox.ToolCall{Tool: "read", Args: args{"path": "a", "limit": 68}}
	next := sandbox.ToolCall{Tool: "read", Args: args{"path": "a", "offset": 90}}
	const mark = "line 0095"
	_, h, s := collected(t, `"above": 2048`, nil, files, nil, false, first)
	if got := collect(t, h, s, false, next); strings.Contains(got, mark) {
		t.Error("in the next run it is forgotten")
	}
	if n := s.Record().Sent["a"]; n < 2000 || n > 2048 {
		t.Errorf("%v bytes are counted", n)
	}
	fork, err := s.Fork(t.Context(), "")
	must(t, err)
	defer fork.Close()
	if got := collect(t, h, fork, false, next); strings.Contains(got, mark) {
		t.Error("a copy has forgotten it")
	}
	s.Close()
	s, err = h.OpenSession(t.Context(), s.ID())
	must(t, err)
	defer s.Close()
	if got := collect(t, h, s, false, next); strings.Contains(got, mark) {
		t.Error("a reload has forgotten it")
	}
	if got := collect(t, h, s, true, next); !strings.Contains(got, mark) {
		t.Error("a model on this machine does not get it")
	}
	if got := collect(t, h, s, false); strings.Contains(got, mark) {
		t.Error("the next model gets what the one on this machine had")
	}

	var stored float64 // while the subagent is at work
	report := strings.Repeat("its own words ", 300)
	// A subagent's reading counts for the session that started it.
	h = build(t, parse(t, fmt.Sprintf(excerpts, `"above": 2048`)), nil, files)
	s = h.session(t)
	m := &sandboxtest.Model{Next: func(r sandbox.ModelRequest) sandboxtest.Turn {
		all := texts(r)
		if strings.HasPrefix(all, "user text: Subtask") && strings.Contains(all, "line 0001") {
			list, err := h.Sessions(t.Context())
			must(t, err)
			for _, rec := range list {
				if rec.ID == s.ID() {
					stored = rec.Sent["a"]
				}
			}
		}
		switch {
		case strings.HasPrefix(all, "user text: Subtask") && !strings.Contains(all, "line 0001"):
			return sandboxtest.CallTool(first.Tool, first.Args)
		case strings.HasPrefix(all, "user text: Subtask"):
			return sandboxtest.Say("read " + report)
		case !strings.Contains(all, "Subtask"):
			return sandboxtest.CallTool("task", args{"subagent_type": "general", "prompt": "Subtask"})
		case !strings.Contains(all, "offset"):
			return sandboxtest.CallTool(next.Tool, next.Args)
		}
		return sandboxtest.Say("done")
	}}
	_, err = h.talk(t, s, m, "go")
	must(t, err)
	if all := texts(m.Requests()[len(m.Requests())-1]); strings.Contains(all, mark) || !strings.Contains(all, "not sent") || !strings.Contains(all, report) {
		t.Errorf("after the subagent: %s", all)
	}
	if stored < 2000 {
		t.Errorf("a reload while a subagent works would forget what it sent: %v bytes are stored", stored)
	}

	// A client of the box is asked about, too.
	h = build(t, parse(t, fmt.Sprintf(excerpts, `"above": 2048`)), nil, files)
	h.CallForModel(t.Context(), first.Tool, first.Args, false)
	if res := h.CallForModel(t.Context(), next.Tool, next.Args, false); strings.Contains(res.Text, mark) || len(res.Withheld) == 0 {
		t.Errorf("a client gets %s", res.Text)
	}
}

// An imported session has no counts of another folder.
func TestImportForgetsCounts(t *testing.T) {
	_, h, s := collected(t, `"above": 2048`, nil, map[string]string{"a": secretLines(100)}, nil, false, sandbox.ToolCall{Tool: "read", Args: args{"path": "a", "limit": 68}})
	var b strings.Builder
	must(t, s.Export(&b))
	other, err := h.ImportSession(t.Context(), strings.NewReader(b.String()))
	must(t, err)
	defer other.Close()
	if len(other.Record().Sent) != 0 {
		t.Errorf("it has %v", other.Record().Sent)
	}
	if !strings.Contains(b.String(), `"long":["a"]`) || len(other.Record().Long) != 0 {
		t.Errorf("long files: %v", other.Record().Long)
	}
}
