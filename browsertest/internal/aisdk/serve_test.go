package aisdk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/uistream"
)

// obedient is a model that does as the user's last message says, such as "write a.txt".
type obedient struct{}

func (obedient) Name() string { return "obedient" }
func (obedient) Local() bool  { return false }
func (obedient) Stream(ctx context.Context, r sandbox.ModelRequest) iter.Seq2[sandbox.ModelEvent, error] {
	return func(yield func(sandbox.ModelEvent, error) bool) {
		text, files, done := "", 0, false
		for _, m := range r.Messages {
			for _, p := range m.Parts {
				switch {
				case m.Role == sandbox.RoleUser && p.Type == sandbox.PartText:
					text, done = p.Text, false
				case p.Type == sandbox.PartFile:
					files += len(p.Files)
				case p.Type == sandbox.PartResult:
					done = true
				}
			}
		}
		do, what, _ := strings.Cut(text, " ")
		list := []sandbox.ModelEvent{say("so"), stop}
		switch {
		case done:
		case do == "say":
			list[0] = say(what)
		case do == "count":
			list[0] = say(fmt.Sprintf("%d messages, %d files", len(r.Messages), files))
		case do == "read":
			list[0] = call("r", "read", `{"path":"`+what+`"}`)
		case do == "write":
			list[0] = call("w", "write", `{"path":"`+what+`","content":"new text"}`)
		case do == "fail":
			yield(sandbox.ModelEvent{}, broken)
			return
		case do == "hold":
			yield(say("half"), nil)
			<-ctx.Done()
			return
		}
		for _, e := range list {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// The chats of AI SDK talk to a Handler: tools, questions, files, a stop, an edit, an error. The user's answers count, and
// AI SDK's own approvals don't.
func TestChatsOfAISDK(t *testing.T) {
	mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	must(t, mem.WriteFile("a.txt", []byte("six"), 0o644))
	p, err := policy.Parse(`{"capabilities": {"fs.read": ["."], "fs.write": ["."], "stream.send": true}, "rules": [{"permission": "fs.read", "action": "allow"}]}`, policy.Options{})
	must(t, err)
	for _, version := range []int{6, 7} {
		var mu sync.Mutex
		sessions := map[string]*sandbox.Session{}
		h := &uistream.Handler{Model: obedient{}, Version: version, Run: sandbox.RunOptions{Retries: -1}}
		h.Box, err = sandbox.New(sandbox.Options{FS: mem, Policy: p, Ask: h})
		must(t, err)
		h.Session = func(ctx context.Context, id string) (*sandbox.Session, error) {
			mu.Lock()
			defer mu.Unlock()
			if s := sessions[id]; s != nil {
				return s, nil
			}
			s, err := h.Box.NewSession(context.WithoutCancel(ctx), sandbox.SessionOptions{})
			if err == nil {
				sessions[id] = s
			}
			return s, err
		}
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, id, ok := strings.Cut(r.URL.Path, "/first-message/"); ok { // as a page that loads a stored conversation
				mu.Lock()
				defer mu.Unlock()
				_, _ = io.WriteString(w, sessions[id].Messages()[0].ID)
				return
			}
			h.ServeHTTP(w, r)
		}))
		text, err := exec.CommandContext(t.Context(), "node", "chat.mjs", fmt.Sprint(version), web.URL).Output()
		web.Close()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			t.Fatalf("node: %v\n%s", err, exit.Stderr)
		}
		must(t, err)
		got, want := map[string]any{}, map[string]any{}
		must(t, json.Unmarshal(text, &got))
		declined := "tool-write output-denied"
		if version == 6 {
			declined = "tool-write output-error"
		}
		must(t, json.Unmarshal([]byte(`{
			"conversation": ["ready", ["hello"], ["3 messages, 0 files"]], "edited": [4, ["3 messages, 0 files"]], "regenerated": [4, ["3 messages, 0 files"]],
			"tool": [["tool-read output-available", "so"], "six"],
			"question": ["write the new file yes-V.txt", ["write the new file yes-V.txt"], true, "low", true],
			"tooMany": 409, "noAnswer": 409, "answered": 204, "twice": 409, "agreed": ["tool-write output-available", "so"],
			"declined": ["DECLINED", "so"],
			"forgedId": 409, "forgedMessage": 400, "forged": ["so", []],
			"files": ["1 messages, 1 files"], "address": ["error", "{\"error\":\"a file must have a data: URL. The server loads no other address\"}\n"],
			"stopped": ["ready", ["half"]], "wentOn": [["on"], 409],
			"stored": [2, ["1 messages, 0 files"]], "failed": ["error", 1, true], "afterError": ["on"], "resumed": ["ready", 0]}`), &want))
		fixed, _ := json.Marshal(want)
		must(t, json.Unmarshal([]byte(strings.NewReplacer("-V.txt", fmt.Sprintf("-%d.txt", version), "DECLINED", declined).Replace(string(fixed))), &want))
		for key := range want {
			if !reflect.DeepEqual(got[key], want[key]) {
				g, _ := json.Marshal(got[key])
				w, _ := json.Marshal(want[key])
				t.Errorf("version %d: %s is %s, want %s", version, key, g, w)
			}
		}
		for name, there := range map[string]bool{"yes": true, "no": false, "forged": false, "stopped": false} {
			if _, err := fs.Stat(mem, fmt.Sprintf("%s-%d.txt", name, version)); (err == nil) != there {
				t.Errorf("version %d: %s is there: %v", version, name, err == nil)
			}
		}
		for _, s := range sessions {
			s.Close()
		}
	}
}
