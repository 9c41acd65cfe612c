package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/sandbox"
)

func said(role sandbox.Role, parts ...sandbox.ModelPart) sandbox.ModelMessage {
	return sandbox.ModelMessage{Role: role, Parts: parts}
}

var withTools = sandbox.ModelRequest{System: "be brief", Tools: []sandbox.ModelTool{{Name: "a.read", Description: "Reads.", Parameters: json.RawMessage(`{"type":"object"}`)}},
	Messages: []sandbox.ModelMessage{
		said(sandbox.RoleUser, sandbox.ModelPart{Type: sandbox.PartText, Text: "what is in x?"}),
		said(sandbox.RoleAssistant, sandbox.ModelPart{Type: sandbox.PartText, Text: "let me look"}, sandbox.ModelPart{Type: sandbox.PartReasoning, Text: "hm"}, sandbox.ModelPart{Type: sandbox.PartCall, Tool: "a.read", Args: json.RawMessage(`{"path":"x"}`)}),
		said(sandbox.RoleUser, sandbox.ModelPart{Type: sandbox.PartResult, Tool: "a.read", Text: "gone", Failed: true}),
	}}

func TestPromptRequest(t *testing.T) {
	req := newPromptRequest(withTools, newNames(withTools), isImage)
	if len(req.before) != 3 || req.ask != "Error of a_read:\ngone" {
		t.Fatalf("%+v", req)
	}
	if s := req.before[0]; s.Role != "system" || !strings.HasPrefix(s.Content, "be brief\n\n") || !strings.HasSuffix(s.Content, "\n- a_read: Reads. Arguments: {\"type\":\"object\"}") {
		t.Errorf("%+v", s)
	}
	if a := req.before[2]; a.Role != "assistant" || a.Content != `{"args":{"path":"x"},"text":"let me look","tool":"a_read"}` {
		t.Errorf("%+v", a)
	}
	schema, _ := json.Marshal(req.schema)
	if !strings.Contains(string(schema), `"enum":["a_read"]`) {
		t.Errorf("%s", schema)
	}
	plain := newPromptRequest(sandbox.ModelRequest{Messages: []sandbox.ModelMessage{said(sandbox.RoleAssistant, sandbox.ModelPart{Type: sandbox.PartText, Text: "hi"})}}, names{}, isImage)
	if plain.schema != nil || plain.ask != "Go on." || fmt.Sprint(plain.before) != "[{assistant hi []}]" || plain.images {
		t.Errorf("%+v", plain)
	}
}

// The browser's model receives images, or a line in place of each file.
func TestPromptFiles(t *testing.T) {
	image := []sandbox.File{{Name: "a.png", MediaType: "image/png", Data: []byte("PNG")}}
	r := sandbox.ModelRequest{Messages: []sandbox.ModelMessage{
		said(sandbox.RoleUser, sandbox.ModelPart{Type: sandbox.PartFile, Files: image}, sandbox.ModelPart{Type: sandbox.PartText, Text: "look"}),
		said(sandbox.RoleAssistant, sandbox.ModelPart{Type: sandbox.PartCall, Tool: "read"}),
		said(sandbox.RoleUser, sandbox.ModelPart{Type: sandbox.PartResult, Tool: "read", Text: "{}", Files: image})}}
	n := names{map[string]string{}, map[string]string{}}
	req := newPromptRequest(r, n, isImage)
	if !req.images || req.before[0].Content != "look" || len(req.before[0].Images) != 1 || req.ask != "Result of read:\n{}" || len(req.shown) != 1 {
		t.Errorf("%+v", req)
	}
	req = newPromptRequest(r, n, noFiles)
	const line = "[image: a.png, image/png, 3 bytes] (you can't see it: files of this type are not sent to you)"
	if req.images || req.shown != nil || req.before[0].Content != line+"\nlook" || req.ask != "Result of read:\n{}\n"+line {
		t.Errorf("%+v", req)
	}
}

func TestPromptAnswersUnderTheSchema(t *testing.T) {
	ids := map[string]bool{}
	for text, want := range map[string]string{
		`{"text":"hi"}`: "text hi finish stop",
		`{"text":"","tool":"a_read","args":{"path":"x"}}`: `call-start a.read call a.read {"path":"x"} finish tool-calls`,
		`{"text":"one","tool":"a_read"}`:                  "text one call-start a.read call a.read {} finish tool-calls",
		`{"text":"x","tool":"other"}`:                     "text x call-start other call other {} finish tool-calls", // the box says that there is none
		`not JSON`:                                        "error",
	} {
		var got []string
		s := &sink{yield: func(e sandbox.ModelEvent, _ error) bool {
			if e.CallID != "" && e.Type == sandbox.PartCallStart {
				if ids[e.CallID] {
					t.Errorf("%s: %s is the id of another call", text, e.CallID)
				}
				ids[e.CallID] = true
			}
			got = append(got, strings.TrimSpace(string(e.Type)+" "+e.Tool+e.Text+" "+string(e.Args)))
			return true
		}}
		reason, err := structured(text, newNames(withTools), s)
		got = append(got, "finish "+reason)
		if err != nil {
			got = []string{"error"}
		}
		if all := strings.Join(got, " "); all != want {
			t.Errorf("%s: %s, want %s", text, all, want)
		}
	}
}

// Each state in which the model can't be used has an error of its own.
func TestPromptStates(t *testing.T) {
	for state, want := range map[string]string{promptMissing: "LanguageModel", promptUnavailable: "device", promptDownloadable: "Download", promptDownloading: "Download", "odd": `"odd"`, promptAvailable: ""} {
		err := (&PromptAPI{}).usable(state)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", state, err)
		}
	}
	if err := (&PromptAPI{Download: true}).usable(promptDownloadable); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"QuotaExceededError", "NotAllowedError", "NotSupportedError", "NotReadableError", "OtherError"} {
		var me *sandbox.ModelError
		if err := promptFailed(context.Background(), name, false, errors.New("x")); !errors.As(err, &me) || me.Retry != (name == "OtherError") || me.TooLong != (name == "QuotaExceededError") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if m := sandbox.Model(&PromptAPI{}); m.(interface{ ContextTokens() int }).ContextTokens() != defaultPromptContext {
		t.Error("a window that is not known")
	}
	if !(&PromptAPI{}).Local() {
		t.Error("it is on this machine")
	}
}
