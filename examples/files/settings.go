//go:build js && wasm

package main

import (
	"encoding/json"
	"errors"
	"net/url"
	"syscall/js"

	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/provider"
)

// kept is what the browser keeps of the settings. boot.js reads theme and origin.
type kept struct {
	Theme    string `json:"theme,omitempty"`
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
	URL      string `json:"url,omitempty"`
	Key      string `json:"key,omitempty"`
	Origin   string `json:"origin,omitempty"` // where the provider is
}

const storage = "bailey-files"

func load() (k kept) {
	if v := js.Global().Get("localStorage").Call("getItem", storage); v.Type() == js.TypeString {
		_ = json.Unmarshal([]byte(v.String()), &k) // what can't be read is as good as nothing
	}
	return k
}

func (k kept) save() {
	b, _ := json.Marshal(k)
	js.Global().Get("localStorage").Call("setItem", storage, string(b))
}

// providers are the models there are, with their addresses and a model to begin with.
var providers = map[string]struct {
	url, model string
	make       func(provider.Options) sandbox.Model
}{
	"anthropic": {"https://api.anthropic.com/v1", "claude-sonnet-4-5", provider.Anthropic},
	"openai":    {"https://api.openai.com/v1", "gpt-5", provider.OpenAI},
	"gemini":    {"https://generativelanguage.googleapis.com/v1beta", "gemini-2.5-flash", provider.Gemini},
	"local":     {"http://localhost:11434/v1", "llama3.2", provider.OpenAIChat},
}

// model is the model that was chosen.
func (k kept) model() (sandbox.Model, error) {
	p, ok := providers[k.Provider]
	if !ok {
		return provider.Commands(), nil
	}
	if k.Provider != "local" && k.Key == "" {
		return nil, errors.New("the provider needs a key: see Settings")
	}
	return p.make(provider.Options{URL: k.URL, Key: k.Key, Model: k.Model, OnDevice: k.Provider == "local"}), nil
}

// settings makes the form and the theme's button work.
func (a *app) settings() {
	fill := func() {
		p := providers[value("provider")]
		hide("remote", p.make == nil)
		k := a.kept
		if k.Provider != value("provider") {
			k.Model, k.URL, k.Key = p.model, p.url, ""
		}
		element("model").Set("value", k.Model)
		element("url").Set("value", k.URL)
		element("key").Set("value", k.Key)
	}
	name := func() {
		text := "Read by rules, on this machine"
		if a.kept.Provider != "" {
			text = "Read by " + a.kept.Model + " at " + a.kept.Origin
		}
		element("model-name").Set("textContent", text)
	}
	if a.kept.Provider != "" {
		element("provider").Set("value", a.kept.Provider)
	}
	fill()
	name()
	on(element("provider"), "change", func(js.Value) { fill() })
	on(element("settings-form"), "submit", func(js.Value) {
		a.mu.Lock()
		defer a.mu.Unlock()
		k := kept{Theme: a.kept.Theme}
		if id := value("provider"); providers[id].make != nil {
			u, err := url.Parse(value("url"))
			if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
				failed(errors.New("the address must be a whole one, such as https://api.example.com/v1"))
				return
			}
			k.Provider, k.Model, k.URL, k.Key, k.Origin = id, value("model"), value("url"), value("key"), u.Scheme+"://"+u.Host
		}
		reload := k.Origin != a.kept.Origin
		a.kept = k
		k.save()
		name()
		if reload { // a page's policy can be narrowed, not widened
			status("Loading the page again, for its policy must name the provider. The conversation is kept.")
			js.Global().Get("location").Call("reload")
			return
		}
		status("Kept")
	})
	a.on("wipe", func() error {
		a.kept.Key = ""
		a.kept.save()
		element("key").Set("value", "")
		status("The key is gone from this browser.")
		return nil
	})
	a.on("theme", func() error {
		root := document().Get("documentElement").Get("style")
		dark := js.Global().Call("matchMedia", "(prefers-color-scheme: dark)").Get("matches").Bool()
		if a.kept.Theme != "" {
			dark = a.kept.Theme == "dark"
		}
		a.kept.Theme = map[bool]string{true: "light", false: "dark"}[dark]
		root.Set("colorScheme", a.kept.Theme)
		a.kept.save()
		return nil
	})
}
