//go:build js && wasm

package main

import (
	"regexp"
	"strings"
	"syscall/js"

	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/provider"
)

func element(id string) js.Value { return js.Global().Get("document").Call("getElementById", id) }
func value(id string) string     { return element(id).Get("value").String() }
func status(text string)         { element("status").Set("textContent", text) }

// on calls do for each event at an element, on a goroutine of its own, because a callback of the
// browser must not wait.
func on(id, event string, do func(event js.Value)) {
	element(id).Call("addEventListener", event, js.FuncOf(func(_ js.Value, args []js.Value) any {
		if event == "submit" {
			args[0].Call("preventDefault")
		}
		go do(args[0])
		return nil
	}))
}

var punctuation = regexp.MustCompile("[[:punct:]]")

// escape returns a text as Markdown that shows it unchanged.
func escape(text string) string {
	return punctuation.ReplaceAllString(strings.Join(strings.Fields(text), " "), `\$0`)
}

// showProtection shows a notice if the server sends no policy with this page. Without one the frames
// still hold, but nothing behind them does.
func showProtection() {
	then := js.FuncOf(func(_ js.Value, args []js.Value) any {
		headers := args[0].Get("headers") // undefined if the request failed
		element("bare").Set("hidden", !headers.Truthy() || headers.Call("has", "content-security-policy").Bool())
		return nil
	})
	js.Global().Call("fetch", "", map[string]any{"method": "HEAD"}).Call("then", then, then)
}

// fields are the inputs that choose the model. The browser's localStorage keeps them.
var fields = []string{"url", "model", "key"}

// listenForModel fills the inputs, and stores them when they change.
func listenForModel() {
	store := js.Global().Get("localStorage")
	for _, id := range fields {
		if v := store.Call("getItem", "assistant-"+id); v.Type() == js.TypeString {
			element(id).Set("value", v)
		}
		on(id, "change", func(js.Value) { store.Call("setItem", "assistant-"+id, value(id)) })
	}
}

// chosenModel returns a model behind an API like OpenAI's. Without an address it is
// [provider.Commands], which follows rules and needs no key.
func chosenModel() sandbox.Model {
	if value("url") == "" {
		return provider.Commands()
	}
	return provider.OpenAIChat(provider.Options{URL: value("url"), Model: value("model"), Key: value("key"), OnDevice: true})
}
