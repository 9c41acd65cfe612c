package examples

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/e2e"
	"github.com/bailey-go/bailey/browsertest/internal/poll"
)

// pageDay is the model of a day of use: it knows nothing but each request.
type pageDay struct {
	mu        sync.Mutex
	window    int // tokens of a request, 0 for no limit
	largest   int
	refused   int // requests that do not fit
	summaries int
	answers   int // messages of the model to the user, and its calls' messages
	calls     int
	done      int // messages of the user's that are answered
	agents    map[string]bool
	last      chatRequest // the one about the facts
}

var (
	dayFact = regexp.MustCompile(`Fact: [^.]*\.`)
	dayNote = regexp.MustCompile(`notes/\d+\.txt`)
)

// tokens are those of a request as this provider counts them.
func (r chatRequest) tokens() int { return r.size / 4 }

func (d *pageDay) next(r chatRequest) turn {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := r.tokens()
	d.largest = max(d.largest, n)
	if d.window > 0 && n > d.window {
		d.refused++
		return turn{status: 400, text: fmt.Sprintf("This model's maximum context length is %d tokens", d.window)}
	}
	t := d.answer(r)
	t.input = n
	return t
}

func (d *pageDay) answer(r chatRequest) turn {
	var all strings.Builder
	for _, m := range r.Messages {
		all.WriteString(m.Content + "\n")
	}
	facts := dayFact.FindAllString(all.String(), -1)
	if len(r.Tools) == 0 { // it keeps the facts in what it has received
		d.summaries++
		once := map[string]bool{}
		for _, f := range facts {
			once[f] = true
		}
		return turn{text: "The user works on notes. " + strings.Join(slices.Sorted(maps.Keys(once)), " ")}
	}
	said, results := r.said(), len(r.results()) > 0
	if i := strings.LastIndex(said, "word for word:\n"); i >= 0 { // of a turn that was divided
		said, results = said[i:], true
	}
	note := dayNote.FindString(said)
	if strings.Contains(said, "Subtask") {
		d.agents[said] = true
		if !results {
			return turn{calls: []call{tc("read", "path", note)}}
		}
		return turn{text: "I have read it: " + dayFact.FindString(all.String())}
	}
	d.answers++
	var calls []call
	switch {
	case results:
	case strings.Contains(said, "Delegate"):
		calls = []call{tc("task", "subagent_type", "general", "prompt", "Subtask: read "+note)}
	case strings.Contains(said, "Look at two"):
		calls = []call{tc("read", "path", note), tc("glob", "pattern", "notes/1*.txt")}
	case strings.Contains(said, "Look at"):
		calls = []call{tc("read", "path", note)}
	}
	if calls != nil {
		d.calls += len(calls)
		return turn{calls: calls}
	}
	d.done++
	switch {
	case strings.Contains(said, "What are the facts?"):
		d.last = r
		return turn{text: strings.Join(facts, " ")}
	case results:
		return turn{text: "It says: " + strings.Repeat("a line of the file. ", 20)}
	}
	return turn{text: "I see. " + strings.Repeat("That is a good plan for the day. ", 15)}
}

// A day of use in the page: 400 messages, more than 60 calls, 12 summaries, 5 reloads, two changes of the provider and
// three subagents. The last answer has the facts of the first hour. No request is longer than the window. A page that has
// worked uses at most a tenth more memory than the same conversation just opened, and that one at most a tenth more than
// after the first 100 messages.
func TestFilesDay(t *testing.T) {
	long(t)
	t.Parallel()
	b := launch(t, e2e.Options{WriteGrants: []string{strings.TrimSuffix(site, "/")}, Args: []string{"--js-flags=--expose-gc"}})
	f, p := filesIn(t, b)
	ctx := testContext(t)
	blind := func() {
		for _, domain := range []string{"Network", "DOM", "CSS"} { // Chromium keeps what these see
			_ = p.CDP(ctx, domain+".disable", map[string]any{}, nil) // an error: it sees nothing
		}
	}
	blind()
	own, live := memory(ctx, t, b, p)
	files := map[string]string{}
	for i := range 100 {
		files[fmt.Sprintf("notes/%d.txt", i)] = fmt.Sprintf("note %d\n%s", i, strings.Repeat("a line of the note\n", 20))
	}
	files["notes/3.txt"] += "Fact: the parcel has the number PX-4471.\n"
	files["notes/5.txt"] += "Fact: the meeting is in room B-12.\n"
	d := &pageDay{agents: map[string]bool{}}
	f.script.mu.Lock()
	f.script.next = d.next
	f.script.mu.Unlock()
	state := func() pageDay {
		d.mu.Lock()
		defer d.mu.Unlock()
		return pageDay{window: d.window, largest: d.largest, refused: d.refused, summaries: d.summaries, answers: d.answers, calls: d.calls, done: d.done}
	}
	messages, reloads, switches := 0, 0, 0
	reload := func() {
		f.reload()
		blind()
		f.again("day")
		reloads++
	}
	// use changes the provider, with a reload as the page itself makes it.
	use := func(provider string) {
		f.check(`(() => {
			const k = JSON.parse(localStorage.getItem("bailey-files"));
			Object.assign(k, {provider: ` + js(provider) + `, url: ` + js(models.URL+"/v1") + `, origin: ` + js(models.URL) + `, model: ` + js(f.model) + `, key: "sk-day", context: ` + fmt.Sprint(state().window) + `});
			localStorage.setItem("bailey-files", JSON.stringify(k));
		})()`)
		reload()
		switches++
	}
	turn := func(text string) {
		t.Helper()
		before := state().done
		f.say(text)
		messages++
		poll.Until(t, "the answer to message "+fmt.Sprint(messages), func() bool { return state().done > before }, func() string {
			return fmt.Sprintf("%+v; the page says %q", state(), f.check(`document.getElementById("status").textContent + document.getElementById("trouble-text").textContent`))
		})
		f.rested()
	}
	f.drop(p, newDisk(t, "day", files))
	use("openrouter")
	turn("Keep it in mind. Fact: the code word is ORCHID-7713. Call nothing.")
	d.mu.Lock()
	d.window = d.largest*5/4 + 5000 // the tools and the prompt take most of it
	d.mu.Unlock()
	use("openrouter")
	reloads, switches = 0, 0

	filler := strings.Repeat("We talk about the plan of the day and its parts. ", 14)
	var early, earlyFresh, earlyOwn, earlyFreshOwn float64
	for i := 1; messages+state().answers < 399; i++ {
		switch {
		case i == 2:
			turn("Look at notes/3.txt. " + filler)
		case i == 4 || i == 50 || i == 90:
			turn(fmt.Sprintf("Delegate it: notes/%d.txt. ", map[int]int{4: 5, 50: 6, 90: 7}[i]) + filler)
		case i%6 == 3:
			turn(fmt.Sprintf("Look at two: notes/%d.txt. ", i%90+10) + filler)
		case i%3 == 1:
			turn(fmt.Sprintf("Look at notes/%d.txt. ", i%90+10) + filler)
		default:
			turn(filler)
		}
		switch i {
		case 40: // about 100 messages
			early, earlyOwn = live(), own()
			reload()
			earlyFresh, earlyFreshOwn = live(), own()
		case 70:
			use("anthropic")
		case 100:
			use("openrouter")
		case 130:
			reload()
		}
	}
	late, lateOwn := live(), own()
	reload()
	lateFresh, lateFreshOwn := live(), own()
	turn("What are the facts?")
	got := state()
	for _, fact := range []string{"ORCHID-7713", "PX-4471", "B-12"} {
		shows(t, p, fact)
	}
	var last strings.Builder
	for _, m := range d.last.Messages {
		last.WriteString(m.Content)
	}
	for _, fact := range []string{"ORCHID-7713", "PX-4471", "B-12"} {
		if !strings.Contains(last.String(), fact) {
			t.Errorf("the last request lacks %s", fact)
		}
	}
	if strings.Contains(last.String(), "Keep it in mind") || !strings.Contains(last.String(), "Summary of the conversation so far") {
		t.Error("the facts are not those of a summary")
	}
	for what, n := range map[string][2]int{"messages": {messages + got.answers, 400}, "calls": {got.calls, 60}, "summaries": {got.summaries, 12}, "reloads": {reloads, 5}, "switches": {switches, 2}, "subagents": {len(d.agents), 3}} {
		if n[0] < n[1] {
			t.Errorf("%d %s, want at least %d", n[0], what, n[1])
		}
	}
	if got.refused > 0 || got.largest > got.window {
		t.Errorf("%d requests did not fit: the largest had %d of %d tokens", got.refused, got.largest, got.window)
	}
	t.Logf("%d messages, %d calls, %d summaries, %d reloads; the largest request had %d of %d tokens", messages+got.answers, got.calls, got.summaries, reloads, got.largest, got.window)
	t.Logf("live memory after 100 messages %.1f MB, just opened %.1f; after 400 %.1f, just opened %.1f; of the processes %.0f, %.0f, %.0f, %.0f", early, earlyFresh, late, lateFresh, earlyOwn, earlyFreshOwn, lateOwn, lateFreshOwn)
	if early > 1.1*earlyFresh || late > 1.1*lateFresh {
		t.Errorf("a page that has worked uses more than a tenth more than one that has just opened the conversation")
	}
	if lateFresh > 1.1*earlyFresh {
		t.Errorf("the opened conversation uses more than a tenth more after 400 messages than after 100")
	}
	noErrors(t, p)
}
