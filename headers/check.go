package headers

import (
	"context"
	"strings"
)

// Finding is the result of [Check] for one protection.
type Finding struct {
	Name  string // the header, or the directive of the policy
	Holds bool   // it is in force
	// How is the evidence for Holds. "observed" means that the page tried it, or that the
	// browser reported it. "declared" means that the header was sent or not, but was not seen to
	// have an effect. "unknown" means neither: the page could not read its own headers.
	How  string
	Cost string // the risk if it is not in force
	Fix  string // the header to send
}

// Check returns which of this package's headers are in force in the page that it runs in. It
// requests the page's own address once (HEAD) to read its headers. It also tries protections in
// ways that make no request. Outside a page the error wraps [errors.ErrUnsupported].
func Check(ctx context.Context) ([]Finding, error) { return check(ctx) }

// protection is one row of the table that Check goes through.
type protection struct {
	name, cost string
	fix        string // the header that Default sends. A test compares them, so that Check does not link Default
	declared   func(sent map[string]string) bool
	observe    func(probe) (holds, known bool)
}

// probe tries protections in the browser. Each method returns the result and whether it is
// known.
type probe interface {
	isolated() (bool, bool)      // crossOriginIsolated
	evalBlocked() (bool, bool)   // new Function throws
	stylesBlocked() (bool, bool) // a <style> is ignored
	sinksTyped() (bool, bool)    // innerHTML refuses a string
	featureDenied(feature string) (bool, bool)
}

// policyHas returns a function that reports whether ok accepts the values of a directive of the
// sent policy, or those of the directive that it falls back to.
func policyHas(name string, ok func(values []string) bool) func(map[string]string) bool {
	return func(sent map[string]string) bool {
		csp, err := splitCSP(sent["content-security-policy"]) // a browser drops a source that it does not know, which opens nothing
		if err != nil {
			return false
		}
		values, there := csp.Effective(name)
		return there && ok(values)
	}
}

// lacks returns a function that reports whether no source is one of words or a host that is only a wildcard.
func lacks(words ...string) func([]string) bool {
	return func(values []string) bool {
		for _, v := range values {
			v = strings.ToLower(v)
			if v == "*" || strings.HasPrefix(v, "*:") || strings.HasSuffix(v, "://*") || strings.Contains(v, "://*:") {
				return false
			}
			for _, w := range words {
				if v == w {
					return false
				}
			}
		}
		return true
	}
}

func sent(name string) func(map[string]string) bool {
	return func(s map[string]string) bool { return s[name] != "" }
}

func protections() []protection {
	var closed strings.Builder
	for _, feature := range listed() {
		who := "=(), "
		if feature == isolated {
			who = "=(self), "
		}
		closed.WriteString(feature + who)
	}
	return []protection{
		{"script-src", "text that reaches the page as HTML or code runs as the page itself: files, keys and conversation are its",
			"Content-Security-Policy: script-src 'self' 'wasm-unsafe-eval'",
			policyHas("script-src", lacks("'unsafe-inline'", "'unsafe-eval'", "https:", "http:", "data:")),
			probe.evalBlocked},
		{"connect-src", "a mistake of the app, or of a library in it, can send what it knows to any server",
			"Content-Security-Policy: connect-src 'self'", policyHas("connect-src", lacks("https:", "http:", "wss:", "ws:")), nil},
		{"img-src", "an image of the page can carry data to any server in its address",
			"Content-Security-Policy: img-src 'self' data:", policyHas("img-src", lacks("https:", "http:")), nil},
		{"style-src", "injected style can hide, imitate and, by its addresses, send",
			"Content-Security-Policy: style-src 'self'", policyHas("style-src", lacks("'unsafe-inline'")), probe.stylesBlocked},
		{"require-trusted-types-for", "a string of the app's own can become HTML or code by mistake",
			"Content-Security-Policy: require-trusted-types-for 'script'",
			policyHas("require-trusted-types-for", func(v []string) bool { return len(v) > 0 }), probe.sinksTyped},
		{"Connection-Allowlist", "markup can still make the browser look up a name or open a connection, and a navigation can carry data out",
			"Connection-Allowlist: (response-origin)", sent("connection-allowlist"), nil},
		{"Permissions-Policy", "the page, and frames it is given to, can ask for camera, microphone, location and the like",
			"Permissions-Policy: " + strings.TrimSuffix(closed.String(), ", "), sent("permissions-policy"),
			func(p probe) (bool, bool) { return p.featureDenied("camera") }},
		{"Cross-Origin-Opener-Policy", "the page may share a process with others, and a window that opened it keeps a hand on it",
			"Cross-Origin-Opener-Policy: same-origin", sent("cross-origin-opener-policy"), openerCut},
		{"Referrer-Policy", "a server that is visited from the page learns the page's address",
			"Referrer-Policy: no-referrer", func(s map[string]string) bool { return s["referrer-policy"] == "no-referrer" }, nil},
		{"X-Content-Type-Options", "a file of the origin can be taken for a script or a style that it is not",
			"X-Content-Type-Options: nosniff", func(s map[string]string) bool { return s["x-content-type-options"] == "nosniff" }, nil},
	}
}

// openerCut reports whether the page is isolated. A page that is not isolated gives no answer:
// it may lack only the embedder policy, or its engine may not support the one it has.
func openerCut(p probe) (holds, known bool) {
	isolated, known := p.isolated()
	return isolated, known && isolated
}

// judge returns the findings from the headers that were sent (nil if not known) and from the
// probes.
func judge(sent map[string]string, p probe) []Finding {
	var list []Finding
	for _, row := range protections() {
		f := Finding{Name: row.name, How: "unknown", Cost: row.cost, Fix: row.fix}
		if sent != nil {
			f.Holds, f.How = row.declared(sent), "declared"
		}
		if row.observe != nil {
			if holds, known := row.observe(p); known {
				f.Holds, f.How = holds, "observed"
			}
		}
		list = append(list, f)
	}
	return list
}
