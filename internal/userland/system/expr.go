package system

import (
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/bailey-go/bailey/internal/userland/posix"
	"github.com/bailey-go/bailey/internal/userland/tool"
)

// expression is what is left of the arguments of expr.
type expression struct {
	e     *tool.Env
	args  []string
	depth int
}

func expr(e *tool.Env) error {
	args := e.Args
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return e.Usagef("missing operand")
	}
	x := &expression{e: e, args: args}
	v, err := x.level(0)
	if err == nil && len(x.args) > 0 {
		err = fmt.Errorf("syntax error: unexpected argument '%s'", x.args[0])
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(e.Stdout, v)
	if isNull(v) {
		return tool.Code(1)
	}
	return nil
}

func isNull(v string) bool {
	return v == "" || strings.Trim(strings.TrimPrefix(v, "-"), "0") == "" && v != "-"
}

// levels are the operators, those that bind least first.
var levels = [][]string{{"|"}, {"&"}, {"<", "<=", "=", "==", "!=", ">=", ">"}, {"+", "-"}, {"*", "/", "%"}, {":"}}

func (x *expression) level(n int) (string, error) {
	if n == len(levels) {
		return x.term()
	}
	left, err := x.level(n + 1)
	for err == nil && len(x.args) > 0 && contains(levels[n], x.args[0]) {
		op := x.args[0]
		x.args = x.args[1:]
		var right string
		if right, err = x.level(n + 1); err == nil {
			left, err = x.apply(op, left, right)
		}
	}
	return left, err
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func (x *expression) take() (string, error) {
	if len(x.args) == 0 {
		return "", fmt.Errorf("syntax error: missing argument")
	}
	a := x.args[0]
	x.args = x.args[1:]
	return a, nil
}

func (x *expression) term() (string, error) {
	if x.depth++; x.depth > 200 {
		return "", fmt.Errorf("the expression is nested too deeply")
	}
	defer func() { x.depth-- }()
	a, err := x.take()
	if err != nil {
		return "", err
	}
	switch a {
	case "(":
		v, err := x.level(0)
		if err != nil {
			return "", err
		}
		if end, err := x.take(); err != nil || end != ")" {
			return "", fmt.Errorf("syntax error: expecting ')'")
		}
		return v, nil
	case "+":
		return x.take()
	case "length":
		if len(x.args) > 0 {
			s, err := x.term()
			return fmt.Sprint(utf8.RuneCountInString(s)), err
		}
	case "match", "index":
		if len(x.args) > 1 {
			s, err := x.term()
			if err != nil {
				return "", err
			}
			chars, err := x.term()
			if err != nil {
				return "", err
			}
			if a == "match" {
				return x.apply(":", s, chars)
			}
			i := strings.IndexAny(s, chars)
			if i < 0 {
				return "0", nil
			}
			return fmt.Sprint(utf8.RuneCountInString(s[:i]) + 1), nil
		}
	case "substr":
		if len(x.args) > 2 {
			s, err := x.term()
			if err != nil {
				return "", err
			}
			var n [2]int
			for i := range n {
				v, err := x.term()
				if err != nil {
					return "", err
				}
				if _, err := fmt.Sscanf(v, "%d", &n[i]); err != nil {
					return "", nil
				}
			}
			r := []rune(s)
			if n[0] < 1 || n[1] < 1 || n[0] > len(r) {
				return "", nil
			}
			return string(r[n[0]-1 : min(len(r), n[0]-1+min(n[1], len(r)))]), nil
		}
	}
	return a, nil
}

func integer(s string) (*big.Int, bool) {
	if len(s) > 4096 || strings.HasPrefix(s, "+") {
		return nil, false
	}
	return new(big.Int).SetString(s, 10)
}

func (x *expression) apply(op, a, b string) (string, error) {
	x.e.World.Spend(len(a) + len(b) + 64)
	truth := func(t bool) (string, error) {
		if t {
			return "1", nil
		}
		return "0", nil
	}
	switch op {
	case "|":
		if !isNull(a) {
			return a, nil
		}
		if isNull(b) {
			return "0", nil
		}
		return b, nil
	case "&":
		if isNull(a) || isNull(b) {
			return "0", nil
		}
		return a, nil
	case ":":
		re, err := posix.Compile("^"+strings.TrimPrefix(b, "^"), posix.Basic, "")
		if err != nil {
			return "", err
		}
		re.Spend = x.e.Bounded()
		m := re.Find([]byte(a), 0)
		switch {
		case m == nil && re.NumSubexp() > 0:
			return "", nil
		case m == nil:
			return "0", nil
		case re.NumSubexp() > 0:
			if m[2] < 0 {
				return "", nil
			}
			return a[m[2]:m[3]], nil
		}
		return fmt.Sprint(utf8.RuneCountInString(a[:m[1]])), nil
	}
	i, ok := integer(a)
	j, also := integer(b)
	c := strings.Compare(a, b)
	if ok && also {
		c = i.Cmp(j)
	}
	switch op {
	case "<":
		return truth(c < 0)
	case "<=":
		return truth(c <= 0)
	case "=", "==":
		return truth(c == 0)
	case "!=":
		return truth(c != 0)
	case ">=":
		return truth(c >= 0)
	case ">":
		return truth(c > 0)
	}
	if !ok || !also {
		return "", errNumber
	}
	z := new(big.Int)
	switch op {
	case "+":
		z.Add(i, j)
	case "-":
		z.Sub(i, j)
	case "*":
		z.Mul(i, j)
	default:
		if j.Sign() == 0 {
			return "", fmt.Errorf("division by zero")
		}
		if op == "/" {
			z.Quo(i, j)
		} else {
			z.Rem(i, j)
		}
	}
	return z.String(), nil
}
