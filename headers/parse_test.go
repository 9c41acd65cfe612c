package headers

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseReadsWhatListWrites(t *testing.T) {
	for _, u := range []Use{{}, full(), {Isolation: documentIsolation}, {Isolation: noIsolation}} {
		h, err := For(u)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse(h.List())
		if err != nil || !reflect.DeepEqual(got.List(), h.List()) {
			t.Errorf("%+v: %v\n got %v\nwant %v", u, err, got.List(), h.List())
		}
	}
}

func TestParseRefuses(t *testing.T) {
	csp := Header{"Content-Security-Policy", "default-src 'none'"}
	for _, c := range []struct {
		list []Header
		why  string
	}{
		{nil, "is empty"},
		{[]Header{csp, csp}, "sent twice"},
		{[]Header{{"content-security-policy", "default-src none"}}, "needs its quotes"},
		{[]Header{{"Content-Security-Policy", "default-src 'none' 'self'"}}, "must stand alone"},
		{[]Header{{"Content-Security-Policy", "defualt-src 'none'"}}, "unknown directive"},
		{[]Header{{"Content-Security-Policy", "default-src 'none'; default-src 'self'"}}, "keep the first only"},
		{[]Header{{"Content-Security-Policy", "default-src 'none', script-src 'self'"}}, "a comma starts"},
		{[]Header{{"Content-Security-Policy", "script-src 'sha256-abc'"}}, "not a hash"},
		{[]Header{{"Content-Security-Policy", "script-src 'wasm-eval'"}}, "unknown keyword"},
		{[]Header{{"Content-Security-Policy", "script-src ftp://x.com"}}, "unknown scheme"},
		{[]Header{{"Content-Security-Policy", "connect-src https://*"}}, "every host"},
		{[]Header{{"Content-Security-Policy", "require-trusted-types-for script"}}, "takes 'script'"},
		{[]Header{{"Content-Security-Policy", "sandbox scripts"}}, "sandbox flag"},
		{[]Header{{"Content-Security-Policy", "upgrade-insecure-requests 1"}}, "takes no value"},
		{[]Header{{"Content-Security-Policy", "report-to"}}, "one endpoint"},
		{[]Header{csp, {"Connection-Allowlist", "response-origin"}}, "inner list"},
		{[]Header{csp, {"Connection-Allowlist", "(response-origin"}}, "not closed"},
		{[]Header{csp, {"Connection-Allowlist", "(self)"}}, "ignored by browsers"},
		{[]Header{csp, {"Connection-Allowlist", `("https://a.com""https://b.com")`}}, "separated by spaces"},
		{[]Header{csp, {"Connection-Allowlist", `("https://a.com)`}}, "string is not closed"},
		{[]Header{csp, {"Connection-Allowlist", `("wss://a.com")`}}, "must begin with"},
		{[]Header{csp, {"Connection-Allowlist", `("https://*")`}}, "every host"},
		{[]Header{csp, {"Connection-Allowlist", "();redirects"}}, "unknown parameter"},
		{[]Header{csp, {"Connection-Allowlist", "();webrtc=maybe"}}, "unknown parameter"},
		{[]Header{csp, {"Permissions-Policy", "camera 'none'"}}, "is not feature="},
		{[]Header{csp, {"Permissions-Policy", "camera=*"}}, "is open to"},
		{[]Header{csp, {"Permissions-Policy", "camera=(), camera=(self)"}}, "stands twice"},
		{[]Header{csp, {"X-Content-Type-Options", "sniff"}}, "nosniff"},
		{[]Header{csp, {"Referrer-Policy", "never"}}, "not one of"},
		{[]Header{csp, {"Cross-Origin-Opener-Policy", "same"}}, "not one of"},
		{[]Header{csp, {"Strict-Transport-Security", "includeSubDomains"}}, "max-age"},
	} {
		if _, err := Parse(c.list); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%v: %v, want an error that says %q", c.list, err, c.why)
		}
	}
}

func TestEffective(t *testing.T) {
	c, err := ParseCSP("default-src 'none'; script-src 'self'; child-src blob:")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"img-src": "'none'", "script-src-elem": "'self'", "worker-src": "blob:", "frame-src": "blob:", "script-src": "'self'"} {
		if got, ok := c.Effective(name); !ok || strings.Join(got, " ") != want {
			t.Errorf("%s: %v %v, want %s", name, got, ok, want)
		}
	}
	for _, name := range []string{"base-uri", "form-action", "frame-ancestors"} { // never from default-src
		if got, ok := c.Effective(name); ok {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	h, _ := For(full())
	for _, x := range h.List() {
		f.Add(x.Name, x.Value)
	}
	f.Add("Connection-Allowlist", `("https://a\"b")`)
	f.Add("Content-Security-Policy", "script-src 'nonce-x' *; ;")
	f.Fuzz(func(t *testing.T, name, value string) {
		h, err := Parse([]Header{{"Content-Security-Policy", "default-src 'none'"}, {name, value}})
		if name == "Content-Security-Policy" {
			h, err = Parse([]Header{{name, value}})
		}
		if err != nil {
			return
		}
		again, err := Parse(h.List())
		if err != nil || !reflect.DeepEqual(again.List(), h.List()) {
			t.Errorf("%s: %q: what was read is written as %v, which reads as %v (%v)", name, value, h.List(), again.List(), err)
		}
		for _, server := range strings.Split(servers, ", ") {
			if _, err := h.Render(server); err != nil && server != "nginx" && server != "caddy" {
				t.Errorf("%s: %v", server, err)
			}
		}
	})
}
