package secrets

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

const (
	// called matches the words in names of secrets. nameIs matches a whole name with such a word.
	called   = `(?:secret|token|passw(?:or)?d|pwd|api[_.\-]?key|access[_\-]?key|client[_\-]?key|private[_\-]?key|credentials?|creds|[_\-.]auth)`
	nameIs   = `([\w.\-]{0,40}` + called + `[\w.\-]{0,20})`
	keywords = "secret token passwd password pwd api_key api.key apikey api-key access_key access-key accesskey client_key client-key clientkey private_key private-key privatekey credential creds _auth -auth .auth"
	is       = `(?:=>|[:?|+.]{0,3}=|:)` // in configuration, programs and makefiles
	quote    = "[\"'`]"
	quoted   = quote + "([^\\s\"'`]{8,})" + quote
)

// vendors have keys of no particular form, which are recognized by a name beside them.
const vendors = "airtable algolia artifactory atlassian bitbucket circleci cloudflare confluence contentful datadog dropbox fastly heroku hubspot intercom jfrog jira mailgun netlify okta pagerduty sentry snyk sonar sourcegraph travis zendesk"

// named returns the rules for values that are named like a secret and look random.
func named() []rule {
	n := func(re string) rule {
		r := form("named secret", keywords, re, 2, 3)
		r.name, r.ok = 1, random
		return r
	}
	vendor := n(`(?i)((?:` + strings.ReplaceAll(vendors, " ", "|") + `)[\w.\-]{0,20})["'\x60]{0,2}\s{0,5}(?:` + is + `|,)\s{0,5}["'\x60]?([\w.\-+/=]{20,})(?:["'\x60\s;,]|$)`)
	vendor.words = strings.Fields(vendors)
	setting := form("password setting", "password passwd pwd secret", `(?i)\b(?:key|name)\s?=\s?["'][^"'\n]{0,60}(?:passw(?:or)?d|pwd|secret)["']\s{1,20}value\s?=\s?["']([^"'\s]{8,})["']`, 1, 2.5)
	setting.ok = func(s string) bool { return !strings.HasPrefix(s, "%") && !strings.HasPrefix(s, "$") }
	basic := form("password of a request", "curl", `(?i)\bcurl\b[\s\S]*?\s(?:-u|--user)[\s=]{1,3}((?:"[^"\n]*"|'[^'\n]*'|[^\s"'])+)`, 1, 0).over(8)
	basic.ok = userAndPassword
	header := n(`(?i)(authorization)["']?\s{0,3}[:=]\s{0,3}["']?(?:(?:bearer|basic|token|apikey|api-?token|key)\s+)?([\w\-.~+/=@]{10,})`)
	header.words, header.kind, header.bits, header.ok = []string{"authorization"}, "authorization header", 2.5, func(s string) bool {
		return random(s) || strings.HasSuffix(s, "=")
	}
	return []rule{
		header, basic, setting, vendor, {kind: "kubernetes secret", manifests: true},
		form("authorization header", "authorization", `(?i)authorization["']?\s{0,3}[:=]\s{0,3}["']?(?:bearer|basic|token)\s+([\w\-.~+/=]{16,1000})`, 1, 2.5),
		n(`(?i)` + nameIs + `["'\x60\]]{0,2}(?:\s{1,3}string)?\s{0,5}` + is + `\s{0,5}` + quoted),
		n(`(?i)` + quote + nameIs + quote + `\s{0,3},\s{0,3}` + quoted),
		n(`(?i)` + quote + nameIs + `:\s{0,3}([^\s"'\x60]{8,})` + quote),
		n(`(?im)(?:^|[\s"'\x60;&?,]|\\n)` + nameIs + `=([^\s"'\x60;&,\\()\[\]{}<>$]{10,})(?:[\s"'\x60;&,]|\\[nr]|$)`),
		n(`(?im)^\s{0,20}(?:export\s+|-\s+)?` + nameIs + `\s{0,3}` + is + `\s{0,3}([^\s"'\x60#;,(){}\[\]<>$]{10,})\s*$`),
		n(`(?i)<` + nameIs + `>\s{0,100}([^\s<>"']{8,})\s{0,100}</`).over(2),
		n(`(?i)name:\s{0,5}["']?` + nameIs + `["']?\s{0,5}\n\s{0,40}value:\s{0,5}["']?([^\s"']{8,})`).over(1),
	}
}

// harmless are last words of names that are no names of secrets, such as "id" in "secret_id".
var harmless = []string{"id", "ids", "name", "names", "length", "size", "count", "url", "uri", "file", "path", "dir", "endpoint", "type", "version", "alias", "algorithm", "expiry", "expires", "ttl", "field", "label", "regex", "pattern", "prefix", "suffix", "format"}

// harmlessName reports whether a name ends in such a word, or contains "public" or "csrf".
func harmlessName(name string) bool {
	words := strings.FieldsFunc(spaced(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) == 0 {
		return false
	}
	return slices.Contains(harmless, words[len(words)-1]) || slices.Contains(words, "public") || slices.Contains(words, "csrf")
}

// spaced returns a name such as apiKeyId in lower case, with its words separated.
func spaced(name string) string {
	var b strings.Builder
	low := false
	for _, c := range name {
		if unicode.IsUpper(c) && low {
			b.WriteByte(' ')
		}
		low = unicode.IsLower(c) || unicode.IsDigit(c)
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// userAndPassword reports whether a shell word is user:password in clear text.
func userAndPassword(s string) bool {
	user, password, ok := strings.Cut(strings.NewReplacer(`"`, "", "'", "").Replace(s), ":")
	if password == "" {
		password = user
	}
	return ok && len(password) > 4 && !strings.HasPrefix(password, "$") && !placeholder(password) && strings.Trim(password[1:], "abcdefghijklmnopqrstuvwxyz_-") != ""
}

const space = " \t\n\f\r"

// secretValues returns the values under data in Kubernetes manifests of the kind Secret.
func (s *search) secretValues(text, lower string) (out []window) {
	at := 0 // the beginning of the manifest
	for i := s.index(lower, "kind:", 0); i < len(lower); i = s.index(lower, "kind:", i+1) {
		if !s.kindSecret(lower, i) {
			continue
		}
		end := s.manifestEnd(text, at)
		for end < i && s.err == nil {
			at = end
			end = s.manifestEnd(text, at)
		}
		indent := -1
		for line := range strings.Lines(text[at:end]) {
			if !s.spend(4 + len(line)/16) {
				return nil
			}
			content := strings.TrimRight(strings.TrimLeft(line, " \t"), space)
			deep := len(line) - len(strings.TrimLeft(line, " \t"))
			switch value := strings.ToLower(content[:min(len(content), 12)]); {
			case value == "data:" || value == "stringdata:":
				indent = deep
			case content != "" && deep <= indent:
				indent = -1
			case indent >= 0 && deep > 0:
				if from, to, ok := s.dataValue(content); ok {
					out = append(out, window{at + deep + from, at + deep + to})
				}
			}
			at += len(line)
		}
		i = max(i, end-1)
	}
	return out
}

// kindSecret reports whether the line at i is "kind: Secret".
func (s *search) kindSecret(lower string, i int) bool {
	before := strings.TrimRight(lower[:i], " \t\f\r")
	after := strings.TrimLeft(lower[i+len("kind:"):], space)
	s.spend((2*len(lower) - len(before) - len(after)) / 64)
	if before != "" && !strings.HasSuffix(before, "\n") {
		return false
	}
	after, ok := strings.CutPrefix(unquoted(after), "secret")
	rest := strings.TrimLeft(unquoted(after), " \t\f\r")
	return ok && (rest == "" || rest[0] == '\n')
}

// unquoted returns a text without a quotation mark at its beginning.
func unquoted(text string) string {
	if text != "" && (text[0] == '"' || text[0] == '\'') {
		return text[1:]
	}
	return text
}

// manifestEnd returns the position of the next line with three hyphens, or the text's length.
func (s *search) manifestEnd(text string, at int) int {
	for at = s.index(text, "\n---", at); at < len(text); at = s.index(text, "\n---", at+1) {
		rest := strings.TrimLeft(text[at+4:], " \t\f\r")
		s.spend((len(text) - at - len(rest)) / 16)
		if rest == "" || rest[0] == '\n' {
			return at + 1
		}
	}
	return len(text)
}

// dataValue returns the position of the value in a line of data, such as name: "aGVsbG8=".
func (s *search) dataValue(line string) (from, to int, ok bool) {
	if i := strings.IndexByte(line, ':'); i > 0 && s.only(line[:i], "_.-") {
		from = len(line) - len(strings.TrimLeft(line[i+1:], space))
	}
	from = len(line) - len(unquoted(line[from:]))
	to = len(line)
	if to > from && (line[to-1] == '"' || line[to-1] == '\'') {
		to--
	}
	return from, to, to-from >= 8 && s.only(line[from:to], "+/=")
}

// only reports whether a text consists of ASCII letters, digits and the given signs.
func (s *search) only(text, signs string) bool {
	for i := range len(text) {
		if i%64 == 0 && !s.spend(4) {
			return false
		}
		c := text[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && strings.IndexByte(signs, c) < 0 {
			return false
		}
	}
	return true
}

// random reports whether a value looks generated: mixed digits and letters, or a long mix of both
// cases, or many digits, and not words separated by signs.
func random(s string) bool {
	if strings.ContainsAny(s, "()[]{}<>") || strings.HasPrefix(s, "$") || strings.Contains(s, "${") || strings.Contains(s, "::") || strings.Contains(s, "://") {
		return false
	}
	var digit, lower, upper, sign, runs int
	last := 0
	for _, c := range s {
		kind := 0
		switch {
		case c >= '0' && c <= '9':
			digit++
			kind = 1
		case c >= 'a' && c <= 'z':
			lower++
			kind = 2
		case c >= 'A' && c <= 'Z':
			upper++
			kind = 3
		default:
			sign++
			kind = 4
		}
		if kind != last {
			runs++
		}
		last = kind
	}
	switch {
	case words(s):
		return false
	case digit == 0:
		return lower > 0 && upper > 2 && runs > 8 && sign < 3
	case lower+upper == 0:
		return digit >= 16
	}
	return runs >= 4 || len(s) >= 16 && sign == 0
}

var word = regexp.MustCompile(`^(?:[A-Za-z]{0,24}\d{0,4}|[vxX]?\d{1,5}|[A-Za-z0-9]{1,3}|[A-Z][a-z]+(?:[A-Z][a-z]+)+\d{0,4}|[A-Z]\d{5})$`)

// words reports whether a value consists of words and small numbers, separated by signs.
func words(s string) bool {
	if len(s) > 60 {
		return false
	}
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("_-./:,\\", r) }) {
		if !word.MatchString(w) {
			return false
		}
	}
	return true
}
