// Package ui has the dialog of consent for a page: a sheet that shows the questions of a box, and waits
// for the user's answer. A [Sheet] is a [sandbox.Asker].
//
// The page has an empty element for it, and gives it to the box:
//
//	parent, err := iframe.ElementByID("ask") // <section id="ask" hidden></section>
//	sheet, err := ui.New(parent, ui.Options{})
//	box, err := sandbox.New(sandbox.Options{Ask: sheet, …})
//
// # When an answer counts
//
// A question shows its title, who asks, the risk, every effect of its calls and the difference that they
// make. An answer that allows something, or that is kept as a rule, counts only if all of these are in
// view at that moment: the tab is visible, no part is clipped, covered, transparent or tiny, and the user
// has scrolled through the effects and through the changes. It counts also only after half a second
// without a key or a pointer, so that a key that was meant for another element is no answer. "Don't allow"
// changes nothing, so it counts out of view too. The sheet says why an answer does not count yet.
//
// All of a question fits into a window of 320 by 568 CSS pixels. In a smaller one it can be rejected
// only.
//
// # Keys
//
// The sheet takes the focus, unless the user is writing, and gives it back. The keys 1 to 5 answer, n goes
// on to what has not been in view, and Tab reaches every control. Escape
// calls Options.OnStop, or answers "Don't allow" without one. If the focus came from a text field, a
// key counts only after Tab or a click in the sheet.
//
// # Layout and colours
//
// The sheet lives in a shadow tree of its element, so styles and ids of the page do not meet its own. It
// needs no exception in a Content-Security-Policy. From a window of 1121 by 721 CSS pixels on it is part
// of the page where the element stands. In a smaller one it lies over the page, at the bottom. The page may
// set the element's size and margins. The element has the attribute data-whole while the user shows the
// question in the whole window.
//
// The sheet follows the page's color-scheme, or prefers-color-scheme if the page declares none. These custom
// properties of the element change its colours and its font:
//
//	--bailey-ask-panel          the ground of the sheet
//	--bailey-ask-ground         the ground of the difference and of fields
//	--bailey-ask-text           texts
//	--bailey-ask-muted          less important texts
//	--bailey-ask-line           borders
//	--bailey-ask-accent         the main answer, added lines, the focus
//	--bailey-ask-accent-text    texts on that
//	--bailey-ask-accent-ground  the ground of added lines
//	--bailey-ask-stop           risks, warnings, removed lines
//	--bailey-ask-stop-ground    the ground of removed lines
//	--bailey-ask-font           the font family
//
// Outside a browser every function returns an error that matches [errors.ErrUnsupported].
package ui

import (
	"context"

	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/sandbox"
)

// Options are the parts of a page that a sheet talks with. Each may be nil.
type Options struct {
	// Whose returns a text about the session that asks, such as "In the chat “Taxes”". It returns ""
	// if the user sees that session. The default shows no text.
	Whose func(session string) string
	// OnAsk is called with the title of each question when it is shown.
	OnAsk func(title string)
	// OnStop is called when the user presses Stop or Escape in the sheet, on a goroutine of its own. The
	// button Stop is shown only where the sheet covers the page, and never if OnStop is nil.
	OnStop func()
}

// Sheet is a [sandbox.Asker]. It shows questions of consent in an element of the page, one at a time.
// Create one with [New].
type Sheet struct{ impl *sheet }

var _ sandbox.Asker = (*Sheet)(nil)

// New makes the sheet in an element of the page, such as <section id="ask" hidden></section>, and hides it
// until something is asked. The element must be one that can have a shadow tree (a section or a div) and
// holds one sheet. The zero Element is an error.
func New(parent iframe.Element, o Options) (*Sheet, error) {
	impl, err := build(parent, o)
	if err != nil {
		return nil, err
	}
	return &Sheet{impl}, nil
}

// Ask implements [sandbox.Asker]. It shows the calls' effects, and waits for the user's answer. The
// answer holds for the requests of the prompt that the user leaves chosen, which are all at first. The
// others are rejected. A second question waits until the first is answered. If ctx ends, the question is
// closed and the error is that of ctx. After Close the error matches [fs.ErrClosed].
func (s *Sheet) Ask(ctx context.Context, p sandbox.Prompt) ([]sandbox.Reply, error) {
	return s.impl.ask(ctx, p)
}

// Dismiss rejects the question of a session, if it is the one that is shown.
func (s *Sheet) Dismiss(session string) { s.impl.dismiss(session) }

// ShowWhose shows which session asks, by Options.Whose. Call it when the user comes to see another
// session.
func (s *Sheet) ShowWhose() { s.impl.showWhose() }

// Close closes the question that is shown, empties the element and releases the sheet's listeners. It is
// idempotent.
func (s *Sheet) Close() error { return s.impl.close() }
