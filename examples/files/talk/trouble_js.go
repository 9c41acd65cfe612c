package talk

import (
	"fmt"
	"slices"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/internal/consent"
	"github.com/bailey-go/bailey/sandbox"
)

// Trouble shows why a run has no answer, and offers another try. The first sentence of text is the reason.
func (t *Talk) Trouble(text, details string) {
	t.Problem, t.details = text, details
	if t.options.InView(t) {
		dom.Status("")
		t.ShowTrouble()
	}
}

// Came reports whether the present step has shown a part of an answer.
func (t *Talk) Came() bool { return len(t.step.sections) > 0 && t.last.Len() > 0 }

// ShowTrouble shows the card below the conversation: why the last message has no answer, or that the last
// answer ended too early. Without such a reason it hides the card.
func (t *Talk) ShowTrouble() {
	text, again := t.Problem, "Try again"
	if text == "" && t.Cancel == nil {
		list := t.Session.Recent()
		switch {
		case len(list) == 0:
		case list[len(list)-1].Metadata.Partial, list[len(list)-1].Role == sandbox.RoleAssistant && !ends(list[len(list)-1]):
			text, again = "The last answer is not whole: it was stopped, or this page was closed.", "Continue"
		case t.Latest().Role == sandbox.RoleUser:
			text = "This message has no answer yet: it was stopped, or this page was closed."
		}
	}
	show(text, t.details, again, false)
	dom.Hide("change-model", t.Problem == "")
}

// ends reports whether an answer ends with a text or a file. One that ends with a step was interrupted, or the
// model said nothing about it.
func ends(m sandbox.Message) bool {
	for _, p := range slices.Backward(m.Parts) {
		if p.ToolCallID != "" {
			return false
		}
		if p.Type == "text" || p.Type == "file" {
			return true
		}
	}
	return true
}

// ShowReload shows a text with a button that loads the page again.
func ShowReload(text string) {
	show(text, "", "", true)
	dom.Hide("change-model", true)
}

func show(text, details, again string, reload bool) {
	dom.SetText("trouble-text", text)
	dom.SetText("again", again)
	dom.SetText("trouble-details", details)
	dom.Hide("trouble-more", details == "" || text == "")
	dom.Hide("again", reload)
	dom.Hide("reload", !reload)
	dom.Hide("trouble", text == "")
}

// retry shows that the provider is asked again automatically.
func (t *Talk) retry(data any) {
	d, _ := data.(map[string]any)
	after, _ := d["after_ms"].(float64)
	reason, _ := d["reason"].(string)
	dom.Status(fmt.Sprintf("The model could not answer (%s). Try %v in %.1f s. Esc stops.", dom.Cut(reason, 120), consent.Values(d["attempt"], ""), after/1000))
}
