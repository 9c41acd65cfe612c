package settings

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/files/dialog"
	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/headers"
	"github.com/bailey-go/bailey/sandbox/provider"
)

// Listen sets up the form and the button of the theme. It returns at once, and ctx ends its requests.
func (s *Settings) Listen(ctx context.Context) {
	fill := func() {
		p := providers[dom.Value("provider")]
		dom.Hide("remote", p.make == nil)
		dom.Hide("needs", true)
		k := s.Kept
		if k.Provider != dom.Value("provider") {
			k.Model, k.URL, k.Key, k.Effort, k.Context = p.model, p.url, "", "", 0
			dom.Element("models").Call("replaceChildren")
		}
		dom.SetValue("model", k.Model)
		dom.SetValue("url", k.URL)
		dom.SetValue("key", k.Key)
		dom.SetValue("effort", k.Effort)
		dom.SetValue("window", "")
		if k.Context > 0 {
			dom.SetValue("window", strconv.Itoa(k.Context))
		}
	}
	name := func() {
		text := "Read by rules, on this machine"
		switch s.Provider {
		case "":
		case inBrowser:
			text = "Read by the browser's own model, on this machine"
		default:
			text = "Read by " + s.Model + " at " + s.Origin
		}
		dom.SetText("model-name", text)
		dom.Element("model-name").Set("title", text)
	}
	if s.Provider != "" {
		dom.SetValue("provider", s.Provider)
	}
	fill()
	name()
	dom.On(dom.Element("provider"), "change", func(js.Value) { fill() })
	dom.On(dom.Element("tab-settings"), "click", func(js.Value) {
		state, err := browsers().State(ctx)
		own := dom.Document().Call("querySelector", "#provider [value=browser]")
		own.Set("disabled", err != nil || state == "missing" || state == "unavailable")
		s.list(ctx)
	})
	dom.On(dom.Element("settings-form"), "submit", func(js.Value) {
		s.lock.Lock()
		defer s.lock.Unlock()
		k := s.Kept
		k.Provider, k.Model, k.URL, k.Key, k.Origin, k.Effort, k.Context = "", "", "", "", "", "", 0
		id := dom.Value("provider")
		if id == inBrowser {
			k.Provider = id
		} else if providers[id].make != nil {
			u, err := url.Parse(dom.Value("url"))
			if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
				dom.Failed(errors.New("the address must be a whole one, such as https://api.example.com/v1"))
				return
			}
			k.Provider, k.Model, k.URL, k.Key, k.Origin = id, dom.Value("model"), dom.Value("url"), dom.Value("key"), u.Scheme+"://"+u.Host
			k.Effort = dom.Value("effort")
			if text := dom.Value("window"); text != "" {
				if k.Context, err = strconv.Atoi(text); err != nil || k.Context < leastWindow || k.Context > mostWindow {
					dom.Failed(fmt.Errorf("the window must be a number of tokens from %d to %d, or empty", leastWindow, mostWindow))
					return
				}
			}
		}
		if k.Provider == "local" {
			if host, err := url.Parse(k.URL); err == nil && !reaches(ctx, host) {
				return // reaches has shown the error
			}
		}
		reload := k.Origin != s.loaded
		s.Kept = k
		k.Save()
		name()
		if reload { // a page's policy can be narrowed, not widened
			askReload("Its policy must name the provider, and a page's policy can be narrowed, not widened.")
			return
		}
		dom.Status("Kept")
	})
	dom.Locked(s.lock, "wipe", func() error {
		s.Key = ""
		s.Save()
		dom.SetValue("key", "")
		dom.Status("The key is gone from this browser.")
		return nil
	})
	dom.Locked(s.lock, "theme", func() error {
		root := dom.Document().Get("documentElement").Get("style")
		dark := js.Global().Call("matchMedia", "(prefers-color-scheme: dark)").Get("matches").Bool()
		if s.Theme != "" {
			dark = s.Theme == "dark"
		}
		s.Theme = map[bool]string{true: "light", false: "dark"}[dark]
		root.Set("colorScheme", s.Theme)
		s.Save()
		return nil
	})
}

// leastWindow and mostWindow limit the tokens of a model's window. A smaller one has no room for the
// tools.
const leastWindow, mostWindow = 2_000, 100_000_000

// list offers the names of the chosen server's models. Without a list the user types the name.
func (s *Settings) list(ctx context.Context) {
	s.lock.Lock()
	k, loaded := s.Kept, s.loaded
	s.lock.Unlock()
	if k.Provider == "" || k.Provider == inBrowser || k.Origin != loaded || dom.Value("provider") != k.Provider {
		return
	}
	m, err := k.NewModel()
	if err != nil {
		return
	}
	names, err := provider.Models(ctx, m)
	if err != nil {
		return
	}
	list := dom.Element("models")
	list.Call("replaceChildren")
	for _, name := range offered(names) {
		option := dom.Create("option", "")
		option.Set("value", name)
		list.Call("append", option)
	}
}

// reaches reports whether the headers of this page allow requests to a server. If they do not, it
// shows the line that the section page of policy.json needs.
func reaches(ctx context.Context, u *url.URL) bool {
	text, line := Unnamed(ctx, u.Scheme+"://"+u.Host)
	if text == "" {
		return true
	}
	dom.SetText("needs-line", line)
	dom.SetText("needs-text", text+" Press Use it once more then.")
	dom.Hide("needs", false)
	dom.Element("needs").Call("focus")
	dom.Failed(errors.New("nothing was changed: the page's headers do not name " + u.Host))
	return false
}

// Unnamed returns a text for the user if the headers of this page's server do not allow requests to all
// origins, and the line that the section page of policy.json needs. A text without a line is about an origin that no header
// can name.
func Unnamed(ctx context.Context, origins ...string) (text, line string) {
	header := dom.Header(ctx, "content-security-policy")
	if header == "" {
		return "", ""
	}
	list, limited := []string{}, false
	if csp, err := headers.ParseCSP(header); err == nil {
		list, limited = csp.Effective("connect-src")
	}
	if !limited {
		return "", ""
	}
	var missing, hosts []string
	for _, s := range list {
		if host, ok := strings.CutPrefix(s, "https://"); ok {
			hosts = append(hosts, strconv.Quote(host))
		}
	}
	for _, o := range origins {
		_, host, _ := strings.Cut(o, "://")
		if slices.Contains(list, o) || host == js.Global().Get("location").Get("host").String() || slices.Contains(missing, host) {
			continue
		}
		if headers.CheckHost(host) != nil {
			return "A page's policy can't name " + host + ": use localhost or 127.0.0.1 and a port.", ""
		}
		missing, hosts = append(missing, host), append(hosts, strconv.Quote(host))
	}
	if len(missing) == 0 {
		return "", ""
	}
	return "This page's server does not let it reach " + strings.Join(missing, ", ") + ". The section page of its policy.json needs this line; build and serve the page again then.", fmt.Sprintf(`"connect": [%s]`, strings.Join(hosts, ", "))
}

// Reach stores the settings that change sets, if the headers of this page name the origins that they need.
// Otherwise it shows the line that the section page of policy.json needs, and changes nothing. It reports whether it stored
// them. The lock must be held.
func (s *Settings) Reach(ctx context.Context, change func(*Kept)) bool {
	k := s.Kept
	change(&k)
	if text, line := Unnamed(ctx, k.origins()...); text != "" {
		var body []js.Value
		if line != "" {
			body = append(body, dom.Pre(line, "", "The line for policy.json"))
		}
		dialog.Ask(dialog.Question{Title: "Nothing was changed", Text: text, Body: body, Answers: []string{"Close"}})
		dom.Failed(errors.New("nothing was changed: the page's headers do not name the server"))
		return false
	}
	s.Kept = k
	s.Save()
	return true
}

// OfferReload asks to load the page again if its policy lacks an origin of the settings. It reports whether
// it does.
func (s *Settings) OfferReload() bool {
	list := s.Unreached()
	if len(list) > 0 {
		askReload("Its policy must name " + strings.Join(list, ", ") + ", and a page's policy can be narrowed, not widened.")
	}
	return len(list) > 0
}

// askReload asks to load the page again, and does so.
func askReload(why string) {
	if answer, _ := dialog.Ask(dialog.Question{Title: "Load the page again?", Text: why + " The conversations are kept; what is at work is stopped.", Answers: []string{"Later", "Load again"}}); answer == "Load again" {
		js.Global().Get("location").Call("reload")
	} else {
		dom.Status("Kept. Load the page again before the next message.")
	}
}
