package headers

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/bailey-go/bailey/protocol"
)

// Header is one response header.
type Header struct{ Name, Value string }

// Headers are a page's response headers. Make one with [Default] or [For], or parse one with
// [Parse]. The zero value is not valid, because a page without a Content-Security-Policy has no
// protection. A string field that is empty and a bool field that is false omit their headers.
type Headers struct {
	CSP           CSP         // Content-Security-Policy
	Connections   Allowlist   // Connection-Allowlist
	Permissions   Permissions // Permissions-Policy
	Opener        string      // Cross-Origin-Opener-Policy
	Embedder      string      // Cross-Origin-Embedder-Policy
	Isolation     string      // Document-Isolation-Policy
	Resource      string      // Cross-Origin-Resource-Policy
	Referrer      string      // Referrer-Policy
	NoSniff       bool        // X-Content-Type-Options: nosniff
	NoDNSPrefetch bool        // X-DNS-Prefetch-Control: off
	HSTS          int         // Strict-Transport-Security, max-age in seconds
	Readable      []string    // Access-Control-Expose-Headers, and Access-Control-Allow-Origin: *
}

// word is a header with a small set of possible values.
type word struct {
	name   string
	field  *string
	values string
}

func (h *Headers) words() []word {
	return []word{
		{"Cross-Origin-Opener-Policy", &h.Opener, "same-origin same-origin-allow-popups noopener-allow-popups unsafe-none"},
		{"Cross-Origin-Embedder-Policy", &h.Embedder, "require-corp credentialless unsafe-none"},
		{"Document-Isolation-Policy", &h.Isolation, "isolate-and-require-corp isolate-and-credentialless none"},
		{"Cross-Origin-Resource-Policy", &h.Resource, "same-origin same-site cross-origin"},
		{"Referrer-Policy", &h.Referrer, "no-referrer same-origin origin strict-origin strict-origin-when-cross-origin " +
			"origin-when-cross-origin no-referrer-when-downgrade unsafe-url"},
	}
}

// List returns the headers in a fixed order.
func (h Headers) List() []Header {
	list := []Header{{"Content-Security-Policy", h.CSP.String()}}
	if !h.Connections.Off {
		list = append(list, Header{"Connection-Allowlist", h.Connections.String()})
	}
	if len(h.Permissions) > 0 {
		list = append(list, Header{"Permissions-Policy", h.Permissions.String()})
	}
	for _, w := range h.words() {
		if *w.field != "" {
			list = append(list, Header{w.name, *w.field})
		}
	}
	if h.NoSniff {
		list = append(list, Header{"X-Content-Type-Options", "nosniff"})
	}
	if h.NoDNSPrefetch {
		list = append(list, Header{"X-DNS-Prefetch-Control", "off"})
	}
	if h.HSTS > 0 {
		list = append(list, Header{"Strict-Transport-Security", "max-age=" + strconv.Itoa(h.HSTS)})
	}
	if len(h.Readable) > 0 {
		list = append(list, Header{"Access-Control-Allow-Origin", "*"}, Header{"Access-Control-Expose-Headers", strings.Join(h.Readable, ", ")})
	}
	return list
}

// Validate returns an error that lists everything a browser would refuse or ignore.
func (h Headers) Validate() error {
	errs := []error{h.CSP.validate()}
	if !h.Connections.Off {
		errs = append(errs, h.Connections.validate())
	}
	for _, w := range h.words() {
		if v := *w.field; v != "" && !holds(w.values, v) {
			errs = append(errs, errors.New(w.name+": "+strconv.Quote(v)+" is not one of "+strings.ReplaceAll(w.values, " ", ", ")))
		}
	}
	if h.HSTS < 0 {
		errs = append(errs, errors.New("Strict-Transport-Security: max-age cannot be negative"))
	}
	for _, x := range h.List() {
		for _, r := range x.Value {
			if r < 0x20 || r > 0x7e {
				errs = append(errs, errors.New(x.Name+": holds "+strconv.QuoteRune(r)+"; a header holds printable ASCII"))
				break
			}
		}
	}
	return errors.Join(errs...)
}

// Parse converts a response's headers into a Headers. It ignores headers that this package does
// not know. A header that it knows but a browser would ignore or cut short is an error.
func Parse(list []Header) (Headers, error) {
	h := Headers{Connections: Allowlist{Off: true}}
	var errs []error
	var seen []string
	for _, x := range list {
		name, value := strings.ToLower(x.Name), strings.TrimSpace(x.Value)
		known := true
		var err error
		switch name {
		case "content-security-policy":
			h.CSP, err = ParseCSP(value)
		case "connection-allowlist":
			h.Connections, err = ParseAllowlist(value)
		case "permissions-policy":
			h.Permissions, err = parsePermissions(value)
		case "x-content-type-options":
			if h.NoSniff = strings.EqualFold(value, "nosniff"); !h.NoSniff {
				err = errors.New(x.Name + ": must be nosniff")
			}
		case "x-dns-prefetch-control":
			h.NoDNSPrefetch = strings.EqualFold(value, "off")
		case "access-control-allow-origin":
			if value != "*" {
				err = errors.New(x.Name + ": only * is known here")
			}
		case "access-control-expose-headers":
			for name := range strings.SplitSeq(value, ",") {
				h.Readable = append(h.Readable, strings.TrimSpace(name))
			}
		case "strict-transport-security":
			h.HSTS, err = parseHSTS(value)
		default:
			known = false
			for _, w := range h.words() {
				if strings.ToLower(w.name) == name {
					*w.field, known = value, true
				}
			}
		}
		if known && slices.Contains(seen, name) {
			err = errors.New(x.Name + ": is sent twice; send it once")
		}
		seen = append(seen, name)
		if err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) == 0 {
		errs = append(errs, h.Validate())
	}
	return h, errors.Join(errs...)
}

func parseHSTS(value string) (int, error) {
	for _, part := range strings.Split(value, ";") {
		if k, v, ok := strings.Cut(strings.TrimSpace(part), "="); ok && strings.EqualFold(k, "max-age") {
			n, err := strconv.Atoi(strings.Trim(v, `"`))
			if err == nil && n >= 0 {
				return n, nil
			}
		}
	}
	return 0, errors.New("Strict-Transport-Security: needs max-age= and a number of seconds")
}

// Reaches reports whether a page with these headers can send requests to a host, given as "host" or
// "host:port". If not, the page must be reloaded with other headers first.
func (h Headers) Reaches(host string) bool {
	name, port, err := protocol.SplitHost(host)
	if err != nil {
		return false
	}
	values, limited := h.CSP.Effective("connect-src")
	if !limited {
		return true
	}
	return slices.ContainsFunc(values, func(v string) bool {
		for _, scheme := range []string{"https://", "http://", "wss://", "ws://"} {
			if len(v) > len(scheme) && v[:len(scheme)] == scheme {
				v = v[len(scheme):]
				break
			}
		}
		pat, err := protocol.ParseHost(v)
		return err == nil && (pat.Match(name, port) || pat.Match(name, 443) && port == 0)
	})
}
