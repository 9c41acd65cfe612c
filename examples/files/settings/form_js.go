package settings

import (
	"cmp"
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
	"github.com/bailey-go/bailey/internal/consent"
	"github.com/bailey-go/bailey/sandbox/provider"
)

// Listen sets up the form and the button of the theme. It returns at once, and ctx ends its requests.
func (s *Settings) Listen(ctx context.Context) {
	fill := func() {
		p := providers[dom.Value("provider")]
		dom.Hide("remote", p.make == nil)
		dom.Hide("needs", true)
		k, id := s.Kept, dom.Value("provider")
		if k.Provider != id {
			k.Model, k.URL, k.Key, k.Effort, k.Context = p.model, p.url, "", "", 0
			if i := slices.IndexFunc(k.Models, func(m Model) bool { return m.Provider == id }); i >= 0 {
				k.use(k.Models[i])
			}
			dom.Element("models").Call("replaceChildren")
		}
		dom.SetText("model-says", "")
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
		text := nameOf(s.chosen())
		dom.SetText("model-name", text)
		dom.Element("model-chip").Set("title", strings.TrimSuffix(text+" at "+s.Origin, " at "))
		s.offer()
	}
	if s.Provider != "" {
		dom.SetValue("provider", s.Provider)
	}
	fill()
	name()
	dom.On(dom.Element("provider"), "change", func(js.Value) { fill() })
	opened := func(js.Value) {
		state, err := browsers().State(ctx)
		own := dom.Document().Call("querySelector", "#provider [value=browser]")
		own.Set("disabled", err != nil || state == "missing" || state == "unavailable")
		_, _ = s.list(ctx)
	}
	dom.On(dom.Element("tab-settings"), "click", opened)
	dom.On(js.Global(), "bailey-connect", opened)
	dom.OnClick("test", func() { s.test(ctx) })
	dom.On(dom.Element("model-list"), "click", func(e js.Value) { // a choice in the composer
		b := e.Get("target").Call("closest", "button")
		if b.IsNull() {
			return
		}
		s.lock.Lock()
		defer s.lock.Unlock()
		k := s.Kept
		if i, err := strconv.Atoi(b.Get("dataset").Get("n").String()); err == nil && i < len(k.Models) {
			k.use(k.Models[i])
		} else {
			k.use(Model{})
		}
		s.Kept = k
		k.Save()
		dom.SetValue("provider", cmp.Or(k.Provider, "commands"))
		fill()
		name()
		dom.Status("The next message goes to: " + nameOf(k.chosen()))
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
				s.says("The address must be a whole one, such as https://api.example.com/v1.")
				dom.Failed(errors.New("the address must be a whole one, such as https://api.example.com/v1"))
				return
			}
			k.Provider, k.Model, k.URL, k.Key, k.Origin = id, dom.Value("model"), dom.Value("url"), dom.Value("key"), u.Scheme+"://"+u.Host
			k.Effort = dom.Value("effort")
			if k.Key == "" && id != "local" {
				s.says("This provider needs a key. Without one no message can be sent.")
			}
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
		reload := k.Origin != "" && !s.Reaches(k.Origin)
		k.remember()
		s.Kept = k
		k.Save()
		name()
		if reload { // a page's policy can be narrowed, not widened
			askReload(k.Origin)
			return
		}
		dom.Status("Saved.")
	})
	dom.Locked(s.lock, "wipe", func() error {
		s.Key = ""
		url := s.URL
		s.Models = slices.DeleteFunc(slices.Clone(s.Models), func(m Model) bool { return m.URL == url })
		s.Save()
		s.offer()
		dom.SetValue("key", "")
		dom.Status("The key is removed from this browser.")
		return nil
	})
	dom.Locked(s.lock, "theme", func() error {
		root := dom.Document().Get("documentElement").Get("style")
		s.Theme = map[string]string{"": "dark", "dark": "light", "light": ""}[s.Theme]
		root.Set("colorScheme", s.Theme)
		s.Save()
		dom.Status("Colours: " + cmp.Or(s.Theme, "as the system") + ".")
		return nil
	})
}

// leastWindow and mostWindow limit the tokens of a model's window. A smaller one has no room for the
// tools.
const leastWindow, mostWindow = 2_000, 100_000_000

// nameOf returns the name of a model for the user.
func nameOf(m Model) string {
	switch m.Provider {
	case "":
		return "Demo mode: no AI"
	case inBrowser:
		return "The browser's own model"
	}
	return m.Model
}

// offer lists the connected models in the composer.
func (s *Settings) offer() {
	list := dom.Element("model-list")
	list.Call("replaceChildren")
	now := s.chosen()
	row := func(m Model, n int) {
		b := dom.Button(nameOf(m), "item")
		b.Get("dataset").Set("n", n)
		b.Call("setAttribute", "aria-pressed", fmt.Sprint(m.Provider == now.Provider && m.Model == now.Model && m.URL == now.URL))
		if _, host, ok := strings.Cut(m.Origin, "://"); ok {
			b.Call("append", " ", dom.Create("small", host))
		}
		list.Call("append", b)
	}
	for i, m := range s.Models {
		row(m, i)
	}
	row(Model{}, -1)
}

// says shows a text below the form of the model.
func (s *Settings) says(text string) { dom.SetText("model-says", text) }

// test asks the saved model's server for its models, and shows whether that works.
func (s *Settings) test(ctx context.Context) {
	s.lock.Lock()
	k := s.Kept
	s.lock.Unlock()
	if dom.Value("provider") == "commands" {
		s.says("Demo mode needs no connection.")
		return
	}
	if k.Provider != dom.Value("provider") || k.Provider != inBrowser && (k.URL != dom.Value("url") || k.Key != dom.Value("key")) {
		s.says("Press Save and connect first.")
		return
	}
	s.says("Asking " + k.Origin + "…")
	n, err := s.list(ctx)
	if err != nil {
		text, more := k.Explain(err, false)
		s.says(strings.TrimSpace(text + " " + more))
		return
	}
	s.says("It works. Models: " + consent.Thousands(n) + ". Type in the field Model to choose one.")
}

// list offers the names of the chosen server's models, and returns their number. Without a list the user
// types the name.
func (s *Settings) list(ctx context.Context) (int, error) {
	s.lock.Lock()
	k := s.Kept
	reaches := s.Reaches(k.Origin)
	s.lock.Unlock()
	if k.Provider == "" || k.Provider == inBrowser || !reaches || dom.Value("provider") != k.Provider {
		return 0, errors.New("reload the page first, so that it may reach " + k.Origin)
	}
	m, err := k.NewModel()
	if err != nil {
		return 0, err
	}
	names, err := provider.Models(ctx, m)
	if err != nil {
		return 0, err
	}
	list := dom.Element("models")
	list.Call("replaceChildren")
	for _, name := range offered(names) {
		option := dom.Create("option", "")
		option.Set("value", name)
		list.Call("append", option)
	}
	return len(names), nil
}

// againSave ends the text about a missing line of policy.json.
const againSave = "Then press Save and connect again."

// reaches reports whether the headers of this page allow requests to a server. If they do not, it
// shows the line that the section page of policy.json needs.
func reaches(ctx context.Context, u *url.URL) bool {
	text, line := Unnamed(ctx, u.Scheme+"://"+u.Host)
	if text == "" {
		return true
	}
	dom.SetText("needs-line", line)
	dom.SetText("needs-text", text+" "+againSave)
	dom.Hide("needs", false)
	dom.Element("needs").Call("focus")
	dom.Failed(errors.New("nothing was changed: this site isn't allowed to reach " + u.Host))
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
			return "A page can't be allowed to reach " + host + ": use localhost or 127.0.0.1 and a port.", ""
		}
		missing, hosts = append(missing, host), append(hosts, strconv.Quote(host))
	}
	if len(missing) == 0 {
		return "", ""
	}
	return "This site isn't allowed to reach " + strings.Join(missing, ", ") + ". If you run it: put this line into the section page of its policy.json, and build and serve it again.", fmt.Sprintf(`"connect": [%s]`, strings.Join(hosts, ", "))
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
		dom.Failed(errors.New("nothing was changed: this site isn't allowed to reach that server"))
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
		askReload(strings.Join(list, ", "))
	}
	return len(list) > 0
}

// askReload asks to load the page again, so that it may reach a server, and does so.
func askReload(host string) {
	if answer, _ := dialog.Ask(dialog.Question{Title: "Reload to connect to " + host + "?", Text: "For your safety this page may only reach the servers it was loaded with. Chats are kept. Running work stops.", Answers: []string{"Later", "Reload"}}); answer == "Reload" {
		js.Global().Get("location").Call("reload")
	} else {
		dom.Status("Saved. Reload the page before the next message.")
	}
}
