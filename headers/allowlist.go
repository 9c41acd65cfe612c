package headers

import (
	"errors"
	"strconv"
	"strings"
)

// Allowlist is a Connection-Allowlist. It limits the addresses to which the page, and the
// srcdoc frames and workers that inherit from it, may connect by any means: fetch, navigation,
// name look-up, preconnect, WebRTC. The zero value allows no connection.
//
// Source: WICG, Connection Allowlists (a structured-field list; only its first inner list is
// used). Chromium 152 and later.
type Allowlist struct {
	Origin    bool     // response-origin: the page's own origin
	Patterns  []string // URL patterns, such as https://*.example.com
	Redirects bool     // redirects are followed (blocked by default)
	WebRTC    bool     // WebRTC is allowed (blocked by default)
	Off       bool     // the header is not sent
}

// String returns the header's value.
func (a Allowlist) String() string {
	var items []string
	if a.Origin {
		items = append(items, "response-origin")
	}
	for _, p := range a.Patterns {
		items = append(items, `"`+strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(p)+`"`)
	}
	s := "(" + strings.Join(items, " ") + ")"
	if a.Redirects {
		s += ";redirects=allow"
	}
	if a.WebRTC {
		s += ";webrtc=allow"
	}
	return s
}

func (a Allowlist) validate() error {
	for _, p := range a.Patterns {
		scheme, rest, ok := strings.Cut(p, "://")
		if !ok || (scheme != "https" && scheme != "http") {
			return errors.New("Connection-Allowlist: " + strconv.Quote(p) + " must begin with https:// or http://")
		}
		if err := CheckHost(rest); err != nil {
			return errors.New("Connection-Allowlist: " + err.Error())
		}
	}
	return nil
}

// ParseAllowlist parses a Connection-Allowlist. It accepts only items and parameters that this
// package supports. Anything else is an error, because a browser may ignore it or read it as a
// wider rule.
func ParseAllowlist(value string) (Allowlist, error) {
	fail := func(why string) (Allowlist, error) {
		return Allowlist{}, errors.New("Connection-Allowlist: " + why)
	}
	s := strings.TrimSpace(value)
	rest, ok := strings.CutPrefix(s, "(")
	if !ok {
		return fail("must be an inner list in brackets, as in (response-origin); browsers ignore anything else")
	}
	var a Allowlist
	for {
		rest = strings.TrimLeft(rest, " ")
		switch {
		case rest == "":
			return fail("the bracket is not closed")
		case rest[0] == ')':
			rest = rest[1:]
			return a, parseParams(&a, rest)
		case rest[0] == '"':
			text, after, err := sfString(rest)
			if err != nil {
				return fail(err.Error())
			}
			a.Patterns = append(a.Patterns, text)
			rest = after
		default:
			end := strings.IndexAny(rest, " )")
			if end < 0 {
				return fail("the bracket is not closed")
			}
			if word := rest[:end]; word != "response-origin" {
				return fail(strconv.Quote(word) + " is ignored by browsers; a URL pattern needs double quotes")
			}
			a.Origin = true
			rest = rest[end:]
		}
		if rest != "" && rest[0] != ' ' && rest[0] != ')' {
			return fail("items are separated by spaces")
		}
	}
}

func parseParams(a *Allowlist, s string) error {
	if err := a.validate(); err != nil {
		return err
	}
	for _, p := range strings.Split(s, ";") {
		switch strings.TrimSpace(p) {
		case "", "redirects=block", "webrtc=block":
		case "redirects=allow":
			a.Redirects = true
		case "webrtc=allow":
			a.WebRTC = true
		default:
			return errors.New("Connection-Allowlist: unknown parameter " + strconv.Quote(p) +
				"; browsers read any value but block as allow")
		}
	}
	return nil
}

// sfString parses a structured-field string and returns its text and the rest of s. Source: RFC
// 9651, section 4.2.5.
func sfString(s string) (text, rest string, err error) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), s[i+1:], nil
		case c == '\\':
			i++
			if i == len(s) || (s[i] != '"' && s[i] != '\\') {
				return "", "", errors.New(`a \ may only stand before " or \`)
			}
			b.WriteByte(s[i])
		case c < 0x20 || c > 0x7e:
			return "", "", errors.New("a string holds ASCII characters only")
		default:
			b.WriteByte(c)
		}
	}
	return "", "", errors.New("a string is not closed")
}
