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
