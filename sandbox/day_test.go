package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/native"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// A day is a long conversation, and what its models have counted.
type day struct {
	mu        sync.Mutex
	requests  int // of all runs
	summaries int
	refused   int             // requests that do not fit the window
	largest   int             // of a request, in tokens
	passed    []string        // requests that began although a budget was used up
	agents    map[string]bool // by their prompts
	sent      int             // by OnSend
	limits    sandbox.RunOptions
	steps     int   // of the run
	tokens    int64 // of the run
	last      string
	servers   map[string]*server // by the names of their models
}

// A worker is a model of package provider, whose server decides its answers. Its window is counted as a provider does, with all
// texts and tools.
type worker struct {
	name string
	d    *day
}

const dayWindow = 6000

func (w worker) Name() string       { return w.name }
func (w worker) Local() bool        { return false }
func (w worker) ContextTokens() int { return dayWindow }

func (w worker) Stream(ctx context.Context, r sandbox.ModelRequest) iter.Seq2[sandbox.ModelEvent, error] {
	d := w.d
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(r.System)
	for _, t := range r.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	for _, msg := range r.Messages {
		for _, p := range msg.Parts {
			n += len(p.Text) + len(p.Args) + len(p.Meta)
		}
	}
	n /= 4
	d.requests++
	d.largest = max(d.largest, n)
	if n > dayWindow {
		d.refused++
		return func(yield func(sandbox.ModelEvent, error) bool) {
			yield(sandbox.ModelEvent{}, &sandbox.ModelError{Status: 400, Message: "prompt is too long", TooLong: true})
		}
	}
	if o := d.limits; d.steps >= o.Steps || d.tokens >= o.Tokens || float64(d.tokens)*o.InputPrice/1e6 >= o.Money {
		d.passed = append(d.passed, fmt.Sprintf("%d requests and %d tokens of %d, %d and %v", d.steps, d.tokens, o.Steps, o.Tokens, o.Money))
	}
	turn := d.answer(r)
	out := int64(len(turn.Text)/4 + 10)
	d.steps++
	d.tokens += int64(n) + out
	server := d.servers[w.name]
	server.turn, server.input, server.output = turn, int64(n), out
	// The turn travels over the provider's own wire, and the server checks the request.
	var events []sandbox.ModelEvent
	var failed error
	for e, err := range server.model().Stream(ctx, r) {
		if err != nil {
			failed = err
		}
		events = append(events, e)
	}
	return func(yield func(sandbox.ModelEvent, error) bool) {
		for i, e := range events {
			var err error
			if i == len(events)-1 {
				err = failed
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

var (
	dayFact = regexp.MustCompile(`Fact: [^.]*\.`)
	dayFile = regexp.MustCompile(`notes/\d+\.txt`)
)

// answer returns the answer to a request. The model knows nothing but the request.
func (d *day) answer(r sandbox.ModelRequest) sandboxtest.Turn {
	all := texts(r)
	if summarising(r) { // it keeps the facts in what it has received
		d.summaries++
		facts := map[string]bool{}
		for _, f := range dayFact.FindAllString(all, -1) {
			facts[f] = true
		}
		return sandboxtest.Say("The user works on notes. " + strings.Join(slices.Sorted(maps.Keys(facts)), " "))
	}
	said, results := "", false // the last words of the user, and whether results follow
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			switch {
			case m.Role == sandbox.RoleUser && p.Type == sandbox.PartText:
				said, results = p.Text, false
			case p.Type == sandbox.PartResult:
				results = true
			}
		}
	}
	if i := strings.LastIndex(said, "word for word:\n"); i >= 0 { // the user's message of a turn that was divided
		said = said[i:]
	}
	read := func(path string) sandbox.ToolCall {
		return sandbox.ToolCall{Tool: "read", Args: args{"path": path}}
	}
	path := dayFile.FindString(said)
	switch {
	case strings.Contains(said, "Subtask"):
		d.agents[said] = true
		if !results {
			return sandboxtest.Turn{Calls: []sandbox.ToolCall{read(path)}}
		}
		return sandboxtest.Say("I have read it: " + dayFact.FindString(all))
	case strings.Contains(said, "Read for ever"):
		return sandboxtest.Turn{Calls: []sandbox.ToolCall{read("notes/1.txt")}}
	case strings.Contains(said, "What are the facts?"):
		d.last = all
		return sandboxtest.Say(strings.Join(dayFact.FindAllString(all, -1), " "))
	case results:
		return sandboxtest.Say("It says: " + strings.Repeat("a line of the file. ", 10))
	case strings.Contains(said, "Delegate"):
		return sandboxtest.CallTool("task", args{"subagent_type": "general", "prompt": "Subtask: read " + path})
	case strings.Contains(said, "Look at two"):
		return sandboxtest.Turn{Calls: []sandbox.ToolCall{read(path), {Tool: "glob", Args: args{"pattern": "notes/1*.txt"}}}}
	case strings.Contains(said, "Look at"):
		return sandboxtest.Turn{Calls: []sandbox.ToolCall{read(path)}}
	}
	return sandboxtest.Say("I see. " + strings.Repeat("That is a good plan for the day. ", 12))
}

// A day of use: 400 messages, 60 calls, 12 summaries, 5 reloads, six changes of the provider and three subagents.
// The last answer has the facts of the first hour, of the user's words, of a file and of a subagent. No
// request is longer than the window, none begins when a budget is used up. A box that has worked all day uses
// at most a tenth more memory than one that has just opened the session, and that one at most a tenth more than after the first 100 messages.
func TestScriptedDay(t *testing.T) {
	native.Only(t) // the store of IndexedDB has tests of its own
	list := stores(t)
	for name := range list {
		if name != "IndexedDB" { // the others have all of it in memory
			delete(list, name)
		}
	}
	if len(list) == 0 {
		dir, err := fsaccess.OpenDir(t.TempDir(), fsaccess.DirOptions{})
		must(t, err)
		list["folder"] = func() sandbox.Store { return sandbox.FolderStore(dir) }
	}
	for name, open := range list {
		t.Run(name, func(t *testing.T) { scriptedDay(t, open) })
	}
}

func scriptedDay(t *testing.T, store func() sandbox.Store) {
	d := &day{agents: map[string]bool{}, servers: map[string]*server{}}
	files := map[string]string{}
	for i := range 100 {
		files[fmt.Sprintf("notes/%d.txt", i)] = fmt.Sprintf("note %d\n%s", i, strings.Repeat("a line of the note\n", 20))
	}
	files["notes/3.txt"] += "Fact: the parcel has the number PX-4471.\n"
	files["notes/5.txt"] += "Fact: the meeting is in room B-12.\n"
	rules := parse(t, `{"capabilities": {"stream.send": true, "fs.read": ["."]}, "rules": [{"permission": "fs.read", "action": "allow"}], "send": {"default": "contents"}}`)
	audit := sandbox.NewAudit(nil)
	start := func() *house {
		return build(t, rules, nil, files, func(o *sandbox.Options) { o.Sessions, o.Audit, o.OnTrace = store(), audit, nil })
	}
	h := start()
	s, err := h.NewSession(t.Context(), sandbox.SessionOptions{})
	must(t, err)
	id := s.ID()
	count := func() (messages, calls, summaries int) {
		for _, m := range s.Messages() {
			compaction := false
			for _, p := range m.Parts {
				if p.Type == "data-compaction" {
					compaction = true
				}
				if p.ToolCallID != "" {
					calls++
				}
			}
			if compaction {
				summaries++
			} else {
				messages++
			}
		}
		return messages, calls, summaries
	}
	providers := []string{"anthropic/m", "openai/m", "gemini/m"}
	switches := []int{20, 40, 60, 140, 210, 280} // at this number of messages, to the next provider and at last to the first one
	for _, name := range providers {
		kind := strings.TrimSuffix(name, "/m")
		once := &server{kind: kind, turn: sandboxtest.Turn{Text: "Hello", Calls: []sandbox.ToolCall{{Tool: "read", Args: args{"path": "a"}}}}}
		say := sandbox.ModelRequest{Messages: []sandbox.ModelMessage{{Role: sandbox.RoleUser, Parts: []sandbox.ModelPart{{Type: sandbox.PartText, Text: "hi"}}}}}
		for _, err := range once.model().Stream(t.Context(), say) { // package json keeps data about types that it has met
			must(t, err)
		}
		d.servers[name] = &server{kind: kind}
	}
	provider, reloads, delegated, ended := 0, 0, 0, 0
	reopen := func() {
		s.Close()
		h = start()
		var err error
		s, err = h.OpenSession(t.Context(), id)
		must(t, err)
	}
	usual := sandbox.RunOptions{Steps: 20, Tokens: 200_000, Money: 5}
	var turn func(say string, o sandbox.RunOptions, breakAt sandbox.ChunkType) (reason string)
	// memory compares a box that has worked with one that has just read the same session and made a turn.
	// The second holds the conversation and little else.
	memory := func() (worked, fresh float64) {
		worked = float64(heap())
		reopen()
		turn("Go on. ", usual, "")
		return worked, float64(heap())
	}
	var early, earlyFresh float64
	turn = func(say string, o sandbox.RunOptions, breakAt sandbox.ChunkType) (reason string) {
		o.InputPrice, o.OutputPrice = 3, 3
		o.OnSend = func(sandbox.ModelRequest) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.sent++
		}
		d.mu.Lock()
		d.limits, d.steps, d.tokens = o, 0, 0
		d.mu.Unlock()
		_, err := s.Say(t.Context(), say)
		must(t, err)
		for c, err := range h.Run(t.Context(), s, worker{providers[provider%3], d}, o) {
			must(t, err)
			if c.Type == "data-budget" {
				reason = fmt.Sprint(c.Data.(map[string]any)["reason"])
			}
			if c.Type == "data-shortened" {
				t.Errorf("a request had to be cut after %q", say)
			}
			if c.Type == breakAt {
				break
			}
		}
		return reason
	}
	for i := 0; ; i++ {
		n, _, _ := count()
		if early == 0 && n >= 100 {
			early, earlyFresh = memory()
		}
		if n >= 398 {
			break
		}
		if n >= 66*(reloads+1) && reloads < 5 {
			if reloads == 2 { // as a closed tab: in the middle of an answer
				turn("Tell me more about the plan. "+strings.Repeat("It is long. ", 10), usual, "text-delta")
			}
			reopen()
			reloads++
			if again, _, _ := count(); again < n {
				t.Fatalf("%d of %d messages are there after a reload", again, n)
			}
		}
		if provider < len(switches) && n >= switches[provider] { // behind thoughts and in the middle of two calls
			if provider%2 == 0 { // none of the calls has a result
				turn("Look at two: notes/7.txt. ", usual, "tool-input-available")
			} else { // the model has not seen them
				one := usual
				one.Steps = 1
				turn("Look at two: notes/8.txt. ", one, "")
			}
			provider++
		}
		filler := strings.Repeat("These are words of the user about the day. ", 8)
		switch {
		case i == 0:
			turn("Fact: the vault opens with ORCHID-7713. Keep it in mind. "+filler, usual, "")
		case i == 1:
			turn("Look at notes/3.txt. "+filler, usual, "")
		case i == 2:
			turn("Delegate notes/5.txt. "+filler, usual, "")
			delegated++
		case i == 50 || i == 100:
			turn(fmt.Sprintf("Delegate notes/%d.txt. ", i%90)+filler, usual, "")
			delegated++
		case i == 60 || i == 80 || i == 110: // the model would never stop
			o := []sandbox.RunOptions{{Steps: 5, Tokens: 200_000, Money: 5}, {Steps: 50, Tokens: 30_000, Money: 5}, {Steps: 50, Tokens: 200_000, Money: 0.06}}[ended]
			want := []string{"steps", "tokens", "money"}[ended]
			if reason := turn("Read for ever. "+filler, o, ""); !strings.Contains(reason, want) {
				t.Errorf("the run ended because of %q, want the budget of %s", reason, want)
			}
			ended++
		case i%6 == 3:
			turn(fmt.Sprintf("Look at two: notes/%d.txt. ", i%90)+filler, usual, "")
		case i%3 == 1:
			turn(fmt.Sprintf("Look at notes/%d.txt. ", i%90)+filler, usual, "")
		default:
			turn(filler, usual, "")
		}
	}
	turn("What are the facts?", usual, "")
	list := s.Messages()
	answer := ""
	for _, p := range list[len(list)-1].Parts {
		if data, ok := p.Data.(map[string]any); ok && p.Type == "text" {
			answer, _ = data["text"].(string)
		}
	}
	if strings.Contains(d.last, "Keep it in mind") || !strings.Contains(d.last, "Summary of the conversation so far") {
		t.Errorf("the facts are not those of a summary: %s", d.last)
	}
	d.last = "" // it is the test's, and no part of the box
	late, lateFresh := memory()
	messages, calls, summaries := count()
	s.Close()
	for _, fact := range []string{"ORCHID-7713", "PX-4471", "B-12"} {
		if !strings.Contains(answer, fact) {
			t.Errorf("the last answer lacks %s: %q", fact, answer)
		}
	}
	for what, n := range map[string][2]int{"messages": {messages, 400}, "calls": {calls, 60}, "summaries": {summaries, 12}, "reloads": {reloads, 5}, "switches": {provider, len(switches)}, "subagents": {len(d.agents), 3}, "runs that a budget ended": {ended, 3}} {
		if n[0] < n[1] {
			t.Errorf("%d %s, want at least %d", n[0], what, n[1])
		}
	}
	if delegated != len(d.agents) || d.summaries < summaries || d.sent < d.requests || d.sent > d.requests+1 { // one was stopped before it began
		t.Errorf("%d subagents of %d calls; %d summaries, %d stored; OnSend saw %d of %d requests", len(d.agents), delegated, d.summaries, summaries, d.sent, d.requests)
	}
	if d.refused > 0 || d.largest > dayWindow || len(d.passed) > 0 {
		t.Errorf("%d requests did not fit, the largest had %d tokens; budgets: %q", d.refused, d.largest, d.passed)
	}
	for i, name := range providers {
		s := d.servers[name]
		if len(s.wrong) > 0 {
			t.Errorf("%d rules of the API are broken: %s", len(s.wrong), strings.Join(s.wrong[:min(5, len(s.wrong))], "\n"))
		}
		if s.made == 0 || s.own == 0 || i > 0 && s.foreign == 0 {
			t.Errorf("%s made %d ids, and got back %d of its signatures and %d calls of others", name, s.made, s.own, s.foreign)
		}
	}
	if early > earlyFresh*1.1 || late > lateFresh*1.1 {
		t.Errorf("a box that has worked uses %.0f KB after 100 messages and %.0f KB after 400; one that has just read the session %.0f KB and %.0f KB", early/1e3, late/1e3, earlyFresh/1e3, lateFresh/1e3)
	}
	// What a summary has replaced is in the store alone.
	if lateFresh > earlyFresh*1.1 {
		t.Errorf("a box that has just read the session uses %.0f KB after 100 messages and %.0f KB after 400", earlyFresh/1e3, lateFresh/1e3)
	}
	t.Logf("%d messages, %d calls, %d summaries, %d requests, the largest of %d tokens; after 100 messages %.0f KB in use (just opened %.0f), after 400 %.0f KB (%.0f)", messages, calls, summaries, d.requests, d.largest, early/1e3, earlyFresh/1e3, late/1e3, lateFresh/1e3)
	if err := store().Delete(context.WithoutCancel(t.Context()), id); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
}
