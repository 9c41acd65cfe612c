package talk

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/files/dialog"
	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/headers"
	"github.com/bailey-go/bailey/iframe"
)

// link shows the address of a link, and asks before it is opened. A link to a file reveals it.
func link(ctx context.Context, l iframe.Link, reveal func(path string)) {
	if l.Path != "" {
		reveal(l.Path)
		return
	}
	go func() {
		if openable(ctx, l, dialog.Question{}) {
			dom.Failed(l.Open(ctx))
		}
	}()
}

// openable shows the address of a link in a question with more about it, and reports whether the user wants to open it.
func openable(ctx context.Context, l iframe.Link, q dialog.Question) bool {
	const copies = "Copy the address"
	text, answers := "This opens "+l.Host()+" in a new tab. That site learns of your visit.", []string{"Stay", copies, "Open"}
	if !mayOpen(ctx, l) {
		text += " This site's settings (navigate in policy.json) may block it here: copy the address instead."
		answers = []string{"Stay", "Open", copies}
	}
	q.Title, q.Text, q.Body, q.Answers = "Open this address in a new tab?", strings.TrimSpace(q.Text+" "+text), []js.Value{dom.Create("code", l.URL)}, answers
	answer, _ := dialog.Ask(q)
	if answer == copies {
		copied(l.URL)
	}
	return answer == "Open"
}

// copied copies a text to the clipboard.
func copied(text string) {
	clipboard := js.Global().Get("navigator").Get("clipboard")
	if clipboard.IsUndefined() {
		dom.Failed(errors.New("this page has no clipboard: it needs HTTPS or localhost"))
		return
	}
	if _, err := dom.Await(context.Background(), clipboard.Call("writeText", text)); !dom.Failed(err) {
		dialog.Toast("Copied.")
	}
}

// mayOpen reports whether the headers of this page allow it to open a link.
func mayOpen(ctx context.Context, l iframe.Link) bool {
	text := dom.Header(ctx, "connection-allowlist")
	list, err := headers.ParseAllowlist(text)
	u, bad := url.Parse(l.URL)
	return text == "" || err != nil || bad != nil || slices.Contains(list.Patterns, u.Scheme+"://"+u.Host)
}
