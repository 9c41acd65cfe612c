package talk

import (
	"errors"
	"fmt"

	"github.com/bailey-go/bailey/examples/files/consent"
	"github.com/bailey-go/bailey/examples/internal/dom"
)

// Trouble shows why a run has no answer, and offers another try.
func (t *Talk) Trouble(text string) {
	s := t.section("Assistant")
	s.write("**That did not work.** " + escape(text))
	_ = s.Close()
	t.text = nil
	if t.options.InView(t) {
		ShowTrouble(text, false)
	}
	dom.Failed(errors.New(text))
}

// ShowTrouble shows a text above the field, and a button for another try or for a reload.
func ShowTrouble(text string, reload bool) {
	dom.SetText("trouble-text", text)
	dom.SetText("again", "Try again")
	dom.Hide("again", reload)
	dom.Hide("reload", !reload)
	dom.Hide("trouble", false)
}

// Cut reports whether the last answer ended too early, for example because the page was closed.
func (t *Talk) Cut() bool {
	list := t.Session.Messages()
	return t.Cancel == nil && len(list) > 0 && list[len(list)-1].Metadata.Partial
}

// ShowCut offers to continue an answer that ended too early.
func ShowCut() {
	ShowTrouble("The last answer is not whole: it was stopped, or this page was closed.", false)
	dom.SetText("again", "Continue")
}

// retry shows that the provider is asked again automatically.
func (t *Talk) retry(data any) {
	d, _ := data.(map[string]any)
	after, _ := d["after_ms"].(float64)
	reason, _ := d["reason"].(string)
	dom.Status(fmt.Sprintf("The provider could not answer (%s). Try %v in %.1f s; Stop ends this.", dom.Cut(reason, 120), consent.Values(d["attempt"], ""), after/1000))
}
