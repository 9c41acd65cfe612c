//go:build js && wasm

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/wasm_exec/prebuilt/internal/page"
)

const (
	maxEffects = 1000      // of one call
	maxShown   = 4 << 20   // UTF-16 units of a preview
	maxFile    = 12 << 20  // bytes of a file
	maxResult  = 200 << 10 // bytes of a result, as of package sandbox
)

// pageTool is a tool of the page while its options are read.
type pageTool struct {
	tool             sandbox.Tool
	effects, preview jsx.Value // functions, or undefined
	run              jsx.Value
	fixed            []policy.Need
	api              *page.API
	folder           bool // the box has one
}

// tool reads the AgentTool of agent.d.mts.
func (b *opener) tool(name string, v jsx.Value, folder bool) (sandbox.Tool, error) {
	t := &pageTool{api: b.api, folder: folder}
	t.tool.ID = name
	requires := false
	err := page.Each(v, "", func(key string, value jsx.Value) (err error) {
		function := func(to *jsx.Value) error {
			*to = value
			if jsx.TypeOf(value) != "function" {
				return errors.New("must be a function")
			}
			return nil
		}
		switch key {
		case "description":
			t.tool.Description, err = jsx.String(value, 4096)
		case "parameters":
			t.tool.Parameters, err = page.Stringify(value)
		case "effects":
			if jsx.TypeOf(value) == "function" {
				t.effects = value
			} else if t.fixed, err = effects(value); err == nil {
				for _, n := range t.fixed {
					t.require(n.Capability)
				}
			}
		case "requires":
			requires = true
			var x any
			if x, err = tree(value); err != nil {
				return err
			}
			list, ok := x.([]any)
			for _, x := range list {
				s, text := x.(string)
				ok = ok && text
				c, err := protocol.ParseCapability(s)
				if err != nil {
					return err
				}
				t.require(c)
			}
			if !ok {
				return errors.New("must be a list of capabilities, such as [\"net.fetch\"]")
			}
		case "time":
			t.tool.Time, err = page.Milliseconds(value)
			if err == nil && (t.tool.Time < time.Millisecond || t.tool.Time > 300*time.Second) {
				err = errors.New("must be 1 to 300000 milliseconds")
			}
		case "preview":
			err = function(&t.preview)
		case "run":
			err = function(&t.run)
		default:
			err = page.ErrNoOption
		}
		return err
	})
	switch {
	case err != nil:
		return t.tool, err
	case jsx.Nullish(t.run):
		return t.tool, errors.New("run is missing: the function that does it")
	case !jsx.Nullish(t.effects) && !requires:
		return t.tool, errors.New("requires is missing: if effects is a function, list the capabilities of all effects that it may return")
	}
	t.tool.Run, t.tool.Text = t.execute, content
	if len(t.fixed) > 0 || !jsx.Nullish(t.effects) {
		t.tool.Needs = t.needs
	}
	if !jsx.Nullish(t.preview) {
		t.tool.Preview = t.shown
	}
	return t.tool, nil
}

func (t *pageTool) require(c protocol.Capability) {
	if !slices.ContainsFunc(t.tool.Requires, func(g protocol.Grant) bool { return g.Capability == c }) {
		t.tool.Requires = append(t.tool.Requires, protocol.Grant{Capability: c})
	}
}

// effects reads a list of Effect of agent.d.mts.
func effects(v jsx.Value) ([]policy.Need, error) {
	n, err := jsx.Length(v)
	if err != nil || !jsx.IsArray(v) {
		return nil, errors.New("must be a list of effects, such as [{capability: 'net.fetch', subject: 'api.example.org'}]")
	}
	if n > maxEffects {
		return nil, fmt.Errorf("%d effects are more than %d", n, maxEffects)
	}
	out := make([]policy.Need, n)
	for i := range n {
		item, err := jsx.Index(v, i)
		if err != nil {
			return nil, err
		}
		need := &out[i]
		err = page.Each(item, "", func(key string, value jsx.Value) (err error) {
			var s string
			switch key {
			case "capability":
				if s, err = jsx.String(value, 100); err == nil {
					need.Capability, err = protocol.ParseCapability(s)
				}
			case "op":
				s, err = jsx.String(value, 20)
				need.Op = protocol.FSOp(s)
			case "subject":
				need.Subject, err = jsx.String(value, 8<<10)
			case "words":
				need.Words, err = jsx.String(value, 1000)
			case "tree":
				need.Tree, err = jsx.Bool(value)
			case "destroys":
				need.Destroys, err = jsx.Bool(value)
			default:
				err = page.ErrNoOption
			}
			return err
		})
		if err == nil && need.Capability == "" {
			err = errors.New("capability is missing")
		}
		if err != nil {
			return nil, fmt.Errorf("effect %d: %w", i, err)
		}
	}
	return out, nil
}

// call calls a function of the page with the arguments of a call, and returns its settled result.
func (t *pageTool) call(ctx context.Context, f jsx.Value, c *sandbox.Call, more map[string]any) (jsx.Value, error) {
	input := c.Args
	if input == nil {
		input = map[string]any{}
	}
	args, err := page.ToPage(input)
	if err != nil {
		return jsx.Value{}, err
	}
	signal, stop := jsx.Signal(ctx)
	defer stop()
	of := map[string]any{"signal": signal, "session": c.Session()}
	for k, v := range more {
		of[k] = v
	}
	v, err := jsx.Invoke(f, args, of)
	if err == nil {
		v, err = jsx.Await(ctx, v)
	}
	if ctx.Err() != nil {
		return jsx.Value{}, context.Cause(ctx)
	}
	return v, thrown(err)
}

func (t *pageTool) needs(ctx context.Context, c *sandbox.Call) ([]policy.Need, error) {
	if jsx.Nullish(t.effects) {
		return slices.Clone(t.fixed), nil
	}
	v, err := t.call(ctx, t.effects, c, nil)
	if err != nil {
		return nil, err
	}
	list, err := effects(v)
	if err != nil {
		return nil, protocol.Errorf(protocol.ErrExecution, t.tool.ID, "", "effects(): %w", err)
	}
	return list, nil
}

// shown implements Preview. If the page's function fails, the question says so.
func (t *pageTool) shown(ctx context.Context, c *sandbox.Call) (title, diff string) {
	v, err := t.call(ctx, t.preview, c, nil)
	if err == nil && jsx.TypeOf(v) == "string" {
		diff, err = jsx.String(v, maxShown)
	} else if err == nil {
		err = page.Each(v, "preview()", func(key string, value jsx.Value) (err error) {
			switch key {
			case "title":
				title, err = jsx.String(value, 1000)
			case "diff":
				diff, err = jsx.String(value, maxShown)
			default:
				err = page.ErrNoOption
			}
			return err
		})
	}
	if err != nil {
		return "", "(what would change can't be shown: " + err.Error() + ")"
	}
	return title, diff
}

func (t *pageTool) execute(ctx context.Context, c *sandbox.Call) (any, error) {
	scope, err := t.api.Scope().Child()
	if err != nil {
		return nil, err
	}
	defer scope.Close() // the objects of this call end with it
	methods := map[string]page.Method{"addFile": {Run: func(_ context.Context, args []jsx.Value) (any, error) {
		if len(args) == 0 {
			return nil, errors.New("addFile(file): file is missing")
		}
		f, err := file(args[0])
		if err != nil {
			return nil, fmt.Errorf("addFile(file): %w", err)
		}
		return nil, c.AddFile(f)
	}}}
	more, err := t.api.Object(scope, naming(methods))
	if err != nil {
		return nil, err
	}
	of := map[string]any{"addFile": page.Must(jsx.Get(more, "addFile"))}
	if t.folder {
		if of["folder"], err = t.api.Object(scope, naming(permitted(ctx, c))); err != nil {
			return nil, err
		}
	}
	v, err := t.call(ctx, t.run, c, of)
	if err != nil {
		return nil, err
	}
	if jsx.InstanceOf(v, "Uint8Array") {
		return nil, protocol.Errorf(protocol.ErrExecution, t.tool.ID, "", "the tool returned bytes; give them to addFile()")
	}
	out, err := tree(v)
	if err != nil {
		return nil, protocol.Errorf(protocol.ErrExecution, t.tool.ID, "", "the result is no value of JSON, or too long: %w", thrown(err))
	}
	return fitting(t.tool.ID, out)
}

// content is the member of a result whose text the box cuts.
const content = "content"

// fitting returns a result that the box can cut. It cuts one text, so a result that is long without it fails.
func fitting(tool string, out any) (any, error) {
	if s, ok := out.(string); ok && len(s) > maxResult {
		return map[string]any{content: s}, nil
	}
	rest := out
	if m, ok := out.(map[string]any); ok {
		rest = maps.Clone(m)
		delete(rest.(map[string]any), content)
	}
	text, err := json.Marshal(rest)
	if err == nil && len(text) > maxResult {
		err = protocol.Errorf(protocol.ErrOutputTooLarge, tool, "", "the result has %d bytes as JSON, and a model gets at most %d; return less, or the long text as the member content", len(text), maxResult)
	}
	return out, err
}

// permitted are the methods of the folder within a call, which need the effects that the tool has declared.
func permitted(ctx context.Context, c *sandbox.Call) map[string]page.Method {
	name := func(args []jsx.Value, i int, what string) (string, error) { return page.Text(args, i, what) }
	return map[string]page.Method{
		"list": {Run: func(_ context.Context, args []jsx.Value) (any, error) {
			dir, err := name(args, 0, "list(path): path")
			if err != nil {
				return nil, err
			}
			list, err := c.FS.List(ctx, c.Permit, dir)
			out := make([]any, len(list))
			for i, e := range list {
				out[i] = map[string]any{"name": e.Name(), "path": e.Path, "folder": e.Dir, "size": float64(e.Size)}
			}
			return out, err
		}},
		"read": {Run: func(_ context.Context, args []jsx.Value) (any, error) {
			path, err := name(args, 0, "read(path): path")
			if err != nil {
				return nil, err
			}
			data, _, err := c.FS.Read(ctx, c.Permit, path)
			return data, err
		}},
		"text": {Run: func(_ context.Context, args []jsx.Value) (any, error) {
			path, err := name(args, 0, "text(path): path")
			if err != nil {
				return nil, err
			}
			data, _, err := c.FS.Read(ctx, c.Permit, path)
			if err == nil && !utf8.Valid(data) {
				return nil, fmt.Errorf("text(path): %s is not a text in UTF-8: read() returns its bytes", path)
			}
			return string(data), err
		}},
		"write": {Run: func(_ context.Context, args []jsx.Value) (any, error) {
			path, err := name(args, 0, "write(path, data): path")
			if err != nil {
				return nil, err
			}
			if len(args) < 2 {
				return nil, errors.New("write(path, data): data is missing")
			}
			var data []byte
			if jsx.TypeOf(args[1]) == "string" {
				var s string
				s, err = jsx.String(args[1], 1<<30)
				data = []byte(s)
			} else {
				data, err = jsx.Bytes(args[1], 1<<30)
			}
			if err != nil {
				return nil, fmt.Errorf("write(path, data): data: %w", err)
			}
			_, err = c.FS.Write(ctx, c.Permit, path, data, fsaccess.AnyVersion)
			return nil, err
		}},
		"remove": {Run: func(_ context.Context, args []jsx.Value) (any, error) {
			path, err := name(args, 0, "remove(path): path")
			if err != nil {
				return nil, err
			}
			return nil, c.FS.Remove(ctx, c.Permit, path, false)
		}},
	}
}

// file reads the AgentFile of agent.d.mts, whose data is a Uint8Array here.
func file(v jsx.Value) (f sandbox.File, err error) {
	err = page.Each(v, "file", func(key string, value jsx.Value) (err error) {
		switch key {
		case "name":
			f.Name, err = jsx.String(value, 4096)
		case "mediaType":
			f.MediaType, err = jsx.String(value, 127)
		case "data":
			f.Data, err = jsx.Bytes(value, maxFile)
		default:
			err = page.ErrNoOption
		}
		return err
	})
	if err == nil && f.Data == nil {
		err = errors.New("file: data is missing, or empty")
	}
	return f, err
}
