package mcp_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/mcp"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// The files of the folder are resources, as far as the policy sends them.
func TestServesResources(t *testing.T) {
	gif := "GIF89a\x01\x00\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02L\x01\x00;"
	mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	for name, data := range map[string]string{"a b.md": "# text", "x.gif": gif, "hidden.txt": "unseen", "denied.txt": "unread", "long.txt": strings.Repeat("a line of text\n", 20_000)} {
		must(t, mem.WriteFile(name, []byte(data), 0o644))
	}
	p, err := policy.Parse(`{"capabilities": {"stream.send": true, "fs.read": ["."]}, "filesystem": {"denyRead": ["denied.txt"]}, "rules": [{"permission": "fs.read", "action": "allow"}], "send": {"nothing": ["hidden.txt"]}}`, policy.Options{})
	must(t, err)
	box, err := sandbox.New(sandbox.Options{FS: mem, Policy: p})
	must(t, err)
	s := connected(t, box, mcp.Options{Tools: []string{"read"}, Resources: []string{"a b.md", "x.gif"}})
	list, err := s.ListResources(t.Context(), nil)
	must(t, err)
	templates, err := s.ListResourceTemplates(t.Context(), nil)
	must(t, err)
	if len(list.Resources) != 2 || list.Resources[0].URI != "file:///a%20b.md" || len(templates.ResourceTemplates) != 1 {
		t.Errorf("%+v %+v", list.Resources, templates.ResourceTemplates)
	}
	read := func(uri string) (*sdk.ResourceContents, error) {
		res, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err != nil {
			return nil, err
		}
		return res.Contents[0], nil
	}
	if c, err := read("file:///a%20b.md"); err != nil || c.Text != "# text" {
		t.Errorf("%+v %v", c, err)
	}
	if c, err := read("file:///x.gif"); err != nil || c.MIMEType != "image/gif" || string(c.Blob) != gif {
		t.Errorf("%+v %v", c, err)
	}
	for uri, want := range map[string]string{"file:///denied.txt": "not allowed", "file:///hidden.txt": "", "file:///long.txt": "too long", "file:///none": "", "file:///..%2fx": "", "file:///../x": "", "file://host/a": "", "http://x/": ""} {
		if c, err := read(uri); err == nil && strings.Contains(c.Text, "un") || err != nil && !strings.Contains(err.Error(), want) || err == nil && want != "" {
			t.Errorf("%s: %+v %v", uri, c, err)
		}
	}
	for name, o := range map[string]mcp.Options{
		"without read":  {Tools: []string{"grep"}, Resources: []string{"x.gif"}},
		"outside":       {Tools: []string{"read"}, Resources: []string{"../x"}},
		"the folder":    {Tools: []string{"read"}, Resources: []string{"."}},
		"without skill": {Tools: []string{"read"}, Prompts: []sandbox.Skill{{Name: "x"}}},
	} {
		b, err := sandbox.New(sandbox.Options{FS: mem, Policy: p, Tools: slices.DeleteFunc(sandbox.Standard(), func(t sandbox.Tool) bool { return t.ID == "skill" })})
		must(t, err)
		if _, err := mcp.NewServer(b, o); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// Skills are prompts.
func TestServesPrompts(t *testing.T) {
	skill := sandbox.Skill{Name: "greet", Description: "Greets.", Content: "Greet $ARGUMENTS kindly.", Trusted: true, ArgumentHint: "[who]"}
	p, err := policy.Parse(`{"capabilities": {"stream.send": true}}`, policy.Options{})
	must(t, err)
	box, err := sandbox.New(sandbox.Options{Policy: p, Skills: []sandbox.Skill{skill}})
	must(t, err)
	s := connected(t, box, mcp.Options{Tools: []string{"todo"}, Prompts: []sandbox.Skill{skill}})
	list, err := s.ListPrompts(t.Context(), nil)
	must(t, err)
	if len(list.Prompts) != 1 || list.Prompts[0].Name != "greet" || list.Prompts[0].Arguments[0].Description != "[who]" {
		t.Errorf("%+v", list.Prompts)
	}
	got, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "greet", Arguments: map[string]string{"arguments": "Anna"}})
	must(t, err)
	if text, _ := got.Messages[0].Content.(*sdk.TextContent); text == nil || !strings.Contains(text.Text, "Greet Anna kindly.") {
		t.Errorf("%+v", got.Messages[0].Content)
	}
}

// A client that wants the progress of a call is notified. The lines may hold what the policy does not send, so
// only a client on this machine gets them.
func TestAttackProgressOfHiddenFiles(t *testing.T) {
	count := attack.Start(t, "sent")
	leaky := sandbox.Tool{Tool: protocol.Tool{ID: "leaky"}, Run: func(ctx context.Context, _ *sandbox.Call) (any, error) {
		sandbox.ReportProgress(ctx, "unseen")
		return args{"ok": true}, nil
	}}
	p, err := policy.Parse(`{"capabilities": {"stream.send": true}}`, policy.Options{})
	must(t, err)
	box, err := sandbox.New(sandbox.Options{Policy: p, Tools: []sandbox.Tool{leaky}})
	must(t, err)
	for _, local := range []bool{false, true} {
		server, err := mcp.NewServer(box, mcp.Options{Tools: []string{"leaky"}, Local: local})
		must(t, err)
		near, there := transports(t)
		served, err := server.Connect(t.Context(), there, nil)
		must(t, err)
		var mu sync.Mutex
		var heard []string
		s, err := sdk.NewClient(&sdk.Implementation{Name: "someone", Version: "1"}, &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, fmt.Sprint(r.Params.ProgressToken, r.Params.Progress, r.Params.Message))
		}}).Connect(t.Context(), near, nil)
		must(t, err)
		params := &sdk.CallToolParams{Name: "leaky"}
		params.SetProgressToken("p1")
		_, err = s.CallTool(t.Context(), params)
		must(t, err)
		_, err = s.CallTool(t.Context(), &sdk.CallToolParams{Name: "leaky"}) // wants none
		must(t, err)
		must(t, s.Close())
		_ = served.Wait()
		mu.Lock()
		if len(heard) != 1 || !strings.HasPrefix(heard[0], "p11") {
			t.Errorf("local %t: %q", local, heard)
		}
		seen := strings.Contains(fmt.Sprint(heard), "unseen")
		mu.Unlock()
		if local {
			count.Off("a line of a tool", seen)
		} else {
			count.Try("a line of a tool", seen)
		}
	}
}
