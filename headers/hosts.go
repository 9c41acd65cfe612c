package headers

import (
	"errors"
	"strconv"
	"strings"
)

// host is a parsed host pattern: one host, or all subdomains of a name.
type host struct {
	wild bool   // the pattern began with "*."
	name string // lower case, no trailing dot
	port string // empty is the scheme's default
}

// CheckHost returns nil if pattern is a valid host pattern: a host name, or "*.example.com" for
// its subdomains only, each with an optional port. Case does not matter. "*", "*.com", URLs,
// paths, IPv6 literals and names that are not ASCII are errors, whose text gives the right
// form.
func CheckHost(pattern string) error {
	_, err := parseHost(pattern)
	return err
}

func parseHost(pattern string) (host, error) {
	fail := func(why string) (host, error) {
		return host{}, errors.New("host pattern " + strconv.Quote(pattern) + ": " + why)
	}
	s := strings.ToLower(pattern)
	switch {
	case s == "":
		return fail("is empty; name a host, for example api.example.com")
	case s == "*":
		return fail("would open every host; name the hosts")
	case strings.Contains(s, "://"):
		return fail("holds a scheme; write the host alone (https and wss are implied, http and ws too for this machine)")
	case strings.HasPrefix(s, "["):
		return fail("is an IPv6 literal, which Content-Security-Policy cannot express; use a name")
	case strings.ContainsAny(s, "/?#@"):
		return fail("holds a path or user; write the host alone")
	}
	var h host
	if i := strings.IndexByte(s, ':'); i >= 0 {
		h.port = s[i+1:]
		n, err := strconv.ParseUint(h.port, 10, 16)
		if err != nil || n == 0 || h.port[0] == '0' || h.port[0] == '+' {
			return fail("the port must be a number from 1 to 65535")
		}
		s = s[:i]
	}
	if rest, ok := strings.CutPrefix(s, "*."); ok {
		h.wild = true
		s = rest
	}
	if strings.Contains(s, "*") {
		return fail("a * may only stand first, as in *.example.com")
	}
	if len(s) == 0 || len(s) > 253 {
		return fail("a host name has 1 to 253 characters")
	}
	labels := strings.Split(s, ".")
	for _, l := range labels {
		if err := checkLabel(l); err != "" {
			return fail(err)
		}
	}
	if h.wild && len(labels) < 2 {
		return fail("would open a whole top-level domain; name a domain below it, as in *.example." + s)
	}
	h.name = s
	return h, nil
}

func checkLabel(l string) string {
	if l == "" {
		return "holds an empty label (two dots, or one at an end)"
	}
	if len(l) > 63 {
		return "holds a label of more than 63 characters"
	}
	if l[0] == '-' || l[len(l)-1] == '-' {
		return "holds a label that begins or ends with a hyphen"
	}
	for i := 0; i < len(l); i++ {
		c := l[i]
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == '_':
		case c >= 0x80:
			return "is not ASCII; write its punycode form (xn--…)"
		default:
			return "holds the character " + strconv.QuoteRune(rune(c))
		}
	}
	return ""
}

func (h host) String() string {
	s := h.name
	if h.wild {
		s = "*." + s
	}
	if h.port != "" {
		s += ":" + h.port
	}
	return s
}

// local reports whether the host is this machine. Plain http is safe there because nothing
// leaves the machine. An example is a model server such as Ollama's.
func (h host) local() bool {
	return h.name == "localhost" || strings.HasSuffix(h.name, ".localhost") || h.name == "127.0.0.1"
}

// sources returns the CSP sources for requests and sockets to h.
func (h host) sources() []string {
	s := []string{"https://" + h.String(), "wss://" + h.String()}
	if h.local() {
		s = append(s, "http://"+h.String(), "ws://"+h.String())
	}
	return s
}

// patterns returns the URL patterns of h. Connection-Allowlist matches ws as http and wss as
// https.
func (h host) patterns() []string {
	p := []string{"https://" + h.String()}
	if h.local() {
		p = append(p, "http://"+h.String())
	}
	return p
}
