package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/worker/internal/wasmbin"
)

// CallOptions are the options of [Pool.Call]. The zero value is useful.
type CallOptions struct {
	// Funcs are the functions that the module imports, by "module.name". They need
	// [Features].HostFuncs, because the module is suspended until they return.
	Funcs map[string]func(ctx context.Context, args []any) (any, error)

	// Limits lower the pool's limits for this call.
	Limits Limits
}

// Call runs an exported function in an instance and a worker of its own, and returns its
// results. Each argument is an int32, int64, float32 or float64 of the parameter's type, or an
// int that fits it. A reactor's _initialize is called first. Call returns
// [protocol.ErrInvalidParams] if the function is not exported or the arguments do not fit. Its
// other errors are those of [Cmd.Run].
func (p *Pool) Call(ctx context.Context, module *Module, name string, args []any, opts CallOptions) ([]any, error) {
	if module == nil || module.pool != p {
		return nil, fmt.Errorf("worker: Call: the module was not compiled by this pool")
	}
	e, ok := module.m.Export(name)
	if !ok || !e.Type.Known {
		return nil, protocol.Errorf(protocol.ErrInvalidParams, "call", name, "the module exports no such function; it has %v", module.Exports())
	}
	if len(args) != len(e.Type.Params) {
		return nil, protocol.Errorf(protocol.ErrInvalidParams, "call", name, "%d arguments; it takes %d", len(args), len(e.Type.Params))
	}
	k := &call{name: name, funcs: opts.Funcs, params: make([]string, len(args)), results: make(chan []string, 1)}
	for i, a := range args {
		var err error
		if k.params[i], err = encodeNumber(a, e.Type.Params[i]); err != nil {
			return nil, protocol.Errorf(protocol.ErrInvalidParams, "call", name, "argument %d: %w", i+1, err)
		}
	}
	c := &Cmd{Args: []string{name}, Limits: opts.Limits, pool: p, module: module, ctx: ctx, call: k}
	if err := c.Run(); err != nil {
		return nil, err
	}
	out := <-k.results
	if len(out) != len(e.Type.Results) {
		return nil, violation("%d results", len(out))
	}
	results := make([]any, len(out))
	for i, s := range out {
		var err error
		if results[i], err = decodeNumber(s, e.Type.Results[i]); err != nil {
			return nil, violation("result %d: %v", i+1, err)
		}
	}
	return results, nil
}

// encodeNumber returns v in the text form that the worker reads. An i64 has an n before it:
// "n42", because the worker needs a BigInt for it.
func encodeNumber(v any, t wasmbin.ValType) (string, error) {
	if n, ok := v.(int); ok {
		switch {
		case t == wasmbin.I32 && n == int(int32(n)):
			v = int32(n)
		case t == wasmbin.I64:
			v = int64(n)
		case t == wasmbin.F64:
			v = float64(n)
		case t == wasmbin.F32:
			v = float32(n)
		}
	}
	switch v := v.(type) {
	case int32:
		if t == wasmbin.I32 {
			return strconv.FormatInt(int64(v), 10), nil
		}
	case int64:
		if t == wasmbin.I64 {
			return "n" + strconv.FormatInt(v, 10), nil
		}
	case float32:
		if t == wasmbin.F32 {
			return encodeFloat(float64(v)), nil
		}
	case float64:
		if t == wasmbin.F64 {
			return encodeFloat(v), nil
		}
	}
	return "", fmt.Errorf("a %T does not fit the type %#x", v, byte(t))
}

func encodeFloat(f float64) string {
	if math.IsInf(f, 0) {
		return map[bool]string{true: "Infinity", false: "-Infinity"}[f > 0]
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func decodeNumber(s string, t wasmbin.ValType) (any, error) {
	switch t {
	case wasmbin.I32:
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < math.MinInt32 || n > math.MaxUint32 {
			return nil, fmt.Errorf("%q is not an i32", s)
		}
		return int32(n), nil
	case wasmbin.I64:
		if s == "" || s[0] != 'n' {
			return nil, fmt.Errorf("%q is not an i64", s)
		}
		n, err := strconv.ParseInt(s[1:], 10, 64)
		return n, err
	case wasmbin.F32, wasmbin.F64:
		f, err := strconv.ParseFloat(s, 64)
		if t == wasmbin.F32 {
			return float32(f), err
		}
		return f, err
	}
	return nil, fmt.Errorf("a type %#x", byte(t))
}

// callHost runs the host function that a module calls. text is JSON: [module, name,
// [arguments]].
func (c *Cmd) callHost(ctx context.Context, text string) (string, error) {
	var msg []json.RawMessage
	var mod, name string
	var args []string
	if json.Unmarshal([]byte(text), &msg) != nil || len(msg) != 3 || json.Unmarshal(msg[0], &mod) != nil ||
		json.Unmarshal(msg[1], &name) != nil || json.Unmarshal(msg[2], &args) != nil {
		return "", violation("a malformed call")
	}
	fn := c.call.funcs[mod+"."+name]
	for _, i := range c.module.m.Imports {
		if fn == nil || i.Kind != wasmbin.Func || i.Module != mod || i.Name != name {
			continue
		}
		if len(args) != len(i.Type.Params) {
			return "", violation("%d arguments for %s.%s", len(args), mod, name)
		}
		in := make([]any, len(args))
		for k, s := range args {
			var err error
			if in[k], err = decodeNumber(s, i.Type.Params[k]); err != nil {
				return "", violation("argument %d of %s.%s: %v", k+1, mod, name, err)
			}
		}
		out, err := fn(ctx, in)
		if err != nil {
			return "", fmt.Errorf("%s.%s: %w", mod, name, err)
		}
		if len(i.Type.Results) == 0 {
			return "", nil
		}
		return encodeNumber(out, i.Type.Results[0])
	}
	return "", violation("a call of %s.%s, which the host does not provide", mod, name)
}
