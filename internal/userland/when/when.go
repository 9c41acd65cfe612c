// Package when reads and writes dates as GNU's date does.
package when

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Parse reads a date such as "2024-01-31 10:00 +1 day", "yesterday" or "@86400". Times without a zone are in UTC.
func Parse(text string, now time.Time) (time.Time, error) {
	bad := fmt.Errorf("invalid date '%s'", text)
	t := now.UTC()
	words := strings.Fields(strings.ToLower(strings.ReplaceAll(text, ",", " ")))
	if len(words) == 0 {
		return midnight(t), nil
	}
	var years, months, days int
	var plus time.Duration
	dated, timed, day := false, false, -1
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case strings.HasPrefix(w, "@"):
			whole, part, _ := strings.Cut(w[1:], ".")
			sec, err := strconv.ParseInt(whole, 10, 64)
			nano, err2 := strconv.Atoi((part + "000000000")[:9])
			if err != nil || err2 != nil || strings.Trim(part, "0123456789") != "" || sec > 1e12 || sec < -1e12 {
				return t, bad
			}
			if strings.HasPrefix(whole, "-") {
				nano = -nano
			}
			t = time.Unix(sec, int64(nano)).UTC()
			timed = true
		case w == "now" || w == "utc" || w == "z" || w == "gmt" || w == "today":
			timed = timed || w == "now" || w == "today"
		case w == "tomorrow":
			days++
			timed = true
		case w == "yesterday":
			days--
			timed = true
		case w == "noon" || w == "midnight":
			t = midnight(t)
			if w == "noon" {
				t = t.Add(12 * time.Hour)
			}
			timed = true
		case weekday(w) >= 0:
			day = weekday(w)
		case w == "next" || w == "last" || w == "this":
			n := map[string]int{"next": 1, "last": -1, "this": 0}[w]
			if i++; i >= len(words) {
				return t, bad
			}
			if d := weekday(words[i]); d >= 0 {
				days += (d-int(t.Weekday())+7)%7 + 7*min(n, 0)
				if n == 1 && d == int(t.Weekday()) {
					days += 7
				}
				continue
			}
			if !add(n, words[i], &years, &months, &days, &plus) {
				return t, bad
			}
			timed = true
		case i+1 < len(words) && number(w) && isUnit(words[i+1]):
			n, err := strconv.Atoi(strings.TrimPrefix(w, "+"))
			if err != nil || n > 1e9 || n < -1e9 {
				return t, bad
			}
			i++
			if i+1 < len(words) && words[i+1] == "ago" {
				n = -n
			}
			if !add(n, words[i], &years, &months, &days, &plus) {
				return t, bad
			}
			timed = timed || !dated
		case (w == "+" || w == "-") && i+1 < len(words) && number(words[i+1]):
			words[i+1] = w + words[i+1]
		case zone[w] != 0 && timed:
			t = t.Add(-time.Duration(zone[w]) * time.Hour)
		case w == "ago":
		case isUnit(w):
			add(1, w, &years, &months, &days, &plus)
		default:
			next := ""
			if i+2 < len(words) {
				next = strings.Join(words[i:i+3], " ")
			}
			if d, ok := parsed(next, "2 Jan 2006", "Jan 2 2006", "2 January 2006", "January 2 2006"); ok {
				t = onDay(t, d)
				dated, i = true, i+2
				continue
			}
			// The year may follow the time: Jan 15 10:00:00 2024.
			if i+1 < len(words) {
				if d, ok := parsed(strings.Join(words[i:i+2], " "), "2 Jan", "Jan 2", "2 January", "January 2"); ok {
					d = time.Date(t.Year(), d.Month(), d.Day(), 0, 0, 0, 0, time.UTC)
					t = onDay(t, d)
					dated, i = true, i+1
					continue
				}
			}
			if d, ok := parsed(w, "2006-01-02", "2006/01/02", "20060102", "01/02/2006", "1/2/2006", "02-Jan-2006"); ok {
				t = onDay(t, d)
				dated = true
				continue
			}
			if d, ok := parsed(w, "15:04:05Z07:00", "15:04Z07:00", "15:04:05", "15:04", "15:04:05.999999999", "3PM", "3:04PM"); ok {
				t = time.Date(t.Year(), t.Month(), t.Day(), d.Hour(), d.Minute(), d.Second(), d.Nanosecond(), time.UTC)
				timed = true
				continue
			}
			if d, ok := parsed(w, "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05-0700"); ok {
				t, dated, timed = d.UTC(), true, true
				continue
			}
			if z, err := time.Parse("-0700", w); err == nil && timed {
				_, off := z.Zone()
				t = t.Add(-time.Duration(off) * time.Second)
				continue
			}
			return t, bad
		}
	}
	if day >= 0 && !dated { // with a date it says only which day that was
		days += (day - int(t.Weekday()) + 7) % 7
	}
	if (dated || days != 0 || day >= 0) && !timed {
		t = midnight(t)
	}
	return t.AddDate(years, months, days).Add(plus), nil
}

// zone has the hours of the time zones that date knows by name, which are those of North America and a few of Europe.
var zone = map[string]int{"est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7, "cet": 1, "cest": 2, "bst": 1, "msk": 3, "jst": 9}

func number(w string) bool {
	w = strings.TrimLeft(w, "+-")
	return w != "" && strings.Trim(w, "0123456789") == ""
}

func isUnit(w string) bool {
	var n int
	var d time.Duration
	return add(0, w, &n, &n, &n, &d)
}

func add(n int, unit string, years, months, days *int, plus *time.Duration) bool {
	switch strings.TrimSuffix(unit, "s") {
	case "year":
		*years += n
	case "month":
		*months += n
	case "fortnight":
		*days += 14 * n
	case "week":
		*days += 7 * n
	case "day":
		*days += n
	case "hour":
		*plus += time.Duration(n) * time.Hour
	case "minute", "min":
		*plus += time.Duration(n) * time.Minute
	case "second", "sec":
		*plus += time.Duration(n) * time.Second
	default:
		return false
	}
	return true
}

func weekday(w string) int {
	for d := time.Sunday; d <= time.Saturday; d++ {
		if full := strings.ToLower(d.String()); w == full || w == full[:3] {
			return int(d)
		}
	}
	return -1
}

func parsed(text string, layouts ...string) (time.Time, bool) {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, strings.ToUpper(text)); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

func onDay(t, day time.Time) time.Time {
	return time.Date(day.Year(), day.Month(), day.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}

func midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

var errFormat = errors.New("the format is too long")

// Format writes a time in the form of date's + or of printf's %()T.
func Format(t time.Time, format string) (string, error) {
	if len(format) > 4096 {
		return "", errFormat
	}
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		pad := byte(0)
		for strings.IndexByte("-_0^#", format[i]) >= 0 && i+1 < len(format) {
			pad = format[i]
			i++
		}
		width := i
		for i+1 < len(format) && format[i] >= '0' && format[i] <= '9' {
			i++
		}
		digits := format[width:i]
		if format[i] == ':' && i+1 < len(format) && format[i+1] == 'z' {
			i++
			b.WriteString(t.Format("-07:00"))
			continue
		}
		b.WriteString(field(t, format[i], pad, digits))
	}
	return b.String(), nil
}

func field(t time.Time, c, pad byte, digits string) string {
	num := func(n, width int) string {
		switch pad {
		case '-':
			return strconv.Itoa(n)
		case '_':
			return fmt.Sprintf("%*d", width, n)
		}
		return fmt.Sprintf("%0*d", width, n)
	}
	blank := func(n int) string {
		if pad == 0 {
			pad = '_'
		}
		return num(n, 2)
	}
	upper := func(s string) string {
		if pad == '^' {
			return strings.ToUpper(s)
		}
		return s
	}
	hour12 := (t.Hour()+11)%12 + 1
	sub := func(f string) string { s, _ := Format(t, f); return s }
	switch c {
	case 'Y':
		return num(t.Year(), 4)
	case 'y':
		return num(t.Year()%100, 2)
	case 'C':
		return num(t.Year()/100, 2)
	case 'm':
		return num(int(t.Month()), 2)
	case 'd':
		return num(t.Day(), 2)
	case 'e':
		return blank(t.Day())
	case 'H':
		return num(t.Hour(), 2)
	case 'k':
		return blank(t.Hour())
	case 'I':
		return num(hour12, 2)
	case 'l':
		return blank(hour12)
	case 'M':
		return num(t.Minute(), 2)
	case 'S':
		return num(t.Second(), 2)
	case 'N':
		s := fmt.Sprintf("%09d", t.Nanosecond())
		if n, err := strconv.Atoi(digits); err == nil && n > 0 && n < 9 {
			return s[:n]
		}
		return s
	case 's':
		return strconv.FormatInt(t.Unix(), 10)
	case 'j':
		return num(t.YearDay(), 3)
	case 'a':
		return upper(t.Format("Mon"))
	case 'A':
		return upper(t.Format("Monday"))
	case 'b', 'h':
		return upper(t.Format("Jan"))
	case 'B':
		return upper(t.Format("January"))
	case 'p':
		return t.Format("PM")
	case 'P':
		return t.Format("pm")
	case 'u':
		return strconv.Itoa((int(t.Weekday())+6)%7 + 1)
	case 'w':
		return strconv.Itoa(int(t.Weekday()))
	case 'q':
		return strconv.Itoa((int(t.Month())-1)/3 + 1)
	case 'U':
		return num((t.YearDay()+6-int(t.Weekday()))/7, 2)
	case 'W':
		return num((t.YearDay()+6-(int(t.Weekday())+6)%7)/7, 2)
	case 'V':
		_, w := t.ISOWeek()
		return num(w, 2)
	case 'G':
		y, _ := t.ISOWeek()
		return num(y, 4)
	case 'g':
		y, _ := t.ISOWeek()
		return num(y%100, 2)
	case 'F':
		return t.Format("2006-01-02")
	case 'T', 'X':
		return t.Format("15:04:05")
	case 'R':
		return t.Format("15:04")
	case 'r':
		return sub("%I:%M:%S %p")
	case 'D', 'x':
		return t.Format("01/02/06")
	case 'c':
		return t.Format("Mon Jan _2 15:04:05 2006")
	case 'Z':
		return t.Format("MST")
	case 'z':
		return t.Format("-0700")
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case '%':
		return "%"
	}
	return "%" + string(c)
}
