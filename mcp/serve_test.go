package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/mcp"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

type args = map[string]any

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// house returns a box with a file, served by the SDK to a client of the SDK.
func house(t *testing.T, o mcp.Options, asker sandbox.Asker) (*sdk.ClientSession, *fsaccess.Folder) {
	t.Helper()
	mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	must(t, mem.WriteFile("a.txt", []byte("content"), 0o644))
	must(t, mem.WriteFile("private", []byte("secret"), 0o644))
	p, err := policy.Parse(`{"capabilities": {"stream.send": true, "fs.read": ["."], "fs.write": ["."]}, "filesystem": {"denyRead": ["private"], "allowWrite": ["."]}, "rules": [{"permission": "fs.read", "action": "allow"}]}`, policy.Options{})
	must(t, err)
	box, err := sandbox.New(sandbox.Options{FS: mem, Policy: p, Ask: asker})
	must(t, err)
	return connected(t, box, o), mem
}

// connected returns a client of the SDK that is connected to a server for box.
func connected(t *testing.T, box *sandbox.Box, o mcp.Options) *sdk.ClientSession {
	t.Helper()
	server, err := mcp.NewServer(box, o)
	must(t, err)
	near, there := transports(t)
	served, err := server.Connect(t.Context(), there, nil)
	must(t, err)
	s, err := sdk.NewClient(&sdk.Implementation{Name: "someone", Version: "1"}, nil).Connect(t.Context(), near, nil)
	must(t, err)
	t.Cleanup(func() {
		must(t, s.Close())
		_ = served.Wait() // the client's Close ended it
	})
	return s
}

// The SDK's own options apply, except for those that Options sets itself.
func TestServesWithTheSDKsOptions(t *testing.T) {
	for _, c := range []struct{ ours, theirs, want string }{{"", "theirs", "theirs"}, {"ours", "theirs", "ours"}, {"ours", "", "ours"}} {
		s, _ := house(t, mcp.Options{Tools: []string{"read", "write"}, Instructions: c.ours, SDK: &sdk.ServerOptions{Instructions: c.theirs, PageSize: 1}}, nil)
		if got := s.InitializeResult().Instructions; got != c.want {
			t.Errorf("instructions %q of %q and %q", got, c.ours, c.theirs)
		}
		list, err := s.ListTools(t.Context(), nil)
		must(t, err)
		if len(list.Tools) != 1 || list.NextCursor == "" {
			t.Errorf("%d tools on a page of one", len(list.Tools))
		}
	}
}

func TestServesTheBox(t *testing.T) {
	no := sandboxtest.Script(sandbox.Reply{}, sandbox.Reply{Answer: policy.AnswerOnce})
	s, mem := house(t, mcp.Options{Tools: []string{"read", "write"}}, no)
	list, err := s.ListTools(t.Context(), nil)
	must(t, err)
	if len(list.Tools) != 2 {
		t.Errorf("%d tools are served", len(list.Tools))
	}
	call := func(tool string, a args) (string, bool) {
		res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: a})
		if err != nil {
			return err.Error(), true
		}
		text, _ := res.Content[0].(*sdk.TextContent)
		return text.Text, res.IsError
	}
	if text, bad := call("read", args{"path": "a.txt"}); bad || !strings.Contains(text, "content") {
		t.Error(text)
	}
	for name, c := range map[string]struct {
		tool string
		a    args
		want string
	}{
		"denied":     {"read", args{"path": "private"}, "not allowed"},
		"escape":     {"read", args{"path": "../x"}, "invalid parameters"},
		"schema":     {"read", args{"nope": 1}, "invalid parameters"},
		"prototype":  {"read", args{"path": "a.txt", "__proto__": 1}, "error "},
		"not served": {"delete", args{"path": "a.txt"}, "unknown tool"},
	} {
		if text, bad := call(c.tool, c.a); !bad || !strings.Contains(text, c.want) || strings.Contains(text, "secret") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if text, bad := call("write", args{"path": "b.txt", "content": "x"}); !bad || !strings.Contains(text, "not allowed (rejected)") {
		t.Errorf("the user declined: %s", text)
	}
	if _, err := mem.Stat("b.txt"); err == nil {
		t.Error("written after a no")
	}
	if text, bad := call("write", args{"path": "c.txt", "content": "x"}); bad {
		t.Errorf("the user agreed: %s", text)
	}
	if data, _ := mem.ReadFile("c.txt"); string(data) != "x" {
		t.Errorf("c.txt is %q", data)
	}
}

func TestOptions(t *testing.T) {
	box, err := sandbox.New(sandbox.Options{Policy: policy.AskBeforeChanges()})
	must(t, err)
	for name, o := range map[string]mcp.Options{"none": {}, "unknown": {Tools: []string{"nope"}}} {
		if _, err := mcp.NewServer(box, o); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// A client counts as a model on another machine: it receives the content that the policy sends,
// without credentials.
func TestServesWhatMayBeSent(t *testing.T) {
	key := "gh" + "p_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
	mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	must(t, mem.WriteFile("hidden.txt", []byte("unseen"), 0o644))
	must(t, mem.WriteFile("key.txt", []byte("a "+key+" b"), 0o644))
	must(t, mem.WriteFile("long.txt", []byte(strings.Repeat("a line of text\n", 20_000)), 0o644))
	p, err := policy.Parse(`{"capabilities": {"stream.send": true, "fs.read": ["."]}, "rules": [{"permission": "fs.read", "action": "allow"}], "send": {"nothing": ["hidden.txt"]}}`, policy.Options{})
	must(t, err)
	box, err := sandbox.New(sandbox.Options{FS: mem, Policy: p})
	must(t, err)
	for _, local := range []bool{false, true} {
		s := connected(t, box, mcp.Options{Tools: []string{"read"}, Local: local})
		read := func(path string) string {
			res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "read", Arguments: args{"path": path}})
			must(t, err)
			data, err := json.Marshal(res)
			must(t, err)
			return string(data)
		}
		if got := read("hidden.txt"); strings.Contains(got, "unseen") != local {
			t.Errorf("local %t: %s", local, got)
		}
		if got := read("key.txt"); strings.Contains(got, key) != local || strings.Contains(got, "kept back: github token") == local {
			t.Errorf("local %t: %s", local, got)
		}
		if got := read("long.txt"); !strings.Contains(got, `\"truncated\":true`) || len(got) > 500_000 {
			t.Errorf("local %t: %d bytes, not cut", local, len(got))
		}
	}
}

// A client receives the files of results as far as the policy sends them.
func TestServesFiles(t *testing.T) {
	gif := "GIF89a\x01\x00\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02L\x01\x00;"
	mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	must(t, mem.WriteFile("hidden.gif", []byte(gif), 0o644))
	must(t, mem.WriteFile("open.gif", []byte(gif), 0o644))
	p, err := policy.Parse(`{"capabilities": {"stream.send": true, "fs.read": ["."]}, "rules": [{"permission": "*", "action": "allow"}], "send": {"nothing": ["hidden.gif"]}}`, policy.Options{})
	must(t, err)
	made := sandbox.Tool{Tool: protocol.Tool{ID: "make"}, Run: func(_ context.Context, c *sandbox.Call) (any, error) {
		return args{"made": true}, errors.Join(c.AddFile(sandbox.File{MediaType: "audio/wav", Data: []byte("RIFF")}), c.AddFile(sandbox.File{Name: "a b.pdf", Data: []byte("%PDF-")}))
	}}
	box, err := sandbox.New(sandbox.Options{FS: mem, Policy: p, Tools: append(sandbox.Standard(), made)})
	must(t, err)
	for _, local := range []bool{false, true} {
		s := connected(t, box, mcp.Options{Tools: []string{"read", "make"}, Local: local})
		call := func(tool string, a args) []sdk.Content {
			res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: a})
			must(t, err)
			return res.Content
		}
		image := func(list []sdk.Content) bool {
			return slices.ContainsFunc(list, func(c sdk.Content) bool {
				m, ok := c.(*sdk.ImageContent)
				return ok && m.MIMEType == "image/gif" && string(m.Data) == gif
			})
		}
		if !image(call("read", args{"path": "open.gif"})) {
			t.Errorf("local %t: the image is not served", local)
		}
		if image(call("read", args{"path": "hidden.gif"})) != local {
			t.Errorf("local %t: the image that is not sent", local)
		}
		list := call("make", args{})
		audio, ok := list[1].(*sdk.AudioContent)
		if !ok || audio.MIMEType != "audio/wav" || string(audio.Data) != "RIFF" {
			t.Errorf("%+v", list[1])
		}
		file, ok := list[2].(*sdk.EmbeddedResource)
		if !ok || file.Resource.URI != "bailey://result/make/2/a%20b.pdf" || file.Resource.MIMEType != "application/pdf" || string(file.Resource.Blob) != "%PDF-" {
			t.Errorf("%+v", list[2])
		}
	}
}

// If the policy sends nothing to models, a client receives nothing.
func TestServesNothingUnlessItMayBeSent(t *testing.T) {
	mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	must(t, mem.WriteFile("a.txt", []byte("content"), 0o644))
	p, err := policy.Parse(`{"capabilities": {"fs.read": ["."]}, "rules": [{"permission": "fs.read", "action": "allow"}]}`, policy.Options{})
	must(t, err)
	box, err := sandbox.New(sandbox.Options{FS: mem, Policy: p})
	must(t, err)
	for _, local := range []bool{false, true} {
		s := connected(t, box, mcp.Options{Tools: []string{"read"}, Local: local})
		res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "read", Arguments: args{"path": "a.txt"}})
		must(t, err)
		if text, _ := res.Content[0].(*sdk.TextContent); res.IsError == local || strings.Contains(text.Text, "stream.send") == local {
			t.Errorf("local %t: %s", local, text.Text)
		}
	}
}

// If a client stops waiting for a call, the call is stopped. The next call works.
func TestServedCallsAreStopped(t *testing.T) {
	began, stopped := make(chan struct{}), make(chan struct{})
	stuck := sandbox.Tool{Tool: protocol.Tool{ID: "stuck", Requires: []protocol.Grant{{Capability: protocol.FSRead}}, Parameters: `{"type":"object"}`},
		Needs: func(context.Context, *sandbox.Call) ([]policy.Need, error) {
			return []policy.Need{{Capability: protocol.FSRead, Subject: "a"}}, nil
		},
		Run: func(ctx context.Context, _ *sandbox.Call) (any, error) {
			close(began)
			<-ctx.Done()
			close(stopped)
			return nil, ctx.Err()
		}}
	p, err := policy.Parse(`{"capabilities": {"stream.send": true, "fs.read": ["."]}, "rules": [{"permission": "fs.read", "action": "allow"}]}`, policy.Options{})
	must(t, err)
	box, err := sandbox.New(sandbox.Options{FS: fsaccess.NewMemory(fsaccess.MemoryOptions{}), Policy: p, Tools: append(sandbox.Standard(), stuck)})
	must(t, err)
	s := connected(t, box, mcp.Options{Tools: []string{"stuck", "todo"}})
	ctx, stop := context.WithCancel(t.Context())
	go func() { <-began; stop() }()
	if res, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "stuck"}); err == nil {
		t.Fatalf("answered: %+v", res.Content[0])
	}
	<-stopped
	list, err := s.ListTools(t.Context(), nil)
	must(t, err)
	if len(list.Tools) != 2 {
		t.Errorf("%d tools", len(list.Tools))
	}
}
