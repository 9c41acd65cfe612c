package system

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bailey-go/bailey/internal/userland/tool"
)

// scales are the units of numfmt.
const scales = "KMGTPEZY"

func numfmt(e *tool.Env) error {
	o, err := e.Options("d:z1:2:3:4:5:6:7:8::9a:i", "delimiter=d from=1 to=2 field=3 format=4 padding=5 round=6 suffix=7 header=8 grouping=9 invalid=a debug=i")
	if err != nil {
		return err
	}
	for _, c := range []rune{'1', '2'} {
		if v := o.Value(c); !slices.Contains([]string{"", "none", "auto", "si", "iec", "iec-i"}, v) || c == '2' && v == "auto" {
			return e.Usagef("invalid argument '%s'", v)
		}
	}
	fields := o.Value('3')
	if fields == "" {
		fields = "1"
	}
	chosen := func(n int) bool {
		for part := range strings.SplitSeq(fields, ",") {
			lo, hi, ranged := strings.Cut(part, "-")
			a, err1 := strconv.Atoi(lo)
			b, err2 := strconv.Atoi(hi)
			if !ranged {
				b, err2 = a, nil
			}
			if (lo == "" || err1 == nil && n >= a) && (hi == "" && ranged || err2 == nil && n <= b) {
				return true
			}
		}
		return false
	}
	digits, width := -1, 0
	if f := o.Value('4'); f != "" {
		_, rest, ok := strings.Cut(f, "%")
		body, _, ok2 := strings.Cut(strings.TrimLeft(rest, "'0-"), "f")
		whole, frac, dotted := strings.Cut(body, ".")
		if !ok || !ok2 || strings.Trim(whole+frac, "0123456789") != "" || len(body) > 6 {
			return tool.Errorf("invalid format '%s', directive must be %%[0]['][-][N][.][N]f", f)
		}
		width, _ = strconv.Atoi(whole)
		if dotted {
			digits, _ = strconv.Atoi(frac)
		}
	}
	pad := 0
	if v := o.Value('5'); v != "" {
		if pad, err = strconv.Atoi(v); err != nil || pad == 0 || pad > 1000 || pad < -1000 {
			return tool.Errorf("invalid padding value '%s'", v)
		}
	}
	one := func(word string) (string, error) {
		text := strings.TrimSuffix(word, o.Value('7'))
		n, err := scaled(text, o.Value('1'))
		if err != nil {
			return "", err
		}
		s := unscaled(n, o.Value('2'), o.Value('6'), digits, strings.Contains(text, "."), text)
		s += o.Value('7')
		if f := o.Value('4'); f != "" {
			before, rest, _ := strings.Cut(f, "%")
			_, after, _ := strings.Cut(rest, "f")
			s = before + fmt.Sprintf("%*s", width, s) + after
		}
		if pad != 0 {
			s = fmt.Sprintf("%*s", pad, s)
		}
		return s, nil
	}
	if len(o.Args) > 0 {
		for _, a := range o.Args {
			s, err := one(a)
			if err != nil {
				return &tool.Exit{Code: 2, Text: err.Error()}
			}
			fmt.Fprintln(e.Stdout, s)
		}
		return nil
	}
	heads, err := e.Int(o, '8', 0)
	if o.Has('8') && o.Value('8') == "" {
		heads, err = 1, nil
	}
	if err != nil {
		return err
	}
	return e.Lines(e.Stdin, '\n', func(line []byte) error {
		text := strings.TrimSuffix(string(line), "\n")
		if heads > 0 {
			heads--
			fmt.Fprintln(e.Stdout, text)
			return nil
		}
		var out strings.Builder
		for n := 1; text != "" || n == 1; n++ {
			cell := text
			if o.Has('d') {
				cell, text, _ = strings.Cut(text, o.Value('d'))
				if n > 1 {
					out.WriteString(o.Value('d'))
				}
			} else {
				blank := text[:len(text)-len(strings.TrimLeft(text, " \t"))]
				cell = text[len(blank):]
				if i := strings.IndexAny(cell, " \t"); i >= 0 {
					cell = cell[:i]
				}
				text = text[len(blank)+len(cell):]
				out.WriteString(blank)
			}
			if chosen(n) {
				s, err := one(cell)
				if err != nil {
					return &tool.Exit{Code: 2, Text: err.Error()}
				}
				cell = s
			}
			out.WriteString(cell)
			if text == "" {
				break
			}
		}
		fmt.Fprintln(e.Stdout, out.String())
		return nil
	})
}

// scaled returns the number of a text with a unit.
func scaled(text, from string) (float64, error) {
	body := strings.TrimRight(text, "KMGTPEZYki")
	unit := strings.ToUpper(strings.TrimSuffix(text[len(body):], "i"))
	n, err := strconv.ParseFloat(body, 64)
	if err != nil || strings.ContainsAny(body, "xXpPnNaAeE") {
		return 0, fmt.Errorf("invalid number: '%s'", text)
	}
	if unit == "" {
		return n, nil
	}
	if len(unit) != 1 || from == "" || from == "none" {
		return 0, fmt.Errorf("rejecting suffix in input: '%s' (consider using --from)", text)
	}
	base := 1000.0
	if from == "iec" || from == "iec-i" || from == "auto" && strings.HasSuffix(text, "i") {
		base = 1024
	}
	return n * math.Pow(base, float64(strings.Index(scales, unit)+1)), nil
}

// unscaled returns a number with a unit: one digit after the point below 10, and none from there on.
func unscaled(n float64, to, round string, digits int, fraction bool, text string) string {
	up := map[string]func(float64) float64{"": away, "from-zero": away, "up": math.Ceil, "down": math.Floor, "towards-zero": math.Trunc, "nearest": math.Round}[round]
	if up == nil {
		up = away
	}
	if to == "" || to == "none" {
		switch {
		case digits >= 0:
			p := math.Pow(10, float64(digits))
			return strconv.FormatFloat(up(n*p)/p, 'f', digits, 64)
		case fraction && strings.Trim(text, "0123456789.-+") == "":
			return text
		}
		return strconv.FormatFloat(up(n), 'f', 0, 64)
	}
	base := 1000.0
	if to != "si" {
		base = 1024
	}
	power := 0
	for math.Abs(n) >= base && power < len(scales) {
		n /= base
		power++
	}
	places := digits
	if places < 0 {
		if places = 0; power > 0 && math.Abs(n) < 10 {
			places = 1
		}
	}
	p := math.Pow(10, float64(places))
	if n = up(n*p) / p; math.Abs(n) >= base && power < len(scales) {
		n /= base
		power++
		if digits < 0 {
			places = 1
		}
	}
	if digits < 0 && power > 0 && math.Abs(n) >= 10 {
		places = 0
	}
	unit := ""
	if power > 0 {
		if unit = scales[power-1 : power]; to == "iec-i" {
			unit += "i"
		}
	}
	return strconv.FormatFloat(n, 'f', places, 64) + unit
}

func away(n float64) float64 {
	// A number that a division made slightly too large stays.
	if r := math.Round(n); math.Abs(n-r) < 1e-9*max(1, math.Abs(n)) {
		return r
	}
	if n < 0 {
		return math.Floor(n)
	}
	return math.Ceil(n)
}

func tsort(e *tool.Env) error {
	o, err := e.Options("", "")
	if err != nil {
		return err
	}
	name := "-"
	if len(o.Args) > 0 {
		name = o.Args[0]
	}
	data, err := e.ReadAll(name)
	if err != nil {
		return err
	}
	words := strings.Fields(string(data))
	if len(words)%2 == 1 {
		return tool.Errorf("%s: input contains an odd number of tokens", name)
	}
	if len(words) > 200_000 {
		panic(tool.TooMuch("the input has more than 100,000 pairs"))
	}
	e.World.Hold(64 * len(words))
	var order []string
	after, before := map[string][]string{}, map[string]int{}
	for i := 0; i < len(words); i += 2 {
		a, b := words[i], words[i+1]
		for _, w := range []string{a, b} {
			if _, ok := before[w]; !ok {
				before[w] = 0
				order = append(order, w)
			}
		}
		if a != b && !slices.Contains(after[a], b) {
			after[a] = append(after[a], b)
			before[b]++
		}
		e.World.Spend(64 + 8*len(after[a]))
	}
	slices.Sort(order)
	var ready []string
	for _, w := range order {
		if before[w] == 0 {
			ready = append(ready, w)
		}
	}
	done := 0
	for len(ready) > 0 {
		w := ready[0]
		ready = ready[1:]
		fmt.Fprintln(e.Stdout, w)
		done++
		for _, next := range slices.Backward(after[w]) {
			if before[next]--; before[next] == 0 {
				ready = append(ready, next)
			}
			e.World.Spend(64)
		}
	}
	if done < len(order) {
		return tool.Errorf("%s: input contains a loop", name)
	}
	return nil
}
