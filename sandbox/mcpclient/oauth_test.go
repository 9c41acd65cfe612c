package mcpclient_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/mcpclient"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

const callback = "https://app.example/back"

// guarded is an MCP server that wants tokens, with its authorization server, in memory.
type guarded struct {
	server
	mu        sync.Mutex
	log       []string
	challenge string
	resource  args
	metadata  args
	query     func(q url.Values)                    // changes the answer of the authorization
	echo      func(header map[string]string) string // of a call
	tokens    int
	valid     string
	verifiers map[string]string // challenges by code
}

func newGuarded() *guarded {
	g := &guarded{verifiers: map[string]string{}}
	g.resource = args{"resource": "https://mcp.example.org/mcp", "authorization_servers": []any{"https://login.example.org/t"}, "scopes_supported": []any{"read"}}
	g.metadata = args{"issuer": "https://login.example.org/t", "authorization_endpoint": "https://login.example.org/authorize?x=1", "token_endpoint": "https://login.example.org/token",
		"registration_endpoint": "https://login.example.org/register", "code_challenge_methods_supported": []any{"S256"}, "token_endpoint_auth_methods_supported": []any{"none"}}
	return g
}

func (g *guarded) Do(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
	reply := func(status int, v any) (*fetch.Response, error) {
		text, _ := json.Marshal(v)
		return &fetch.Response{Status: status, Header: map[string]string{"content-type": "application/json", "www-authenticate": g.challenge}, Body: io.NopCloser(strings.NewReader(string(text)))}, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if r.URL != "https://mcp.example.org/mcp" {
		g.log = append(g.log, strings.TrimPrefix(r.URL, "https://"))
	}
	switch r.URL {
	case "https://mcp.example.org/mcp":
		if r.Header["authorization"] != "Bearer "+g.valid || g.valid == "" {
			return reply(401, nil)
		}
		if g.echo != nil && strings.Contains(string(r.Body), "tools/call") {
			var msg args
			_ = json.Unmarshal(r.Body, &msg)
			text, _ := json.Marshal(args{"jsonrpc": "2.0", "id": msg["id"], "result": said(g.echo(r.Header))})
			// Some servers escape letters and slashes in JSON.
			text = []byte(strings.NewReplacer("ESCAPED secret-token/", `\u0073ecret-token\/`, "ESCAPED", "").Replace(string(text)))
			return &fetch.Response{Status: 200, Header: map[string]string{"content-type": "application/json"}, Body: io.NopCloser(bytes.NewReader(text))}, nil
		}
		return g.server.Do(ctx, r)
	case "https://mcp.example.org/.well-known/oauth-protected-resource/mcp":
		return reply(200, g.resource)
	case "https://login.example.org/.well-known/oauth-authorization-server/t":
		return reply(200, g.metadata)
	case "https://login.example.org/register":
		return reply(201, args{"client_id": "c1"})
	case "https://login.example.org/token":
		form, _ := url.ParseQuery(string(r.Body))
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		fresh := form.Get("grant_type") == "authorization_code" && form.Get("redirect_uri") == callback && g.verifiers[form.Get("code")] == base64.RawURLEncoding.EncodeToString(sum[:])
		again := form.Get("grant_type") == "refresh_token" && form.Get("refresh_token") == fmt.Sprintf("refresh-%d", g.tokens)
		if !fresh && !again || form.Get("client_id") != "c1" || form.Get("resource") != "https://mcp.example.org/mcp" {
			return reply(400, args{"error": "invalid_grant"})
		}
		g.tokens++
		g.valid = fmt.Sprintf("secret-token/%d", g.tokens)
		return reply(200, args{"access_token": g.valid, "token_type": "Bearer", "refresh_token": fmt.Sprintf("refresh-%d", g.tokens)})
	}
	return reply(404, nil)
}

// signIn is the user, who agrees at the authorization server.
func (g *guarded) signIn(_ context.Context, address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	q := u.Query()
	g.log = append(g.log, "user at "+u.Host+u.Path+" for "+q.Get("scope"))
	g.verifiers["code1"] = q.Get("code_challenge")
	back := url.Values{"code": {"code1"}, "state": {q.Get("state")}}
	if g.query != nil {
		g.query(back)
	}
	return q.Get("redirect_uri") + "?" + back.Encode(), nil
}

func (g *guarded) connect(more ...func(*mcpclient.Options)) (*mcpclient.Client, error) {
	o := mcpclient.Options{Name: "far", URL: "https://mcp.example.org/mcp", Transport: g, Authorize: g.signIn, Redirect: callback}
	for _, f := range more {
		f(&o)
	}
	return mcpclient.Connect(context.Background(), o)
}

// The user signs in once. The tokens are renewed without the user, and kept by the app.
func TestSignIn(t *testing.T) {
	g := newGuarded()
	kept := ""
	keep := func(o *mcpclient.Options) { o.Tokens, o.OnTokens = kept, func(s string) { kept = s } }
	c, err := g.connect(keep)
	must(t, err)
	want := []string{"mcp.example.org/.well-known/oauth-protected-resource/mcp", "login.example.org/.well-known/oauth-authorization-server/t", "login.example.org/register",
		"user at login.example.org/authorize for read", "login.example.org/token"}
	if fmt.Sprint(g.log) != fmt.Sprint(want) {
		t.Errorf("it asked %q", g.log)
	}
	g.log = nil
	g.valid = "" // the token has expired
	res := box(t, c, "", sandboxtest.Always(policy.AnswerOnce)).Call(t.Context(), "far_echo", args{"text": "x"})
	must(t, res.Err())
	if fmt.Sprint(g.log) != "[login.example.org/token]" || !strings.Contains(kept, "secret-token/2") {
		t.Errorf("it asked %q, and keeps %s", g.log, kept)
	}
	must(t, c.Close(t.Context()))
	// Another visit begins with the tokens. Where nobody can sign in, their end is an error that says so.
	g.log = nil
	c, err = g.connect(keep, func(o *mcpclient.Options) { o.Authorize = nil })
	must(t, err)
	if len(g.log) != 0 {
		t.Errorf("it asked %q", g.log)
	}
	g.valid, g.tokens = "", 7
	if _, err := c.Tools(t.Context()); err == nil || !strings.Contains(err.Error(), "sign in again") {
		t.Errorf("after the end: %v", err)
	}
	must(t, c.Close(t.Context()))
	// The user declines.
	_, err = newGuarded().connect(func(o *mcpclient.Options) {
		o.Authorize = func(context.Context, string) (string, error) { return "", errors.New("no") }
	})
	if err == nil || !strings.Contains(err.Error(), "did not sign in") {
		t.Error(err)
	}
	for name, o := range map[string]func(*mcpclient.Options){
		"no address to come back to": func(o *mcpclient.Options) { o.Redirect = "" },
		"an open address":            func(o *mcpclient.Options) { o.Redirect = "http://app.example/back" },
		"no tokens":                  func(o *mcpclient.Options) { o.Tokens = "x" },
	} {
		if _, err := newGuarded().connect(o); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// What an authorization server, or someone who sends the user back, can't do: get a code or a token for
// another server, or have the page open an address that runs.
func TestAttackSignIn(t *testing.T) {
	count := attack.Start(t, "19")
	for name, change := range map[string]func(g *guarded){
		"the resource of another server": func(g *guarded) { g.resource["resource"] = "https://victim.example/mcp" },
		"a resource beside it":           func(g *guarded) { g.resource["resource"] = "https://mcp.example.org/mc" },
		"the name of another server":     func(g *guarded) { g.metadata["issuer"] = "https://victim.example" },
		"an address that is a script":    func(g *guarded) { g.metadata["authorization_endpoint"] = "javascript:alert(1)" },
		"an open address for the user":   func(g *guarded) { g.metadata["authorization_endpoint"] = "http://login.example.org/authorize" },
		"no PKCE":                        func(g *guarded) { delete(g.metadata, "code_challenge_methods_supported") },
		"plain PKCE":                     func(g *guarded) { g.metadata["code_challenge_methods_supported"] = []any{"plain"} },
		"another state":                  func(g *guarded) { g.query = func(q url.Values) { q.Set("state", "x") } },
		"no state":                       func(g *guarded) { g.query = func(q url.Values) { q.Del("state") } },
		"the code of another server":     func(g *guarded) { g.query = func(q url.Values) { q.Set("iss", "https://victim.example") } },
		"no name, although it has one":   func(g *guarded) { g.metadata["authorization_response_iss_parameter_supported"] = true },
	} {
		for _, off := range []bool{false, true} {
			g := newGuarded()
			change(g)
			c, err := g.connect(func(o *mcpclient.Options) {
				if off {
					mcpclient.Trusts(o)
				}
			})
			if err == nil {
				must(t, c.Close(t.Context()))
			}
			if off {
				count.Off(name, err == nil)
			} else {
				count.Try(name, err == nil || g.valid != "")
			}
		}
	}
}

// A server that reports the headers of a request does not give the token to the model.
func TestAttackEchoedToken(t *testing.T) {
	count := attack.Start(t, "19")
	for name, echo := range map[string]func(map[string]string) string{
		"headers": func(h map[string]string) string { return fmt.Sprint(h) },
		"header":  func(h map[string]string) string { return h["authorization"] },
		"escaped": func(h map[string]string) string { return strings.Replace(h["authorization"], "Bearer ", "ESCAPED ", 1) },
		"key":     func(h map[string]string) string { return "your key is " + h["x-key"] },
	} {
		for _, off := range []bool{false, true} {
			g := newGuarded()
			g.echo = echo
			c, err := g.connect(func(o *mcpclient.Options) {
				o.Header = map[string]string{"X-Key": "secret-key-1"}
				if off {
					mcpclient.Echoes(o)
				}
			})
			must(t, err)
			res := box(t, c, "", sandboxtest.Always(policy.AnswerOnce)).Call(t.Context(), "far_echo", args{"text": "x"})
			must(t, res.Err())
			seen := strings.Contains(fmt.Sprint(res.Data), "secret-")
			if off {
				count.Off(name, seen)
			} else {
				count.Try(name, seen)
			}
			must(t, c.Close(t.Context()))
		}
	}
}
