package protocol

import (
	"maps"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
)

// Schema is a parsed JSON Schema (draft 2020-12). It supports these keywords:
//
//   - type, enum, const
//   - properties, required, additionalProperties, patternProperties, propertyNames, minProperties,
//     maxProperties, dependentRequired, dependentSchemas
//   - items, prefixItems, contains, minContains, maxContains, minItems, maxItems, uniqueItems
//   - minLength, maxLength, pattern (in RE2's syntax)
//   - minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf
//   - allOf, anyOf, oneOf, not, if, then, else
//   - $defs and $ref within the schema
//
// Keywords that only describe ($schema, title, description, default, format, x-…) are ignored. Any
// other keyword, such as unevaluatedProperties or $dynamicRef, is an error, because ignoring it would
// accept values that it forbids. A Schema is safe for concurrent use.
type Schema struct {
	root *node
	text string
}

// Limits of schemas and of the work of validating one value.
const (
	maxSchema      = 64 * kib // bytes of a schema
	maxSchemaDepth = 32       // nesting of a schema
	maxSchemaSteps = 200_000  // checks for one value, so that nested anyOf end
	maxExpressions = 1 << 13  // instructions of all patterns of a schema
	maxSchemaPaths = 1 << 20  // bytes of the paths of all keywords of a schema
	maxMatching    = 1 << 19  // for one value: the sum of bytes matched times the pattern's instructions
	maxProblems    = 5        // problems reported for one value
	maxChecks      = 1_000    // nested checks, far below 15,000 frames, where a recursion in wasm dies
)

// ParseSchema returns the schema of a JSON text. An empty text is a schema that accepts only an
// object without members. A text that is not JSON or not a supported schema gives
// [ErrInvalidParams], and one whose patterns or paths are too large [ErrResourceLimit].
func ParseSchema(text string) (*Schema, error) {
	if text == "" {
		text = `{"type":"object","additionalProperties":false}`
	}
	if len(text) > maxSchema {
		return nil, Errorf(ErrInvalidParams, "schema", "", "the schema has %d bytes; the limit is %d", len(text), maxSchema)
	}
	v, err := ParseJSON(text, JSONLimits{Bytes: maxSchema, Depth: 2 * maxSchemaDepth})
	if err != nil {
		return nil, &Error{Code: ErrInvalidParams, Op: "schema", Message: err.Error()}
	}
	c := compiler{root: v, refs: map[string]*node{}}
	n, err := c.node(v, "#", maxSchemaDepth)
	if err != nil {
		return nil, err
	}
	return &Schema{root: n, text: text}, nil
}

// String returns the text of the schema.
func (s *Schema) String() string { return s.text }

// node is one schema. A nil node accepts every value, and one with never set accepts none.
type node struct {
	never bool
	ref   *node

	types                            []string
	enum                             []any
	hasConst                         bool
	constant                         any
	min, max, over, under, multiple  *float64
	minLen, maxLen, minItem, maxItem int // -1 for none
	minProp, maxProp                 int
	minContain, maxContain           int
	pattern                          *matcher
	unique                           bool

	props     map[string]*node
	patterns  []patternProp
	extra     *node
	names     *node
	required  []string
	needs     map[string][]string
	needsNode map[string]*node

	prefix              []*node
	items, contains     *node
	all, some, exactly  []*node
	not, cond, yes, alt *node
}

type patternProp struct {
	re *matcher
	n  *node
}

// matcher is a regular expression with about the maximum number of its instructions. RE2 takes at
// most that many steps for a byte.
type matcher struct {
	*regexp.Regexp
	size int
}

type compiler struct {
	root         any
	refs         map[string]*node
	paths        int // bytes of paths so far
	instructions int // of patterns so far
}

func badSchema(path, format string, args ...any) error {
	return Errorf(ErrInvalidParams, "schema", path, format, args...)
}

func (c *compiler) node(v any, path string, depth int) (*node, error) {
	if b, ok := v.(bool); ok {
		return &node{never: !b}, nil
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, badSchema(path, "a schema must be an object, true or false")
	}
	if depth == 0 {
		return nil, badSchema(path, "nested deeper than %d", maxSchemaDepth)
	}
	n := &node{minLen: -1, maxLen: -1, minItem: -1, maxItem: -1, minProp: -1, maxProp: -1, minContain: -1, maxContain: -1}
	if _, known := c.refs[path]; !known {
		c.refs[path] = n
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if c.paths += len(path) + len(key); c.paths > maxSchemaPaths {
			return nil, Errorf(ErrResourceLimit, "schema", "", "the paths of the keywords have more than %d bytes together; shorten the names, or nest less", maxSchemaPaths)
		}
		if err := c.keyword(n, key, m[key], path+"/"+key, depth-1); err != nil {
			return nil, err
		}
	}
	return n, nil
}

func (c *compiler) keyword(n *node, key string, v any, path string, depth int) (err error) {
	switch key {
	case "$schema", "$id", "$anchor", "$comment", "$vocabulary", "title", "description", "default", "examples", "deprecated", "readOnly",
		"writeOnly", "format", "contentEncoding", "contentMediaType", "contentSchema":
		return nil
	case "$ref":
		n.ref, err = c.reference(v, path, depth)
	case "$defs", "definitions":
		_, err = c.nodeMap(v, path, depth)
	case "type":
		n.types, err = typeNames(v, path)
	case "enum":
		list, ok := v.([]any)
		if !ok || len(list) == 0 {
			return badSchema(path, "must be an array that is not empty")
		}
		n.enum = list
	case "const":
		n.hasConst, n.constant = true, v
	case "minimum":
		n.min, err = number(v, path)
	case "maximum":
		n.max, err = number(v, path)
	case "exclusiveMinimum":
		n.over, err = number(v, path)
	case "exclusiveMaximum":
		n.under, err = number(v, path)
	case "multipleOf":
		if n.multiple, err = number(v, path); err == nil && *n.multiple <= 0 {
			return badSchema(path, "must be greater than 0")
		}
	case "minLength":
		n.minLen, err = count(v, path)
	case "maxLength":
		n.maxLen, err = count(v, path)
	case "minItems":
		n.minItem, err = count(v, path)
	case "maxItems":
		n.maxItem, err = count(v, path)
	case "minContains":
		n.minContain, err = count(v, path)
	case "maxContains":
		n.maxContain, err = count(v, path)
	case "minProperties":
		n.minProp, err = count(v, path)
	case "maxProperties":
		n.maxProp, err = count(v, path)
	case "uniqueItems":
		n.unique, err = flag(v, path)
	case "pattern":
		n.pattern, err = c.expression(v, path)
	case "required":
		n.required, err = texts(v, path)
	case "properties":
		n.props, err = c.nodeMap(v, path, depth)
	case "patternProperties":
		var nodes map[string]*node
		if nodes, err = c.nodeMap(v, path, depth); err != nil {
			return err
		}
		for _, k := range slices.Sorted(maps.Keys(v.(map[string]any))) {
			re, err := c.expression(k, path)
			if err != nil {
				return err
			}
			n.patterns = append(n.patterns, patternProp{re, nodes[k]})
		}
	case "additionalProperties":
		n.extra, err = c.node(v, path, depth)
	case "propertyNames":
		n.names, err = c.node(v, path, depth)
	case "dependentRequired":
		m, ok := v.(map[string]any)
		if !ok {
			return badSchema(path, "must be an object")
		}
		n.needs = map[string][]string{}
		for k, list := range m {
			if n.needs[k], err = texts(list, path+"/"+k); err != nil {
				return err
			}
		}
	case "dependentSchemas":
		n.needsNode, err = c.nodeMap(v, path, depth)
	case "prefixItems":
		n.prefix, err = c.nodeList(v, path, depth)
	case "items":
		n.items, err = c.node(v, path, depth)
	case "contains":
		n.contains, err = c.node(v, path, depth)
	case "allOf":
		n.all, err = c.nodeList(v, path, depth)
	case "anyOf":
		n.some, err = c.nodeList(v, path, depth)
	case "oneOf":
		n.exactly, err = c.nodeList(v, path, depth)
	case "not":
		n.not, err = c.node(v, path, depth)
	case "if":
		n.cond, err = c.node(v, path, depth)
	case "then":
		n.yes, err = c.node(v, path, depth)
	case "else":
		n.alt, err = c.node(v, path, depth)
	case "unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "additionalItems", "dependencies", "extends", "disallow":
		return badSchema(path, "this keyword is not supported, and ignoring it would let through what it forbids; say it with the supported ones")
	default:
		if !strings.HasPrefix(key, "x-") {
			return badSchema(path, "unknown keyword; a misspelt restriction restricts nothing, so this is an error (names of your own begin with x-)")
		}
	}
	return err
}

func (c *compiler) nodeMap(v any, path string, depth int) (map[string]*node, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, badSchema(path, "must be an object")
	}
	out := map[string]*node{}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		n, err := c.node(m[k], path+"/"+escapePointer(k), depth)
		if err != nil {
			return nil, err
		}
		out[k] = n
	}
	return out, nil
}

func (c *compiler) nodeList(v any, path string, depth int) ([]*node, error) {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return nil, badSchema(path, "must be an array that is not empty")
	}
	var out []*node
	for i, e := range list {
		n, err := c.node(e, path+"/"+strconv.Itoa(i), depth)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

// reference resolves a $ref to "#" or "#/…". The node may still be incomplete, which allows a
// schema to refer to itself.
func (c *compiler) reference(v any, path string, depth int) (*node, error) {
	ref, ok := v.(string)
	if !ok || ref != "#" && !strings.HasPrefix(ref, "#/") {
		return nil, badSchema(path, "only references within the schema are supported: # or #/$defs/name")
	}
	if n, ok := c.refs[ref]; ok {
		return n, nil
	}
	at := c.root
	for _, elem := range strings.Split(ref, "/")[1:] {
		m, ok := at.(map[string]any)
		if !ok {
			return nil, badSchema(path, "%s leads nowhere; only objects are followed", quote(ref))
		}
		if at, ok = m[unescapePointer(elem)]; !ok {
			return nil, badSchema(path, "%s leads nowhere", quote(ref))
		}
	}
	return c.node(at, ref, depth)
}

func escapePointer(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "~", "~0"), "/", "~1")
}

func unescapePointer(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "~1", "/"), "~0", "~")
}

func typeNames(v any, path string) ([]string, error) {
	if s, ok := v.(string); ok {
		v = []any{s}
	}
	list, err := texts(v, path)
	if err != nil || len(list) == 0 {
		return nil, badSchema(path, "must be a type's name or an array of them")
	}
	for _, s := range list {
		switch s {
		case "null", "boolean", "number", "integer", "string", "array", "object":
		default:
			return nil, badSchema(path, "unknown type %s", quote(s))
		}
	}
	return list, nil
}

func number(v any, path string) (*float64, error) {
	f, ok := v.(float64)
	if !ok {
		return nil, badSchema(path, "must be a number")
	}
	return &f, nil
}

func count(v any, path string) (int, error) {
	f, ok := v.(float64)
	if !ok || f < 0 || f != math.Trunc(f) || f > 1<<31-1 {
		return 0, badSchema(path, "must be a whole number that is not negative")
	}
	return int(f), nil
}

func flag(v any, path string) (bool, error) {
	b, ok := v.(bool)
	if !ok {
		return false, badSchema(path, "must be true or false")
	}
	return b, nil
}

func texts(v any, path string) ([]string, error) {
	list, ok := v.([]any)
	out := make([]string, 0, len(list))
	for _, item := range list {
		s, text := item.(string)
		ok = ok && text
		out = append(out, s)
	}
	if !ok {
		return nil, badSchema(path, "must be an array of texts")
	}
	return out, nil
}

func (c *compiler) expression(v any, path string) (*matcher, error) {
	s, ok := v.(string)
	if !ok || len(s) > MaxPattern {
		return nil, badSchema(path, "must be a regular expression of at most %d bytes", MaxPattern)
	}
	parsed, err := syntax.Parse(s, syntax.Perl)
	if err != nil {
		return nil, badSchema(path, "%s is not a regular expression in RE2's syntax", quote(s))
	}
	// Compiling writes out the repetitions, so too many are refused before it.
	size := instructions(parsed)
	if c.instructions += size; c.instructions > maxExpressions {
		return nil, Errorf(ErrResourceLimit, "schema", path, "the patterns have more than %d instructions together, with their repetitions written out; use maxLength, or repeat less", maxExpressions)
	}
	re, err := regexp.Compile(s)
	if err != nil {
		return nil, badSchema(path, "%s is not a regular expression in RE2's syntax", quote(s))
	}
	return &matcher{re, size}, nil
}

// instructions returns about the maximum number of instructions of an expression, with its
// repetitions written out.
func instructions(re *syntax.Regexp) int {
	n := 0
	for _, sub := range re.Sub {
		n += instructions(sub)
	}
	switch re.Op {
	case syntax.OpRepeat:
		n = (n + 1) * max(re.Min+1, re.Max)
	case syntax.OpLiteral:
		n = len(re.Rune)
	case syntax.OpAlternate:
		n += len(re.Sub)
	case syntax.OpCapture:
		n += 2
	default:
		n++
	}
	return min(n, 2*maxExpressions)
}
