package talk

import (
	"strings"
	"testing"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/iframe/markdown"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// shown returns a conversation in a page with the elements that it needs. Its user has said "hello".
func shown(t *testing.T) *Talk {
	t.Helper()
	for _, id := range []string{"talk", "papers", "cards", "quiet", "status", "heard", "todo", "life"} {
		el := dom.Create("div", "")
		el.Set("id", id)
		dom.Document().Get("body").Call("append", el)
		t.Cleanup(func() { el.Call("remove") })
	}
	box, err := sandbox.New(sandbox.Options{FS: fsaccess.NewMemory(fsaccess.MemoryOptions{}), Policy: policy.AskBeforeChanges()})
	must(t, err)
	s, err := box.NewSession(t.Context(), sandbox.SessionOptions{})
	must(t, err)
	_, err = s.Say(t.Context(), "hello")
	must(t, err)
	talk, err := New(t.Context(), box, s, Options{InView: func(*Talk) bool { return true }, OnNews: func() {}, Blocked: func(text string) { t.Error(text) }, WayOut: func(string, any) {}})
	must(t, err)
	t.Cleanup(talk.Close)
	return talk
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// chunks shows parts of a stream.
func (t *Talk) chunks(list ...sandbox.Chunk) {
	for _, c := range list {
		t.Chunk(c)
	}
}

// html returns the HTML of all sections.
func html(t *testing.T, talk *Talk) string {
	t.Helper()
	must(t, talk.view.Flush(t.Context()))
	var b strings.Builder
	for _, s := range talk.view.Sections() {
		b.WriteString(s.HTML())
	}
	return b.String()
}

// Another try of a step takes the place of its answer, its thoughts and its cards, and of nothing else.
func TestAgain(t *testing.T) {
	talk := shown(t)
	talk.chunks(
		sandbox.Chunk{Type: "start-step"},
		sandbox.Chunk{Type: "data-compaction", Data: map[string]any{"summary": "IN SHORT"}},
		sandbox.Chunk{Type: "reasoning-delta", Delta: "hm, hm"}, sandbox.Chunk{Type: "reasoning-end"},
		sandbox.Chunk{Type: "text-start"}, sandbox.Chunk{Type: "text-delta", Delta: "half of it"},
		sandbox.Chunk{Type: "tool-input-start", ToolCallID: "c", ToolName: "read"},
		sandbox.Chunk{Type: "reset-step"},
	)
	if got := html(t, talk); !strings.Contains(got, "hello") || !strings.Contains(got, "IN SHORT") || strings.Contains(got, "hm, hm") || strings.Contains(got, "half of it") {
		t.Errorf("it shows %s", got)
	}
	if n := len(talk.Items()) + dom.Element("cards").Get("childElementCount").Int(); n != 0 {
		t.Errorf("%d cards are left", n)
	}
}

// A step that began before the messages were shown again does not own any of them.
func TestShowInAStep(t *testing.T) {
	talk := shown(t)
	talk.chunks(
		sandbox.Chunk{Type: "start-step"},
		sandbox.Chunk{Type: "tool-input-start", ToolCallID: "c", ToolName: "read"},
		sandbox.Chunk{Type: "reasoning-delta", Delta: "hm, hm"},
	)
	talk.Show()
	if n := len(talk.Items()) + dom.Element("cards").Get("childElementCount").Int(); n != 0 {
		t.Errorf("%d cards are left", n)
	}
	talk.chunks(sandbox.Chunk{Type: "reasoning-delta", Delta: "and more"}, sandbox.Chunk{Type: "reset-step"})
	if got := html(t, talk); !strings.Contains(got, "hello") || strings.Contains(got, "hm, hm") || strings.Contains(got, "and more") {
		t.Errorf("it shows %s", got)
	}
}

// What comes while the model thinks ends the fold with its thoughts, and later ones get a new fold.
func TestThoughtsAreInterrupted(t *testing.T) {
	for name, what := range map[string]func(talk *Talk){
		"a message of the user's": func(talk *Talk) { talk.Said("wait") },
		"a note":                  func(talk *Talk) { talk.Chunk(sandbox.Chunk{Type: "data-shortened"}) },
		"a summary":               func(talk *Talk) { talk.Chunk(sandbox.Chunk{Type: "data-compaction"}) },
		"an answer":               func(talk *Talk) { talk.Chunk(sandbox.Chunk{Type: "text-start"}) },
	} {
		t.Run(name, func(t *testing.T) {
			talk := shown(t)
			talk.chunks(sandbox.Chunk{Type: "start-step"}, sandbox.Chunk{Type: "reasoning-delta", Delta: "hm, hm"})
			what(talk)
			talk.chunks(sandbox.Chunk{Type: "reasoning-delta", Delta: "and more"}, sandbox.Chunk{Type: "reasoning-end"}, sandbox.Chunk{Type: "text-delta", Delta: "all done"})
			if got := html(t, talk); strings.Count(got, "<summary>Thoughts") != 2 || !strings.Contains(got, "hm, hm") || !strings.Contains(got, "and more") || !strings.Contains(got, "all done") {
				t.Errorf("it shows %s", got)
			}
		})
	}
}

// A card says that it waits for the user as long as a question about its call is open. After the answer
// the user can end the call if it takes long.
func TestCardWaits(t *testing.T) {
	late := func(yes any) sandbox.Chunk {
		data := map[string]any{"toolCallId": "c"}
		if yes != nil {
			data["approved"] = yes
		}
		return sandbox.Chunk{Type: "data-approval", Data: data}
	}
	for _, c := range []struct {
		name          string
		asks, answers []sandbox.Chunk
	}{
		{"before the call", []sandbox.Chunk{{Type: "tool-approval-request", ToolCallID: "c"}}, []sandbox.Chunk{{Type: "tool-approval-response", ToolCallID: "c", Approved: true}}},
		{"in the call", []sandbox.Chunk{late(nil)}, []sandbox.Chunk{late(true)}},
		{"two in the call", []sandbox.Chunk{late(nil), late(nil)}, []sandbox.Chunk{late(true), late(false)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			talk := shown(t)
			talk.chunks(sandbox.Chunk{Type: "start-step"}, sandbox.Chunk{Type: "tool-input-start", ToolCallID: "c", ToolName: "write"})
			card := talk.cards["c"]
			card.offer.Stop() // as if the user took long to answer
			talk.chunks(c.asks...)
			for _, answer := range c.answers {
				if got := card.note.Get("textContent").String(); got != "waits for you" {
					t.Errorf("with an open question it says %q", got)
				}
				talk.Chunk(answer)
			}
			if got := card.note.Get("textContent").String(); got != "" {
				t.Errorf("after the answer it says %q", got)
			}
			if !card.offer.Stop() && card.kill.Get("hidden").Bool() {
				t.Error("the user can't end the call")
			}
		})
	}
	talk := shown(t)
	talk.chunks(sandbox.Chunk{Type: "tool-input-start", ToolCallID: "c", ToolName: "code_run"}, late(nil))
	talk.Progress("c", "a line")
	if got := talk.cards["c"].note.Get("textContent").String(); got != "waits for you" {
		t.Errorf("with an open question and a line of output it says %q", got)
	}
}

// A note about what the model does not receive comes once for each message of the user's, in the page's
// live region too, and another try of the step does not remove it.
func TestNotes(t *testing.T) {
	for note, chunk := range map[string]sandbox.Chunk{
		"Shortened for the model":       {Type: "data-shortened", Data: map[string]any{"tokens": 9.0}},
		"The provider says: no <b>PDF.": {Type: "data-files-refused", Data: map[string]any{"reason": "no <b>PDF."}},
	} {
		talk := shown(t)
		dom.Element("heard").Set("textContent", "")
		count := func(want int) {
			t.Helper()
			if n := strings.Count(html(t, talk), strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(note)); n != want {
				t.Errorf("%s: %d notes, want %d", note, n, want)
			}
			if n := strings.Count(dom.Element("heard").Get("textContent").String(), note); n != want {
				t.Errorf("%s: %d in the live region, want %d", note, n, want)
			}
		}
		talk.chunks(sandbox.Chunk{Type: "start-step"}, chunk, sandbox.Chunk{Type: "text-delta", Delta: "half of it"}, sandbox.Chunk{Type: "reset-step"}, sandbox.Chunk{Type: "start-step"}, chunk)
		count(1)
		talk.Said("more")
		talk.chunks(sandbox.Chunk{Type: "start-step"}, chunk)
		count(2)
	}
}

// An answer that streams while the user says something goes on in its own section.
func TestSaidMeanwhile(t *testing.T) {
	talk := shown(t)
	talk.chunks(sandbox.Chunk{Type: "text-start"}, sandbox.Chunk{Type: "text-delta", Delta: "Press <kb"})
	talk.Said("and *paste*?")
	talk.chunks(sandbox.Chunk{Type: "text-delta", Delta: "d>C</kbd> twi"}, sandbox.Chunk{Type: "text-delta", Delta: "ce."}, sandbox.Chunk{Type: "text-end"})
	talk.chunks(sandbox.Chunk{Type: "text-start"}, sandbox.Chunk{Type: "text-delta", Delta: "Then V."}, sandbox.Chunk{Type: "text-end"})
	got := html(t, talk)
	at := 0
	for _, want := range []string{"hello", "Press <kbd>C</kbd> twice.", "and *paste*?", "Then V."} {
		n := strings.Index(got[at:], want)
		if n < 0 {
			t.Fatalf("no %q behind the others in\n%s", want, got)
		}
		at += n
	}
}

// A message is shown as it was written, also where it looks like Markdown or a formula.
func TestSaidToTheLetter(t *testing.T) {
	talk := shown(t)
	text := `return (await read({path: "a.csv"})).rows[0]; \\(a^2\\) \\[b\\] $c$ **d** [e](f) &lt; <b>`
	talk.Said(text)
	talk.chunks(sandbox.Chunk{Type: "reasoning-start"}, sandbox.Chunk{Type: "reasoning-delta", Delta: text}, sandbox.Chunk{Type: "reasoning-end"})
	got := html(t, talk)
	want := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
	if n := strings.Count(strings.ReplaceAll(got, "&#34;", `"`), want); n != 2 || strings.Contains(got, "<code") || strings.Contains(got, "<math") {
		t.Errorf("%q is there %d times in\n%s", want, n, got)
	}
}

// A message with a long line is shown as it was written.
func TestSaidLong(t *testing.T) {
	talk := shown(t)
	var err error
	talk.options.Renderer, err = markdown.New(markdown.Options{})
	must(t, err)
	text := strings.Repeat("lorem ipsum (dolor). ", 50_000)
	talk.Said(text)
	got := html(t, talk)
	if strings.Contains(got, "\\") || strings.Contains(got, "bailey-note") || strings.Count(got, "(dolor). ") != 50_000 {
		t.Errorf("%d bytes, %.400s", len(got), got)
	}
}
