package enclave_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/internal/jsx/jsxtest"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/enclave"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

func TestMain(m *testing.M) { jsxtest.Main(m) }

// Real JavaScript in a real enclave, whose tools pass the gate.
func TestCodeCallsToolsThroughTheGate(t *testing.T) {
	p, err := policy.Parse(`{"capabilities": {"fs.read": ["."], "fs.write": ["."], "code.run": true}, "filesystem": {"denyRead": ["private"], "allowWrite": ["."]},
		"rules": [{"permission": "fs.read", "action": "allow"}, {"permission": "code.run", "action": "allow"}], "enclave": {"level": "SECURE"}}`, policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	_ = mem.WriteFile("a.txt", []byte("6"), 0o644)
	_ = mem.WriteFile("private", []byte("secret"), 0o644)
	asker := sandboxtest.Script(sandbox.Reply{Answer: policy.AnswerOnce})
	r := enclave.New(p, iframe.EnclaveOptions{})
	defer r.Close()
	box, err := sandbox.New(sandbox.Options{FS: mem, Policy: p, Ask: asker, Tools: append(sandbox.Standard(), sandbox.CodeRun(r))})
	if err != nil {
		t.Fatal(err)
	}
	res := box.Call(context.Background(), "code_run", map[string]any{"code": `
		const six = Number((await callTool("read", {path: "a.txt"})).content);
		await callTool("write", {path: "b.txt", content: String(six * 7)});
		const out = [six * 7];
		for (const [tool, args] of [["read", {path: "private"}], ["write", {path: "c.txt", content: "x"}], ["code_run", {code: "return 1"}]]) {
			try { out.push(await callTool(tool, args)); } catch (e) { out.push(e.code ?? e.message); }
		}
		console.log("done");
		return out;`})
	if err := res.Err(); err != nil {
		t.Fatal(err)
	}
	m, _ := res.Data.(map[string]any)
	if got := fmt.Sprint(m["value"]); !strings.HasPrefix(got, "[42 ") || strings.Contains(got, "secret") || strings.Count(got, "CAPABILITY_DENIED") != 2 {
		t.Errorf("%v", m)
	}
	if data, _ := mem.ReadFile("b.txt"); string(data) != "42" {
		t.Errorf("b.txt is %q", data)
	}
	if _, err := mem.Stat("c.txt"); err == nil {
		t.Error("c.txt was written after a no")
	}
	if n := len(asker.Prompts()); n != 2 {
		t.Errorf("%d prompts", n)
	}
}

// Code with the names of Casys PML calls the same tools, through the same gate.
func TestCodeWithTheNamesOfPML(t *testing.T) {
	p, err := policy.Parse(`{"capabilities": {"fs.read": ["."], "fs.write": ["."], "code.run": true}, "filesystem": {"denyRead": ["private"], "allowWrite": ["."]},
		"rules": [{"permission": "fs.read", "action": "allow"}, {"permission": "code.run", "action": "allow"}]}`, policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	_ = mem.WriteFile("a.txt", []byte("6"), 0o644)
	_ = mem.WriteFile("private", []byte("secret"), 0o644)
	asker := sandboxtest.Script(sandbox.Reply{Answer: policy.AnswerOnce})
	r := enclave.New(p, iframe.EnclaveOptions{})
	defer r.Close()
	box, err := sandbox.New(sandbox.Options{FS: mem, Policy: p, Ask: asker, Tools: append(sandbox.Standard(), sandbox.CodeRun(r))})
	if err != nil {
		t.Fatal(err)
	}
	res := box.Call(t.Context(), "code_run", map[string]any{"code": `
		const {content} = await mcp.filesystem.read_file({path: "a.txt"});
		await mcp.filesystem.write_file({path: "b.txt", content: String(Number(content) * 7)});
		const out = [];
		for (const f of [() => mcp.filesystem.read_file({path: "private"}), () => mcp.filesystem.write_file({path: "c.txt", content: "x"})]) {
			try { out.push(await f()) } catch (e) { out.push(e.code ?? e.message) }
		}
		return [...out, typeof mcp.fetch, typeof mcp.shell];`})
	if err := res.Err(); err != nil {
		t.Fatal(err)
	}
	m, _ := res.Data.(map[string]any)
	if got := fmt.Sprint(m["value"]); got != "[CAPABILITY_DENIED CAPABILITY_DENIED undefined undefined]" {
		t.Errorf("%v", m)
	}
	if data, _ := mem.ReadFile("b.txt"); string(data) != "42" {
		t.Errorf("b.txt is %q", data)
	}
	if n := len(asker.Prompts()); n != 2 {
		t.Errorf("%d prompts", n)
	}
}

// Messages of Casys PML run code whose calls pass the gate of a box.
func TestPML(t *testing.T) {
	p, err := policy.Parse(`{"capabilities": {"fs.read": ["."], "fs.write": ["."], "stream.send": true}, "filesystem": {"denyRead": ["private"], "allowWrite": ["."]},
		"rules": [{"permission": "fs.read", "action": "allow"}]}`, policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	_ = mem.WriteFile("a.txt", []byte("6"), 0o644)
	_ = mem.WriteFile("private", []byte("secret"), 0o644)
	asker := sandboxtest.Script(sandbox.Reply{Answer: policy.AnswerOnce})
	box, err := sandbox.New(sandbox.Options{FS: mem, Policy: p, Ask: asker})
	if err != nil {
		t.Fatal(err)
	}
	r := enclave.New(p, iframe.EnclaveOptions{})
	defer r.Close()
	var sent []string
	bridge := func(ctx context.Context, call string) (string, error) {
		sent = append(sent, call)
		return box.AnswerPML(ctx, call, true), nil
	}
	const tools = `"toolDefinitions":[{"server":"filesystem","name":"read_file","description":"","inputSchema":{}},{"server":"filesystem","name":"write_file","description":"","inputSchema":{}},{"server":"other","name":"x","description":"","inputSchema":{}}]`
	run := func(code, more string, bridge func(context.Context, string) (string, error)) string {
		text, _ := protocol.EncodeJSON(code, protocol.JSONLimits{})
		return r.RunPML(t.Context(), `{"type":"init","code":`+text+`,`+tools+more+`}`, bridge)
	}
	const catch = `const code = async (f) => { try { return await f() } catch (e) { return e.code } }; `
	for _, c := range []struct{ name, code, more, want string }{
		{"a value", `return x * 7`, `,"context":{"x":6}`, `{"result":42,"success":true,"type":"execution_complete"}`},
		{"inline code", `return f(2)`, `,"capabilityContext":"const f = (n) => n + 1; // a comment"`, `{"result":3,"success":true,"type":"execution_complete"}`},
		{"a call", `return (await mcp.filesystem.read_file({path: "a.txt"})).content`, ``, `{"result":"6","success":true,"type":"execution_complete"}`},
		{"a denied call", catch + `return code(() => mcp.filesystem.read_file({path: "private"}))`, ``, `{"result":"CAPABILITY_DENIED","success":true,"type":"execution_complete"}`},
		{"a call, agreed", `await mcp.filesystem.write_file({path: "b.txt", content: "7"}); return 1`, ``, `{"result":1,"success":true,"type":"execution_complete"}`},
		{"a call, declined", catch + `return code(() => mcp.filesystem.write_file({path: "c.txt", content: "7"}))`, ``, `{"result":"CAPABILITY_DENIED","success":true,"type":"execution_complete"}`},
		{"a tool of nobody", catch + `return code(() => mcp.other.x({}))`, ``, `{"result":"EXECUTION_ERROR","success":true,"type":"execution_complete"}`}, // PML has no name for it
		{"a tool that the message does not name", catch + `return [typeof mcp.shell, await code(() => callTool("bash", {command: "ls"}))]`, ``, `{"result":["undefined","TOOL_NOT_FOUND"],"success":true,"type":"execution_complete"}`},
		{"an error", `throw new Error("no paper")`, ``, `{"error":"RuntimeError: no paper","success":false,"type":"execution_complete"}`},
		{"a name of the context that is code", `return 1`, `,"context":{"a}=args;await callTool('x');const {b":1}`, `SyntaxError: `},
		{"an unknown key", `return 1`, `,"permissions":["all"]`, `SecurityError: `},
	} {
		if got := run(c.code, c.more, bridge); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
	if data, _ := mem.ReadFile("b.txt"); string(data) != "7" {
		t.Errorf("b.txt is %q", data)
	}
	if _, err := mem.Stat("c.txt"); err == nil {
		t.Error("c.txt was written after a no")
	}
	if len(asker.Prompts()) != 2 || len(sent) != 5 {
		t.Errorf("%d questions, %d calls: %q", len(asker.Prompts()), len(sent), sent)
	}
	// A bridge that answers another call, or in another form.
	for _, c := range []struct{ answer, want string }{
		{`{"type":"rpc_result","id":"another","success":true,"result":1}`, "SECURITY_VIOLATION"},
		{`{"type":"rpc_result","id":"another","success":true,"result":1,"then":1}`, "SECURITY_VIOLATION"},
		{`no JSON`, "INVALID_PARAMS"},
	} {
		got := run(catch+`return code(() => mcp.filesystem.read_file({path: "a.txt"}))`, "", func(context.Context, string) (string, error) { return c.answer, nil })
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.answer, got)
		}
	}
}

// The user has longer for a question of the code than the code and its calls have themselves.
func TestQuestionOfTheCodeStays(t *testing.T) {
	p, err := policy.Parse(`{"capabilities": {"fs.write": ["."], "code.run": true}, "filesystem": {"allowWrite": ["."]},
		"rules": [{"permission": "fs.write", "action": "ask"}, {"permission": "code.run", "action": "allow"}]}`, policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var res sandbox.ToolResult
	// On a busy machine the shortest limits are over before the code asks.
	for limit := 300 * time.Millisecond; limit < time.Minute; limit *= 5 {
		p.Limits.Time, p.Limits.ToolTime = limit, limit
		r := enclave.New(p, iframe.EnclaveOptions{})
		box, err := sandbox.New(sandbox.Options{FS: fsaccess.NewMemory(fsaccess.MemoryOptions{}), Policy: p, Tools: append(sandbox.Standard(), sandbox.CodeRun(r)),
			Ask: sandbox.AskFunc(func(ctx context.Context, p sandbox.Prompt) ([]sandbox.Reply, error) {
				select {
				case <-ctx.Done():
				case <-time.After(2 * limit): // all limits are over by then
				}
				return []sandbox.Reply{{Answer: policy.AnswerOnce}}, nil
			})})
		if err != nil {
			t.Fatal(err)
		}
		res = box.Call(context.Background(), "code_run", map[string]any{"code": `return (await callTool("write", {path: "a.txt", content: "x"})).path`})
		_ = r.Close()
		if m, _ := res.Data.(map[string]any); m["success"] == true {
			return
		}
	}
	t.Errorf("%+v", res)
}

// The code of a dry run uses the copy, even if the same runner ran code of the real box before.
func TestCodeOfAPlanStaysInTheCopy(t *testing.T) {
	p, err := policy.Parse(`{"capabilities": {"fs.read": ["."], "fs.write": ["."], "code.run": true}, "filesystem": {"allowWrite": ["."]},
		"rules": [{"permission": "fs.read", "action": "allow"}, {"permission": "fs.write", "action": "allow"}, {"permission": "code.run", "action": "allow"}], "enclave": {"level": "SECURE"}}`, policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	r := enclave.New(p, iframe.EnclaveOptions{})
	defer r.Close()
	box, err := sandbox.New(sandbox.Options{FS: mem, Policy: p, Tools: append(sandbox.Standard(), sandbox.CodeRun(r))})
	if err != nil {
		t.Fatal(err)
	}
	write := func(b *sandbox.Box, name string) {
		t.Helper()
		res := b.Call(ctx, "code_run", map[string]any{"code": `await callTool("write", {path: args, content: "x"}); return 1`, "args": name})
		m, _ := res.Data.(map[string]any)
		if err := res.Err(); err != nil || m["error"] != nil {
			t.Fatal(err, m)
		}
	}
	write(box, "real.txt")
	plan, err := box.Plan(ctx)
	if err != nil {
		t.Fatal(err)
	}
	write(plan.Box, "planned.txt")
	if _, err := mem.Stat("real.txt"); err != nil {
		t.Error(err)
	}
	if _, err := mem.Stat("planned.txt"); err == nil {
		t.Error("a dry run wrote to the real folder")
	}
	if list, err := plan.Changes(ctx); err != nil || len(list) != 1 || list[0].Path != "planned.txt" {
		t.Errorf("%v %v", list, err)
	}
}
