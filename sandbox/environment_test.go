package sandbox_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// noCode is an enclave that is never used.
type noCode struct{}

func (noCode) NeedsBrowser() bool { return true }

func (noCode) RunCode(context.Context, *protocol.Toolset, string, any) (*protocol.RunResult, error) {
	return nil, protocol.ErrExecution
}

// fetcher is a tool of the locked id and shape.
func fetcher() sandbox.Tool {
	return sandbox.Tool{Tool: protocol.Tool{ID: "web_fetch", Requires: []protocol.Grant{{Capability: protocol.NetFetch}},
		Parameters: `{"type":"object","properties":{"url":{"type":"string"}},"required":["url"],"additionalProperties":false}`},
		Run: func(context.Context, *sandbox.Call) (any, error) { return nil, nil }}
}

const everything = `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "code.run": true, "net.fetch": ["example.com"]}, "rules": [{"permission": "*", "action": "allow"}]}`

// One table has the availability of each tool, and the reason or the limitations.
func TestAvailability(t *testing.T) {
	h := build(t, parse(t, everything), sandboxtest.Always(policy.AnswerOnce), nil, func(o *sandbox.Options) {
		o.Environment = sandbox.Web
		o.Tools = append(sandbox.Standard(), sandbox.CodeRun(noCode{}), fetcher())
	})
	rows := map[string]sandbox.Availability{}
	for _, a := range h.AvailabilityTable() {
		key := a.Tool + " " + string(a.Environment)
		if _, twice := rows[key]; twice {
			t.Errorf("%s is there twice", key)
		}
		rows[key] = a
		if !a.Here && a.Reason == "" {
			t.Errorf("%s is not there, and nobody says why", key)
		}
	}
	for _, id := range append((&protocol.Toolset{}).Locked(), "code_run", "tool_run", "delete", "move", "mkdir", "diff", "undo") {
		for _, e := range []sandbox.Environment{sandbox.Web, sandbox.Cloud, sandbox.Computer} {
			if _, ok := rows[id+" "+string(e)]; !ok {
				t.Errorf("%s in %s is not told of", id, e)
			}
		}
	}
	for key, want := range map[string]string{
		"read web": "yes the folder the page has", "read cloud": "yes goes with it", "read computer": "yes",
		"undo computer": "yes", "todo web": "yes", "task cloud": "yes",
		"web_fetch web": "yes CORS", "web_fetch cloud": "yes", "web_fetch computer": "yes",
		"code_run web": "yes", "code_run cloud": "no no browser", "code_run computer": "no no browser",
		"bash web": "no not given", "web_search computer": "no not given", "question web": "no nobody is there",
	} {
		here, reason, _ := strings.Cut(want, " ")
		a := rows[key]
		if a.Here != (here == "yes") || (reason == "") != (a.Reason == "") || !strings.Contains(a.Reason, reason) {
			t.Errorf("%s: %+v, want %s", key, a, want)
		}
	}
	elsewhere := build(t, parse(t, everything), nil, nil, func(o *sandbox.Options) {
		o.Tools = []sandbox.Tool{sandbox.CodeRun(struct{ sandbox.CodeRunner }{noCode{}})}
	})
	for _, a := range elsewhere.AvailabilityTable() {
		if a.Tool == "code_run" && !a.Here {
			t.Errorf("a runner that needs no browser: %+v", a)
		}
	}
	var here sandbox.AvailabilityTable
	for _, a := range h.AvailabilityTable() {
		if a.Environment == sandbox.Web {
			here = append(here, a)
		}
	}
	if fmt.Sprint(h.Available()) != fmt.Sprint(here) {
		t.Errorf("what is available here is another table:\n%v\n%v", h.Available(), here)
	}
}

// A tool without a grant, or without a folder, is available nowhere.
func TestAvailabilityByPolicyAndFolder(t *testing.T) {
	h := build(t, parse(t, `{"capabilities": {"fs.read": ["."]}}`), nil, nil)
	for _, a := range h.AvailabilityTable() {
		if denied := a.Tool == "write" || a.Tool == "edit" || a.Tool == "delete"; denied && (a.Here || !strings.Contains(a.Reason, "does not grant fs.write")) {
			t.Errorf("%+v", a)
		}
	}
	b, err := sandbox.New(sandbox.Options{Policy: parse(t, everything)})
	must(t, err)
	for _, a := range b.AvailabilityTable() {
		if a.Tool == "read" && (a.Here || a.Reason != "there is no folder") {
			t.Errorf("%+v", a)
		}
	}
	b, err = sandbox.New(sandbox.Options{Policy: parse(t, everything), FS: h.mem})
	must(t, err)
	for _, a := range b.AvailabilityTable() {
		if a.Tool == "undo" && (a.Here || a.Reason != "the folder keeps no journal") || a.Tool == "read" && !a.Here {
			t.Errorf("%+v", a)
		}
	}
	if _, err := sandbox.New(sandbox.Options{Environment: "moon"}); err == nil || !strings.Contains(err.Error(), "web, cloud or computer") {
		t.Errorf("on the moon: %v", err)
	}
}

func TestAvailabilityIsATable(t *testing.T) {
	d := sandbox.AvailabilityTable{{Tool: "read", Environment: sandbox.Web, Here: true}, {Tool: "x_long_name", Environment: sandbox.Computer, Reason: "a reason\nread  web  yes\tfaked"}}
	const want = "tool         environment  here  reason\n" +
		"read         web          yes\n" +
		"x_long_name  computer     no    a reason read  web  yes faked\n"
	if got := d.String(); got != want {
		t.Errorf("%q\nwant\n%q", got, want)
	}
	h := build(t, parse(t, everything), nil, nil)
	if lines := strings.Split(strings.TrimSpace(fmt.Sprint(h.AvailabilityTable())), "\n"); len(lines) != 1+len(h.AvailabilityTable()) {
		t.Errorf("%d lines for %d rows", len(lines), len(h.AvailabilityTable()))
	}
}
