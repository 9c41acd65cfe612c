package markdown

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// doubt grades the likelihood that the text of a link shows another target than the real one.
type doubt uint8

const (
	honest   doubt = iota // the text contains no host, or only that of the target
	possible              // the text may contain another host: the real target is written beside it
	certain               // the text names another host: there is also a warning
)

// warn examines a link written from start on, with its text from text on. If the text could be
// taken for another target, warn returns the real target as HTML, to be written after the link.
// If it certainly names another target, warn also writes a warning into the link's tag.
func warn(w *sink, start, text int, t target) []byte {
	written := w.Bytes()[text:]
	d, warning := judge(labelOf(written), t.url)
	if all := w.Bytes()[start:]; d < certain && bytes.Contains(all, []byte(` title="`)) {
		for tag := range tags(all) { // a browser shows a title in the place where it shows the targets of links
			if by, says := judge(label{text: tagValue(all[tag.at:tag.to], "title")}, t.url); by > d {
				d, warning = by, says
			}
		}
	}
	if t.warning != "" {
		if d < certain {
			warning = t.warning
		}
		d = certain
	}
	if d == honest {
		return nil
	}
	var beside sink
	beside.beside(t.url)
	if d == certain {
		w.report.add(Deception, hostOf(t.url), 1)
		tail := string(written)
		w.Truncate(start)
		if t.fragment == "" {
			w.linkStart(t)
		}
		w.WriteString(` data-warning="`)
		w.escapeString(warning)
		w.WriteString(`" title="`)
		w.escapeString(warning)
		w.WriteString(`">`)
		w.WriteString(tail)
	}
	return beside.Bytes()
}

// leads returns the part of a target that a reader has to see: the host, all addresses of a
// mail, or the number of a call.
func leads(url string) string {
	const most = 300
	s := hostOf(url)
	switch scheme, rest := splitScheme(url); scheme {
	case "mailto":
		s = strings.Join(recipients(url), ", ")
	case "tel":
		s = rest
	}
	if len(s) > most {
		s = s[:most] + "…"
	}
	return s
}

// judge compares the text of a link with its target.
func judge(l label, url string) (d doubt, warning string) {
	text, hidden, turns := skeleton(l.text)
	to := leads(url)
	worse := func(by doubt, format string, args ...any) {
		if by > d {
			d = by
			warning = fmt.Sprintf(format, args...)
		}
	}
	scheme, rest := splitScheme(url)
	switch mails := recipients(url); {
	case scheme == "tel":
		if !sameNumber(string(text), rest) {
			worse(certain, "the text names another number, the link calls %s", to)
		}
	case len(mails) > 1, len(mails) == 1 && !strings.EqualFold("mailto:"+mails[0], url[:min(len(url), len("mailto:")+len(mails[0]))]):
		worse(certain, "the mail goes to %s", to)
	}
	host := hostOf(url)
	if strings.HasPrefix(host, "xn--") || strings.Contains(host, ".xn--") {
		worse(certain, "the host has letters that are not ASCII: %s", host)
	}

	shape := strings.Trim(string(text), " .,:;!?-")
	// If direction or layout changes the order, the visible text is not known from the source.
	if l.counted || l.moved && strings.ContainsAny(string(text), hostMarks) || turns && strings.ContainsAny(shape, hostMarks) {
		worse(possible, "")
	}
	words := strings.Split(string(text), " ")
	if spelled(words) {
		worse(possible, "")
	}
	for _, word := range words {
		w := []rune(word)
		if doubtful(w, hidden) {
			worse(possible, "")
		}
		by, named := lookAtWord(w, url, host)
		if l.code && by == certain && !strings.Contains(word, "://") && !classic(named) {
			by = possible
		}
		worse(by, "the text names %s, the link leads to %s", named, to)
	}
	return d, warning
}

// hostMarks are the separators in hosts and addresses, and the characters that may look like
// them.
const hostMarks = ".:/@" + string(dotLike) + string(anything)

// spelled reports whether the words may mean a host that is written in several words, or with
// its dots in brackets or in words: bank .com, bank[.]com, bank (dot) com.
func spelled(words []string) bool {
	name := false // there is a word before this one
	for i, word := range words {
		w := strings.ToLower(strings.Trim(word, "()[]{}<>\"'!?"))
		if strings.ContainsAny(word, "[({<") && strings.ContainsAny(w, "])}>") {
			for _, sign := range [...]string{"[.]", "(.)", "{.}", "<.>", "[dot]", "(dot)", "{dot}"} {
				if _, rest, ok := strings.Cut(w, sign); ok && name || ok && !strings.HasPrefix(w, sign) {
					if endsHost("x."+strings.TrimRight(hostWord(rest), ".")) > honest {
						return true
					}
				}
			}
		}
		next := ""
		if i+1 < len(words) {
			next = hostWord(strings.Trim(words[i+1], "()[]{}<>\"'!?"))
		}
		switch {
		case name && (w == "dot" || w == "." || w == string(dotLike)) && classic("."+strings.ToLower(next)):
			return true
		case name && len(w) > 1 && (w[0] == '.' || strings.HasPrefix(w, string(dotLike))) && classic(hostWord(strings.TrimPrefix(w, string(dotLike)))):
			return true
		case len(w) > 1 && (w[len(w)-1] == '.' || strings.HasSuffix(w, string(dotLike))) && next != "" && classic("."+next):
			return true
		}
		if _, rest, ok := strings.Cut(w, ","); ok && w[0] != ',' && hostWord(rest) == "com" {
			return true
		}
		name = name || w != ""
	}
	return false
}

// hostWord returns the characters at the start of w that can be part of a host.
func hostWord(w string) string {
	return w[:len(w)-len(strings.TrimLeftFunc(w, hostRune))]
}

// doubtful reports whether a word may be a host that can't be read with certainty. Some of its
// characters may look like others, or are invisible, and the rest may be a part of a host.
func doubtful(w []rune, hidden bool) bool {
	odd, ascii, marks := hidden, false, false
	for i, r := range w {
		switch {
		case r == styled:
			odd, ascii = true, true
		case r == anything || r == dotLike:
			odd = odd || i > 0 && i < len(w)-1
			marks = true
		case r == '.' || r == '/' || r == ':' || r == '@':
			marks = marks || i > 0 && i < len(w)-1
		case r < 0x80 && (isLetter(byte(r)) || isDigit(byte(r))):
			ascii = true
		}
	}
	return odd && ascii && marks
}

func hostRune(r rune) bool {
	return r == '.' || r == '-' || r == '_' || r == dotLike || r >= 0x80 && r != anything && r != styled || r < 0x80 && (isLetter(byte(r)) || isDigit(byte(r)))
}

// lookAtWord compares the parts of a word that look like a host with the host of the target.
func lookAtWord(w []rune, url, host string) (d doubt, named string) {
	worse := func(by doubt, name string) {
		if by > d {
			d, named = by, name
		}
	}
	mails := recipients(url)
	if _, rest, ok := strings.Cut(string(w), "://"); ok && rest != "" && !hostRune([]rune(rest)[0]) {
		worse(certain, rest) // an address in brackets, or a character that cannot begin a host
	}
	for i := 0; i < len(w); {
		if !hostRune(w[i]) {
			i++
			continue
		}
		from := i
		for i < len(w) && hostRune(w[i]) {
			i++
		}
		run := strings.Trim(string(w[from:i]), ".-_"+string(dotLike))
		before, after := string(w[:from]), string(w[i:])
		odd := strings.ContainsRune(run, dotLike)
		run = strings.ReplaceAll(run, string(dotLike), ".")
		// A scheme is followed only by text that the browser would take for a host.
		behind := strings.TrimRight(before, `/\`)
		scheme := strings.HasSuffix(behind, ":") && (len(behind) < len(before) || schemeWord(behind)) || strings.HasSuffix(before, "//")
		if len(behind) == 2 && strings.HasPrefix(before[2:], `\`) {
			scheme = false // a folder of a drive
		}
		mail := strings.HasSuffix(before, "@")
		sure := scheme || strings.HasPrefix(strings.ToLower(run), "www.")
		if scheme && strings.HasPrefix(after, "@") {
			sure = true // a user name that looks like a host
		}
		switch {
		case run == "", !strings.Contains(run, ".") && !scheme:
			continue
		case strings.HasPrefix(after, "@") && strings.HasSuffix(strings.ToLower(before), "mailto:"):
			continue // the whole address is examined later
		case mail && !scheme && len(mails) > 0:
			at := from - 1
			for at > 0 && (hostRune(w[at-1]) || w[at-1] == '+') {
				at--
			}
			address := strings.Trim(string(w[at:i]), ".-_")
			if slices.ContainsFunc(mails, func(m string) bool { return strings.EqualFold(m, address) }) {
				continue
			}
			worse(certain, address)
			continue
		case !scheme && strings.HasPrefix(after, "@") && len(after) > 1 && len(mails) > 0:
			continue // the name before the @ of an address, which is examined as a whole
		}
		name, _ := asciiHost(run)
		if name == "" {
			if sure || strings.ContainsFunc(run, func(r rune) bool { return r >= 0x80 }) {
				worse(possible, run)
			}
			continue
		}
		if below := strings.HasSuffix(host, "."+name); same(name, host) || below && strings.Contains(name, ".") {
			if !same(name, host) {
				worse(possible, name)
			}
			if rest := strings.TrimLeft(after, "0123456789:"); rest == "" || strings.ContainsAny(rest[:1], `/\?#`) {
				return d, named // the rest is the path
			}
			continue
		}
		by := endsHost(run)
		switch {
		case sure, mail && by > honest:
			by = certain
		case strings.HasSuffix(before, "/") && by == possible && !strings.Contains(before, ".") && !odd:
			by = honest // a file in a folder
		case dotted(run) && !odd:
			by = possible // an IP address, or a version
		case hasWord(" asp.net ado.net ml.net vb.net ", name):
			by = min(by, possible) // names of programs
		}
		if odd && by == honest {
			by = possible
		}
		worse(by, name)
	}
	return d, named
}

// same reports whether name is the name of the target's host. A host below that name is another
// one: each host below github.io belongs to someone else, and no list contains all such names.
func same(name, host string) bool {
	return name == host || "www."+name == host || "www."+host == name
}

func schemeWord(s string) bool {
	s = strings.ToLower(s)
	for _, scheme := range [...]string{"http:", "https:", "ftp:", "ftps:", "ws:", "wss:", "mailto:"} {
		if strings.HasSuffix(s, scheme) {
			return true
		}
	}
	return false
}

// dotted reports whether s consists of four numbers, such as 192.0.2.1.
func dotted(s string) bool {
	parts := strings.Split(s, ".")
	for _, p := range parts {
		if p == "" || len(p) > 3 || strings.Trim(p, "0123456789") != "" {
			return false
		}
	}
	return len(parts) == 4
}

// classic reports whether a host has an ending that is never the name of a method.
func classic(host string) bool {
	return hasWord(" com org net edu gov mil int bank google ", host[strings.LastIndexByte(host, '.')+1:])
}

// endsHost returns the likelihood that a word with this ending is a host, and not a file, a
// version or an identifier of a program.
func endsHost(word string) doubt {
	last := word[strings.LastIndexByte(word, '.')+1:]
	tld := strings.ToLower(last)
	if strings.ContainsFunc(tld, func(r rune) bool { return r >= 0x80 }) || strings.HasPrefix(tld, "xn--") {
		switch { // 詳細はこちら。公式サイト are two sentences
		case !ideographs(tld):
			return certain
		case hasWord(tldsIdeographs, tld):
			return possible
		}
		return honest
	}
	if !hasWord(tlds, tld) {
		return honest
	}
	const both = " am as bz cc cs eg go gz hs ie in io is js la md mk ml mo mov my no nu pl pm ps py rs sc sh so st sx ts tv vi vs ws zip "
	const words = " com org net edu gov mil int info biz name pro app dev xyz site online shop store tech cloud page bank money news blog live wiki " +
		"email link click support help security login account finance google amazon apple microsoft paypal travel world today group "
	const files = " agents app architecture build changelog claude conftest contributing index install lib license main mod rationale readme run security setup skill test tests todo __init__ "
	switch {
	case hasWord(" ai io me tv ", tld) && last == tld:
		return certain
	case hasWord(both, tld):
		if hasWord(files, strings.ToLower(word[:len(word)-len(last)-1])) {
			return honest
		}
		return possible
	case last != tld && last != strings.ToUpper(last) && !classic(tld): // cmp.Or, time.Now
		return possible
	case len(tld) == 2, hasWord(words, tld):
		return certain
	}
	return possible
}

// ideographs reports whether a word consists of letters of Chinese, Japanese or Korean, without
// any that could be taken for an ASCII character.
func ideographs(word string) bool {
	for _, r := range word {
		if !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) && !(r >= '0' && r <= '9') && r != 'ー' || r == 'ニ' || r == '一' || r == '丨' || r == 'ㅣ' || r == '〇' || r == 'ㅇ' {
			return false
		}
	}
	return true
}

// sameNumber reports whether a text contains no other telephone number than number.
func sameNumber(text, number string) bool {
	digits := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsDigit(r) {
				return r
			}
			return -1
		}, s)
	}
	shown, called := digits(text), digits(number)
	return len(shown) < 5 || strings.HasSuffix(called, strings.TrimLeft(shown, "0"))
}

// recipients returns the addresses that a mailto: URL writes to, from its path and from the
// fields to, cc and bcc (RFC 6068). It returns nil for any other URL.
func recipients(url string) []string {
	rest, ok := strings.CutPrefix(url, "mailto:")
	if !ok {
		return nil
	}
	var list []string
	add := func(s string) {
		for a := range strings.SplitSeq(unpercent(s), ",") {
			if a = strings.Trim(a, " /"); a != "" {
				list = append(list, a)
			}
		}
	}
	path, query, _ := strings.Cut(rest, "?")
	add(path)
	query, _, _ = strings.Cut(query, "#")
	for field := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == '?' || r == ';' }) {
		name, value, _ := strings.Cut(field, "=")
		switch strings.ToLower(strings.TrimSpace(unpercent(name))) {
		case "to", "cc", "bcc":
			add(value)
		}
	}
	return list
}

// unpercent decodes the percent escapes of a URL. Malformed escapes stay unchanged.
func unpercent(s string) string {
	var b []byte
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) && hexDigit(s[i+1]) && hexDigit(s[i+2]) {
			b = append(b, unhex(s[i+1])<<4|unhex(s[i+2]))
			i += 2
			continue
		}
		b = append(b, s[i])
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

func hexDigit(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

func unhex(c byte) byte {
	if isDigit(c) {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}
