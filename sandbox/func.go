package sandbox

import (
	"context"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// Func returns a tool whose parameters are the struct In. Its schema is made from the fields, so it can't
// differ from them. A name is that of the tag json. A field is optional if the tag has omitempty or
// omitzero, or if its type is a pointer. The tag jsonschema is the field's description for the model.
// Fields are strings, booleans, numbers, structs, slices of these, maps with keys of type string, any, and
// types that read themselves from a text, such as [time.Time].
//
// needs returns the effects of a call, made with [Reads], [Writes], [Fetches] or of any
// [policy.Need]. A nil needs declares none. Func calls it once with the zero In, and the tool requires the
// capabilities of the result. Set Requires of the returned tool if other arguments need others.
//
// run does the work, with c.Permit for the effects. Its result is a value that JSON has, and arrives as one. An In that has no
// schema is an error of [New].
func Func[In, Out any](id, description string, needs func(in In) []policy.Need, run func(ctx context.Context, c *Call, in In) (Out, error)) Tool {
	t := Tool{Tool: protocol.Tool{ID: id, Description: description}}
	t.Parameters, t.bad = schemaOf(reflect.TypeFor[In]())
	if t.bad == nil && run == nil {
		t.bad = protocol.Errorf(protocol.ErrInvalidParams, "tool", id, "has no function that does the work")
	}
	if t.bad != nil {
		t.bad = protocol.Errorf(protocol.ErrInvalidParams, "tool", id, "%w", t.bad)
	}
	t.Run = func(ctx context.Context, c *Call) (any, error) {
		var in In
		if err := c.Bind(&in); err != nil {
			return nil, err
		}
		out, err := run(ctx, c, in)
		if err != nil {
			return nil, err
		}
		return treeOf(ctx, out)
	}
	if needs == nil {
		return t
	}
	t.Requires = requiredBy(needs)
	t.Needs = func(_ context.Context, c *Call) ([]policy.Need, error) {
		var in In
		if err := c.Bind(&in); err != nil {
			return nil, err
		}
		list := needs(in)
		for _, n := range list {
			if !slices.ContainsFunc(c.tool.Requires, func(g protocol.Grant) bool { return g.Capability == n.Capability }) {
				return nil, protocol.Errorf(protocol.ErrExecution, id, string(n.Capability), "these arguments need it, and an empty struct does not; set Requires of the tool")
			}
		}
		return list, nil
	}
	return t
}

// treeOf returns a result as JSON values.
func treeOf(ctx context.Context, out any) (any, error) {
	if plain(out, 64) {
		return out, nil
	}
	text, err := protocol.EncodeJSON(out, protocol.JSONLimits{Bytes: 16 << 20})
	if err != nil {
		return nil, err
	}
	return parseArgs(ctx, text)
}

// requiredBy returns the capabilities of the needs of the zero value. A function that panics for it
// requires none.
func requiredBy[In any](needs func(In) []policy.Need) (out []protocol.Grant) {
	defer func() { _ = recover() }()
	var in In
	for _, n := range needs(in) {
		if g := (protocol.Grant{Capability: n.Capability}); !slices.ContainsFunc(out, func(o protocol.Grant) bool { return o.Capability == g.Capability }) {
			out = append(out, g)
		}
	}
	return out
}

// Reads returns the needs to read files, by their paths relative to the folder.
func Reads(paths ...string) []policy.Need { return needsFor(protocol.FSRead, paths) }

// Writes returns the needs to create or change files, by their paths relative to the folder.
func Writes(paths ...string) []policy.Need { return needsFor(protocol.FSWrite, paths) }

// Fetches returns the needs to reach hosts, such as "api.example.org" or "localhost:8080".
func Fetches(hosts ...string) []policy.Need { return needsFor(protocol.NetFetch, hosts) }

func needsFor(c protocol.Capability, subjects []string) []policy.Need {
	out := make([]policy.Need, len(subjects))
	for i, s := range subjects {
		out[i] = policy.Need{Capability: c, Subject: s}
	}
	return out
}

// schemaOf returns the schema of a struct.
func schemaOf(t reflect.Type) (string, error) {
	if t.Kind() != reflect.Struct {
		return "", fmt.Errorf("the arguments are a %s, and must be a struct", t)
	}
	schema, err := typeSchema(t, nil)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(schema)
	return string(text), err
}

// typeSchema returns the schema of a type. outer are the structs around it.
func typeSchema(t reflect.Type, outer []reflect.Type) (map[string]any, error) {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return map[string]any{"type": "string"}, nil
	}
	switch t.Kind() {
	case reflect.Bool:
		return map[string]any{"type": "boolean"}, nil
	case reflect.String:
		return map[string]any{"type": "string"}, nil
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return map[string]any{"type": "integer"}, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return map[string]any{"type": "integer", "minimum": 0}, nil
	case reflect.Pointer:
		return typeSchema(t.Elem(), outer)
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 || t.Kind() == reflect.Array {
			break
		}
		items, err := typeSchema(t.Elem(), outer)
		return map[string]any{"type": "array", "items": items}, err
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			break
		}
		values, err := typeSchema(t.Elem(), outer)
		return map[string]any{"type": "object", "additionalProperties": values}, err
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return map[string]any{}, nil
		}
	case reflect.Struct:
		if slices.Contains(outer, t) {
			return nil, fmt.Errorf("the type %s contains itself, which has no schema", t)
		}
		return structSchema(t, append(outer, t))
	}
	return nil, fmt.Errorf("the type %s has no schema; use strings, booleans, numbers, structs, slices and maps of these", t)
}

func structSchema(t reflect.Type, outer []reflect.Type) (map[string]any, error) {
	props, required := map[string]any{}, []string{}
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Tag.Get("json") == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		if f.Anonymous {
			return nil, fmt.Errorf("the field %s of %s is embedded; write its fields out", f.Name, t)
		}
		if name == "" {
			name = f.Name
		}
		p, err := typeSchema(f.Type, outer)
		if err != nil {
			return nil, fmt.Errorf("the field %s: %w", f.Name, err)
		}
		if about := f.Tag.Get("jsonschema"); about != "" {
			p["description"] = about
		}
		props[name] = p
		optional := slices.ContainsFunc(strings.Split(options, ","), func(o string) bool { return o == "omitempty" || o == "omitzero" })
		if !optional && f.Type.Kind() != reflect.Pointer {
			required = append(required, name)
		}
	}
	out := map[string]any{"type": "object", "properties": props, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	return out, nil
}
