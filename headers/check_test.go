package headers

import (
	"slices"
	"strings"
	"testing"
)

// blind is a probe with fixed answers.
type blind struct{ known, holds bool }

func (b blind) isolated() (bool, bool)            { return b.holds, b.known }
func (b blind) evalBlocked() (bool, bool)         { return b.holds, b.known }
func (b blind) stylesBlocked() (bool, bool)       { return b.holds, b.known }
func (b blind) sinksTyped() (bool, bool)          { return b.holds, b.known }
func (b blind) featureDenied(string) (bool, bool) { return b.holds, b.known }

func sentBy(h Headers) map[string]string {
	m := map[string]string{}
	for _, one := range h.List() {
		m[strings.ToLower(one.Name)] = one.Value
	}
	return m
}

func TestJudge(t *testing.T) {
	for _, f := range judge(sentBy(Default()), blind{}) {
		if !f.Holds || f.How != "declared" {
			t.Errorf("default headers, declared: %+v", f)
		}
	}
	for _, f := range judge(map[string]string{}, blind{}) {
		if f.Holds || f.How != "declared" || f.Cost == "" || !strings.Contains(f.Fix, ": ") || strings.HasSuffix(f.Fix, ": ") {
			t.Errorf("no headers: %+v", f)
		}
	}
	for _, f := range judge(nil, blind{}) {
		if f.Holds || f.How != "unknown" {
			t.Errorf("headers that can't be read: %+v", f)
		}
	}
	// An observation has priority over a sent header.
	seen := 0
	for _, f := range judge(sentBy(Default()), blind{known: true, holds: false}) {
		if f.How == "observed" {
			seen++
			if f.Holds {
				t.Errorf("seen not to hold: %+v", f)
			}
		}
	}
	if seen < 4 {
		t.Errorf("%d protections are observed", seen)
	}
	for _, f := range judge(map[string]string{}, blind{known: true, holds: true}) {
		if f.Name == "Cross-Origin-Opener-Policy" && (!f.Holds || f.How != "observed") {
			t.Errorf("an isolated page: %+v", f)
		}
	}
	weak := map[string]string{"content-security-policy": "default-src *; script-src 'self' 'unsafe-inline'"}
	for _, f := range judge(weak, blind{}) {
		if f.Holds {
			t.Errorf("a weak policy passes: %+v", f)
		}
	}
}

// Each fix is part of the headers that Default sends.
func TestFixesAreDefaults(t *testing.T) {
	sent := map[string]string{}
	for _, h := range Default().List() {
		sent[h.Name] = h.Value
	}
	for _, p := range protections() {
		name, value, ok := strings.Cut(p.fix, ": ")
		directive := name == "Content-Security-Policy" && slices.Contains(strings.Split(sent[name], "; "), value)
		if !ok || !directive && sent[name] != value {
			t.Errorf("%s: %q is not part of %q", p.name, p.fix, sent[name])
		}
	}
}

// A source that lets everything through is none of a protection, in any case of its letters.
func TestWideSources(t *testing.T) {
	for _, c := range []struct {
		directive, source string
		holds             bool
	}{
		{"connect-src", "'self' api.example.org", true}, {"connect-src", "*", false}, {"connect-src", "'self' HTTPS:", false},
		{"connect-src", "wss:", false}, {"connect-src", "https://*", false}, {"connect-src", "*:443", false}, {"connect-src", "https://*:8443", false},
		{"connect-src", "*.example.org", true}, {"img-src", "https://*", false}, {"img-src", "data:", true},
		{"script-src", "'self' https:", false}, {"script-src", "data:", false}, {"script-src", "'self' 'UNSAFE-INLINE'", false},
		{"script-src", "'self' 'wasm-unsafe-eval'; unknown-directive x", true}, {"script-src", "'self', script-src *", false},
	} {
		for _, p := range protections() {
			if p.name != c.directive {
				continue
			}
			if got := p.declared(map[string]string{"content-security-policy": c.directive + " " + c.source}); got != c.holds {
				t.Errorf("%s %s: %v, want %v", c.directive, c.source, got, c.holds)
			}
		}
	}
}
