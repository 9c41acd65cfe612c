package enclave_test

import (
	"context"
	"fmt"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/enclave"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// This example runs the model's code in an enclave. The policy sets the enclave's level and limits.
// Each tool that the code calls is decided like a call by the model.
func ExampleNew() {
	folder := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	_ = folder.WriteFile("hours.csv", []byte("day,hours\nSunday,3\n"), 0o644)
	p, err := policy.Parse(`{
		"capabilities": {"fs.read": ["hours.csv"], "code.run": true},
		"rules": [{"permission": "*", "action": "allow"}]
	}`, policy.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	runner := enclave.New(p, iframe.EnclaveOptions{})
	defer runner.Close()
	box, err := sandbox.New(sandbox.Options{FS: folder, Policy: p, Tools: append(sandbox.Standard(), sandbox.CodeRun(runner))})
	if err != nil {
		fmt.Println(err)
		return
	}
	res := box.Call(context.Background(), "code_run", map[string]any{"code": `
		const { content } = await callTool("read", { path: "hours.csv" });
		const refused = await callTool("delete", { path: "hours.csv" }).catch((e) => e.code);
		return [content.includes("Sunday"), refused];`})
	if err := res.Err(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Data.(map[string]any)["value"])
	// Output: [true CAPABILITY_DENIED]
}
