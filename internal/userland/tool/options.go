package tool

import (
	"fmt"
	"strconv"
	"strings"
)

// Opts are the parsed options of a call.
type Opts struct {
	Args  []string // the operands
	given []opt
}

type opt struct {
	key   rune
	value string
}

// Operands returns the options of a command that needs at least one argument besides them.
func (e *Env) Operands(short, long string) (*Opts, error) {
	o, err := e.Options(short, long)
	if err == nil && len(o.Args) == 0 {
		err = e.Usagef("missing operand")
	}
	return o, err
}

// Options parses the arguments as getopt does, and returns an [Exit] with the usage if they are
// wrong. short lists the letters. A letter followed by ":" has a value, and one followed by "::"
// may have a value attached. "#" accepts a number as an option, as in -5. "+" in front ends the
// options at the first operand. long maps names to letters: "lines=n bytes=c".
func (e *Env) Options(short, long string) (*Opts, error) {
	short, stop := strings.CutPrefix(short, "+")
	o := &Opts{}
	args := e.Args
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		var err error
		switch {
		case arg == "--":
			o.Args = append(o.Args, args...)
			return o, nil
		case strings.HasPrefix(arg, "--"):
			args, err = e.long(o, arg[2:], args, short, long)
		case arg == "-" || !strings.HasPrefix(arg, "-"):
			o.Args = append(o.Args, arg)
			if stop {
				o.Args = append(o.Args, args...)
				return o, nil
			}
		case strings.Contains(short, "#") && isDigits(arg[1:]):
			o.given = append(o.given, opt{'#', arg[1:]})
		default:
			args, err = e.letters(o, arg[1:], args, short)
		}
		if err != nil {
			return nil, err
		}
	}
	return o, nil
}

// kind reports whether a letter is an option, and returns its number of values: 0, 1, or 2 for an
// optional attached value.
func kind(short string, c rune) (int, bool) {
	i := strings.IndexRune(short, c)
	if i < 0 || c == ':' || c == '#' {
		return 0, false
	}
	rest := short[i+len(string(c)):]
	switch {
	case strings.HasPrefix(rest, "::"):
		return 2, true
	case strings.HasPrefix(rest, ":"):
		return 1, true
	}
	return 0, true
}

func (e *Env) letters(o *Opts, letters string, args []string, short string) ([]string, error) {
	for i, c := range letters {
		values, ok := kind(short, c)
		if !ok {
			return nil, e.Usagef("invalid option -- '%c'", c)
		}
		rest := letters[i+len(string(c)):]
		switch {
		case values == 0:
			o.given = append(o.given, opt{c, ""})
			continue
		case rest != "" || values == 2:
			o.given = append(o.given, opt{c, rest})
		case len(args) == 0:
			return nil, e.Usagef("option requires an argument -- '%c'", c)
		default:
			o.given = append(o.given, opt{c, args[0]})
			args = args[1:]
		}
		break
	}
	return args, nil
}

func (e *Env) long(o *Opts, arg string, args []string, short, long string) ([]string, error) {
	name, value, has := strings.Cut(arg, "=")
	if name == "help" && !has {
		fmt.Fprint(e.Stdout, e.cmd.Manual())
		return nil, Code(0)
	}
	for row := range strings.FieldsSeq(long) {
		full, letter, _ := strings.Cut(row, "=")
		if full != name {
			continue
		}
		c := []rune(letter)[0]
		values, _ := kind(short, c)
		switch {
		case values == 0 && has && len([]rune(letter)) == 1:
			return nil, e.Usagef("option '--%s' doesn't allow an argument", name)
		case values == 1 && !has:
			if len(args) == 0 {
				return nil, e.Usagef("option '--%s' requires an argument", name)
			}
			value, args = args[0], args[1:]
		}
		o.given = append(o.given, opt{c, value})
		return args, nil
	}
	return nil, e.Usagef("unrecognized option '--%s'", name)
}

// Manual returns the text that --help prints.
func (c *Command) Manual() string {
	s := fmt.Sprintf("Usage: %s %s\n%s\n", c.Name, c.Usage, c.Summary)
	if c.Help != "" {
		s += "\n" + c.Help + "\n"
	}
	return s
}

// Usagef returns the error of a wrong call.
func (e *Env) Usagef(format string, args ...any) error {
	return &Exit{Code: e.trouble(), Text: fmt.Sprintf(format, args...) + "\nTry '" + e.Name + " --help' for more information."}
}

// Has reports whether an option was given.
func (o *Opts) Has(c rune) bool {
	for _, g := range o.given {
		if g.key == c {
			return true
		}
	}
	return false
}

// Value returns the last value of an option, or "".
func (o *Opts) Value(c rune) string {
	all := o.All(c)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// All returns the values of an option, in order.
func (o *Opts) All(c rune) (values []string) {
	for _, g := range o.given {
		if g.key == c {
			values = append(values, g.value)
		}
	}
	return values
}

// Last returns the option of the list that was given last, or 0.
func (o *Opts) Last(of string) (last rune) {
	for _, g := range o.given {
		if strings.ContainsRune(of, g.key) {
			last = g.key
		}
	}
	return last
}

// Int returns the last value of an option as a number that is not negative, or otherwise if the
// option was not given.
func (e *Env) Int(o *Opts, c rune, otherwise int) (int, error) {
	if !o.Has(c) {
		return otherwise, nil
	}
	n, err := strconv.Atoi(o.Value(c))
	if err != nil || n < 0 {
		return 0, Errorf("invalid number: '%s'", o.Value(c))
	}
	return n, nil
}

// Size parses a number with one of the usual suffixes: b is 512, K, M and G are powers of 1024, and
// KB, MB and GB are powers of 1000.
func Size(s string) (int64, error) {
	digits := strings.TrimRight(s, "bKMGBikmgT")
	n, err := strconv.ParseInt(digits, 10, 64)
	factor, ok := map[string]int64{"": 1, "c": 1, "b": 512, "k": 1 << 10, "K": 1 << 10, "KiB": 1 << 10, "KB": 1000, "kB": 1000,
		"M": 1 << 20, "MiB": 1 << 20, "MB": 1e6, "G": 1 << 30, "GiB": 1 << 30, "GB": 1e9}[s[len(digits):]]
	if err != nil || !ok || n > (1<<62)/factor || n < -(1<<62)/factor {
		return 0, Errorf("invalid number: '%s'", s)
	}
	return n * factor, nil
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
