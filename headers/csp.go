package headers

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// Directive is one directive of a Content-Security-Policy and its values.
type Directive struct {
	Name   string   // in lower case, such as "script-src"
	Values []string // such as "'self'" and "https://example.com"
}

// CSP is a Content-Security-Policy. The order of its directives is kept.
type CSP []Directive

// Get returns the values of a directive, and whether the policy contains it.
func (c CSP) Get(name string) ([]string, bool) {
	for _, d := range c {
		if d.Name == name {
			return d.Values, true
		}
	}
	return nil, false
}

// Effective returns the values that apply to a fetch directive: its own, or those of the
// directive that it falls back to, such as script-src for worker-src. ok is false if no
// directive limits it.
func (c CSP) Effective(name string) (values []string, ok bool) {
	chain := []string{name}
	switch name {
	case "worker-src":
		chain = append(chain, "child-src", "script-src")
	case "frame-src":
		chain = append(chain, "child-src")
	case "script-src-elem", "script-src-attr":
		chain = append(chain, "script-src")
	case "style-src-elem", "style-src-attr":
		chain = append(chain, "style-src")
	}
	if strings.HasSuffix(name, "-src") || strings.Contains(name, "-src-") {
		chain = append(chain, "default-src")
	}
	for _, n := range chain {
		if v, ok := c.Get(n); ok {
			return v, true
		}
	}
	return nil, false
}

// String returns the header's value.
func (c CSP) String() string {
	parts := make([]string, len(c))
	for i, d := range c {
		parts[i] = strings.Join(append([]string{d.Name}, d.Values...), " ")
	}
	return strings.Join(parts, "; ")
}

// sourceLists are the directives whose values are sources. checkDirective has the others.
const sourceLists = `default-src script-src script-src-elem script-src-attr style-src style-src-elem
style-src-attr img-src font-src connect-src media-src object-src frame-src child-src worker-src manifest-src base-uri
form-action frame-ancestors`

const keywords = `'none' 'self' 'wasm-unsafe-eval' 'unsafe-eval' 'unsafe-inline' 'unsafe-hashes'
'strict-dynamic' 'report-sample' 'inline-speculation-rules'`

// ParseCSP parses a Content-Security-Policy. A directive that is unknown or repeated, or that
// contains a source that browsers would silently drop, is an error.
func ParseCSP(value string) (CSP, error) {
	c, err := splitCSP(value)
	if err != nil {
		return nil, err
	}
	return c, c.validate()
}

// splitCSP returns the directives of a policy without a check of their sources.
func splitCSP(value string) (CSP, error) {
	var c CSP
	if strings.Contains(value, ",") {
		return nil, errors.New("Content-Security-Policy: a comma starts a second policy; send two headers, or remove it")
	}
	for _, part := range strings.Split(value, ";") {
		words := strings.Fields(part)
		if len(words) == 0 {
			continue
		}
		d := Directive{strings.ToLower(words[0]), words[1:]}
		if _, twice := c.Get(d.Name); twice {
			return nil, errors.New("Content-Security-Policy: " + d.Name + " stands twice; browsers keep the first only")
		}
		c = append(c, d)
	}
	return c, nil
}

func (c CSP) validate() error {
	var errs []error
	for _, d := range c {
		if err := checkDirective(d); err != nil {
			errs = append(errs, errors.New("Content-Security-Policy: "+d.Name+": "+err.Error()))
		}
	}
	if len(c) == 0 {
		errs = append(errs, errors.New("Content-Security-Policy: is empty; begin with Default or For"))
	}
	return errors.Join(errs...)
}

func checkDirective(d Directive) error {
	switch {
	case holds(sourceLists, d.Name):
		for _, v := range d.Values {
			if err := checkSource(v, len(d.Values)); err != nil {
				return err
			}
		}
		return nil
	case d.Name == "require-trusted-types-for":
		if !slices.Equal(d.Values, []string{"'script'"}) {
			return errors.New("takes 'script', quoted")
		}
	case d.Name == "trusted-types":
		for _, v := range d.Values {
			if v != "'none'" && v != "'allow-duplicates'" && !validPolicyName(v) {
				return errors.New(strconv.Quote(v) + " is not a policy name")
			}
		}
	case d.Name == "sandbox":
		for _, v := range d.Values {
			if !strings.HasPrefix(v, "allow-") {
				return errors.New(strconv.Quote(v) + " is not a sandbox flag")
			}
		}
	case d.Name == "upgrade-insecure-requests":
		if len(d.Values) > 0 {
			return errors.New("takes no value")
		}
	case d.Name == "report-to":
		if len(d.Values) != 1 {
			return errors.New("takes one endpoint's name")
		}
	default:
		return errors.New("unknown directive; is it spelt right?")
	}
	return nil
}

func checkSource(v string, of int) error {
	switch {
	case v == "'none'":
		if of > 1 {
			return errors.New("'none' must stand alone")
		}
		return nil
	case holds(keywords, v):
		return nil
	case strings.HasPrefix(v, "'nonce-") && strings.HasSuffix(v, "'") && len(v) > 8:
		return nil
	case strings.HasPrefix(v, "'sha"):
		if !strings.HasSuffix(v, "'") || !validHash(strings.Trim(v, "'")) {
			return errors.New(v + " is not a hash of the right length")
		}
		return nil
	case strings.HasPrefix(v, "'"):
		return errors.New(v + " is an unknown keyword")
	case holds(keywords, "'"+v+"'"):
		return errors.New(v + " needs its quotes: '" + v + "'")
	case holds("data: blob: mediastream: filesystem: https: http: ws: wss: *", v):
		return nil
	}
	if scheme, rest, ok := strings.Cut(v, "://"); ok {
		if !holds("https http ws wss", scheme) {
			return errors.New(v + " has an unknown scheme")
		}
		v = rest
	}
	name, _, _ := strings.Cut(v, "/")
	return CheckHost(strings.TrimSuffix(name, ":*"))
}

// holds reports whether word is one of the words of list.
func holds(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}

func validPolicyName(s string) bool {
	if s == "" {
		return false
	}
	for _, r := range s {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-#=_/@.%", r) {
			return false
		}
	}
	return true
}
