package markdown

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

const maxTarget = 8000 // bytes of a link's target

// target is where a link leads, as a browser would read it, written so that
// every reader reads the same.
type target struct {
	url      string // http, https, mailto or tel; "" if there is none that may be kept
	fragment string // or an id in this text
	why      string // what to report if there is neither
	warning  string // what a reader should know of the target itself
}

// resolve reads a link's target as the WHATWG URL Standard does where that
// matters for what a person is told: which characters are skipped, that \ is /,
// where the host ends.
func (r *Renderer) resolve(dest string) target {
	s := strings.TrimFunc(dest, func(c rune) bool { return c <= ' ' })
	s = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(s)
	switch {
	case s == "":
		return target{}
	case len(s) > maxTarget:
		return target{why: "too long"}
	case !utf8.ValidString(s):
		return target{why: "not UTF-8"}
	case s[0] == '#':
		if id := r.fragmentID(s[1:]); id != "" {
			return target{fragment: id}
		}
		return target{}
	}
	scheme, rest := splitScheme(s)
	if scheme == "" {
		if strings.HasPrefix(strings.ReplaceAll(s, `\`, "/"), "//") {
			scheme, rest = "https", s
		} else {
			if r.base == nil {
				return target{why: "relative"}
			}
			ref, err := url.Parse(percent(s, ""))
			if err != nil { // a colon in the first part
				if ref, err = url.Parse("./" + percent(s, "")); err != nil {
					return target{why: "relative"}
				}
			}
			scheme, rest = splitScheme(r.base.ResolveReference(ref).String())
		}
	}
	if !slices.Contains(r.opts.Schemes, scheme) {
		return target{why: scheme}
	}
	var t target
	switch scheme {
	case "http", "https":
		t = webTarget(scheme, rest)
	case "mailto":
		t.url = "mailto:" + percent(rest, "")
	case "tel":
		t.url = "tel:" + percent(rest, "/?#&=@:")
	}
	if t.url != "" && !goodTarget(t.url) {
		return target{why: "malformed"}
	}
	return t
}

// fragmentID is the id that a link to #name leads to.
func (r *Renderer) fragmentID(name string) string {
	if u, err := url.PathUnescape(name); err == nil && utf8.ValidString(u) {
		name = u
	}
	name = cleanID(strings.TrimPrefix(name, r.opts.IDPrefix))
	if name == "" {
		return ""
	}
	return cutID(r.opts.IDPrefix + name)
}

func splitScheme(s string) (scheme, rest string) {
	for i := range len(s) {
		c := s[i]
		switch {
		case c == ':' && i > 0:
			return strings.ToLower(s[:i]), s[i+1:]
		case isLetter(c), i > 0 && (isDigit(c) || c == '+' || c == '-' || c == '.'):
		default:
			return "", s
		}
	}
	return "", s
}

// webTarget reads what stands behind http: or https:.
func webTarget(scheme, s string) target {
	s = strings.TrimLeft(s, `/\`)
	end := strings.IndexAny(s, `/\?#`)
	if end < 0 {
		end = len(s)
	}
	authority, rest := s[:end], s[end:]
	var t target
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		authority = authority[i+1:]
		t.warning = "a user name before the host was taken out of the target"
	}
	port := ""
	if i := strings.LastIndexByte(authority, ':'); i >= 0 && !strings.HasSuffix(authority, "]") {
		authority, port = authority[:i], authority[i+1:]
		if port != "" && !goodNumber(strings.TrimLeft(port, "0")+"0", 655350) {
			return target{why: "malformed"}
		}
	}
	host, note := asciiHost(authority)
	if host == "" {
		return target{why: "malformed"}
	}
	if note != "" {
		t.warning = note
	}
	if port != "" {
		host += ":" + port
	}
	path, tail := rest, ""
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		path, tail = rest[:i], rest[i:]
	}
	if strings.HasPrefix(path, `\`) || path == "" && tail != "" {
		path = "/" + strings.TrimPrefix(path, `\`)
	}
	t.url = scheme + "://" + host + percent(path, "") + percent(tail, "")
	return t
}

// percent writes s in the ASCII of a URL; what is escaped stays as it is.
// Characters of not are escaped too.
func percent(s, not string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if isLetter(c) || isDigit(c) || strings.IndexByte("-._~:/?#@!$&()*+,;=%", c) >= 0 && strings.IndexByte(not, c) < 0 {
			b.WriteByte(c)
			continue
		}
		b.Write([]byte{'%', hex[c>>4], hex[c&15]})
	}
	return b.String()
}

// goodTarget is the last word on data-href: it shares nothing with resolve.
func goodTarget(s string) bool {
	if len(s) > 4*maxTarget {
		return false
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f || strings.IndexByte("\"'<>`\\^{|}", s[i]) >= 0 {
			return false
		}
	}
	if rest, ok := strings.CutPrefix(s, "mailto:"); ok {
		return rest != ""
	}
	if rest, ok := strings.CutPrefix(s, "tel:"); ok {
		return rest != ""
	}
	rest, ok := strings.CutPrefix(s, "https://")
	if !ok {
		if rest, ok = strings.CutPrefix(s, "http://"); !ok {
			return false
		}
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	if rest == "" {
		return false
	}
	for i := range len(rest) {
		c := rest[i]
		if !(c >= 'a' && c <= 'z') && !isDigit(c) && strings.IndexByte(".-_:[]", c) < 0 {
			return false
		}
	}
	return true
}

// hostOf is the host of a target, or the domain of a mail address.
func hostOf(target string) string {
	if rest, ok := strings.CutPrefix(target, "mailto:"); ok {
		rest, _, _ = strings.Cut(rest, "?")
		_, domain, _ := strings.Cut(rest, "@")
		return strings.ToLower(domain)
	}
	_, rest, ok := strings.Cut(target, "://")
	if !ok {
		return ""
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	if i := strings.LastIndexByte(rest, ':'); i >= 0 && !strings.HasSuffix(rest, "]") {
		rest = rest[:i]
	}
	return rest
}

// deception compares what a link says with where it leads. It returns a warning,
// "" if there is nothing to say, and whether the real host should stand beside
// the text.
func deception(text, target string) string {
	host := hostOf(target)
	if host == "" {
		if scheme, _ := splitScheme(target); scheme == "tel" {
			return ""
		}
		return ""
	}
	for _, named := range hostsIn(text) {
		if named == host || strings.HasSuffix(host, "."+named) || "www."+host == named {
			continue
		}
		return fmt.Sprintf("the text names %s, the link leads to %s", named, host)
	}
	if strings.HasPrefix(host, "xn--") || strings.Contains(host, ".xn--") {
		return "the host has letters that are not ASCII: " + host
	}
	return ""
}

// hostsIn finds what in a text looks like a host: behind a scheme or www.,
// behind an @, or words with a dot and an ending that is no file's.
func hostsIn(text string) []string {
	var hosts []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool {
		return r <= ' ' || strings.ContainsRune("\u00a0\u2028\u2029\u3000<>()[]{}\"'`,;|“”‘’«»…!*", r)
	}) {
		sure := false
		if scheme, rest := splitScheme(word); scheme == "http" || scheme == "https" || scheme == "ftp" || scheme == "mailto" {
			word, sure = strings.TrimLeft(rest, `/\`), true
		}
		if i := strings.IndexAny(word, `/\?#`); i >= 0 {
			word = word[:i]
		}
		if i := strings.LastIndexByte(word, '@'); i >= 0 {
			word, sure = word[i+1:], true
		}
		if i := strings.IndexByte(word, ':'); i >= 0 {
			word = word[:i]
		}
		word = strings.Trim(word, ".-_~–—:&=+")
		if !strings.ContainsAny(word, ".。．｡") {
			continue
		}
		host, _ := asciiHost(word)
		if host == "" || len(host) > 253 {
			continue
		}
		last := host[strings.LastIndexByte(host, '.')+1:]
		if sure || strings.HasPrefix(host, "www.") || endsHost(last) {
			hosts = append(hosts, host)
		}
		if len(hosts) == 8 {
			break
		}
	}
	return hosts
}

// endsHost reports whether a word that ends in a dot and this is more likely a
// host than a file or a version: the endings that are both are left out.
func endsHost(tld string) bool {
	if strings.HasPrefix(tld, "xn--") {
		return true
	}
	const both = " ai am as bz cc cs go gz hs in io is js la md me mk ml mo my nu pl pm ps py rs sc sh so st sx ts tv vi ws "
	const known = " com org net edu gov mil int info biz name pro app dev xyz site online shop store tech cloud page bank money news blog live wiki " +
		"email link click support help security login account finance "
	if hasWord(known, tld) {
		return true
	}
	if len(tld) != 2 || hasWord(both, tld) {
		return hasWord(" ai io me tv ", tld)
	}
	return isLetter(tld[0]) && isLetter(tld[1]) && tld != "eg" && tld != "ie" && tld != "cf" && tld != "vs"
}
