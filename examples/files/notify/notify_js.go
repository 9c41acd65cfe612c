package notify

import (
	"context"
	"sync"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/files/dialog"
	"github.com/bailey-go/bailey/examples/files/settings"
	"github.com/bailey-go/bailey/examples/internal/dom"
)

// Notices are the notifications of the page.
type Notices struct {
	settings *settings.Settings
	lock     sync.Locker // held during one action of the user's
	pressed  js.Func     // click listener of the notifications
}

// New sets up the buttons for notifications and voice, and the notes about the network. No button
// does anything before it is pressed.
func New(ctx context.Context, s *settings.Settings, lock sync.Locker) *Notices {
	n := &Notices{settings: s, lock: lock, pressed: js.FuncOf(pressed)}
	n.notifications(ctx)
	n.voice()
	offline(ctx)
	return n
}

func (n *Notices) notifications(ctx context.Context) {
	kind := js.Global().Get("Notification")
	if kind.IsUndefined() {
		dom.Hide("notify", true)
	}
	shown := func() {
		on := n.settings.Notify && kind.Get("permission").String() == "granted"
		dom.Element("notify").Call("setAttribute", "aria-pressed", map[bool]string{true: "true", false: "false"}[on])
	}
	if !kind.IsUndefined() {
		shown()
	}
	dom.Locked(n.lock, "notify", func() error {
		if n.settings.Notify && kind.Get("permission").String() == "granted" {
			n.settings.Notify = false
			dialog.Toast("No more notifications.")
		} else {
			answer, err := dom.Await(ctx, kind.Call("requestPermission"))
			if err != nil {
				return err
			}
			n.settings.Notify = answer.String() == "granted"
			if n.settings.Notify {
				dialog.Toast("While this tab is hidden you are notified of answers and questions.")
			} else {
				dialog.Toast("Notifications are blocked. Allow them in site settings.")
			}
		}
		n.settings.Save()
		shown()
		return nil
	})
}

// pressed handles a click on a notification. One listener serves all of them.
func pressed(n js.Value, _ []js.Value) any {
	js.Global().Call("focus")
	n.Call("close")
	return nil
}

// Notify shows a notification, if the user enabled them and the page is hidden.
func (n *Notices) Notify(title, text string) {
	kind := js.Global().Get("Notification")
	if !n.settings.Notify || kind.IsUndefined() || !dom.Document().Get("hidden").Bool() {
		return
	}
	defer func() { _ = recover() }() // on platforms where only a service worker may show notifications, New panics
	note := kind.New(title, map[string]any{"body": text, "tag": "bailey-files", "icon": "icons/icon-192.png"})
	note.Call("addEventListener", "click", n.pressed)
}

// voice sets up speech input into the text field, if the browser has it. The browser may send the
// sound to its maker. So a dialogue asks the user once, and the microphone is off until the button
// is pressed.
func (n *Notices) voice() {
	make := js.Global().Get("SpeechRecognition")
	if make.IsUndefined() {
		make = js.Global().Get("webkitSpeechRecognition")
	}
	dom.Hide("voice", make.IsUndefined())
	if make.IsUndefined() {
		return
	}
	var live js.Value
	pressed := func(on bool) {
		dom.Element("voice").Call("setAttribute", "aria-pressed", map[bool]string{true: "true", false: "false"}[on])
	}
	dom.On(dom.Element("voice"), "click", func(js.Value) {
		if live.Truthy() {
			live.Call("stop")
			return
		}
		if !n.settings.Voice {
			answer, _ := dialog.Ask(dialog.Question{Title: "Speak instead of typing?", Text: "The browser turns speech into text. Most browsers send the sound to their maker for that (Chrome to Google, Safari to Apple). " +
				"The microphone is on from your press until the next, or until you are silent.", Answers: []string{"No", "Speak"}})
			if answer != "Speak" {
				return
			}
			n.settings.Voice = true
			n.settings.Save()
		}
		live = make.New()
		live.Set("interimResults", true)
		live.Set("lang", js.Global().Get("navigator").Get("language"))
		before := dom.Value("text")
		if before != "" {
			before += " "
		}
		var of dom.Listeners
		of.On(live, "result", func(e js.Value) {
			text := before
			for _, r := range dom.Each(js.Global().Get("Array").Call("from", e.Get("results"))) {
				text += r.Index(0).Get("transcript").String()
			}
			dom.SetValue("text", text)
		})
		of.On(live, "error", func(e js.Value) {
			if why := e.Get("error").String(); why == "not-allowed" {
				dialog.Toast("The microphone is blocked. Allow it in site settings.")
			} else if why != "aborted" && why != "no-speech" {
				dialog.Toast("Speech is not understood now: " + why)
			}
		})
		of.On(live, "end", func(js.Value) {
			of.Release()
			live = js.Undefined()
			pressed(false)
			dom.Element("text").Call("focus")
		})
		pressed(true)
		live.Call("start")
	})
}

// offline shows when a new build is ready, when there is no network, and that the page works
// without one.
func offline(ctx context.Context) {
	dom.On(js.Global(), "bailey-update", func(js.Value) {
		dom.Hide("update", false)
		dom.Status("A new version is ready.")
	})
	dom.OnClick("update-now", func() { js.Global().Get("location").Call("reload") })
	state := func() {
		text := ""
		if !js.Global().Get("navigator").Get("onLine").Bool() {
			text = "Offline"
		}
		dom.SetText("network", text)
		dom.Hide("network", text == "")
	}
	dom.On(js.Global(), "online", func(js.Value) { state() })
	dom.On(js.Global(), "offline", func(js.Value) { state() })
	state()
	if workers := js.Global().Get("navigator").Get("serviceWorker"); workers.Truthy() {
		go func() {
			if _, err := dom.Await(ctx, workers.Get("ready")); err == nil {
				dom.Hide("stored", false)
			}
		}()
	}
}
