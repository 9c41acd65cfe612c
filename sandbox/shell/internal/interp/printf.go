package interp

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// printfOnce writes a format once with the arguments, as bash's printf does. It returns the number of arguments used,
// and stop for \c. Errors about numbers are collected in bad, and the output goes on.
func printfOnce(r *Runner, format string, args []string) (out string, used int, stop, bad bool, err error) {
	var b strings.Builder
	next := func() (string, bool) {
		if used < len(args) {
			used++
			return args[used-1], true
		}
		return "", false
	}
	number := func(s string) int64 {
		n, ok := printfInt(s)
		if !ok {
			r.errf("bash: printf: %s: invalid number\n", s)
			bad = true
		}
		return n
	}
	for i := 0; i < len(format); {
		c := format[i]
		if c == '\\' {
			text, size, end := unescapeOne(format[i:], false)
			if end {
				return b.String(), used, true, bad, nil
			}
			b.WriteString(text)
			i += size
			continue
		}
		if c != '%' {
			b.WriteByte(c)
			i++
			continue
		}
		i++
		flags := ""
		for i < len(format) && strings.IndexByte("-+ #0'", format[i]) >= 0 {
			flags += string(format[i])
			i++
		}
		width, precision := -1, -1
		count := func() int {
			if i < len(format) && format[i] == '*' {
				i++
				s, _ := next()
				return int(max(min(number(s), maxExpansion), -maxExpansion))
			}
			from := i
			for i < len(format) && format[i] >= '0' && format[i] <= '9' {
				i++
			}
			if from == i {
				return -1
			}
			n, err := strconv.Atoi(format[from:i])
			if err != nil {
				return maxExpansion + 1
			}
			return n
		}
		if width = count(); width < -1 {
			flags, width = flags+"-", -width
		}
		if i < len(format) && format[i] == '.' {
			i++
			precision = max(count(), 0)
		}
		if width > maxExpansion || precision > maxExpansion || width+b.Len() > maxExpansion || precision+b.Len() > maxExpansion {
			return "", used, false, bad, r.bounds.Refuse("printf makes more than 8 MiB at once")
		}
		for i < len(format) && strings.IndexByte("hlLqjzt", format[i]) >= 0 && !(format[i] == 'q') {
			i++
		}
		if i == len(format) {
			return b.String(), used, false, bad, errors.New("bash: printf: `%': missing format character")
		}
		verb := format[i]
		i++
		spec := func(verb string) string {
			s := "%" + strings.ReplaceAll(flags, "'", "")
			if width >= 0 {
				s += strconv.Itoa(width)
			}
			if precision >= 0 {
				s += "." + strconv.Itoa(precision)
			}
			return s + verb
		}
		text := func(s string) {
			if precision >= 0 && len(s) > precision {
				s = s[:precision]
				for !utf8.ValidString(s) && len(s) > 0 && len(s) > precision-4 {
					s = s[:len(s)-1]
				}
			}
			pad := ""
			if width > len(s) {
				pad = strings.Repeat(" ", width-len(s)) // bash counts bytes
			}
			if strings.Contains(flags, "-") {
				b.WriteString(s + pad)
			} else {
				b.WriteString(pad + s)
			}
		}
		switch verb {
		case '%':
			b.WriteByte('%')
		case 's':
			s, _ := next()
			text(s)
		case 'b':
			s, _ := next()
			s, end := unescapeAll(s)
			text(s)
			if end {
				return b.String(), used, true, bad, nil
			}
		case 'q':
			s, _ := next()
			text(quoteEach(s))
		case 'c':
			s, _ := next()
			if s == "" {
				s = "\x00"
			}
			text(s[:1])
		case 'd', 'i':
			s, _ := next()
			n := number(s)
			if precision >= 0 {
				flags = strings.ReplaceAll(flags, "0", "")
			}
			fmt.Fprintf(&b, spec("d"), n)
		case 'u', 'x', 'X', 'o':
			s, _ := next()
			n := uint64(number(s))
			if verb == 'u' {
				verb = 'd'
			}
			if n == 0 {
				flags = strings.ReplaceAll(flags, "#", "")
			}
			fmt.Fprintf(&b, spec(string(verb)), n)
		case 'f', 'F', 'e', 'E', 'g', 'G':
			s, _ := next()
			f, ok := printfFloat(s)
			if !ok {
				r.errf("bash: printf: %s: invalid number\n", s)
				bad = true
			}
			if precision < 0 {
				precision = 6
			}
			switch {
			case math.IsInf(f, 0) || math.IsNaN(f):
				w := strings.ToLower(strings.TrimPrefix(fmt.Sprint(f), "+"))
				precision = -1
				text(w)
			case verb == 'g' || verb == 'G':
				precision = max(precision, 1)
				fmt.Fprintf(&b, spec(string(verb)), f)
			default:
				fmt.Fprintf(&b, spec(string(verb)), f)
			}
		case '(':
			end := strings.Index(format[i:], ")T")
			if end < 0 || r.bounds.Time == nil {
				return b.String(), used, false, bad, errors.New("bash: printf: `(': invalid format character")
			}
			layout := format[i : i+end]
			i += end + 2
			s, ok := next()
			t := time.Now()
			if n := number(s); ok && n >= 0 {
				t = time.Unix(n, 0)
			}
			if layout == "" {
				layout = "%H:%M:%S"
			}
			text(r.bounds.Time(t.UTC(), layout))
		default:
			return b.String(), used, false, bad, fmt.Errorf("bash: printf: `%c': invalid format character", verb)
		}
		if b.Len() > maxExpansion {
			return "", used, false, bad, r.bounds.Refuse("printf makes more than 8 MiB at once")
		}
	}
	return b.String(), used, false, bad, nil
}

// quoteEach quotes as bash's printf %q does: with a backslash before each special character.
func quoteEach(s string) string {
	if s == "" {
		return "''"
	}
	for _, c := range s {
		if c < 32 || c == 127 {
			return quoteBash(s)
		}
	}
	var b strings.Builder
	for i, c := range s {
		if strings.ContainsRune(" \t!\"$&'()*,;<>?[\\]^`{|}", c) || i == 0 && (c == '~' || c == '#') {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

func printfInt(s string) (int64, bool) {
	s = strings.TrimLeft(s, " \t\n")
	if s == "" {
		return 0, true
	}
	if s[0] == '\'' || s[0] == '"' {
		c, _ := utf8.DecodeRuneInString(s[1:])
		if len(s) == 1 {
			c = 0
		}
		return int64(c), true
	}
	n, err := strconv.ParseInt(s, 0, 64)
	if err == nil && !strings.Contains(s, "_") && !strings.HasPrefix(strings.TrimLeft(s, "+-"), "0b") && !strings.HasPrefix(strings.TrimLeft(s, "+-"), "0o") {
		return n, true
	}
	if errors.Is(err, strconv.ErrRange) {
		return n, false
	}
	if u, err := strconv.ParseUint(s, 0, 64); err == nil {
		return int64(u), true
	}
	// The number at the beginning is used.
	end := 0
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || end == 0 && (s[0] == '-' || s[0] == '+')) {
		end++
	}
	n, _ = strconv.ParseInt(s[:end], 10, 64)
	return n, false
}

func printfFloat(s string) (float64, bool) {
	s = strings.TrimLeft(s, " \t\n")
	if s == "" {
		return 0, true
	}
	if s[0] == '\'' || s[0] == '"' {
		n, ok := printfInt(s)
		return float64(n), ok
	}
	f, err := strconv.ParseFloat(s, 64)
	if err == nil || errors.Is(err, strconv.ErrRange) {
		return f, err == nil
	}
	for end := len(s) - 1; end > 0; end-- {
		if f, err := strconv.ParseFloat(s[:end], 64); err == nil {
			return f, false
		}
	}
	return 0, false
}

// unescapeAll replaces the backslash sequences of echo -e and printf %b. end reports \c.
func unescapeAll(s string) (out string, end bool) {
	if !strings.Contains(s, `\`) {
		return s, false
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			i++
			continue
		}
		text, size, end := unescapeOne(s[i:], true)
		if end {
			return b.String(), true
		}
		b.WriteString(text)
		i += size
	}
	return b.String(), false
}

// unescapeOne replaces the backslash sequence at the beginning of s, and returns its length. zero is for \0nnn, in which
// the octal digits follow a zero.
func unescapeOne(s string, zero bool) (text string, size int, end bool) {
	if len(s) == 1 {
		return `\`, 1, false
	}
	digits := func(from, most, base int) (rune, int) {
		i := from
		for i < len(s) && i < from+most {
			if _, err := strconv.ParseUint(s[i:i+1], base, 8); err != nil {
				break
			}
			i++
		}
		n, _ := strconv.ParseUint(s[from:i], base, 32)
		return rune(n), i
	}
	switch c := s[1]; c {
	case 'a', 'b', 'f', 'n', 'r', 't', 'v', '\\', 'e', 'E':
		return map[byte]string{'a': "\a", 'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v", '\\': `\`, 'e': "\x1b", 'E': "\x1b"}[c], 2, false
	case '"':
		if !zero {
			return `"`, 2, false
		}
	case 'c':
		return "", 2, true
	case 'x':
		if n, i := digits(2, 2, 16); i > 2 {
			return string([]byte{byte(n)}), i, false
		}
	case 'u', 'U':
		most := map[byte]int{'u': 4, 'U': 8}[c]
		if n, i := digits(2, most, 16); i > 2 {
			return string(n), i, false
		}
	case '0', '1', '2', '3', '4', '5', '6', '7':
		from, most := 1, 3
		if zero && c == '0' {
			from = 2
		}
		n, i := digits(from, most, 8)
		return string([]byte{byte(n)}), i, false
	}
	return s[:2], 2, false
}
