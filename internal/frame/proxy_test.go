package frame

import (
	"slices"
	"strings"
	"testing"
)

// An app has no host that the page around has not, of the same kind.
func TestWithin(t *testing.T) {
	const self = "https://app.example"
	for _, c := range []struct{ page, want string }{
		{"", ""},
		{"default-src 'none'", "script-src 'unsafe-inline' blob:; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; media-src data: blob:; connect-src 'none'; frame-src 'none'"},
		{"connect-src 'self' https://a.example wss://a.example", "connect-src https://app.example https://a.example wss://a.example"},
		{"connect-src", "connect-src 'none'"},
		{"Connect-Src https://a.example; connect-src *", "connect-src https://a.example"},
		{"script-src 'self' 'sha256-x' 'strict-dynamic' 'nonce-x' 'unsafe-eval' https://s.example; script-src-elem https://e.example", "script-src 'unsafe-inline' blob: https://e.example"},
		{"child-src https://f.example", "frame-src https://f.example"},
		{"child-src https://f.example; frame-src https://g.example", "frame-src https://g.example"},
		{"img-src 'SELF' *", "img-src data: blob: https://app.example *"},
		{"object-src 'none'; frame-ancestors 'none'", ""},
		{"connect-src https://a.example, connect-src https://b.example", "connect-src https://a.example|connect-src https://b.example"},
	} {
		if got := strings.Join(Within(c.page, self), "|"); got != c.want {
			t.Errorf("%q:\ngot  %s\nwant %s", c.page, got, c.want)
		}
	}
}

func TestProxyPage(t *testing.T) {
	p := ProxyPage{Hosts: []string{"https://app.example"}, Connect: []string{"https://a.example"}, Resources: []string{"https://r.example"}, Features: []string{"camera"}}
	page, digest := p.HTML()
	if got := attribute(t, page, "meta", "content"); got != p.Policy() {
		t.Errorf("policy %q", got)
	}
	if got := script(t, page); got != compact(proxyText) {
		t.Error("another script")
	}
	for key, want := range map[string]string{"data-hosts": "https://app.example", "data-sandbox": "allow-scripts allow-forms", "data-permissions": "camera"} {
		if got := attribute(t, page, "html", key); got != want {
			t.Errorf("%s is %q", key, got)
		}
	}
	if got := strings.Fields(attribute(t, page, "html", "data-features")); !slices.Contains(got, "microphone") || len(got) != strings.Count(Allow, ";")+1 {
		t.Errorf("features %q", got)
	}
	for _, f := range AppFeatures() {
		if !strings.Contains(Allow, f+" 'none'") {
			t.Errorf("%s is no feature that the frames are denied", f)
		}
	}
	if got := AllowOnly([]string{"camera"}, "https://p.example"); !strings.Contains(got, "camera https://p.example;") || !strings.Contains(got, "microphone 'none'") {
		t.Errorf("allow %q", got)
	}
	p.Connect = nil
	if _, other := p.HTML(); other == digest {
		t.Error("two pages have one digest")
	}
	for _, want := range []string{"default-src 'none'", "connect-src 'none'", "frame-src 'none'", "object-src 'none'", "base-uri https://r.example", "form-action 'none'"} {
		if !strings.Contains(p.Policy()+";", want+";") {
			t.Errorf("no %s in %s", want, p.Policy())
		}
	}
}
