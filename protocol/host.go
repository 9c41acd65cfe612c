package protocol

import (
	"net/netip"
	"strconv"
	"strings"
)

// HostPattern is a set of hosts: a name, "*.example.com" for its subdomains (not example.com
// itself), or an IP address (IPv6 in brackets). Each may have a ":port". Without one the pattern
// covers all ports. Case does not matter. The zero HostPattern matches nothing.
type HostPattern struct {
	text string
	host string // lower case, without the "*." of subdomains
	port int    // 0 is any port
	subs bool
	all  bool // "*", which is valid only in deny lists
}

// ParseHost returns the host pattern of text. It returns [ErrInvalidParams] for "*", "*.com", a
// name without a dot (except localhost), a URL, and a name that is not ASCII.
func ParseHost(text string) (HostPattern, error) { return parseHost(text, false) }

// ParseDeniedHost is [ParseHost] for an entry of a deny list, in which "*" and "*:port" stand for
// every host.
func ParseDeniedHost(text string) (HostPattern, error) { return parseHost(text, true) }

func parseHost(text string, deny bool) (HostPattern, error) {
	bad := func(format string, args ...any) (HostPattern, error) {
		return HostPattern{}, Errorf(ErrInvalidParams, "host pattern", quote(text), format, args...)
	}
	if strings.Contains(text, "://") || strings.ContainsAny(text, "/@ ") {
		return bad("is not a host; write example.com, *.example.com or example.com:443")
	}
	p := HostPattern{text: text}
	rest, subs := strings.CutPrefix(text, "*.")
	p.subs = subs
	if !subs && (rest == "*" || strings.HasPrefix(rest, "*:")) {
		if !deny {
			return bad("would match every host; name the hosts that are needed")
		}
		p.all = true
		if rest == "*" {
			return p, nil
		}
		var ok bool
		if p.port, ok = parsePort(rest[2:]); !ok {
			return bad("has a bad port")
		}
		return p, nil
	}
	host, port, err := SplitHost(rest)
	if err != nil {
		return HostPattern{}, err
	}
	p.host, p.port = host, port
	dot := strings.Contains(host, ".")
	_, notIP := netip.ParseAddr(strings.Trim(host, "[]"))
	switch {
	case p.subs && !dot:
		return bad("would match a whole top-level domain; name a domain below it")
	case p.subs && notIP == nil:
		return bad("an address has no subdomains")
	case !dot && notIP != nil && host != "localhost":
		return bad("has no dot; only localhost may be written so")
	}
	return p, nil
}

// String returns the text that the pattern was parsed from, or that [HostPattern.WithText] gave it.
func (p HostPattern) String() string { return p.text }

// WithText returns p with another text for String, such as the text before its variables were
// expanded. It matches as before.
func (p HostPattern) WithText(text string) HostPattern {
	p.text = text
	return p
}

// Match reports whether p covers host, as returned by [SplitHost], and port. Port 0 is an unknown
// port: a pattern with a port does not match it.
func (p HostPattern) Match(host string, port int) bool {
	return (p.port == 0 || p.port == port) && p.matchName(host)
}

// MatchDeny is Match for deny lists. An unknown port matches a pattern with a port, because it may be
// the denied one.
func (p HostPattern) MatchDeny(host string, port int) bool {
	return (p.port == 0 || port == 0 || p.port == port) && p.matchName(host)
}

func (p HostPattern) matchName(host string) bool {
	switch {
	case p.all:
		return true
	case p.host == "":
		return false
	case p.subs:
		return len(host) > len(p.host)+1 && strings.HasSuffix(host, "."+p.host)
	}
	return host == p.host
}

// SplitHost splits "host" or "host:port" and returns the host in its canonical form: lower case,
// without a trailing dot, addresses as a browser writes them. The port is 0 if s has none. A name
// must be ASCII (use xn--… for other scripts). Text that a browser would read as an address, such
// as 0x7f.1, is an error unless it is in the canonical form of one. All errors are
// [ErrInvalidParams].
func SplitHost(s string) (host string, port int, err error) {
	bad := func(why string) (string, int, error) {
		return "", 0, Errorf(ErrInvalidParams, "host", quote(s), "%s", why)
	}
	if len(s) > maxHost+8 {
		return bad("is too long")
	}
	var rest string
	bracketed := strings.HasPrefix(s, "[")
	if bracketed {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return bad("has no closing bracket")
		}
		a, err := netip.ParseAddr(s[1:end])
		if err != nil || !a.Is6() || a.Zone() != "" {
			return bad("is not an IPv6 address")
		}
		if a.Is4In6() {
			return bad("is an IPv4 address in IPv6 form; write the IPv4 address")
		}
		host, rest = "["+a.String()+"]", s[end+1:]
		if rest != "" && rest[0] != ':' {
			return bad("has something behind the bracket")
		}
	} else if i := strings.IndexByte(s, ':'); i >= 0 {
		if strings.IndexByte(s[i+1:], ':') >= 0 {
			return bad("has several colons; put an IPv6 address in brackets")
		}
		host, rest = s[:i], s[i:]
	} else {
		host = s
	}
	if rest != "" {
		var ok bool
		if port, ok = parsePort(rest[1:]); !ok {
			return bad("has a bad port; it must be 1 to 65535")
		}
	}
	if bracketed {
		return host, port, nil
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "" || len(host) > maxHost {
		return bad("is empty or longer than 253 bytes")
	}
	labels := strings.Split(host, ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' {
			return bad("has an empty, too long or hyphen-edged label")
		}
		for i := 0; i < len(l); i++ {
			if c := l[i]; c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
				return bad("has a character no host name has; write other scripts as xn--…")
			}
		}
	}
	// If the last label is a number, a browser reads the host as an IPv4 address, also in octal, in
	// hexadecimal or with parts missing.
	if last := labels[len(labels)-1]; numeric(last) {
		a, err := netip.ParseAddr(host)
		if err != nil || !a.Is4() {
			return bad("is an IPv4 address in a form that is not four decimal numbers")
		}
	}
	return host, port, nil
}

// Loopback reports whether host, as returned by [SplitHost], is this machine.
func Loopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]")) // 127.example.org is a name
	return err == nil && a.IsLoopback()
}

func numeric(label string) bool {
	if strings.HasPrefix(label, "0x") {
		return strings.Trim(label[2:], "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

func parsePort(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n > 0 && n < 65536 && strconv.Itoa(n) == s
}
