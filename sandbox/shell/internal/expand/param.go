// Copyright (c) 2017, Daniel Martí <mvdan@mvdan.cc>
// See LICENSE for licensing information

package expand

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/pattern"
	"mvdan.cc/sh/v3/syntax"
)

func nodeLit(node syntax.Node) string {
	if word, ok := node.(*syntax.Word); ok {
		return word.Lit()
	}
	return ""
}

// UnsetParameterError is returned when a parameter expansion encounters an
// unset variable and [Config.NoUnset] has been set.
type UnsetParameterError struct {
	Node    *syntax.ParamExp
	Message string
}

func (u UnsetParameterError) Error() string {
	return fmt.Sprintf("%s: %s", u.Node.Param.Value, u.Message)
}

func overridingUnset(pe *syntax.ParamExp) bool {
	if pe.Exp == nil {
		return false
	}
	switch pe.Exp.Op {
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull,
		syntax.DefaultUnset, syntax.DefaultUnsetOrNull,
		syntax.ErrorUnset, syntax.ErrorUnsetOrNull,
		syntax.AssignUnset, syntax.AssignUnsetOrNull:
		return true
	}
	return false
}

func (cfg *Config) paramExp(pe *syntax.ParamExp) (string, error) {
	oldParam := cfg.curParam
	cfg.curParam = pe
	defer func() { cfg.curParam = oldParam }()

	if pe.Param == nil { // e.g. zsh's ${}
		return "", fmt.Errorf("unsupported")
	}
	name := pe.Param.Value
	index := pe.Index
	switch name {
	case "@", "*":
		index = &syntax.Word{Parts: []syntax.WordPart{
			&syntax.Lit{Value: name},
		}}
	}
	// "*" expansions like ${*}, ${arr[*]}, or ${!prefix*} join their
	// elements with the first IFS character; others use a space.
	join := func(elems []string) string {
		if nodeLit(index) == "*" || pe.Names == syntax.NamesPrefix {
			return cfg.ifsJoin(elems)
		}
		return strings.Join(elems, " ")
	}
	var vr Variable
	switch name {
	case "LINENO":
		// This is the only parameter expansion that the environment
		// interface cannot satisfy.
		line := uint64(cfg.curParam.Pos().Line())
		vr = Variable{Set: true, Kind: String, Str: strconv.FormatUint(line, 10)}
	default:
		vr = cfg.Env.Get(name)
	}
	orig := vr
	if n, v := vr.Resolve(cfg.Env); n != "" {
		name, vr = n, v
	}
	if cfg.NoUnset && !vr.IsSet() && !overridingUnset(pe) {
		return "", UnsetParameterError{
			Node:    pe,
			Message: "unbound variable",
		}
	}

	var sliceOffset, sliceLen int
	if pe.Slice != nil {
		var err error
		if pe.Slice.Offset != nil {
			sliceOffset, err = Arithm(cfg, pe.Slice.Offset)
			if err != nil {
				return "", err
			}
		}
		if pe.Slice.Length != nil {
			sliceLen, err = Arithm(cfg, pe.Slice.Length)
			if err != nil {
				return "", err
			}
		}
	}

	var (
		str   string
		elems []string

		indexAllElements bool // true if var has been accessed with * or @ index
		callVarInd       = true
		set              = vr.IsSet()
	)

	switch nodeLit(index) {
	case "@", "*":
		switch vr.Kind {
		case Unknown:
			elems = nil
			indexAllElements = true
		case Indexed:
			indexAllElements = true
			callVarInd = false
			elems = cfg.sliceElems(pe, vr.List, vr.Indexes, name == "@" || name == "*")
			str = join(elems)
		case Associative:
			indexAllElements = true
			callVarInd = false
			elems = valuesOf(vr.Map)
			str = join(elems)
		}
	}
	if callVarInd {
		var err error
		str, set, err = cfg.varInd(vr, index)
		if err != nil {
			return "", err
		}
	}
	if !indexAllElements {
		elems = []string{str}
	}

	switch {
	case pe.Length:
		n := len(elems)
		switch nodeLit(index) {
		case "@", "*":
		default:
			n = utf8.RuneCountInString(str)
		}
		str = strconv.Itoa(n)
	case pe.Excl:
		var strs []string
		switch {
		case pe.Names != 0:
			strs = cfg.namesByPrefix(pe.Param.Value)
		case orig.Kind == NameRef:
			strs = append(strs, orig.Str)
		case pe.Index != nil && vr.Kind == Indexed:
			strs = vr.indexedKeys()
		case pe.Index != nil && vr.Kind == Associative:
			strs = Keys(vr.Map)
		case !vr.IsSet():
			return "", fmt.Errorf("invalid indirect expansion")
		case str == "":
			return "", nil
		default:
			target, err := cfg.indirect(str)
			if err != nil {
				return "", err
			}
			strs = append(strs, target)
		}
		str = join(strs)
	case pe.Width:
		return "", fmt.Errorf("unsupported")
	case pe.IsSet:
		return "", fmt.Errorf("unsupported")
	case pe.Slice != nil:
		if callVarInd {
			// The offset and length are in characters, not bytes.
			rs := []rune(str)
			slicePos := func(n int) int {
				if n < 0 {
					n = len(rs) + n
					if n < 0 {
						n = len(rs)
					}
				} else if n > len(rs) {
					n = len(rs)
				}
				return n
			}
			if pe.Slice.Offset != nil {
				rs = rs[slicePos(sliceOffset):]
			}
			if pe.Slice.Length != nil {
				rs = rs[:slicePos(sliceLen)]
			}
			str = string(rs)
		} // else, elems are already sliced
	case pe.Repl != nil:
		elems, err := cfg.replaceElems(pe.Repl, elems)
		if err != nil {
			return "", err
		}
		str = join(elems)
	case pe.Exp != nil:
		// The word is expanded only where it counts, as a command in it may have effects.
		full := str != ""
		switch pe.Exp.Op {
		case syntax.AlternateUnset, syntax.DefaultUnset, syntax.ErrorUnset, syntax.AssignUnset:
			full = set
		}
		switch op := pe.Exp.Op; op {
		case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
			if full {
				return Literal(cfg, pe.Exp.Word)
			}
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull:
			if !full {
				return Literal(cfg, pe.Exp.Word)
			}
		case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
			if !full {
				arg, err := Literal(cfg, pe.Exp.Word)
				if err != nil {
					return "", err
				}
				return "", UnsetParameterError{
					Node:    pe,
					Message: arg,
				}
			}
		case syntax.AssignUnset, syntax.AssignUnsetOrNull:
			if !full {
				arg, err := Literal(cfg, pe.Exp.Word)
				if err != nil {
					return "", err
				}
				return arg, cfg.assignElem(name, vr, index, arg)
			}
		case syntax.RemSmallPrefix, syntax.RemLargePrefix,
			syntax.RemSmallSuffix, syntax.RemLargeSuffix,
			syntax.UpperFirst, syntax.UpperAll,
			syntax.LowerFirst, syntax.LowerAll:
			elems, err := cfg.perElemOps(pe, elems)
			if err != nil {
				return "", err
			}
			str = join(elems)
		case syntax.OtherParamOps:
			switch arg := pe.Exp.Word.Lit(); arg {
			case "a":
				// ${var@a} returns variable attribute flags.
				// We use orig (before nameref resolve) for the attributes.
				str = orig.Flags()
			case "A":
				// ${var@A} returns a declare statement that recreates the variable.
				if flags := orig.Flags(); flags == "" {
					str = name + "=" + quoted(str)
				} else {
					str = fmt.Sprintf("declare -%s %s=%s", flags, name, quoted(str))
				}
			default:
				if !set && !indexAllElements {
					break
				}
				out := make([]string, len(elems))
				for i, e := range elems {
					out[i] = transformed(arg, e)
				}
				str = join(out)
			}
		}
	}
	return str, nil
}

// transformed returns a value after ${v@Q}, @E, @U, @u or @L.
func transformed(op, str string) string {
	switch op {
	case "Q":
		return quoted(str)
	case "E":
		tail := str
		var rns []rune
		for tail != "" {
			rn, _, rest, err := strconv.UnquoteChar(tail, 0)
			if err != nil {
				rn, rest = rune(tail[0]), tail[1:]
			}
			rns, tail = append(rns, rn), rest
		}
		return string(rns)
	case "U":
		return strings.ToUpper(str)
	case "u":
		r, n := utf8.DecodeRuneInString(str)
		if n == 0 {
			return str
		}
		return string(unicode.ToUpper(r)) + str[n:]
	case "L":
		return strings.ToLower(str)
	}
	return str
}

// quoted returns a word that the shell reads as str, as ${v@Q} does.
func quoted(str string) string {
	if !strings.ContainsFunc(str, unicode.IsControl) {
		return "'" + strings.ReplaceAll(str, "'", `'\''`) + "'"
	}
	q, err := syntax.Quote(str, syntax.LangBash)
	if err != nil {
		return str
	}
	return q
}

// indirect returns the value of the variable, or of the element of an array, that a text names.
func (cfg *Config) indirect(ref string) (string, error) {
	name, sub, ok := strings.Cut(strings.TrimSuffix(ref, "]"), "[")
	vr := cfg.Env.Get(name)
	if n, v := vr.Resolve(cfg.Env); n != "" {
		vr = v
	}
	if !ok {
		return vr.String(), nil
	}
	switch {
	case sub == "@" || sub == "*":
		if vr.Kind == Associative {
			return strings.Join(valuesOf(vr.Map), " "), nil
		}
		return strings.Join(vr.List, " "), nil
	case vr.Kind == Associative:
		return vr.Map[sub], nil
	}
	n, err := cfg.arithValue(sub)
	if err != nil {
		return "", err
	}
	if n < 0 {
		n += IndexedMax(vr.List, vr.Indexes) + 1
	}
	if vr.Kind == Indexed && n >= 0 {
		str, _ := vr.indexedVal(n)
		return str, nil
	}
	return "", nil
}

func removePattern(str, pat string, mode pattern.Mode, fromEnd, shortest bool) string {
	if shortest {
		mode |= pattern.Shortest
	}
	expr, err := pattern.Regexp(pat, mode)
	if err != nil {
		return str
	}
	switch {
	case fromEnd && shortest:
		// use .* to get the right-most shortest match
		expr = ".*(" + expr + ")$"
	case fromEnd:
		// simple suffix
		expr = "(" + expr + ")$"
	default:
		// simple prefix
		expr = "^(" + expr + ")"
	}
	// no need to check error as Translate returns one
	rx := regexp.MustCompile(expr)
	if loc := rx.FindStringSubmatchIndex(str); loc != nil {
		// remove the original pattern (the submatch)
		str = str[:loc[2]] + str[loc[3]:]
	}
	return str
}

// The helpers below never modify elems in place, as it may alias a
// variable's list of elements.

// perElemOps applies pattern removal, replacement, or case conversion to
// each element, leaving them unchanged for any whole-expansion operator.
func (cfg *Config) perElemOps(pe *syntax.ParamExp, elems []string) ([]string, error) {
	switch {
	case pe.Repl != nil:
		return cfg.replaceElems(pe.Repl, elems)
	case pe.Exp != nil:
		arg, err := Pattern(cfg, pe.Exp.Word)
		if err != nil {
			return nil, err
		}
		switch op := pe.Exp.Op; op {
		case syntax.RemSmallPrefix, syntax.RemLargePrefix,
			syntax.RemSmallSuffix, syntax.RemLargeSuffix:
			return cfg.removePatternElems(op, arg, elems), nil
		case syntax.UpperFirst, syntax.UpperAll,
			syntax.LowerFirst, syntax.LowerAll:
			return cfg.caseConvElems(op, arg, elems), nil
		case syntax.OtherParamOps:
			out := make([]string, len(elems))
			for i, e := range elems {
				out[i] = transformed(arg, e)
			}
			return out, nil
		}
	}
	return elems, nil
}

// replaceElems applies a ${var/pattern/repl} replacement to each element.
func (cfg *Config) replaceElems(repl *syntax.Replace, elems []string) ([]string, error) {
	orig, err := Pattern(cfg, repl.Orig)
	if err != nil {
		return nil, err
	}
	if w := repl.With; repl.All && orig == "" && w != nil && len(w.Parts) > 0 { // ${v////text}: the pattern is a slash
		if l, ok := w.Parts[0].(*syntax.Lit); ok && strings.HasPrefix(l.Value, "/") {
			orig = "/"
			repl = &syntax.Replace{All: true, Orig: repl.Orig, With: &syntax.Word{Parts: append([]syntax.WordPart{&syntax.Lit{Value: l.Value[1:]}}, w.Parts[1:]...)}}
		}
	}
	atStart, atEnd := false, false
	if !repl.All && repl.Orig != nil && len(repl.Orig.Parts) > 0 {
		if l, ok := repl.Orig.Parts[0].(*syntax.Lit); ok { // ${v/#pattern/text} and ${v/%pattern/text}
			atStart, atEnd = strings.HasPrefix(l.Value, "#"), strings.HasPrefix(l.Value, "%")
		}
	}
	if atStart || atEnd {
		orig = orig[1:]
	} else if orig == "" {
		return elems, nil // nothing to replace
	}
	expr, err := pattern.Regexp(orig, cfg.patternMode())
	if err != nil {
		return elems, nil
	}
	if atStart {
		expr = `\A(?:` + expr + ")"
	}
	if atEnd {
		expr = "(?:" + expr + `)\z`
	}
	rx, err := regexp.Compile(expr)
	if err != nil {
		return elems, nil
	}
	with, err := cfg.replacement(repl.With)
	if err != nil {
		return nil, err
	}
	n := 1
	if repl.All {
		n = -1
	}
	out := make([]string, len(elems))
	for i, elem := range elems {
		var sb strings.Builder
		last := 0
		for _, loc := range rx.FindAllStringIndex(elem, n) {
			if loc[0] == loc[1] && !atStart && !atEnd {
				continue // an empty match is none
			}
			sb.WriteString(elem[last:loc[0]])
			for i, text := range with {
				if i > 0 { // for each &
					sb.WriteString(elem[loc[0]:loc[1]])
				}
				sb.WriteString(text)
				if cfg.Large != nil {
					if err := cfg.Large(sb.Len()); err != nil {
						return nil, err
					}
				}
			}
			last = loc[1]
		}
		sb.WriteString(elem[last:])
		out[i] = sb.String()
	}
	return out, nil
}

// replacement returns the texts of a replacement between each & that is not quoted, for which the match stands.
func (cfg *Config) replacement(w *syntax.Word) ([]string, error) {
	if w == nil {
		return []string{""}, nil
	}
	parts, err := cfg.wordField(w.Parts, quoteNone)
	if err != nil {
		return nil, err
	}
	out := []string{""}
	for _, p := range parts {
		last := &out[len(out)-1]
		if p.quote > quoteNone {
			*last += p.val
			continue
		}
		for i := 0; i < len(p.val); i++ {
			switch c := p.val[i]; {
			case c == '\\' && i+1 < len(p.val):
				i++
				*last += p.val[i : i+1]
			case c == '&':
				out = append(out, "")
				last = &out[len(out)-1]
			default:
				*last += p.val[i : i+1]
			}
		}
	}
	return out, nil
}

// patternMode is the mode of patterns in parameter expansions.
func (cfg *Config) patternMode() pattern.Mode {
	if cfg.ExtGlob {
		return pattern.ExtendedOperators
	}
	return 0
}

// removePatternElems applies a pattern removal operator to each element.
func (cfg *Config) removePatternElems(op syntax.ParExpOperator, arg string, elems []string) []string {
	suffix := op == syntax.RemSmallSuffix || op == syntax.RemLargeSuffix
	small := op == syntax.RemSmallPrefix || op == syntax.RemSmallSuffix
	out := make([]string, len(elems))
	for i, elem := range elems {
		out[i] = removePattern(elem, arg, cfg.patternMode(), suffix, small)
	}
	return out
}

// caseConvElems applies a case conversion operator to each element.
func (cfg *Config) caseConvElems(op syntax.ParExpOperator, arg string, elems []string) []string {
	caseFunc := unicode.ToLower
	if op == syntax.UpperFirst || op == syntax.UpperAll {
		caseFunc = unicode.ToUpper
	}
	all := op == syntax.UpperAll || op == syntax.LowerAll

	// empty string means '?'; nothing to do there
	expr, err := pattern.Regexp(arg, 0)
	if err != nil {
		return elems
	}
	rx := regexp.MustCompile(expr)

	out := make([]string, len(elems))
	for i, elem := range elems {
		rs := []rune(elem)
		for ri, r := range rs {
			if rx.MatchString(string(r)) {
				rs[ri] = caseFunc(r)
			}
			if !all {
				break // only the first character is considered
			}
		}
		out[i] = string(rs)
	}
	return out
}

// varInd expands an indexed variable expansion like ${a[i]}, also reporting
// whether the resulting element is set, which may be false for missing array
// elements such as the holes in a sparse array.
func (cfg *Config) varInd(vr Variable, idx syntax.ArithmExpr) (string, bool, error) {
	if idx == nil {
		switch vr.Kind {
		case Indexed:
			// A bare $a is the element at index zero, which may be unset.
			str, ok := vr.indexedVal(0)
			return str, ok, nil
		case Associative:
			str, ok := vr.Map["0"]
			return str, ok, nil
		}
		return vr.String(), vr.IsSet(), nil
	}
	switch vr.Kind {
	case String:
		n, err := Arithm(cfg, idx)
		if err != nil {
			return "", false, err
		}
		if n == 0 {
			return vr.Str, vr.IsSet(), nil
		}
	case Indexed:
		switch nodeLit(idx) {
		case "*", "@":
			return strings.Join(vr.List, " "), vr.IsSet(), nil
		}
		i, err := Arithm(cfg, idx)
		if err != nil {
			return "", false, err
		}
		if i < 0 {
			// Negative indices count from one past the maximum index.
			if i += IndexedMax(vr.List, vr.Indexes) + 1; i < 0 {
				return "", false, fmt.Errorf("negative array index")
			}
		}
		if str, ok := vr.indexedVal(i); ok {
			return str, true, nil
		}
	case Associative:
		switch lit := nodeLit(idx); lit {
		case "@", "*":
			strs := valuesOf(vr.Map)
			if lit == "*" {
				return cfg.ifsJoin(strs), vr.IsSet(), nil
			}
			return strings.Join(strs, " "), vr.IsSet(), nil
		}
		val, err := Subscript(cfg, idx)
		if err != nil {
			return "", false, err
		}
		str, ok := vr.Map[val]
		return str, ok, nil
	}
	return "", false, nil
}

// assignElem assigns a variable via an expansion like ${a=val} or
// ${a[i]=val}, setting a single element when the variable is an array or is
// indexed, like Bash. ${a[i]=val} on a whole scalar converts it to an array.
func (cfg *Config) assignElem(name string, vr Variable, idx syntax.ArithmExpr, val string) error {
	wenv, ok := cfg.Env.(WriteEnviron)
	if !ok {
		return fmt.Errorf("environment is read-only")
	}
	arrayWise := false
	switch nodeLit(idx) {
	case "@", "*":
		// ${a[@]=val} assigns the element at index zero.
		arrayWise = true
		idx = nil
	}
	if idx == nil && !arrayWise && vr.Kind != Indexed && vr.Kind != Associative {
		return cfg.envSet(name, val) // a plain scalar assignment like ${x=val}
	}
	switch vr.Kind {
	case Associative:
		key := "0"
		if idx != nil {
			var err error
			if key, err = Subscript(cfg, idx); err != nil {
				return err
			}
		}
		vr.Map = maps.Clone(vr.Map)
		if vr.Map == nil {
			vr.Map = make(map[string]string, 1)
		}
		vr.Map[key] = val
	default: // assign a single indexed element
		i := 0
		if idx != nil {
			var err error
			if i, err = Arithm(cfg, idx); err != nil {
				return err
			}
			if i < 0 {
				// Negative indices count from one past the maximum index.
				if i += IndexedMax(vr.List, vr.Indexes) + 1; i < 0 {
					return fmt.Errorf("negative array index")
				}
			}
		}
		list, indexes := slices.Clone(vr.List), slices.Clone(vr.Indexes)
		if vr.Kind == String {
			list, indexes = []string{vr.Str}, nil
		}
		list, indexes = SetIndexedElem(list, indexes, i, val)
		vr.Kind, vr.Str, vr.List, vr.Indexes = Indexed, "", list, indexes
	}
	vr.Set = true
	return wenv.Set(name, vr)
}

func (cfg *Config) namesByPrefix(prefix string) []string {
	var names []string
	for name := range cfg.Env.Each {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
