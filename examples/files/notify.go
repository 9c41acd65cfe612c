//go:build js && wasm

package main

import (
	"syscall/js"
)

// notices sets up the buttons for notifications and voice. Neither does anything before it is
// pressed.
func (a *app) notices() {
	a.pressed = js.FuncOf(pressed)
	kind := js.Global().Get("Notification")
	if kind.IsUndefined() {
		hide("notify", true)
	}
	shown := func() {
		on := a.kept.Notify && kind.Get("permission").String() == "granted"
		element("notify").Call("setAttribute", "aria-pressed", map[bool]string{true: "true", false: "false"}[on])
	}
	if !kind.IsUndefined() {
		shown()
	}
	a.on("notify", func() error {
		if a.kept.Notify && kind.Get("permission").String() == "granted" {
			a.kept.Notify = false
			toast("No more notifications.")
		} else {
			answer, err := await(a.ctx, kind.Call("requestPermission"))
			if err != nil {
				return err
			}
			a.kept.Notify = answer.String() == "granted"
			if a.kept.Notify {
				toast("When this tab is hidden, a notification says that an answer is there or that you are asked.")
			} else {
				toast("The browser does not allow notifications for this site. Its settings for the site can.")
			}
		}
		a.kept.save()
		shown()
		return nil
	})
	a.voice()
}

// pressed handles a click on a notification. One listener serves all of them.
func pressed(n js.Value, _ []js.Value) any {
	js.Global().Call("focus")
	n.Call("close")
	return nil
}

// notify shows a notification, if the user enabled them and the page is hidden.
func (a *app) notify(title, text string) {
	kind := js.Global().Get("Notification")
	if !a.kept.Notify || kind.IsUndefined() || !document().Get("hidden").Bool() {
		return
	}
	defer func() { _ = recover() }() // on platforms where only a service worker may show notifications, New panics
	n := kind.New(title, map[string]any{"body": text, "tag": "bailey-files", "icon": "icons/icon-192.png"})
	n.Call("addEventListener", "click", a.pressed)
}

// voice sets up speech input into the text field, if the browser has it. The browser may send the
// sound to its maker. So a dialogue asks the user once, and the microphone is off until the button
// is pressed.
func (a *app) voice() {
	make := js.Global().Get("SpeechRecognition")
	if make.IsUndefined() {
		make = js.Global().Get("webkitSpeechRecognition")
	}
	hide("voice", make.IsUndefined())
	if make.IsUndefined() {
		return
	}
	var live js.Value
	pressed := func(on bool) {
		element("voice").Call("setAttribute", "aria-pressed", map[bool]string{true: "true", false: "false"}[on])
	}
	on(element("voice"), "click", func(js.Value) {
		if live.Truthy() {
			live.Call("stop")
			return
		}
		if !a.kept.Voice {
			answer, _ := ask(asking{title: "Speak instead of typing?", text: "The browser turns speech into text. Most browsers send the sound to their maker for that (Chrome to Google, Safari to Apple), whatever this page's policy is. " +
				"The microphone is on from your press until the next, or until you are silent.", answers: []string{"No", "Speak"}})
			if answer != "Speak" {
				return
			}
			a.kept.Voice = true
			a.kept.save()
		}
		live = make.New()
		live.Set("interimResults", true)
		live.Set("lang", js.Global().Get("navigator").Get("language"))
		before := value("text")
		if before != "" {
			before += " "
		}
		var of listeners
		of.on(live, "result", func(e js.Value) {
			text := before
			for _, r := range each(js.Global().Get("Array").Call("from", e.Get("results"))) {
				text += r.Index(0).Get("transcript").String()
			}
			element("text").Set("value", text)
		})
		of.on(live, "error", func(e js.Value) {
			if why := e.Get("error").String(); why == "not-allowed" {
				toast("The browser or this page's headers do not let the microphone be used.")
			} else if why != "aborted" && why != "no-speech" {
				toast("Speech is not understood now: " + why)
			}
		})
		of.on(live, "end", func(js.Value) {
			of.release()
			live = js.Undefined()
			pressed(false)
			element("text").Call("focus")
		})
		pressed(true)
		live.Call("start")
	})
}

// offline shows when a new build is ready, when there is no network, and that the page works
// without one.
func (a *app) offline() {
	on(js.Global(), "bailey-update", func(js.Value) {
		hide("update", false)
		status("A new version is ready.")
	})
	on(element("update-now"), "click", func(js.Value) { js.Global().Get("location").Call("reload") })
	state := func() {
		text := ""
		if !js.Global().Get("navigator").Get("onLine").Bool() {
			text = "Without a network"
		}
		element("network").Set("textContent", text)
		hide("network", text == "")
	}
	on(js.Global(), "online", func(js.Value) { state() })
	on(js.Global(), "offline", func(js.Value) { state() })
	state()
	if workers := js.Global().Get("navigator").Get("serviceWorker"); workers.Truthy() {
		go func() {
			if _, err := await(a.ctx, workers.Get("ready")); err == nil {
				hide("stored", false)
			}
		}()
	}
}
