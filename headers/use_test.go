package headers

import (
	"strings"
	"testing"
)

func hash(c string) string { return "sha256-" + strings.Repeat(c, 43) + "=" }

// full uses one of each resource, so that the golden files show every part of the result.
func full() Use {
	return Use{
		Connect:      []string{"api.example.com", "*.Models.example:8443", "localhost:11434"},
		Images:       []string{"img.example.com"},
		Navigate:     []string{"docs.example.com"},
		ScriptHashes: []string{hash("A"), "'" + hash("B") + "'"},
		StyleHashes:  []string{hash("C")},
		Features:     []string{"clipboard-write", "fullscreen"},
		Frames:       []string{"self", "enclave.example.com"},
		Ancestors:    []string{"self"},
		TrustedTypes: []string{"my-app"},
		Isolation:    requireCORP,
		Redirects:    true,
		HSTS:         31536000,
	}
}

func TestDefaultIsClosed(t *testing.T) {
	h := Default()
	want := map[string]string{
		"Content-Security-Policy": "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; " +
			"font-src 'self'; connect-src 'self'; worker-src 'self' blob:; frame-src 'none'; manifest-src 'self'; base-uri 'none'; " +
			"form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types bailey 'allow-duplicates'",
		"Connection-Allowlist":         "(response-origin)",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Embedder-Policy": "credentialless",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Referrer-Policy":              "no-referrer",
		"X-Content-Type-Options":       "nosniff",
		"X-DNS-Prefetch-Control":       "off",
	}
	for _, x := range h.List() {
		if x.Name == "Permissions-Policy" {
			continue
		}
		if x.Value != want[x.Name] {
			t.Errorf("%s: %s\nwant %s", x.Name, x.Value, want[x.Name])
		}
		delete(want, x.Name)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
	for _, f := range listed() {
		self, ok := h.Permissions.Allows(f)
		if !ok || self != (f == "cross-origin-isolated") {
			t.Errorf("%s: allowed %v, named %v", f, self, ok)
		}
	}
}

func TestEachUseOpensOnlyItsOwn(t *testing.T) {
	closed := Default()
	for _, c := range []struct {
		use  Use
		csp  map[string]string // directives that change
		list string            // Connection-Allowlist
	}{
		{Use{Connect: []string{"api.example.com"}},
			map[string]string{"connect-src": "'self' https://api.example.com wss://api.example.com"}, `(response-origin "https://api.example.com")`},
		{Use{Connect: []string{"localhost:11434"}},
			map[string]string{"connect-src": "'self' https://localhost:11434 wss://localhost:11434 http://localhost:11434 ws://localhost:11434"},
			`(response-origin "https://localhost:11434" "http://localhost:11434")`},
		{Use{Connect: []string{"*.Example.com", "*.example.com"}},
			map[string]string{"connect-src": "'self' https://*.example.com wss://*.example.com"}, `(response-origin "https://*.example.com")`},
		{Use{Images: []string{"img.example.com"}},
			map[string]string{"img-src": "'self' data: https://img.example.com"}, `(response-origin "https://img.example.com")`},
		{Use{Navigate: []string{"docs.example.com"}}, nil, `(response-origin "https://docs.example.com")`},
		{Use{Frames: []string{"self"}}, map[string]string{"frame-src": "'self'"}, `(response-origin)`},
		{Use{Ancestors: []string{"host.example.com"}}, map[string]string{"frame-ancestors": "https://host.example.com"}, `(response-origin)`},
		{Use{ScriptHashes: []string{hash("A")}},
			map[string]string{"script-src": "'self' 'wasm-unsafe-eval' '" + hash("A") + "'"}, `(response-origin)`},
		{Use{BlobScripts: true}, map[string]string{"script-src": "'self' 'wasm-unsafe-eval' blob:"}, `(response-origin)`},
		{Use{TrustedTypes: []string{"app"}}, map[string]string{"trusted-types": "bailey app 'allow-duplicates'"}, `(response-origin)`},
		{Use{Redirects: true}, nil, `(response-origin);redirects=allow`},
	} {
		h, err := For(c.use)
		if err != nil {
			t.Errorf("%+v: %v", c.use, err)
			continue
		}
		for i, d := range h.CSP {
			want, changed := c.csp[d.Name]
			if !changed {
				want = strings.Join(closed.CSP[i].Values, " ")
			}
			if got := strings.Join(d.Values, " "); got != want {
				t.Errorf("%+v: %s is %s, want %s", c.use, d.Name, got, want)
			}
		}
		if got := h.Connections.String(); got != c.list {
			t.Errorf("%+v: Connection-Allowlist is %s, want %s", c.use, got, c.list)
		}
	}
}

func TestIsolation(t *testing.T) {
	for i, want := range map[string][3]string{
		requireCORP:            {"same-origin", "require-corp", ""},
		credentialless:         {"same-origin", "credentialless", ""},
		documentIsolation:      {"", "", "isolate-and-require-corp"},
		documentCredentialless: {"", "", "isolate-and-credentialless"},
		noIsolation:            {"", "", ""},
	} {
		h, err := For(Use{Isolation: i})
		if got := [3]string{h.Opener, h.Embedder, h.Isolation}; err != nil || got != want {
			t.Errorf("%q: %v %v, want %v", i, got, err, want)
		}
	}
}

func TestForRefuses(t *testing.T) {
	for _, c := range []struct {
		use Use
		why string
	}{
		{Use{Connect: []string{"*"}}, "connect: host pattern"},
		{Use{Images: []string{"https://x.com"}}, "images: host pattern"},
		{Use{Navigate: []string{"*.com"}}, "navigate: host pattern"},
		{Use{Frames: []string{"'self'"}}, "frames: host pattern"},
		{Use{Ancestors: []string{"*"}}, "ancestors: host pattern"},
		{Use{ScriptHashes: []string{"sha256-short"}}, "not a hash"},
		{Use{ScriptHashes: []string{"sha1-" + strings.Repeat("A", 27) + "="}}, "not a hash"},
		{Use{ScriptHashes: []string{"'unsafe-inline'"}}, "not a hash"},
		{Use{StyleHashes: []string{hash("A") + "; script-src *"}}, "not a hash"},
		{Use{Features: []string{"camara"}}, "not a known feature"},
		{Use{TrustedTypes: []string{"a b"}}, "not a policy name"},
		{Use{TrustedTypes: []string{"'allow-duplicates'"}}, "not a policy name"},
		{Use{TrustedTypes: []string{"*"}}, "not a policy name"},
		{Use{TrustedTypes: []string{"x;script-src"}}, "not a policy name"},
		{Use{HSTS: -1}, "negative"},
		{Use{Isolation: "strict"}, "is unknown"},
	} {
		if _, err := For(c.use); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%+v: %v, want an error that says %q", c.use, err, c.why)
		}
	}
	// The error lists everything that is wrong.
	_, err := For(Use{Connect: []string{"*"}, Features: []string{"x"}, HSTS: -1})
	for _, part := range []string{"connect", "features", "hsts"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not mention %s", err, part)
		}
	}
}
