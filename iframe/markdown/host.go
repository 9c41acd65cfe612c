package markdown

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode"
)

// asciiHost returns a host in the letters that the name system uses, so that look-alike letters
// are visible. It returns "" if s is no host. note is a warning for the reader, or "".
func asciiHost(s string) (host, note string) {
	if strings.HasPrefix(s, "[") {
		inner, ok := strings.CutSuffix(s[1:], "]")
		if !ok || inner == "" || strings.Trim(strings.ToLower(inner), "0123456789abcdef:.") != "" {
			return "", ""
		}
		return strings.ToLower(s), ""
	}
	if u, err := url.PathUnescape(s); err == nil {
		s = u
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '。' || r == '．' || r == '｡':
			return '.'
		case r >= 0xFF01 && r <= 0xFF5E: // the full-width forms of ASCII
			return unicode.ToLower(r - 0xFEE0)
		case r == 0xAD || r == 0x200B || r == 0x2060 || r == 0xFEFF || r >= 0xFE00 && r <= 0xFE0F:
			return -1 // ignored in names, and invisible
		}
		return unicode.ToLower(r)
	}, s)
	if s == "" || len(s) > 500 {
		return "", ""
	}
	labels := strings.Split(s, ".")
	if labels[len(labels)-1] == "" && len(labels) > 1 {
		labels = labels[:len(labels)-1]
	}
	for i, label := range labels {
		ascii, mixed := asciiLabel(label)
		if ascii == "" {
			return "", ""
		}
		labels[i] = ascii
		if mixed != "" {
			note = "the host mixes letters of " + mixed
		}
	}
	if ip, numeric := numericHost(labels); numeric {
		return ip, note
	}
	host = strings.Join(labels, ".")
	if len(host) > 253 {
		return "", ""
	}
	return host, note
}

func asciiLabel(label string) (ascii, mixed string) {
	if label == "" || len(label) > 200 {
		return "", ""
	}
	plain := true
	scripts := map[string]bool{}
	before := rune(0)
	for _, r := range label {
		// Browsers compose such letters, or map them to others, before they look a name up. So
		// the name written here would be a different one, which no host can have.
		if compatible(r) || unicode.Is(unicode.M, r) && script(before) != "" {
			return "", ""
		}
		before = r
		switch {
		case r >= 'a' && r <= 'z':
			scripts["Latin"] = true
		case r >= '0' && r <= '9', r == '-', r == '_':
		case r < 0x80:
			return "", ""
		case unicode.IsLetter(r), unicode.IsMark(r), unicode.IsDigit(r), unicode.Is(unicode.So, r), unicode.Is(unicode.Lm, r):
			plain = false
			if name := script(r); name != "" {
				scripts[name] = true
			}
		default:
			return "", ""
		}
	}
	if plain {
		if len(label) > 63 {
			return "", ""
		}
		return label, ""
	}
	for _, pair := range [][2]string{{"Latin", "Cyrillic"}, {"Latin", "Greek"}, {"Cyrillic", "Greek"}, {"Latin", "Armenian"}, {"Latin", "Cherokee"}} {
		if scripts[pair[0]] && scripts[pair[1]] {
			mixed = pair[0] + " and " + pair[1]
		}
	}
	code := punycode(label)
	if code == "" || len(code) > 59 {
		return "", ""
	}
	return "xn--" + code, mixed
}

// script returns the name of a letter's script if the script has letters that look like those
// of another.
func script(r rune) string {
	switch {
	case unicode.Is(unicode.Latin, r):
		return "Latin"
	case unicode.Is(unicode.Cyrillic, r):
		return "Cyrillic"
	case unicode.Is(unicode.Greek, r):
		return "Greek"
	case unicode.Is(unicode.Armenian, r):
		return "Armenian"
	case unicode.Is(unicode.Cherokee, r):
		return "Cherokee"
	}
	return ""
}

// numericHost returns the address that a host of numbers means. Browsers read 2130706433,
// 0x7f.1 and 017700000001 as 127.0.0.1 (URL Standard, "IPv4 parser").
func numericHost(labels []string) (ip string, numeric bool) {
	last := labels[len(labels)-1]
	if !isDigit(last[0]) || strings.Trim(last, "0123456789") != "" && !strings.HasPrefix(last, "0x") {
		return "", false
	}
	if len(labels) > 4 {
		return "", true
	}
	var v uint64
	for i, l := range labels {
		base := 10
		switch {
		case strings.HasPrefix(l, "0x"):
			l, base = l[2:], 16
		case len(l) > 1 && l[0] == '0':
			l, base = l[1:], 8
		}
		n, err := uint64(0), error(nil)
		if l != "" {
			n, err = strconv.ParseUint(l, base, 32)
		}
		bits := uint(8)
		if i == len(labels)-1 {
			bits = 8 * uint(5-len(labels))
		}
		if err != nil || n >= 1<<bits {
			return "", true
		}
		v = v<<bits | n
	}
	return fmt.Sprintf("%d.%d.%d.%d", v>>24, v>>16&255, v>>8&255, v&255), true
}

// punycode returns the encoding of RFC 3492, section 6.3, or "" on overflow.
func punycode(s string) string {
	const base, tmin, tmax, skew, damp = 36, 1, 26, 38, 700
	var out []byte
	runes := []rune(s)
	for _, r := range runes {
		if r < 0x80 {
			out = append(out, byte(r))
		}
	}
	basic := len(out)
	if basic > 0 {
		out = append(out, '-')
	}
	n, delta, bias := rune(0x80), 0, 72
	for h := basic; h < len(runes); {
		next := rune(unicode.MaxRune)
		for _, r := range runes {
			if r >= n && r < next {
				next = r
			}
		}
		delta += int(next-n) * (h + 1)
		if delta > 1<<30 {
			return ""
		}
		n = next
		for _, r := range runes {
			if r < n {
				delta++
			}
			if r != n {
				continue
			}
			q := delta
			for k := base; ; k += base {
				t := min(max(k-bias, tmin), tmax)
				if q < t {
					break
				}
				d := t + (q-t)%(base-t)
				out = append(out, "abcdefghijklmnopqrstuvwxyz0123456789"[d])
				q = (q - t) / (base - t)
			}
			out = append(out, "abcdefghijklmnopqrstuvwxyz0123456789"[q])
			if h == basic {
				delta /= damp
			} else {
				delta /= 2
			}
			delta += delta / (h + 1)
			k := 0
			for ; delta > (base-tmin)*tmax/2; k += base {
				delta /= base - tmin
			}
			bias = k + (base-tmin+1)*delta/(delta+skew)
			delta, h = 0, h+1
		}
		delta++
		n++
	}
	return string(out)
}
