package markdown

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bailey-go/bailey/iframe/internal/localpath"
)

const maxTarget = 8000 // bytes of a link's target

// unbroken removes the characters that a URL parser skips everywhere.
var unbroken = strings.NewReplacer("\t", "", "\n", "", "\r", "")

// target is the target of a link as a browser reads it, written so that every program reads it
// in the same way.
type target struct {
	url      string // http, https, mailto or tel, and "" if there is no allowed target
	fragment string // or an id in this text
	path     string // or the path of a file
	why      string // the reason for the report if there is neither
	warning  string // a warning for the reader about the target itself
}

// resolve parses a link's target. It follows the WHATWG URL Standard where that affects the
// target shown to the user: the characters that are skipped, \ as /, and the end of the host.
func (r *Renderer) resolve(dest string) target {
	s := strings.TrimFunc(dest, func(c rune) bool { return c <= ' ' })
	s = unbroken.Replace(s)
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
				if file := localpath.Of(s); file != "" {
					return target{path: file}
				}
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
		if strings.ContainsAny(unpercent(rest), "*#") {
			return target{why: "tel code"} // it would change the settings of a telephone
		}
		t.url = "tel:" + percent(rest, "/?#&=@:")
	}
	if t.url != "" && !goodTarget(t.url) {
		return target{why: "malformed"}
	}
	return t
}

// fragmentID returns the id that a link to #name leads to.
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

// webTarget parses the part after http: or https:.
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

// percent returns s in the ASCII of a URL. Existing escapes stay unchanged. Characters in not
// are escaped as well.
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

// goodTarget reports whether s may be the value of data-href. It is the last check and shares
// no code with resolve.
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
		return rest != "" && !strings.ContainsAny(unpercent(rest), "*#")
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

// goodPath reports whether s may be the value of data-path. It is the last check and shares no code with package
// localpath.
func goodPath(s string) bool {
	if s == "" || len(s) > localpath.MaxBytes {
		return false
	}
	for part := range strings.SplitSeq(s, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return !strings.ContainsFunc(s, unicode.IsControl)
}

// hostOf returns the host of a target, or the domain of a mail address.
func hostOf(target string) string {
	if strings.HasPrefix(target, "mailto:") {
		for _, address := range recipients(target) {
			return strings.ToLower(address[strings.LastIndexByte(address, '@')+1:])
		}
		return ""
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
