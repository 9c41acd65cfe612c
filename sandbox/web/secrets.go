package web

import (
	"context"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/secrets"
)

// Limits of the header that a model writes for web_request.
const (
	maxHeaders = 16
	maxHeader  = 2048 // bytes of one value
)

// Secrets returns two tools over a broker and the user's secrets. The tool secrets lists their names,
// hosts and placeholders. The tool web_request sends a GET request with a header in which placeholders
// stand for secrets. The broker inserts a secret if the user stored it for the request's host, the policy
// grants secrets.use for its name, and the user agrees to its use there. A redirect to another host gets
// none of the header. An answer that repeats a secret contains its placeholder in place of it, see
// [secrets.Store.Hide]. No value reaches the model, its code, a question, a trace or a session.
//
// A secret goes only into a header, and only into one that is named like a credential, such as
// authorization or x-api-key. A server keeps bodies, addresses and other headers and may show them to
// others. If b or s is nil, the tools are listed as missing. With a relay, the relay's host must be one
// of the secret's hosts, because the relay sees the header.
func Secrets(b *Broker, s *secrets.Store) []sandbox.Tool {
	u := user{b, s, switches{}}
	list := sandbox.Tool{
		Tool: protocol.Tool{ID: "secrets", Requires: []protocol.Grant{{Capability: protocol.SecretHas}},
			Description: "Lists the user's secrets: for each its name, its hosts, and the placeholder to write into a header of web_request. Values are never shown.",
			Parameters:  `{"type":"object","properties":{"name":{"type":"string","maxLength":63,"description":"only this secret"}},"additionalProperties":false}`},
		Needs: func(context.Context, *sandbox.Call) ([]policy.Need, error) {
			return []policy.Need{{Capability: protocol.SecretHas}}, nil
		},
		Run:  func(ctx context.Context, c *sandbox.Call) (any, error) { return u.list(ctx, c) },
		Rows: "secrets",
	}
	request := sandbox.Tool{
		Tool: protocol.Tool{ID: "web_request", Requires: []protocol.Grant{{Capability: protocol.NetFetch}, {Capability: protocol.SecretUse}}, Time: 30e9,
			Description: "Sends a GET request with a header to an https address, and returns the answer. A secret of the user's is written as its placeholder, as in {\"authorization\": \"Bearer secret.github.placeholder\"}; the tool secrets lists them.",
			Parameters:  `{"type":"object","properties":{"url":{"type":"string","minLength":1,"maxLength":8192},"headers":{"type":"object","maxProperties":16,"additionalProperties":{"type":"string","maxLength":2048}}},"required":["url"],"additionalProperties":false}`},
		Needs: func(ctx context.Context, c *sandbox.Call) ([]policy.Need, error) { return u.needs(ctx, c) },
		Run:   func(ctx context.Context, c *sandbox.Call) (any, error) { return u.request(ctx, c) },
		Text:  "content",
	}
	if s == nil {
		list.Missing, request.Missing = "there is no store of secrets", "there is no store of secrets"
	} else if b == nil {
		request.Missing = "there is no way to the network; give it a broker"
	}
	return []sandbox.Tool{list, request}
}

// user has what the tools of Secrets do.
type user struct {
	b   *Broker
	s   *secrets.Store
	off switches
}

// switches has a switch for each defence that an attack test disables.
type switches struct {
	headers  bool // only headers named like a credential get one
	redirect bool // another host gets no header
	hide     bool // answers are searched
	relay    bool // the relay's host must be one of the secret's
	permit   bool // secrets.use is needed
	literal  bool // a header holds no credential of the model's own
	plain    bool // a secret is sent over https
	address  bool // an address holds no placeholder
}

func (u user) list(ctx context.Context, c *sandbox.Call) (any, error) {
	m, _ := c.Args.(map[string]any)
	only, named := m["name"].(string)
	all, err := u.s.List(ctx)
	if err != nil {
		return nil, err
	}
	rows := []any{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if named && name != only {
			continue
		}
		hosts := []any{}
		for _, h := range all[name] {
			hosts = append(hosts, h)
		}
		rows = append(rows, map[string]any{"name": name, "hosts": hosts, "placeholder": u.s.Placeholder(name)})
	}
	return map[string]any{"secrets": rows}, nil
}

// header returns the header of a call, with names in lower case, and the names of its secrets.
func (u user) header(ctx context.Context, c *sandbox.Call) (header map[string]string, names []string, err error) {
	m, _ := c.Args.(map[string]any)
	given, _ := m["headers"].(map[string]any)
	header = map[string]string{"accept": "application/json, text/plain, text/html;q=0.9, */*;q=0.1"}
	if len(given) > maxHeaders {
		return nil, nil, protocol.Errorf(protocol.ErrInvalidParams, "web_request", "", "more than %d headers", maxHeaders)
	}
	seen := map[string]bool{}
	for _, k := range slices.Sorted(maps.Keys(given)) {
		name := strings.ToLower(k)
		value, _ := given[k].(string)
		wrong := func(code protocol.Code, why string) (map[string]string, []string, error) {
			return nil, nil, protocol.Errorf(code, "web_request", "", "the header %.40q %s", name, why)
		}
		switch {
		case seen[name]:
			return wrong(protocol.ErrInvalidParams, "is there twice")
		case name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
			return wrong(protocol.ErrInvalidParams, "needs a name of letters, digits and -")
		case reserved(name):
			return wrong(protocol.ErrInvalidParams, "is not one that a tool may set")
		case len(value) > maxHeader || strings.IndexFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) >= 0:
			return wrong(protocol.ErrInvalidParams, "needs a value of printable ASCII characters in one line")
		}
		seen[name] = true
		in := u.s.Names(value)
		if len(in) > 0 && !credential(name) && !u.off.headers {
			return wrong(protocol.ErrSecurityViolation, "is not for a secret; a secret goes into one such as authorization or x-api-key, which no server shows to others")
		}
		for _, n := range in {
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
		rest := value
		for _, n := range in {
			rest = strings.ReplaceAll(rest, u.s.Placeholder(n), "")
		}
		if !u.off.literal {
			if found := secrets.Find(ctx, name+": "+rest); len(found) > 0 {
				return wrong(protocol.ErrSecurityViolation, "carries a "+found[0].Kind+"; let the user store it as a secret, and write its placeholder")
			}
		}
		header[name] = value
	}
	return header, names, nil
}

// reserved reports whether a header is the transport's own, or changes what the request does.
func reserved(name string) bool {
	for _, prefix := range []string{"proxy-", "sec-", "access-control-", "x-forwarded-", "x-http-", "x-method"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return slices.Contains(strings.Fields("cookie cookie2 set-cookie host origin referer connection keep-alive upgrade te trailer transfer-encoding content-length content-encoding content-type expect via date dnt range user-agent accept-encoding accept-charset forwarded x-real-ip x-original-url x-rewrite-url"), name)
}

// credential reports whether servers take a header for a credential. Headers with metadata are stored and
// shown, whatever they are called.
func credential(name string) bool {
	if strings.Contains(name, "meta") {
		return false
	}
	last := name[strings.LastIndexByte(name, '-')+1:]
	return slices.Contains([]string{"authorization", "auth", "key", "apikey", "token", "secret"}, last)
}

func (u user) needs(ctx context.Context, c *sandbox.Call) ([]policy.Need, error) {
	at := address(c)
	target, err := u.target(at)
	if err != nil {
		return nil, err
	}
	_, names, err := u.header(ctx, c)
	if err != nil {
		return nil, err
	}
	if len(names) > 0 && !u.off.plain && !unread(at, target) {
		return nil, plainText(target)
	}
	needs := []policy.Need{{Capability: protocol.NetFetch, Subject: target, Words: "fetch " + at}}
	for _, name := range names {
		if err := u.check(ctx, u.s.Placeholder(name), target); err != nil {
			return nil, err
		}
		if u.off.permit {
			continue
		}
		needs = append(needs, policy.Need{Capability: protocol.SecretUse, Subject: name, Words: "send the secret " + name + " to " + target})
	}
	return needs, nil
}

// target is Target for an address without a placeholder.
func (u user) target(at string) (string, error) {
	texts, _ := unescaped(at)
	for _, text := range texts {
		if len(u.s.Names(text)) > 0 && !u.off.address {
			return "", protocol.Errorf(protocol.ErrSecurityViolation, "web_request", "", "a secret goes into a header, never into an address, which servers keep in their logs")
		}
	}
	return u.b.Target(at)
}

// check returns an error if the secrets in a text may not be sent to a target, or to the relay before it.
func (u user) check(ctx context.Context, text, target string) error {
	if err := u.s.Check(ctx, text, target); err != nil {
		return err
	}
	if u.b.o.Relay == "" || u.off.relay || len(u.s.Names(text)) == 0 {
		return nil
	}
	relay, err := url.Parse(u.b.o.Relay)
	if err != nil || relay.Host == "" || u.s.Check(ctx, text, relayTarget(relay)) != nil {
		return protocol.Errorf(protocol.ErrSecurityViolation, "web_request", target, "the request passes a relay, which is not one of the secret's hosts; the user can add it to them")
	}
	return nil
}

// relayTarget returns the "host:port" of a relay.
func relayTarget(relay *url.URL) string {
	switch {
	case relay.Port() != "":
		return relay.Host
	case relay.Scheme == "http":
		return relay.Host + ":80"
	}
	return relay.Host + ":443"
}

func (u user) request(ctx context.Context, c *sandbox.Call) (any, error) {
	header, names, err := u.header(ctx, c)
	if err != nil {
		return nil, err
	}
	at, permit := address(c), c.Permit
	for hop := 0; ; hop++ {
		target, err := u.target(at)
		if err != nil {
			return nil, err
		}
		if len(names) > 0 && !u.off.plain && !unread(at, target) {
			return nil, plainText(target)
		}
		res, err := u.b.do(ctx, permit, fetch.Request{URL: at, Header: header}, func(header map[string]string, target string) (map[string]string, error) {
			return u.fill(ctx, c.Permit, header, target)
		})
		if err != nil {
			return nil, u.b.failed(err)
		}
		next := res.Header["location"]
		if res.Status < 300 || res.Status > 399 || next == "" {
			defer res.Body.Close()
			return u.answer(ctx, res, at, target)
		}
		res.Body.Close()
		if hop == maxHops {
			return nil, protocol.Errorf(protocol.ErrExecution, "web_request", "", "more than %d redirects", maxHops)
		}
		if next, err = resolve(at, next); err != nil {
			return nil, err
		}
		if at, err = u.hide(ctx, next, target); err != nil { // before it is shown in a question
			return nil, err
		}
		there, err := u.target(at)
		if err != nil {
			return nil, err
		}
		if there != target && !u.off.redirect {
			header, names = map[string]string{"accept": header["accept"]}, nil
		}
		if permit, err = c.Acquire(ctx, policy.Need{Capability: protocol.NetFetch, Subject: there, Words: "follow the redirect to " + at}); err != nil {
			return nil, err
		}
	}
}

func plainText(target string) error {
	return protocol.Errorf(protocol.ErrSecurityViolation, "web_request", target, "a secret is sent over https only")
}

// unread reports whether nobody between this machine and the server reads the request.
func unread(at, target string) bool {
	host, _, err := protocol.SplitHost(target)
	return strings.HasPrefix(strings.ToLower(at), "https:") || err == nil && protocol.Loopback(host)
}

// fill returns a header with the values of its secrets.
func (u user) fill(ctx context.Context, p sandbox.Permit, header map[string]string, target string) (map[string]string, error) {
	out := map[string]string{}
	for k, v := range header {
		for _, name := range u.s.Names(v) {
			if u.off.permit {
				break
			}
			if err := p.Check(policy.Need{Capability: protocol.SecretUse, Subject: name}); err != nil {
				return nil, err
			}
		}
		err := u.check(ctx, v, target) // the user may have changed the hosts during the question
		if err != nil {
			return nil, err
		}
		if out[k], err = u.s.Fill(ctx, v, target); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (u user) hide(ctx context.Context, text, target string) (string, error) {
	if u.off.hide {
		return text, nil
	}
	return u.s.Hide(ctx, text, target)
}

// answer returns the result of a call. The body is searched as it came, and again as the Markdown that
// it becomes, because the removal of elements can join the pieces of a value.
func (u user) answer(ctx context.Context, res *fetch.Response, at, target string) (any, error) {
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, u.b.failed(err)
	}
	text, err := u.hide(ctx, string(data), target)
	if err != nil {
		return nil, err
	}
	kind, err := u.hide(ctx, res.Header["content-type"], target)
	if err != nil {
		return nil, err
	}
	page, err := u.b.page(ctx, &fetch.Response{Status: res.Status, Header: map[string]string{"content-type": kind}, Body: io.NopCloser(strings.NewReader(text))}, at)
	m, ok := page.(map[string]any)
	if err != nil || !ok {
		return page, err
	}
	content, _ := m["content"].(string)
	m["content"], err = u.hide(ctx, content, target)
	return m, err
}
