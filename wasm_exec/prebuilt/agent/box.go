//go:build js && wasm

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/command"
	"github.com/bailey-go/bailey/sandbox/enclave"
	"github.com/bailey-go/bailey/sandbox/mcpclient"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/secrets"
	"github.com/bailey-go/bailey/sandbox/shell"
	"github.com/bailey-go/bailey/sandbox/web"
	"github.com/bailey-go/bailey/wasm_exec/prebuilt/internal/page"
)

// maxPrompt bounds a system prompt, in UTF-16 units.
const maxPrompt = 1 << 20

// opener makes boxes.
type opener struct {
	api     *page.API
	dialogs *dialogs
	workers *workers
}

// theBox is an open box.
type theBox struct {
	api   *page.API
	scope *jsx.Scope
	box   *sandbox.Box
	model sandbox.Model
	store sandbox.Store
	code  *enclave.Runner // nil without code
	run   *command.Runner // nil without commands

	clients []*mcpclient.Client // of MCP servers
	skills  skillSet
	secrets *secrets.Store // nil without secrets

	mu       sync.Mutex
	sessions map[string]*theSession // that are open
	plans    map[*theBox]bool       // that are open, each by the box of its dry run
	applying map[*byte]context.CancelCauseFunc
}

// boxOptions are the BoxOptions of agent.d.mts.
type boxOptions struct {
	model              sandbox.Model
	o                  sandbox.Options
	folder             bool
	ask, commands      jsx.Value // undefined without one
	answer             jsx.Value // undefined without one
	mcp                []mcpclient.Options
	tools              map[string]jsx.Value
	names              []string // of tools, in their order
	none, code, sh, on bool     // none: without the standard tools; on: with web_fetch
	relay, store       string
	skills             []skillSource
	secrets            []secret // not nil with the option
	secretStore        string
}

// open implements box(options).
func (b opener) open(ctx context.Context, args []jsx.Value) (any, error) {
	if len(args) == 0 || jsx.TypeOf(args[0]) != "object" {
		return nil, errors.New("box(options): options are missing")
	}
	o, err := b.options(args[0])
	if err != nil {
		return nil, named(err)
	}
	t := &theBox{api: b.api, model: o.model, store: sandbox.MemoryStore(), sessions: map[string]*theSession{}}
	if o.store != "" {
		if t.store, err = sandbox.IndexedStore(ctx, o.store); err != nil {
			return nil, named(err)
		}
	}
	if !jsx.Nullish(o.commands) {
		if t.run, err = b.commands(ctx, o.commands); err != nil {
			return nil, named(fmt.Errorf("box(options): commands: %w", err))
		}
	}
	if t.skills, err = skills(ctx, o.skills); err != nil {
		return nil, named(fmt.Errorf("box(options): skills: %w", err))
	}
	o.o.Skills = t.skills.list
	if t.secrets, err = openSecrets(ctx, o); err != nil {
		return nil, named(err)
	}
	if o.o.Tools, err = b.toolset(t, o); err != nil {
		return nil, named(err)
	}
	more, err := t.connect(ctx, o.mcp, o.answer)
	opened := false
	defer func() {
		if !opened {
			t.disconnect(context.WithoutCancel(ctx))
		}
	}()
	if err != nil {
		return nil, named(fmt.Errorf("box(options): mcp: %w", err))
	}
	o.o.Tools = append(o.o.Tools, more...)
	o.o.Sessions = t.store
	if !jsx.Nullish(o.ask) {
		o.o.Ask = asker{o.ask, t, b.dialogs}
	}
	if t.box, err = sandbox.New(o.o); err != nil {
		return nil, named(fmt.Errorf("box(options): %w", err))
	}
	if t.scope, err = b.api.Scope().Child(); err != nil {
		return nil, err
	}
	opened = true
	return b.api.Object(t.scope, naming(t.methods()))
}

func (b opener) options(v jsx.Value) (*boxOptions, error) {
	o := &boxOptions{tools: map[string]jsx.Value{}, o: sandbox.Options{Policy: policy.AskBeforeChanges()}}
	err := page.Each(v, "box(options)", func(key string, value jsx.Value) (err error) {
		function := func() error {
			if jsx.TypeOf(value) != "function" {
				return errors.New("must be a function")
			}
			return nil
		}
		switch key {
		case "model":
			o.model, err = modelOf(value)
		case "folder":
			o.o.FS, _, err = b.api.Folder(value)
			o.folder = true
		case "policy":
			var text string
			if jsx.TypeOf(value) == "string" {
				text, err = jsx.String(value, 1<<20)
			} else {
				text, err = page.Stringify(value)
			}
			if err == nil {
				o.o.Policy, err = policy.Parse(text, policy.Options{})
			}
		case "ask":
			if o.ask = value; jsx.TypeOf(value) != "function" && (jsx.TypeOf(value) != "object" || !jsx.Has(value, "stay")) {
				err = errors.New("must be a function, or a <bailey-consent>")
			}
		case "answer":
			o.answer = value
			o.o.AnswerModel = func(ctx context.Context, list []sandbox.ModelQuestion) ([][]string, error) {
				return answers(ctx, value, "", list)
			}
			err = function()
		case "tools":
			err = page.Each(value, "", func(name string, value jsx.Value) error {
				o.names = append(o.names, name)
				o.tools[name] = value
				return nil
			})
		case "standard":
			var on bool
			on, err = jsx.Bool(value)
			o.none = !on
		case "code":
			o.code, err = jsx.Bool(value)
		case "shell":
			o.sh, err = jsx.Bool(value)
		case "commands":
			o.commands = value
			if jsx.TypeOf(value) != "object" || !jsx.Has(value, "fetch") {
				err = errors.New("must be the address of a tools.json")
			}
		case "mcp":
			o.mcp, err = servers(value)
		case "web":
			if o.on = true; jsx.TypeOf(value) == "boolean" {
				o.on, err = jsx.Bool(value)
				break
			}
			err = page.Each(value, "", func(key string, value jsx.Value) (err error) {
				if key != "relay" {
					return page.ErrNoOption
				}
				o.relay, err = jsx.String(value, 8<<10)
				return err
			})
		case "store":
			o.store, err = nameOf(value)
		case "skills":
			o.skills, err = b.skillSources(value)
		case "secrets":
			o.secrets, err = secretsOf(value)
		case "secretStore":
			o.secretStore, err = nameOf(value)
		case "systemPrompt":
			o.o.SystemPrompt, err = jsx.String(value, maxPrompt)
		case "remember":
			o.o.Remember = func(ctx context.Context, r policy.Rule) error { return remember(ctx, value, r) }
			err = function()
		case "onProgress":
			o.o.OnProgress = func(p sandbox.Progress) {
				_, _ = jsx.Invoke(value, map[string]any{"session": p.Session, "toolCallId": p.Call, "text": p.Text})
			}
			err = function()
		default:
			err = page.ErrNoOption
		}
		return err
	})
	if err == nil && o.model == nil {
		err = errors.New("box(options): model is missing")
	}
	return o, err
}

// nameOf reads the name of a database.
func nameOf(v jsx.Value) (string, error) {
	name, err := jsx.String(v, 200)
	if err == nil && strings.TrimSpace(name) == "" {
		err = errors.New("must be a name")
	}
	return name, err
}

// remember hands a rule that the user wants to keep to the page.
func remember(ctx context.Context, f jsx.Value, r policy.Rule) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	rule, err := parsed(string(text))
	if err == nil {
		rule, err = jsx.Invoke(f, rule)
	}
	if err == nil {
		_, err = jsx.Await(ctx, rule)
	}
	return thrown(err)
}

// toolset returns the tools of a box.
func (b opener) toolset(t *theBox, o *boxOptions) ([]sandbox.Tool, error) {
	list := []sandbox.Tool{} // nil would be the standard tools
	if !o.none {
		list = sandbox.Standard()
	}
	if o.code {
		t.code = enclave.New(o.o.Policy, iframe.EnclaveOptions{})
		t.code.TypeScript = page.TypeScript()
		list = append(list, sandbox.CodeRun(t.code))
	}
	if o.sh {
		o := shell.Options{}
		if t.run != nil { // a nil *command.Runner is no nil CommandRunner
			o.Runner = t.run
		}
		list = append(list, shell.Bash(o))
	}
	if t.run != nil {
		list = append(list, sandbox.ToolRun(t.run))
	}
	if o.on || t.secrets != nil {
		broker, err := web.NewBroker(web.BrokerOptions{Relay: o.relay})
		if err != nil {
			return nil, fmt.Errorf("box(options): web: %w", err)
		}
		if o.on {
			list = append(list, web.Fetch(broker))
		}
		if t.secrets != nil {
			list = append(list, web.Secrets(broker, t.secrets)...)
		}
	}
	for _, name := range o.names {
		tool, err := b.tool(name, o.tools[name], o.folder)
		if err != nil {
			return nil, fmt.Errorf("box(options): tools: %s: %w", name, err)
		}
		list = append(list, tool)
	}
	return list, nil
}

func (t *theBox) methods() map[string]page.Method {
	methods := map[string]page.Method{
		"skills":        {Run: t.skills.table},
		"skillText":     {Run: t.skills.text},
		"plan":          {Run: t.plan},
		"session":       {Run: t.session},
		"sessions":      {Run: t.stored},
		"removeSession": {Run: t.remove},
		"importSession": {Run: func(ctx context.Context, args []jsx.Value) (any, error) {
			text, err := page.Text(args, 0, "importSession(text): text")
			if err != nil {
				return nil, err
			}
			s, err := t.box.ImportSession(ctx, strings.NewReader(text))
			if err != nil {
				return nil, err
			}
			return t.adopt(s)
		}},
		"call":    {Run: t.call},
		"explain": {Run: t.explain},
		"tools": {Run: func(context.Context, []jsx.Value) (any, error) {
			list := []any{}
			for _, a := range t.box.Available() {
				list = append(list, map[string]any{"name": a.Tool, "available": a.Here, "reason": a.Reason})
			}
			return list, nil
		}},
		"stop": {Run: func(_ context.Context, args []jsx.Value) (any, error) {
			why, err := reason(args)
			if err == nil {
				t.halt(why)
			}
			return nil, err
		}},
		"close": {Run: func(ctx context.Context, _ []jsx.Value) (any, error) { return nil, t.close(ctx) }},
	}
	secretMethods(t.secrets, methods)
	return methods
}

// reason returns the reason of stop(why), which the errors of the calls contain.
func reason(args []jsx.Value) (string, error) {
	if len(args) == 0 || jsx.Nullish(args[0]) {
		return "the user pressed stop", nil
	}
	return page.Text(args, 0, "stop(why): why")
}

// session implements session(id). Without an id it begins one.
func (t *theBox) session(ctx context.Context, args []jsx.Value) (any, error) {
	if len(args) == 0 || jsx.Nullish(args[0]) {
		s, err := t.box.NewSession(ctx, sandbox.SessionOptions{})
		if err != nil {
			return nil, err
		}
		return t.adopt(s)
	}
	id, err := page.Text(args, 0, "session(id): id")
	if err != nil {
		return nil, err
	}
	s, err := t.box.OpenSession(ctx, id)
	if err != nil {
		return nil, err
	}
	return t.adopt(s)
}

// stored implements sessions().
func (t *theBox) stored(ctx context.Context, _ []jsx.Value) (any, error) {
	list, err := t.box.Sessions(ctx)
	out := make([]any, len(list))
	for i, r := range list {
		out[i] = record(r)
	}
	return out, err
}

func record(r sandbox.SessionRecord) map[string]any {
	title, _ := r.Metadata["title"].(string)
	return map[string]any{
		"id": r.ID, "title": title, "model": r.Model, "parent": r.ParentID, "created": float64(r.CreatedAt.UnixMilli()), "updated": float64(r.UpdatedAt.UnixMilli()),
		"archived": !r.ArchivedAt.IsZero(), "inputTokens": float64(r.InputTokens), "outputTokens": float64(r.OutputTokens), "money": r.Money,
	}
}

// remove implements removeSession(id).
func (t *theBox) remove(ctx context.Context, args []jsx.Value) (any, error) {
	id, err := page.Text(args, 0, "removeSession(id): id")
	if err != nil {
		return nil, err
	}
	unlock, err := t.store.Lock(ctx, id) // an open session would store itself again
	if err != nil {
		return nil, err
	}
	defer unlock()
	return nil, t.store.Delete(ctx, id)
}

// call implements call(tool, args): a call without a model, through every step.
func (t *theBox) call(ctx context.Context, args []jsx.Value) (any, error) {
	name, input, err := called(args, "call")
	if err != nil {
		return nil, err
	}
	res := t.box.Call(ctx, name, input)
	if err := res.Err(); err != nil {
		return nil, err
	}
	text, err := json.Marshal(res.Data)
	if err != nil {
		return nil, err
	}
	return parsed(string(text))
}

func called(args []jsx.Value, what string) (name string, input any, err error) {
	if name, err = page.Text(args, 0, what+"(tool, args): tool"); err != nil {
		return "", nil, err
	}
	if len(args) > 1 {
		if input, err = tree(args[1]); err != nil {
			return "", nil, fmt.Errorf("%s(tool, args): args: %w", what, err)
		}
	}
	if input == nil {
		input = map[string]any{}
	}
	return name, input, nil
}

// explain implements explain(tool, args): the policy's decision about a call that is not made.
func (t *theBox) explain(ctx context.Context, args []jsx.Value) (any, error) {
	name, input, err := called(args, "explain")
	if err != nil {
		return nil, err
	}
	e, err := t.box.Explain(ctx, name, input)
	if err != nil {
		return nil, err
	}
	return map[string]any{"decision": string(e.Decision.Action), "reason": e.Decision.Reason, "text": e.String()}, nil
}

// close stops all runs and closes the sessions. What the page still holds is closed then.
func (t *theBox) close(ctx context.Context) error {
	t.halt("the box is closed")
	t.mu.Lock()
	list, plans := slices.Collect(maps.Values(t.sessions)), slices.Collect(maps.Keys(t.plans))
	t.plans = nil
	t.mu.Unlock()
	for _, s := range list {
		s.close()
	}
	var err error
	for _, dry := range plans {
		err = errors.Join(err, dry.close(ctx))
	}
	if t.code != nil {
		err = errors.Join(err, t.code.Close())
	}
	if t.run != nil {
		err = errors.Join(err, t.run.Close())
	}
	t.disconnect(ctx)
	return errors.Join(err, t.scope.Close())
}

// errClosed is the error of what belongs to a closed box.
var errClosed = protocol.Errorf(protocol.ErrSession, "box", "", "the box is closed")
