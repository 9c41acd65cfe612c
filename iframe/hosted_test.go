package iframe

import (
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/protocol"
)

func TestEnclavePage(t *testing.T) {
	p, err := EnclaveOptions{Level: protocol.Secure}.Page("https://a.example", "http://127.0.0.1:8080")
	if err != nil {
		t.Fatal(err)
	}
	csp := p.Header["Content-Security-Policy"][0]
	for _, want := range []string{"default-src 'none'; ", "; sandbox allow-scripts; ", "; frame-ancestors https://a.example http://127.0.0.1:8080"} {
		if !strings.Contains(csp, want) {
			t.Errorf("no %q in %s", want, csp)
		}
	}
	if got := p.Header["Connection-Allowlist"][0]; got != "()" {
		t.Errorf("Connection-Allowlist: %s", got)
	}
	if got := p.Header["Permissions-Policy"][0]; !strings.Contains(got, "camera=(), ") || strings.ContainsAny(got, "';") {
		t.Errorf("Permissions-Policy: %s", got)
	}
	for _, h := range frame.ScriptHashes() {
		if strings.Contains(p.HTML, "<script>"+h) {
			t.Error("a hash for a script")
		}
	}
	for k, v := range p.Header {
		if len(v) != 1 || strings.ContainsFunc(v[0], func(r rune) bool { return r < 0x20 || r > 0x7e }) {
			t.Errorf("%s: %q", k, v)
		}
	}
}

func TestEnclavePagesDiffer(t *testing.T) {
	seen := map[string]string{}
	add := func(name string, p HostedPage, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		tag := p.Header["Etag"][0]
		if !strings.Contains(p.HTML, `content="`+strings.Trim(tag, `"`)+`"`) {
			t.Errorf("%s doesn't hold its digest %s", name, tag)
		}
		if other, ok := seen[tag]; ok {
			t.Errorf("%s and %s have one digest", name, other)
		}
		seen[tag] = name
	}
	for _, level := range []protocol.Level{protocol.Strict, protocol.Secure, protocol.Standard, protocol.Permissive} {
		for _, warm := range []bool{false, true} {
			p, err := EnclaveOptions{Level: level, Warm: warm}.Page()
			add(level.String(), p, err)
			// Limits and tools are sent with each run.
			q, err := EnclaveOptions{Level: level, Warm: warm, Limits: protocol.Limits{ToolCalls: 3}}.Page()
			if err != nil || q.HTML != p.HTML {
				t.Errorf("%v: the page depends on limits (%v)", level, err)
			}
		}
	}
	p, err := EnclaveOptions{TrustedTypesPolicy: "other"}.Page()
	add("name", p, err)
	p, err = DOMEnclaveOptions{}.Page()
	add("dom", p, err)
	p, err = DOMEnclaveOptions{Config: `{"config":{"sandbox":"iframe","iframeOptions":{"csp":{"img-src":"'none'"}}}}`}.Page()
	add("dom narrowed", p, err)
}

func TestEnclavePageRefuses(t *testing.T) {
	for _, e := range []string{"", "a.example", "*", "'self'", "https://", "https://a.example/", "https://a b", "https://a;script-src *", "data://x", "https://ä.example", "https://a\r\nX: y"} {
		if _, err := (EnclaveOptions{}).Page(e); err == nil {
			t.Errorf("embedder %q was taken", e)
		}
	}
	for _, url := range []string{"/a\nb", "/" + strings.Repeat("x", 8<<10)} {
		if _, err := (EnclaveOptions{URL: url}).withDefaults(); err == nil {
			t.Errorf("URL %.20q was taken", url)
		}
	}
	if _, err := (EnclaveOptions{URL: strings.Repeat("x", 8<<10)}).withDefaults(); err != nil {
		t.Error(err)
	}
}

func TestAppPage(t *testing.T) {
	p, err := AppOptions{Connect: []string{"https://a.example", "wss://a.example"}, Resources: []string{"https://r.example"}, Permissions: []string{"camera"}}.Page("https://app.example", "http://127.0.0.1:8080")
	if err != nil {
		t.Fatal(err)
	}
	csp := p.Header["Content-Security-Policy"][0]
	for _, want := range []string{"default-src 'none'; script-src 'unsafe-inline' blob: https://r.example;", "; connect-src https://a.example wss://a.example;", "; frame-src 'none';", "; frame-ancestors https://app.example http://127.0.0.1:8080"} {
		if !strings.Contains(csp, want) {
			t.Errorf("no %q in %s", want, csp)
		}
	}
	if got := p.Header["Connection-Allowlist"][0]; got != `("https://a.example" "https://r.example")` {
		t.Errorf("Connection-Allowlist: %s", got)
	}
	if got := p.Header["Permissions-Policy"][0]; strings.Contains(got, "camera") || !strings.Contains(got, "microphone=()") {
		t.Errorf("Permissions-Policy: %s", got)
	}
	if p.Header["Cross-Origin-Embedder-Policy"] == nil {
		t.Error("an isolated page can't show it")
	}
	if p, err = (AppOptions{Frames: []string{"https://f.example"}}).Page("https://app.example"); err != nil || p.Header["Cross-Origin-Embedder-Policy"] != nil || !strings.Contains(p.HTML, "frame-src https://f.example;") {
		t.Errorf("with frames: %v %v", err, p.Header)
	}
	for _, bad := range []struct {
		o AppOptions
		e []string
	}{
		{e: nil}, {e: []string{"*"}}, {e: []string{"'self'"}}, {e: []string{"https://a.example; script-src *"}},
		{AppOptions{Connect: []string{"*"}}, []string{"https://a.example"}}, {AppOptions{Resources: []string{"wss://a.example"}}, []string{"https://a.example"}},
		{AppOptions{Frames: []string{"https://a.example; x"}}, []string{"https://a.example"}}, {AppOptions{Permissions: []string{"usb"}}, []string{"https://a.example"}},
	} {
		if _, err := bad.o.Page(bad.e...); err == nil {
			t.Errorf("%+v %q was taken", bad.o, bad.e)
		}
	}
}
