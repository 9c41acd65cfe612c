//go:build js && wasm

package main

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"syscall/js"

	"github.com/bailey-go/bailey/headers"
	"github.com/bailey-go/bailey/iframe"
)

// link shows the address of a link, and asks before it is opened.
func (a *app) link(_ context.Context, l iframe.Link) {
	go func() {
		const copies = "Copy the address"
		text, answers := "It leads out of this page. Whoever answers there learns that you came.", []string{"Stay", copies, "Open"}
		if !a.mayOpen(l) {
			text += " This page's headers do not name that server (navigate, in headers.json): browsers made from Chromium open nothing there. Copy the address for another window, then."
			answers = []string{"Stay", "Open", copies}
		}
		switch answer, _ := ask(asking{title: "Open this address in a new tab?", text: text, body: []js.Value{create("code", l.URL)}, answers: answers}); answer {
		case "Open":
			failed(l.Open(a.ctx))
		case copies:
			clipboard := js.Global().Get("navigator").Get("clipboard")
			if clipboard.IsUndefined() {
				failed(errors.New("this page has no clipboard: it needs HTTPS or localhost"))
				return
			}
			if _, err := await(a.ctx, clipboard.Call("writeText", l.URL)); !failed(err) {
				toast("The address is copied.")
			}
		}
	}()
}

// mayOpen reports whether the headers of this page allow it to open a link.
func (a *app) mayOpen(l iframe.Link) bool {
	text := a.header("connection-allowlist")
	list, err := headers.ParseAllowlist(text)
	u, bad := url.Parse(l.URL)
	return text == "" || err != nil || bad != nil || slices.Contains(list.Patterns, u.Scheme+"://"+u.Host)
}

// header returns the value of one of this page's response headers, "" if there is none or the
// request fails.
func (a *app) header(name string) string {
	response, err := await(a.ctx, js.Global().Call("fetch", js.Global().Get("location").Get("pathname"), map[string]any{"cache": "no-store"}))
	if err != nil {
		return "" // a request that needs the network reports the failure
	}
	if v := response.Get("headers").Call("get", name); v.Type() == js.TypeString {
		return v.String()
	}
	return ""
}
