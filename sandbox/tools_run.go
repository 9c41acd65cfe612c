package sandbox

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/internal/gate"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// A CodeRunner runs untrusted JavaScript, such as in an enclave. The context belongs to the
// session, and each tool that the code calls through tools passes the gate separately. RunCode
// returns an error if the code could not be run. An error of the code itself is in the result. If a
// runner has a method NeedsBrowser() bool that returns true, [Box.Available] reports code_run as
// missing elsewhere. If it has a method StripTypes(ctx context.Context, code string) (string, error),
// code_run takes TypeScript too. StripTypes returns the code without its types and with each
// statement on its line, or a *[protocol.RunError] if it can't be parsed.
type CodeRunner interface {
	// RunCode runs code, the body of an async function, with args. The code may call the given
	// tools.
	RunCode(ctx context.Context, tools *protocol.Toolset, code string, args any) (*protocol.RunResult, error)
}

// CodeRun returns the tool code_run, which runs code with r. If r is nil, the tool is listed as
// missing. The package sandbox/enclave has a runner over [iframe.Enclave].
//
// [iframe.Enclave]: https://pkg.go.dev/github.com/bailey-go/bailey/iframe#Enclave
func CodeRun(r CodeRunner) Tool {
	gated := Gate(r)
	languages, language := "JavaScript", ""
	if _, ok := r.(typeStripper); ok {
		languages, language = "JavaScript or TypeScript", `"language":{"enum":["javascript","typescript"]},`
	}
	t := Tool{
		Tool: protocol.Tool{ID: "code_run", Requires: requires(protocol.CodeRun), Time: protocol.Permissive.Limits().Time,
			Description: "Runs " + languages + ", the body of an async function, where it has no network and no page. It finds args, callTool(name, args), parallel(fns), console and sleep(ms). Returns value and console.",
			Parameters:  `{"type":"object","properties":{"code":{"type":"string","minLength":1},` + language + `"args":{}},"required":["code"],"additionalProperties":false}`},
		Needs: func(context.Context, *Call) ([]policy.Need, error) {
			return []policy.Need{{Capability: protocol.CodeRun}}, nil
		},
		Preview: func(_ context.Context, c *Call) (string, string) {
			if c.text("language") == "typescript" {
				return "run TypeScript", c.text("code")
			}
			return "run JavaScript", c.text("code")
		},
		Run: func(ctx context.Context, c *Call) (any, error) {
			runner, err := gated.Get(c.Permit, policy.Need{Capability: protocol.CodeRun})
			if err != nil {
				return nil, err
			}
			m, _ := c.Args.(map[string]any)
			return runCode(ctx, runner, codeTools(c.box), c.text("language"), c.text("code"), m["args"])
		},
		Text: "console",
	}
	if r == nil {
		t.Missing = "there is no enclave; it needs a page"
	}
	b, ok := r.(interface{ NeedsBrowser() bool })
	t.browser = ok && b.NeedsBrowser()
	return t
}

// typeStripper is the optional method of a [CodeRunner].
type typeStripper interface {
	StripTypes(ctx context.Context, code string) (string, error)
}

// runCode runs code in a language and returns the output of code_run. Without a language the code is JavaScript. If it can't
// be parsed as such, but is TypeScript, it runs without its types. Code that parses as JavaScript keeps that meaning, also
// where TypeScript has another one, such as for f<a>(b).
func runCode(ctx context.Context, r CodeRunner, tools *protocol.Toolset, language, code string, args any) (any, error) {
	types, _ := r.(typeStripper)
	if language == "typescript" {
		plain, err := types.StripTypes(ctx, code)
		if refused := (*protocol.RunError)(nil); errors.As(err, &refused) {
			return runOutput(&protocol.RunResult{Error: refused}), nil
		}
		if err != nil {
			return nil, protocol.Errorf(protocol.ErrSandbox, "run", "code_run", "%w", err)
		}
		code = plain
	}
	res, err := r.RunCode(ctx, tools, code, args)
	if err == nil && language == "" && types != nil && unparsed(res) {
		if plain, failed := types.StripTypes(ctx, code); failed == nil && plain != code {
			language = "typescript"
			res, err = r.RunCode(ctx, tools, plain, args)
		}
	}
	if err != nil {
		return nil, err
	}
	out := runOutput(res)
	if language == "typescript" {
		out["language"] = language
	}
	return out, nil
}

// unparsed reports whether code could not be parsed, so that none of it ran. Code may pretend so to run twice. The second run
// would be without an effect of the first, because it has called no tool and shown nothing, and it passes the same gate.
func unparsed(res *protocol.RunResult) bool {
	return !res.Success && res.Error != nil && res.Error.Code == protocol.ErrInvalidParams && res.Error.Name == "SyntaxError" &&
		res.Stats.ToolCalls == 0 && res.Stats.ConsoleCalls == 0
}

// codeTools returns the tools that code may call. Tools that run code, start agents, ask the user,
// or find tools and skills are not among them.
func codeTools(b *Box) *protocol.Toolset {
	s := &protocol.Toolset{}
	for t := range b.tools.All() {
		if !slices.Contains([]string{"code_run", "task", "question", "tool_search", "skill"}, t.ID) {
			_ = s.Add(*t) // it was added before, so it is valid
		}
	}
	// Code of Casys PML finds its names, such as mcp.filesystem.read_file(args), unless a server has that name.
	for _, full := range []string{"mcp.filesystem.read_file", "mcp.filesystem.write_file", "mcp.fetch.fetch", "mcp.shell.run_command"} {
		server, name, _ := strings.Cut(strings.TrimPrefix(full, "mcp."), ".")
		t, err := s.Lookup(builtinName(full))
		if err != nil || hasServer(b, server) {
			continue
		}
		other := *t // Execute is that of the tool, so the gate decides about the tool
		other.ID, other.Server = server+"_"+name, server
		_ = s.Add(other) // a tool with that id stays
	}
	return s
}

// hasServer reports whether a tool of the box is of an MCP server with this name.
func hasServer(b *Box, name string) bool {
	for t := range b.tools.All() {
		if t.Server == name {
			return true
		}
	}
	return false
}

// maxStack is the most bytes of a stack in the output of code_run. The first line has the place of the error.
const maxStack = 1_000

func runOutput(res *protocol.RunResult) map[string]any {
	var console strings.Builder
	for _, row := range res.Console {
		console.WriteString(string(row.Level) + ":")
		for _, a := range row.Args {
			console.WriteByte(' ')
			console.WriteString(rowLine(a))
		}
		console.WriteByte('\n')
	}
	out := map[string]any{"success": res.Success, "console": console.String(), "duration_ms": ms(res.Stats.Duration), "tool_calls": float64(res.Stats.ToolCalls)}
	if res.Value != nil {
		out["value"] = res.Value
	}
	if res.Error != nil {
		out["error"] = res.Error.Error()
		if stack := res.Error.Stack; stack != "" {
			out["stack"] = strings.ToValidUTF8(stack[:min(len(stack), maxStack)], "")
		}
	}
	if res.Partial {
		out["partial"] = true
	}
	return out
}

// Command is one run of a command by a [CommandRunner].
type Command struct {
	Name   string   // one of the runner's Commands
	Args   []string // without the name
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// Dir is the working directory, a clean absolute path in FS. "" is "/".
	Dir string
	// Env is the environment, as "key=value". A runner may have variables of its own, which come
	// first, so that these replace them.
	Env []string
	// FS contains only the files that the call may read and write.
	FS fsaccess.FS
	// Changing shows the user all changes that the command is about to make, unless the rules allow
	// them without a question. A runner calls it once, before the first change. If it returns an
	// error, the runner makes none of them. FS refuses to remove a file or to move one away unless
	// the user agreed. Losing more than 1,000 files is an error. If Changing is nil, the command may
	// remove and move no file.
	Changing func(ctx context.Context, changes []protocol.FileChange) error
	// Asked reports that the caller asks the user wherever [CommandAsker] requires it. AskedKey is
	// the key of the command that the user was asked about, or empty. A runner must refuse to run a
	// third-party command if Asked is false, or if the command's key is not AskedKey.
	Asked    bool
	AskedKey string
}

// A CommandRunner runs commands, such as WASI modules in a pool of workers.
type CommandRunner interface {
	// Commands returns the names of the commands.
	Commands() []string
	// RunCommand runs a command and returns its exit code, or an error if the command could not be
	// run.
	RunCommand(ctx context.Context, c Command) (exit int, err error)
}

// CommandAsker is an optional interface of a [CommandRunner] with third-party commands, such as
// installed packages. The tool tool_run asks the user before running one even where a rule allows
// it, once per session and key, and in the same prompt as any other question about the call. No
// other tool asks. The runner must refuse to run such a command if the user was not asked, see
// [Command].Asked.
type CommandAsker interface {
	// AskCommand returns the reason for asking the user about a command, and a key for its exact
	// content, such as a hash. An empty reason is no question.
	AskCommand(ctx context.Context, name string) (reason, key string, err error)
}

// otherCommand returns the question about a third-party command, and the key under which the user's
// consent is kept. An empty key is no question.
func otherCommand(ctx context.Context, r CommandRunner, name string) (key string, q gate.Request, err error) {
	asker, ok := r.(CommandAsker)
	if !ok {
		return "", q, nil
	}
	reason, sum, err := asker.AskCommand(ctx, name)
	if err != nil || reason == "" {
		return "", q, err
	}
	return "command\x00" + name + "\x00" + sum, gate.Request{Title: ", which was installed (" + sum[:min(12, len(sum))] + ")", Risk: protocol.RiskHigh, Untrusted: true, Reason: reason}, nil
}

// askCommand asks about a third-party command, unless the call's own question did. It returns the
// runner's key of the command that the user was asked about.
func askCommand(ctx context.Context, c *Call, r CommandRunner, name string) (asked string, err error) {
	key, q, err := otherCommand(ctx, r, name)
	if err != nil || key == "" {
		return "", err
	}
	asked = key[strings.LastIndexByte(key, 0)+1:]
	if c.asked == key {
		c.accept(key)
		return asked, nil
	}
	q.Call, q.Tool, q.Title, q.Args, q.Session, q.Agent = c.ID, "tool_run", "run "+gate.Spelled(name)+q.Title, c.Args, c.Session(), c.scope.agent
	q.Effects = []gate.Effect{{Text: q.Title, Risk: q.Risk}}
	return asked, c.acceptOnce(ctx, key, q)
}

// alsoCommand adds the question about a third-party command to the question that the user is asked
// about the call anyway, so that the user is asked once.
func alsoCommand(ctx context.Context, c *Call, r CommandRunner, ask *gate.Request) {
	key, q, err := otherCommand(ctx, r, c.text("command"))
	if err != nil || key == "" || c.accepted(key) {
		return // an error is returned when the command runs
	}
	// The user answers the first question. The gate makes the question again right before the call
	// runs. If the command has changed by then, the user was not asked about it.
	if c.asked == "" {
		c.asked = key
	}
	ask.Effects = append(ask.Effects, gate.Effect{Text: "run " + gate.Spelled(c.text("command")) + q.Title, Risk: q.Risk})
	ask.Risk, ask.Untrusted, ask.Reason = q.Risk, q.Untrusted, q.Reason
}

// ToolRun returns the tool tool_run, which runs commands with r. If r is nil, the tool is listed as
// missing.
func ToolRun(r CommandRunner) Tool {
	gated := Gate(r)
	t := Tool{
		Tool: protocol.Tool{ID: "tool_run", Requires: requires(protocol.ShellRun, protocol.FSRead, protocol.FSWrite), Time: protocol.Permissive.Limits().Time,
			Description: "Runs a command with arguments and input. read and write list the files and folders it may use. The user may be shown its changes before they are made.",
			Parameters: `{"type":"object","properties":{"command":{"type":"string","minLength":1},"args":{"type":"array","items":{"type":"string"},"maxItems":1000},"stdin":{"type":"string"},
				"read":{"type":"array","items":{"type":"string"},"maxItems":100},"write":{"type":"array","items":{"type":"string"},"maxItems":100}},"required":["command"],"additionalProperties":false}`},
		Needs: func(_ context.Context, c *Call) ([]policy.Need, error) {
			var a runArgs
			if err := c.Bind(&a); err != nil {
				return nil, err
			}
			return a.needs(), nil
		},
		Preview: func(_ context.Context, c *Call) (string, string) {
			var a runArgs
			_ = c.Bind(&a)
			return a.line(), a.input()
		},
		also: func(ctx context.Context, c *Call, q *gate.Request) { alsoCommand(ctx, c, r, q) },
		Run: func(ctx context.Context, c *Call) (any, error) {
			runner, err := gated.Get(c.Permit, policy.Need{Capability: protocol.ShellRun, Subject: c.text("command")})
			if err != nil {
				return nil, err
			}
			return runCommand(ctx, c, runner)
		},
		Text: "output",
	}
	if r == nil {
		t.Missing = "there are no commands; give ToolRun a pool of workers"
	}
	return t
}

type runArgs struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
	Stdin   string   `json:"stdin"`
	Read    []string `json:"read"`
	Write   []string `json:"write"`
}

// line returns the command with its arguments for a question, such as: run grep -n "a b" x.txt.
// Different lists of arguments give different lines, and no argument looks like words of the
// question.
func (a *runArgs) line() string {
	line := "run " + gate.Spelled(a.Command)
	for _, arg := range a.Args {
		line += " " + gate.Spelled(arg)
	}
	return line
}

// input returns the command's standard input for a question.
func (a *runArgs) input() string {
	if a.Stdin == "" {
		return ""
	}
	return "input:\n" + strings.TrimSuffix(a.Stdin, "\n") + "\n"
}

func (a *runArgs) needs() []policy.Need {
	out := []policy.Need{{Capability: protocol.ShellRun, Subject: a.Command, Words: a.line()}}
	for _, p := range a.Read {
		out = append(out, policy.Need{Capability: protocol.FSRead, Subject: p, Tree: true, Filtered: true})
	}
	for _, p := range a.Write {
		out = append(out, policy.Need{Capability: protocol.FSWrite, Op: protocol.OpWrite, Subject: p, Tree: true})
	}
	return out
}

func runCommand(ctx context.Context, c *Call, r CommandRunner) (any, error) {
	var a runArgs
	if err := c.Bind(&a); err != nil {
		return nil, err
	}
	if !slices.Contains(r.Commands(), a.Command) {
		return nil, protocol.Errorf(protocol.ErrExecution, "tool_run", a.Command, "there is no such command; there are %s", strings.Join(r.Commands(), ", ")).WithReason(protocol.ReasonNotFound)
	}
	asked, err := askCommand(ctx, c, r, a.Command)
	if err != nil {
		return nil, err
	}
	view, changing, err := c.view(ctx, c.Permit, a.Read, a.Write)
	if err != nil {
		return nil, err
	}
	out, errs := &capped{most: 16 << 20}, &capped{most: 1 << 20}
	c.Partial(func() any {
		output, stderr := out.text(), errs.text()
		if output+stderr == "" {
			return nil
		}
		return map[string]any{"output": output, "stderr": stderr}
	})
	exit, err := r.RunCommand(ctx, Command{Name: a.Command, Args: a.Args, Stdin: strings.NewReader(a.Stdin), Stdout: out, Stderr: errs, FS: view, Changing: changing, Asked: true, AskedKey: asked})
	if err != nil {
		return nil, err
	}
	return map[string]any{"exit_code": float64(exit), "output": out.text(), "stderr": errs.text()}, nil
}

// capped keeps the first bytes that are written to it and drops the rest. The buffer is not
// embedded, because its other methods would bypass the limit.
type capped struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	most int
}

func (w *capped) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.ToValidUTF8(w.buf.String(), "\uFFFD")
}

func (w *capped) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if room := w.most - w.buf.Len(); room > 0 {
		w.buf.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}
