package protocol

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bailey-go/bailey/internal/strictjson"
)

// Validate returns nil if the schema accepts v, a tree from [ParseJSON], or arguments of a [Tool]. Otherwise
// it returns [ErrInvalidParams] with the path of each problem, at most 5, for a model to correct. A
// check that needs too many steps gives [ErrResourceLimit].
func (s *Schema) Validate(v any) error {
	if s == nil {
		return Errorf(ErrInvalidParams, "validate", "", "there is no schema; make one with ParseSchema")
	}
	c := checker{steps: maxSchemaSteps, matching: maxMatching}
	c.check(s.root, v, "", maxChecks)
	switch {
	case c.steps < 0:
		return Errorf(ErrResourceLimit, "validate", "", "the value takes more than %d checks; simplify the schema or the value", maxSchemaSteps)
	case c.matching < 0:
		return Errorf(ErrResourceLimit, "validate", "", "the texts are too long for the schema's patterns; shorten them, or call it more than once")
	case len(c.problems) == 0:
		return nil
	}
	return Errorf(ErrInvalidParams, "validate", "", "%s", strings.Join(c.problems, "; "))
}

// checker collects problems. Trials, as for anyOf, run in a checker of their own that uses the same
// budget.
type checker struct {
	problems []string
	steps    int
	matching int  // remaining bytes times instructions for patterns
	quiet    bool // store only whether there is a problem
	failed   bool
}

func (c *checker) problem(path, text string) {
	c.failed = true
	if !c.quiet && len(c.problems) < maxProblems {
		c.problems = append(c.problems, "$"+path+": "+text)
	}
}

// try reports whether n accepts v.
func (c *checker) try(n *node, v any, path string, depth int) bool {
	t := checker{steps: c.steps, matching: c.matching, quiet: true}
	t.check(n, v, path, depth)
	c.steps, c.matching = t.steps, t.matching
	return !t.failed
}

// matches reports whether s matches the pattern. It counts the work, and fails if there is too
// much.
func (c *checker) matches(m *matcher, s string) bool {
	if c.matching -= m.size * (len(s) + 1); c.matching < 0 {
		c.failed = true
		return false
	}
	return m.MatchString(s)
}

func (c *checker) check(n *node, v any, path string, depth int) {
	if n == nil {
		return
	}
	if c.steps--; c.steps < 0 {
		c.failed = true
		return
	}
	if depth <= 0 {
		c.problem(path, "nested too deeply, or the schema refers to itself without end")
		return
	}
	if n.never {
		c.problem(path, "is not allowed here")
		return
	}
	if n.ref != nil {
		c.check(n.ref, v, path, depth-1)
	}
	if len(n.types) > 0 && !slices.ContainsFunc(n.types, func(t string) bool { return hasType(v, t) }) {
		c.problem(path, "must be "+strings.Join(n.types, " or ")+", and is "+kindName(v))
		return // the other problems would only repeat this one
	}
	if n.enum != nil && !slices.ContainsFunc(n.enum, func(e any) bool { return equal(e, v) }) {
		c.problem(path, "must be one of "+listed(n.enum))
	}
	if n.hasConst && !equal(n.constant, v) {
		c.problem(path, "must be "+listed([]any{n.constant}))
	}
	switch v := v.(type) {
	case float64:
		c.number(n, v, path)
	case string:
		c.text(n, v, path)
	case []any:
		c.array(n, v, path, depth)
	case map[string]any:
		c.object(n, v, path, depth)
	}
	c.combined(n, v, path, depth)
}

func (c *checker) combined(n *node, v any, path string, depth int) {
	for _, sub := range n.all {
		c.check(sub, v, path, depth-1)
	}
	fits := func(sub *node) bool { return c.try(sub, v, path, depth-1) }
	if n.some != nil && !slices.ContainsFunc(n.some, fits) {
		c.problem(path, "fits none of the "+strconv.Itoa(len(n.some))+" forms it may have")
	}
	if n.exactly != nil {
		fit := 0
		for _, sub := range n.exactly {
			if fits(sub) {
				fit++
			}
		}
		if fit != 1 {
			c.problem(path, "must fit exactly one of "+strconv.Itoa(len(n.exactly))+" forms, and fits "+strconv.Itoa(fit))
		}
	}
	if n.not != nil && fits(n.not) {
		c.problem(path, "has a form that is not allowed")
	}
	if n.cond != nil {
		if fits(n.cond) {
			c.check(n.yes, v, path, depth-1)
		} else {
			c.check(n.alt, v, path, depth-1)
		}
	}
}

func (c *checker) number(n *node, f float64, path string) {
	show := func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
	switch {
	case n.min != nil && !(f >= *n.min):
		c.problem(path, "must be at least "+show(*n.min))
	case n.over != nil && !(f > *n.over):
		c.problem(path, "must be more than "+show(*n.over))
	}
	switch {
	case n.max != nil && !(f <= *n.max):
		c.problem(path, "must be at most "+show(*n.max))
	case n.under != nil && !(f < *n.under):
		c.problem(path, "must be less than "+show(*n.under))
	}
	if n.multiple != nil {
		// In binary floating point 0.3/0.1 is not 3, so a rounding error is ignored.
		q := f / *n.multiple
		if r := math.Round(q); math.IsInf(q, 0) || q != q || math.Abs(q-r) > 1e-9*math.Max(1, math.Abs(q)) {
			c.problem(path, "must be a multiple of "+show(*n.multiple))
		}
	}
}

func (c *checker) text(n *node, s, path string) {
	if n.minLen >= 0 || n.maxLen >= 0 {
		length := utf8.RuneCountInString(s)
		if n.minLen >= 0 && length < n.minLen {
			c.problem(path, "must have at least "+strconv.Itoa(n.minLen)+" characters")
		}
		if n.maxLen >= 0 && length > n.maxLen {
			c.problem(path, "must have at most "+strconv.Itoa(n.maxLen)+" characters")
		}
	}
	if n.pattern != nil && !c.matches(n.pattern, s) {
		c.problem(path, "must match "+n.pattern.String())
	}
}

func (c *checker) array(n *node, list []any, path string, depth int) {
	if n.minItem >= 0 && len(list) < n.minItem {
		c.problem(path, "must have at least "+strconv.Itoa(n.minItem)+" elements")
	}
	if n.maxItem >= 0 && len(list) > n.maxItem {
		c.problem(path, "must have at most "+strconv.Itoa(n.maxItem)+" elements")
		return
	}
	for i, e := range list {
		if c.steps < 0 {
			return
		}
		switch {
		case i < len(n.prefix):
			c.check(n.prefix[i], e, path+strictjson.Element(i), depth-1)
		case n.items != nil:
			c.check(n.items, e, path+strictjson.Element(i), depth-1)
		}
	}
	if n.contains != nil {
		found := 0
		for _, e := range list {
			if c.try(n.contains, e, path, depth-1) {
				found++
			}
		}
		least := 1
		if n.minContain >= 0 {
			least = n.minContain
		}
		if found < least || n.maxContain >= 0 && found > n.maxContain {
			c.problem(path, "has "+strconv.Itoa(found)+" elements of the form that is asked for")
		}
	}
	if n.unique && c.twice(list) {
		c.problem(path, "has an element twice")
	}
}

// twice reports whether two elements are equal. Scalars are compared by a map, and only arrays and
// objects are compared with one another.
func (c *checker) twice(list []any) bool {
	seen := map[any]bool{}
	var deep []any
	for _, e := range list {
		switch e.(type) {
		case nil, bool, float64, string:
			if seen[e] {
				return true
			}
			seen[e] = true
			continue
		}
		for _, other := range deep {
			if c.steps--; c.steps < 0 {
				return false
			}
			if equal(e, other) {
				return true
			}
		}
		deep = append(deep, e)
	}
	return false
}

func (c *checker) object(n *node, m map[string]any, path string, depth int) {
	if n.minProp >= 0 && len(m) < n.minProp {
		c.problem(path, "must have at least "+strconv.Itoa(n.minProp)+" members")
	}
	if n.maxProp >= 0 && len(m) > n.maxProp {
		c.problem(path, "must have at most "+strconv.Itoa(n.maxProp)+" members")
	}
	for _, k := range n.required {
		if _, ok := m[k]; !ok {
			c.problem(path, k+" is missing")
		}
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if c.steps--; c.steps < 0 {
			return
		}
		v, inner := m[k], path+strictjson.Member(k)
		if n.names != nil && !c.try(n.names, k, inner, depth-1) {
			c.problem(inner, "is not a name that is allowed here")
		}
		sub, known := n.props[k]
		c.check(sub, v, inner, depth-1)
		for _, p := range n.patterns {
			if c.matches(p.re, k) {
				known = true
				c.check(p.n, v, inner, depth-1)
			}
		}
		switch {
		case known || n.extra == nil:
		case n.extra.never:
			c.problem(inner, "is not known; known are "+strings.Join(names(n.props), ", "))
		default:
			c.check(n.extra, v, inner, depth-1)
		}
		for _, need := range n.needs[k] {
			if _, ok := m[need]; !ok {
				c.problem(path, need+" is missing, which "+k+" needs")
			}
		}
		c.check(n.needsNode[k], m, path, depth-1)
	}
}

func names(m map[string]*node) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	if len(out) > 20 {
		out = append(out[:20], "…")
	}
	if out == nil {
		out = []string{"none"}
	}
	return out
}

func hasType(v any, t string) bool {
	switch v := v.(type) {
	case nil:
		return t == "null"
	case bool:
		return t == "boolean"
	case float64:
		finite := !math.IsInf(v, 0) && v == v
		return finite && (t == "number" || t == "integer" && v == math.Trunc(v))
	case string:
		return t == "string"
	case []any:
		return t == "array"
	case map[string]any:
		return t == "object"
	}
	return false
}

// equal reports whether two trees are equal. The parser has limited their depth.
func equal(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, v := range a {
			if w, ok := b[k]; !ok || !equal(v, w) {
				return false
			}
		}
		return true
	case nil, bool, float64, string:
		switch b.(type) {
		case nil, bool, float64, string:
			return a == b
		}
		return false
	}
	return reflect.DeepEqual(a, b)
}

func listed(list []any) string {
	var out []string
	for i, v := range list {
		if i == 20 {
			out = append(out, "…")
			break
		}
		text, err := EncodeJSON(v, JSONLimits{Bytes: 200})
		if err != nil {
			text = kindName(v)
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}
