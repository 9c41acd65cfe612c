package jsx_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/jsx/trust"
	"github.com/bailey-go/bailey/internal/testpage"
)

const harness = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self'; require-trusted-types-for 'script'"

func element(t *testing.T, name string) jsx.Value {
	t.Helper()
	document, err := jsx.Get(jsx.Global(), "document")
	if err != nil {
		t.Fatal(err)
	}
	el, err := jsx.Call(document, "createElement", name)
	if err != nil {
		t.Fatal(err)
	}
	return el
}

func property(t *testing.T, v jsx.Value, name string) string {
	t.Helper()
	s, err := jsx.GetString(v, name, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// useAll puts proven text into every sink.
func useAll(t *testing.T, p *jsx.TrustedPolicy) {
	t.Helper()
	div, frame, script := element(t, "div"), element(t, "iframe"), element(t, "script")
	if err := p.SetInnerHTML(div, trust.SanitisedHTML("<b>ü</b>")); err != nil || property(t, div, "innerHTML") != "<b>ü</b>" {
		t.Error(err)
	}
	if err := p.SetSrcdoc(frame, trust.AuthoredHTML("<p>\"x\"")); err != nil || property(t, frame, "srcdoc") != "<p>\"x\"" {
		t.Error(err)
	}
	if err := p.SetScriptSrc(script, trust.AuthoredScriptURL("blob:nothing")); err != nil || property(t, script, "src") != "blob:nothing" {
		t.Error(err)
	}
	location, _ := jsx.Lookup(jsx.Global(), "location.href")
	here, _ := jsx.String(location, 0)
	w, err := p.NewWorker(jsx.Global(), trust.AuthoredScriptURL(here), nil) // no script, so it will not run
	if err != nil {
		t.Error(err)
	} else if _, err := jsx.Call(w, "terminate"); err != nil {
		t.Error(err)
	}
}

// refused shows that the page really asks for trusted types.
func refused(t *testing.T) {
	t.Helper()
	if err := jsx.Set(element(t, "div"), "innerHTML", "<b>x</b>"); !errors.Is(err, jsx.ErrType) {
		t.Errorf("a plain string went into innerHTML: %v; so the test shows nothing", err)
	}
}

func trusted(t *testing.T, name string) *jsx.TrustedPolicy {
	t.Helper()
	p, err := jsx.Trusted(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestTrustedTypes(t *testing.T) {
	for _, tt := range []struct {
		name string
		csp  string
		run  func(t *testing.T)
	}{
		{"no policy at all", "", func(t *testing.T) {
			useAll(t, trusted(t, ""))
			useAll(t, trusted(t, "other"))
		}},
		{"required", harness, func(t *testing.T) {
			refused(t)
			useAll(t, trusted(t, ""))
		}},
		{"name listed", harness + "; trusted-types bailey", func(t *testing.T) {
			refused(t)
			p := trusted(t, "")
			useAll(t, p)
			if again := trusted(t, jsx.DefaultPolicyName); again != p {
				t.Error("the policy was made twice")
			}
		}},
		{"own name listed", harness + "; trusted-types my-app", func(t *testing.T) {
			refused(t)
			useAll(t, trusted(t, "my-app"))
			forbidden(t, "")
		}},
		{"name not listed", harness + "; trusted-types another", func(t *testing.T) { forbidden(t, "") }},
		{"none", harness + "; trusted-types 'none'", func(t *testing.T) { forbidden(t, "") }},
		{"taken by another program", harness + "; trusted-types bailey", func(t *testing.T) {
			factory, _ := jsx.Get(jsx.Global(), "trustedTypes")
			if _, err := jsx.Call(factory, "createPolicy", "bailey", map[string]any{}); err != nil {
				t.Fatal(err)
			}
			forbidden(t, "")
		}},
		{"taken, and duplicates allowed", harness + "; trusted-types bailey 'allow-duplicates'", func(t *testing.T) {
			factory, _ := jsx.Get(jsx.Global(), "trustedTypes")
			if _, err := jsx.Call(factory, "createPolicy", "bailey", map[string]any{}); err != nil {
				t.Fatal(err)
			}
			refused(t)
			useAll(t, trusted(t, ""))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			header := map[string]string{}
			if tt.csp != "" {
				header["Content-Security-Policy"] = tt.csp
			}
			testpage.Run(t, testpage.Page{Header: header}, func(t *testing.T) {
				if tt.csp != "" && !jsx.Supported("trustedTypes") {
					t.Skip("this browser has no Trusted Types: their absence is the case without a policy")
				}
				tt.run(t)
			})
		})
	}
}

// forbidden shows that the error is clear, is a *PolicyError, and stays.
func forbidden(t *testing.T, name string) {
	t.Helper()
	for range 2 {
		_, err := jsx.Trusted(name)
		var e *jsx.PolicyError
		if !errors.As(err, &e) || e.Name != "bailey" || !errors.Is(err, jsx.ErrType) ||
			!strings.Contains(err.Error(), "trusted-types bailey") || !strings.Contains(err.Error(), "allow-duplicates") {
			t.Errorf("%v, want a *PolicyError that says what to add", err)
		}
	}
}

func TestTrustedWithoutTrustedTypes(t *testing.T) {
	testpage.Run(t, testpage.Page{}, func(t *testing.T) {
		if err := jsx.Set(jsx.Global(), "trustedTypes", nil); err != nil || jsx.Supported("trustedTypes") {
			// The property has no setter in some engines: take it away instead.
			object, _ := jsx.Get(jsx.Global(), "Object")
			if _, err := jsx.Call(object, "defineProperty", jsx.Global(), "trustedTypes", map[string]any{"value": nil}); err != nil {
				t.Fatal(err)
			}
		}
		if jsx.Supported("trustedTypes") {
			t.Fatal("the page still has trustedTypes")
		}
		useAll(t, trusted(t, ""))
	})
}

func TestTrustedNames(t *testing.T) {
	for _, name := range []string{"a b", "ü", "a;b", "'none'", "*", strings.Repeat("x", 129)} {
		if _, err := jsx.Trusted(name); err == nil || !strings.Contains(err.Error(), "policy name") {
			t.Errorf("Trusted(%q): %v", name, err)
		}
	}
}
