//go:build js && wasm

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall/js"

	"github.com/bailey-go/bailey/headers"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/provider"
)

// kept is the settings in the browser's localStorage. boot.js reads theme and origin.
type kept struct {
	Theme    string `json:"theme,omitempty"`
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
	URL      string `json:"url,omitempty"`
	Key      string `json:"key,omitempty"`
	Origin   string `json:"origin,omitempty"` // of the provider's address

	Notify bool            `json:"notify,omitempty"`
	Voice  bool            `json:"voice,omitempty"`  // the user has agreed to speech input
	Copies map[string]bool `json:"copies,omitempty"` // folders that are worked on in a copy, by name
	Skills []string        `json:"skills,omitempty"` // accepted skills, by the hash of sum

	Rules map[string]protocol.Rules `json:"rules,omitempty"` // lasting answers, by folder name
}

const storage = "bailey-files"

func load() (k kept) {
	defer func() {
		if k.Rules == nil { // shared by all copies of the settings
			k.Rules = map[string]protocol.Rules{}
		}
	}()
	if v := js.Global().Get("localStorage").Call("getItem", storage); v.Type() == js.TypeString {
		_ = json.Unmarshal([]byte(v.String()), &k) // unreadable settings are ignored
	}
	return k
}

func (k kept) save() {
	b, _ := json.Marshal(k)
	js.Global().Get("localStorage").Call("setItem", storage, string(b))
}

// providers are the models behind an API, by id, with their addresses and default models.
var providers = map[string]struct {
	url, model string
	make       func(provider.Options) sandbox.Model
}{
	"anthropic":  {"https://api.anthropic.com/v1", "claude-sonnet-4-5", provider.Anthropic},
	"openai":     {"https://api.openai.com/v1", "gpt-5", provider.OpenAI},
	"gemini":     {"https://generativelanguage.googleapis.com/v1beta", "gemini-2.5-flash", provider.Gemini},
	"openrouter": {"https://openrouter.ai/api/v1", "openrouter/auto", provider.OpenAIChat},
	"local":      {"http://localhost:11434/v1", "llama3.2", provider.OpenAIChat},
}

// inBrowser is the id of the browser's own model.
const inBrowser = "browser"

// browsers returns the options of the browser's own model. They allow its download, because the
// user pressed a button for it, or sent a message.
func browsers() provider.PromptOptions {
	return provider.PromptOptions{Download: true, Progress: func(done float64) {
		status(fmt.Sprintf("The browser fetches its model: %.0f %%", 100*done))
	}}
}

// model returns the chosen model. Without a chosen provider it is [provider.Commands], which follows
// rules. It returns an error if the provider needs a key and has none.
func (k kept) model() (sandbox.Model, error) {
	p, ok := providers[k.Provider]
	switch {
	case k.Provider == inBrowser:
		return provider.PromptAPI(browsers()), nil
	case !ok:
		return provider.Commands(), nil
	}
	if k.Provider != "local" && k.Key == "" {
		return nil, errors.New("the provider needs a key: see Settings")
	}
	return p.make(provider.Options{URL: k.URL, Key: k.Key, Model: k.Model, OnDevice: k.Provider == "local"}), nil
}

// settings sets up the form and the button of the theme.
func (a *app) settings() {
	fill := func() {
		p := providers[value("provider")]
		hide("remote", p.make == nil)
		hide("needs", true)
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
		switch a.kept.Provider {
		case "":
		case inBrowser:
			text = "Read by the browser's own model, on this machine"
		default:
			text = "Read by " + a.kept.Model + " at " + a.kept.Origin
		}
		element("model-name").Set("textContent", text)
		element("model-name").Set("title", text)
	}
	if a.kept.Provider != "" {
		element("provider").Set("value", a.kept.Provider)
	}
	fill()
	name()
	on(element("provider"), "change", func(js.Value) { fill() })
	on(element("tab-settings"), "click", func(js.Value) {
		state, err := provider.PromptState(a.ctx, browsers())
		own := document().Call("querySelector", "#provider [value=browser]")
		own.Set("disabled", err != nil || state == provider.PromptMissing || state == provider.PromptUnavailable)
	})
	on(element("settings-form"), "submit", func(js.Value) {
		a.mu.Lock()
		defer a.mu.Unlock()
		k := a.kept
		k.Provider, k.Model, k.URL, k.Key, k.Origin = "", "", "", "", ""
		id := value("provider")
		if id == inBrowser {
			k.Provider = id
		} else if providers[id].make != nil {
			u, err := url.Parse(value("url"))
			if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
				failed(errors.New("the address must be a whole one, such as https://api.example.com/v1"))
				return
			}
			k.Provider, k.Model, k.URL, k.Key, k.Origin = id, value("model"), value("url"), value("key"), u.Scheme+"://"+u.Host
		}
		if k.Provider == "local" {
			if host, err := url.Parse(k.URL); err == nil && !a.reaches(host) {
				return // reaches has shown the error
			}
		}
		reload := k.Origin != a.loaded
		a.kept = k
		k.save()
		name()
		if reload { // a page's policy can be narrowed, not widened
			if answer, _ := ask(asking{title: "Load the page again?", text: "Its policy must name the provider, and a page's policy can be narrowed, not widened. The conversations are kept; what is at work is stopped.", answers: []string{"Later", "Load again"}}); answer == "Load again" {
				js.Global().Get("location").Call("reload")
			} else {
				status("Kept. Load the page again before the next message.")
			}
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

// reaches reports whether the headers of this page allow requests to a server. If they do not, it
// shows the line that headers.json needs.
func (a *app) reaches(u *url.URL) bool {
	text := a.header("content-security-policy")
	if text == "" {
		return true
	}
	list, limited := []string{}, false
	if csp, err := headers.ParseCSP(text); err == nil {
		list, limited = csp.Effective("connect-src")
	}
	if !limited || slices.Contains(list, u.Scheme+"://"+u.Host) || u.Host == js.Global().Get("location").Get("host").String() {
		return true
	}
	hosts := []string{}
	for _, s := range list {
		if host, ok := strings.CutPrefix(s, "https://"); ok {
			hosts = append(hosts, strconv.Quote(host))
		}
	}
	line := fmt.Sprintf(`{"connect": [%s]}`, strings.Join(append(hosts, strconv.Quote(u.Host)), ", "))
	element("needs-line").Set("textContent", line)
	element("needs-text").Set("textContent", "This page's server does not let it reach "+u.Host+". Its headers.json needs this line; serve the page again then, and press Use it once more.")
	if headers.CheckHost(u.Host) != nil {
		element("needs-text").Set("textContent", "A page's policy can't name "+u.Host+": use localhost or 127.0.0.1 and a port.")
		element("needs-line").Set("textContent", "")
	}
	hide("needs", false)
	element("needs").Call("focus")
	failed(errors.New("nothing was changed: the page's headers do not name " + u.Host))
	return false
}
