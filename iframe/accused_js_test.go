package iframe

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/protocol"
)

// Code within its limits is never reported as an attack, even if it sends many messages at
// once.
func TestAttackAccusesHonestCode(t *testing.T) {
	count := attack.Start(t, "B7")
	tools := toolset(t, protocol.Tool{ID: "echo", Parameters: anything, Execute: func(_ context.Context, args any) (any, error) { return args, nil }})
	e := testEnclave(t, EnclaveOptions{Level: protocol.Permissive, Tools: tools})
	off := testEnclave(t, EnclaveOptions{Level: protocol.Permissive, Tools: tools, off: []frame.Layer{frame.LayerBatches}})
	for _, c := range []struct {
		name, code string
		rows       int // minimum. Errors after the result are not shown
	}{
		{"9,000 errors in timers", `for (let i = 0; i < 9000; i++) setTimeout(() => { throw new Error("x") }, 0); await sleep(200)`, 1025},
		{"1,025 errors in timers", `for (let i = 0; i < 1025; i++) setTimeout(() => { throw new Error("x") }, 0); await sleep(200)`, 0},
		{"3,000 errors in microtasks", `for (let i = 0; i < 3000; i++) queueMicrotask(() => { throw new Error("x") }); await sleep(200)`, 0},
		{"rejections nobody takes", `for (let i = 0; i < 3000; i++) Promise.reject(new Error("x")); await sleep(100)`, 0},
		{"rows and errors by turns", `for (let i = 0; i < 3000; i++) setTimeout(() => { console.log(i); throw new Error("x") }, 0); await sleep(200)`, 0},
		{"rows without a turn", `for (let i = 0; i < 9999; i++) console.log(i)`, 9999},
		{"errors and calls", `for (let i = 0; i < 1000; i++) setTimeout(() => { throw new Error("x") }, 0); for (let i = 0; i < 20; i++) await callTool("echo", { i }); await sleep(200)`, 0},
		{"rows and a hundred calls at once", `for (let i = 0; i < 900; i++) console.log(i); await Promise.allSettled(Array.from({ length: 100 }, (_, i) => callTool("echo", { i }))); for (let i = 0; i < 900; i++) console.log(i)`, 1800},
		{"rows of three bytes a letter", `for (let i = 0; i < 9; i++) console.log("\u4e2d".repeat(3e5))`, 9},
		{"an error and the result in one turn", `setTimeout(() => { throw new Error("x") }, 0); await sleep(0); return "done"`, 0},
		{"errors with texts of 1,000", `for (let i = 0; i < 2000; i++) setTimeout(() => { throw new Error("y".repeat(1000)) }, 0); await sleep(200)`, 0},
		{"a result behind many rows", `for (let i = 0; i < 199; i++) console.log(i); return "x".repeat(1e6)`, 199},
	} {
		res, err := e.Run(testContext(t), c.code, RunOptions{})
		count.Try(c.name+": "+errorText(err), errors.Is(err, protocol.ErrSecurityViolation))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if len(res.Console) < c.rows {
			t.Errorf("%s: %d rows, want at least %d", c.name, len(res.Console), c.rows)
		}
		_, err = off.Run(testContext(t), c.code, RunOptions{})
		count.Off(c.name, errors.Is(err, protocol.ErrSecurityViolation))
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// The message of a syntax error contains no text of a script that the code didn't write.
func TestSyntaxErrorsKeepTheNonce(t *testing.T) {
	for _, warm := range []bool{false, true} {
		e := testEnclave(t, EnclaveOptions{Warm: warm})
		for _, code := range []string{
			`} } x: { async function y() {`,
			`}} {{ async function y() {`,
			`}; break n; } }); (function () { n: { return async function () {`,
			`}}}); (function () {{{`,
			`} }; } ); { async function y() { {`,
			`break x;`,
			`let = ;`,
			`#`,
		} {
			res, err := e.Run(testContext(t), code, RunOptions{})
			if err == nil {
				t.Errorf("%q ran", code)
				continue
			}
			for word := range strings.FieldsFuncSeq(err.Error()+" "+res.Error.Stack, func(r rune) bool {
				return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
			}) {
				if len(word) >= 20 && strings.ContainsAny(word, "0123456789") {
					t.Errorf("%q: the message has %q: %v", code, word, err)
				}
			}
		}
		e.Close()
	}
}
