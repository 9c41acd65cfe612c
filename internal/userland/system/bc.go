package system

import (
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"

	"github.com/bailey-go/bailey/internal/userland/tool"
)

// decimal is a number with scale digits after the point.
type decimal struct {
	n     *big.Int
	scale int
}

const (
	maxScale = 10_000
	maxBits  = 1 << 20 // of a number
)

// calculator runs the language of bc while it reads it.
type calculator struct {
	e      *tool.Env
	tokens []string
	at     int
	scale  int
	ibase  int
	obase  int
	vars   map[string]decimal
	last   decimal
	depth  int
	skip   bool // the text is read and not run
	brk    bool
}

var errQuit = errors.New("quit")

func bc(e *tool.Env) error {
	o, err := e.Options("lqsi", "mathlib=l quiet=q standard=s interactive=i")
	if err != nil {
		return err
	}
	c := &calculator{e: e, ibase: 10, obase: 10, vars: map[string]decimal{}, last: decimal{new(big.Int), 0}}
	if o.Has('l') {
		c.scale = 20
	}
	names := o.Args
	if len(names) == 0 {
		names = []string{"-"}
	}
	return e.Each(names, func(_ string, r io.Reader) error {
		data, err := e.Slurp(r)
		if err != nil {
			return err
		}
		if len(data) > 1<<20 {
			return tool.Errorf("the program is longer than 1 MiB")
		}
		if c.tokens, err = bcTokens(string(data)); err != nil {
			return err
		}
		c.at = 0
		for c.at < len(c.tokens) {
			if err := c.statement(); err == errQuit {
				return tool.Code(0)
			} else if err != nil {
				// As GNU's bc, which goes on with the next line.
				e.Stdout.Flush()
				fmt.Fprintf(e.Stderr, "(standard_in) 1: %v\n", err)
				for c.at < len(c.tokens) && c.tokens[c.at] != "\n" {
					c.at++
				}
			}
		}
		return nil
	})
}

func bcTokens(s string) (list []string, err error) {
	s = strings.ReplaceAll(s, "\\\n", "")
	for i := 0; i < len(s); {
		c := s[i]
		from := i
		switch {
		case c == ' ' || c == '\t' || c == '\r':
			i++
			continue
		case c == '#':
			for i < len(s) && s[i] != '\n' {
				i++
			}
			continue
		case strings.HasPrefix(s[i:], "/*"):
			end := strings.Index(s[i:], "*/")
			if end < 0 {
				return nil, tool.Errorf("a comment without end")
			}
			i += end + 2
			continue
		case c == '"':
			end := strings.IndexByte(s[i+1:], '"')
			if end < 0 {
				return nil, tool.Errorf("a text without end")
			}
			i += end + 2
		case c >= '0' && c <= '9' || c == '.' || c >= 'A' && c <= 'F':
			for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '.' || s[i] >= 'A' && s[i] <= 'F') {
				i++
			}
		case c >= 'a' && c <= 'z':
			for i < len(s) && (s[i] >= 'a' && s[i] <= 'z' || s[i] >= '0' && s[i] <= '9' || s[i] == '_') {
				i++
			}
		default:
			i++
			if i < len(s) {
				switch s[from : i+1] {
				case "==", "!=", "<=", ">=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=":
					i++
				}
			}
		}
		list = append(list, s[from:i])
	}
	return list, nil
}

func (c *calculator) peek() string {
	if c.at < len(c.tokens) {
		return c.tokens[c.at]
	}
	return ""
}

func (c *calculator) accept(t string) bool {
	if c.peek() == t {
		c.at++
		return true
	}
	return false
}

func (c *calculator) expect(t string) error {
	if !c.accept(t) {
		return fmt.Errorf("syntax error")
	}
	return nil
}

func (c *calculator) lines() {
	for c.accept("\n") {
	}
}

func (c *calculator) statement() error {
	c.e.World.Spend(256)
	if c.depth++; c.depth > 100 {
		return fmt.Errorf("nested too deeply")
	}
	defer func() { c.depth-- }()
	switch t := c.peek(); {
	case t == "\n" || t == ";":
		c.at++
		return nil
	case t == "quit" || t == "halt":
		return errQuit
	case t == "define" || t == "auto" || t == "return":
		return fmt.Errorf("define is not here")
	case t == "{":
		c.at++
		for !c.accept("}") {
			if c.at >= len(c.tokens) {
				return fmt.Errorf("syntax error")
			}
			if err := c.statement(); err != nil {
				return err
			}
		}
		return nil
	case t == "break":
		c.at++
		if !c.skip {
			c.brk, c.skip = true, true
		}
		return nil
	case t == "print":
		c.at++
		for {
			if p := c.peek(); strings.HasPrefix(p, `"`) {
				c.at++
				if !c.skip {
					c.e.Stdout.WriteString(tool.Unescape(p[1 : len(p)-1]))
				}
			} else {
				v, err := c.or()
				if err != nil {
					return err
				}
				if !c.skip {
					c.e.Stdout.WriteString(c.format(v))
				}
			}
			if !c.accept(",") {
				return nil
			}
		}
	case t == "if":
		c.at++
		v, err := c.paren()
		if err != nil {
			return err
		}
		c.lines()
		was := c.skip
		c.skip = was || v.n.Sign() == 0
		if err := c.statement(); err != nil {
			c.skip = was
			return err
		}
		c.skip = was || c.brk
		at := c.at
		c.lines()
		for c.accept(";") {
		}
		if !c.accept("else") {
			c.at = at
			return nil
		}
		c.lines()
		c.skip = was || c.brk || v.n.Sign() != 0
		err = c.statement()
		c.skip = was || c.brk
		return err
	case t == "while" || t == "for":
		return c.loop(t == "for")
	case strings.HasPrefix(t, `"`):
		c.at++
		if !c.skip {
			c.e.Stdout.WriteString(t[1 : len(t)-1])
		}
		return nil
	}
	assigns := c.at+1 < len(c.tokens) && strings.HasSuffix(c.tokens[c.at+1], "=") && !strings.ContainsAny(c.tokens[c.at+1][:1], "=!<>") || c.at+1 < len(c.tokens) && c.tokens[c.at+1] == "="
	v, err := c.or()
	if err != nil {
		return err
	}
	if !c.skip && !assigns {
		c.last = v
		fmt.Fprintln(c.e.Stdout, c.format(v))
	}
	if p := c.peek(); p != "\n" && p != ";" && p != "}" && p != "" {
		return fmt.Errorf("syntax error")
	}
	return nil
}

func (c *calculator) paren() (decimal, error) {
	if err := c.expect("("); err != nil {
		return decimal{}, err
	}
	v, err := c.or()
	if err == nil {
		err = c.expect(")")
	}
	return v, err
}

func (c *calculator) loop(isFor bool) error {
	c.at++
	start, step := 0, 0
	was := c.skip
	var cond decimal
	var err error
	if isFor {
		if err := c.expect("("); err != nil {
			return err
		}
		if _, err := c.or(); err != nil {
			return err
		}
		if err := c.expect(";"); err != nil {
			return err
		}
		start = c.at
		if cond, err = c.or(); err != nil {
			return err
		}
		if err := c.expect(";"); err != nil {
			return err
		}
		step = c.at
		c.skip = true
		_, err = c.or()
		c.skip = was
		if err == nil {
			err = c.expect(")")
		}
	} else {
		start = c.at
		cond, err = c.paren()
	}
	if err != nil {
		return err
	}
	c.lines()
	body := c.at
	for {
		c.at = body
		c.skip = was || cond.n.Sign() == 0
		stop := c.skip
		if err := c.statement(); err != nil {
			c.skip = was
			return err
		}
		end := c.at
		if stop || c.brk {
			c.brk, c.skip, c.at = false, was, end
			return nil
		}
		if isFor {
			c.at = step
			if _, err := c.or(); err != nil {
				return err
			}
			c.at = start
			cond, err = c.or()
		} else {
			c.at = start
			cond, err = c.paren()
		}
		if err != nil {
			return err
		}
	}
}

func truth(t bool) decimal {
	if t {
		return decimal{big.NewInt(1), 0}
	}
	return decimal{new(big.Int), 0}
}

func (c *calculator) or() (decimal, error) {
	if c.depth++; c.depth > 100 {
		return decimal{}, fmt.Errorf("nested too deeply")
	}
	defer func() { c.depth-- }()
	v, err := c.and()
	for err == nil && c.accept("||") {
		var w decimal
		w, err = c.and()
		if err == nil {
			v = truth(v.n.Sign() != 0 || w.n.Sign() != 0)
		}
	}
	return v, err
}

func (c *calculator) and() (decimal, error) {
	v, err := c.not()
	for err == nil && c.accept("&&") {
		var w decimal
		w, err = c.not()
		if err == nil {
			v = truth(v.n.Sign() != 0 && w.n.Sign() != 0)
		}
	}
	return v, err
}

func (c *calculator) not() (decimal, error) {
	if c.accept("!") {
		v, err := c.not()
		if err != nil {
			return v, err
		}
		return truth(v.n.Sign() == 0), nil
	}
	v, err := c.sum()
	for err == nil {
		op := c.peek()
		switch op {
		case "==", "!=", "<", "<=", ">", ">=":
			c.at++
		default:
			return v, nil
		}
		var w decimal
		if w, err = c.sum(); err != nil {
			break
		}
		a, b := align(v, w)
		x := a.Cmp(b)
		v = truth(op == "==" && x == 0 || op == "!=" && x != 0 || op == "<" && x < 0 || op == "<=" && x <= 0 || op == ">" && x > 0 || op == ">=" && x >= 0)
	}
	return v, err
}

// align returns the numbers with the same scale.
func align(a, b decimal) (x, y *big.Int) {
	s := max(a.scale, b.scale)
	return rescale(a, s).n, rescale(b, s).n
}

func pow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// rescale cuts or adds digits after the point.
func rescale(a decimal, scale int) decimal {
	switch {
	case scale > a.scale:
		return decimal{new(big.Int).Mul(a.n, pow10(scale-a.scale)), scale}
	case scale < a.scale:
		return decimal{new(big.Int).Quo(a.n, pow10(a.scale-scale)), scale}
	}
	return a
}

func (c *calculator) sum() (decimal, error) {
	v, err := c.product()
	for err == nil {
		op := c.peek()
		if op != "+" && op != "-" {
			break
		}
		c.at++
		var w decimal
		if w, err = c.product(); err == nil {
			v, err = c.apply(op, v, w)
		}
	}
	return v, err
}

func (c *calculator) product() (decimal, error) {
	v, err := c.unary()
	for err == nil {
		op := c.peek()
		if op != "*" && op != "/" && op != "%" {
			break
		}
		c.at++
		var w decimal
		if w, err = c.unary(); err == nil {
			v, err = c.apply(op, v, w)
		}
	}
	return v, err
}

func (c *calculator) unary() (decimal, error) {
	if c.depth++; c.depth > 100 {
		return decimal{}, fmt.Errorf("nested too deeply")
	}
	defer func() { c.depth-- }()
	if c.accept("-") {
		v, err := c.unary()
		if err != nil {
			return v, err
		}
		return decimal{new(big.Int).Neg(v.n), v.scale}, nil
	}
	v, err := c.primary()
	if err == nil && c.accept("^") {
		var w decimal
		if w, err = c.unary(); err == nil {
			v, err = c.apply("^", v, w)
		}
	}
	return v, err
}

func (c *calculator) apply(op string, a, b decimal) (decimal, error) {
	if c.skip {
		return a, nil
	}
	c.e.World.Spend(64 + (a.n.BitLen()+b.n.BitLen())/4)
	if a.n.BitLen()+b.n.BitLen() > maxBits {
		return a, fmt.Errorf("a number has more than 300,000 digits")
	}
	switch op {
	case "+", "-":
		x, y := align(a, b)
		z := new(big.Int).Add(x, y)
		if op == "-" {
			z.Sub(x, y)
		}
		return decimal{z, max(a.scale, b.scale)}, nil
	case "*":
		return rescale(decimal{new(big.Int).Mul(a.n, b.n), a.scale + b.scale}, min(a.scale+b.scale, max(c.scale, a.scale, b.scale))), nil
	case "/":
		if b.n.Sign() == 0 {
			return a, fmt.Errorf("divide by zero")
		}
		x := rescale(a, c.scale+b.scale)
		if a.scale > c.scale+b.scale {
			return decimal{rescale(decimal{new(big.Int).Quo(a.n, b.n), a.scale - b.scale}, c.scale).n, c.scale}, nil
		}
		return decimal{new(big.Int).Quo(x.n, b.n), c.scale}, nil
	case "%":
		q, err := c.apply("/", a, b)
		if err != nil {
			return a, err
		}
		s := max(a.scale, b.scale+c.scale)
		p := rescale(decimal{new(big.Int).Mul(q.n, b.n), q.scale + b.scale}, s)
		return decimal{new(big.Int).Sub(rescale(a, s).n, p.n), s}, nil
	case "^":
		n := rescale(b, 0).n
		if !n.IsInt64() || n.Int64() > 1<<20 || n.Int64() < -(1<<20) || int64(a.n.BitLen())*max(n.Int64(), -n.Int64()) > maxBits {
			return a, fmt.Errorf("the exponent is too large")
		}
		k := n.Int64()
		up := max(k, -k)
		p := decimal{new(big.Int).Exp(a.n, big.NewInt(up), nil), a.scale * int(up)}
		if k < 0 {
			return c.apply("/", decimal{big.NewInt(1), 0}, p)
		}
		return rescale(p, min(p.scale, max(c.scale, a.scale))), nil
	}
	return a, fmt.Errorf("syntax error")
}

func (c *calculator) primary() (decimal, error) {
	t := c.peek()
	if t == "" || t == "\n" {
		return decimal{}, fmt.Errorf("syntax error")
	}
	c.at++
	switch {
	case t == "(":
		v, err := c.or()
		if err == nil {
			err = c.expect(")")
		}
		return v, err
	case t == "++" || t == "--":
		name := c.peek()
		c.at++
		return c.assign(name, t[:1], decimal{big.NewInt(1), 0})
	case t[0] >= '0' && t[0] <= '9' || t[0] == '.' || t[0] >= 'A' && t[0] <= 'F':
		return c.number(t)
	case t[0] < 'a' || t[0] > 'z':
		return decimal{}, fmt.Errorf("syntax error")
	}
	if c.peek() == "(" && (t == "sqrt" || t == "length" || t == "scale") {
		v, err := c.paren()
		if err != nil || c.skip {
			return v, err
		}
		switch t {
		case "length":
			return decimal{big.NewInt(int64(len(strings.TrimPrefix(v.n.String(), "-")))), 0}, nil
		case "scale":
			return decimal{big.NewInt(int64(v.scale)), 0}, nil
		}
		if v.n.Sign() < 0 {
			return v, fmt.Errorf("square root of a negative number")
		}
		s := max(c.scale, v.scale)
		return decimal{new(big.Int).Sqrt(rescale(v, 2*s).n), s}, nil
	}
	if c.peek() == "(" || c.peek() == "[" {
		return decimal{}, fmt.Errorf("there is no function or array %s here", t)
	}
	switch op := c.peek(); op {
	case "=":
		c.at++
		v, err := c.or()
		if err != nil {
			return v, err
		}
		return c.assign(t, "=", v)
	case "+=", "-=", "*=", "/=", "%=", "^=":
		c.at++
		v, err := c.or()
		if err != nil {
			return v, err
		}
		return c.assign(t, op[:1], v)
	case "++", "--":
		c.at++
		old := c.value(t)
		_, err := c.assign(t, op[:1], decimal{big.NewInt(1), 0})
		return old, err
	}
	return c.value(t), nil
}

func (c *calculator) value(name string) decimal {
	switch name {
	case "scale":
		return decimal{big.NewInt(int64(c.scale)), 0}
	case "ibase":
		return decimal{big.NewInt(int64(c.ibase)), 0}
	case "obase":
		return decimal{big.NewInt(int64(c.obase)), 0}
	case "last":
		return c.last
	}
	if v, ok := c.vars[name]; ok {
		return v
	}
	return decimal{new(big.Int), 0}
}

func (c *calculator) assign(name, op string, v decimal) (decimal, error) {
	if name == "" || name[0] < 'a' || name[0] > 'z' {
		return v, fmt.Errorf("syntax error")
	}
	if c.skip {
		return v, nil
	}
	if op != "=" {
		var err error
		if v, err = c.apply(op, c.value(name), v); err != nil {
			return v, err
		}
	}
	n := rescale(v, 0).n
	small := n.IsInt64() && n.Int64() >= 0 && n.Int64() <= maxScale
	switch name {
	case "scale":
		if !small {
			return v, fmt.Errorf("scale is from 0 to 10,000")
		}
		c.scale = int(n.Int64())
	case "ibase", "obase":
		if !small || n.Int64() < 2 || n.Int64() > 16 {
			return v, fmt.Errorf("%s is from 2 to 16 here", name)
		}
		if name == "ibase" {
			c.ibase = int(n.Int64())
		} else {
			c.obase = int(n.Int64())
		}
	default:
		if len(c.vars) > 10_000 {
			return v, fmt.Errorf("too many variables")
		}
		c.e.World.Hold(len(name) + n.BitLen()/8)
		c.vars[name] = v
	}
	return v, nil
}

func (c *calculator) number(t string) (decimal, error) {
	whole, frac, _ := strings.Cut(t, ".")
	if strings.Contains(frac, ".") || len(t) > maxBits/4 {
		return decimal{}, fmt.Errorf("syntax error")
	}
	if whole == "" {
		whole = "0"
	}
	if c.ibase == 10 && !strings.ContainsAny(t, "ABCDEF") {
		n, ok := new(big.Int).SetString(whole+frac, 10)
		if !ok {
			return decimal{}, fmt.Errorf("syntax error")
		}
		return decimal{n, len(frac)}, nil
	}
	n, ok := new(big.Int).SetString(strings.ToLower(whole), c.ibase)
	if len(whole) == 1 {
		n, ok = new(big.Int).SetString(strings.ToLower(whole), 16)
	}
	if !ok || frac != "" {
		return decimal{}, fmt.Errorf("only whole numbers have another base here")
	}
	return decimal{n, 0}, nil
}

// format returns a number as bc prints it: without a 0 before the point, and broken after 68 digits.
func (c *calculator) format(v decimal) string {
	if c.obase != 10 && v.scale == 0 {
		return breakLine(strings.ToUpper(v.n.Text(c.obase)))
	}
	s := new(big.Int).Abs(v.n).String()
	if v.scale > 0 {
		if len(s) <= v.scale {
			s = strings.Repeat("0", v.scale-len(s)+1) + s
		}
		s = strings.TrimPrefix(s[:len(s)-v.scale], "0") + "." + s[len(s)-v.scale:]
		if v.n.Sign() == 0 {
			s = "0"
		}
	}
	if v.n.Sign() < 0 {
		s = "-" + s
	}
	return breakLine(s)
}

func breakLine(s string) string {
	var b strings.Builder
	for len(s) > 69 {
		b.WriteString(s[:68] + "\\\n")
		s = s[68:]
	}
	return b.String() + s
}
