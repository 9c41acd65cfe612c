package main

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/bailey-go/bailey/sandbox"
)

func TestMessages(t *testing.T) {
	part := func(id, kind string, data map[string]any) sandbox.PartRecord {
		return sandbox.PartRecord{ID: id, Type: kind, Data: data}
	}
	call := func(id string, state sandbox.ToolState, data map[string]any) sandbox.PartRecord {
		p := part(id, "tool-x", data)
		p.ToolCallID, p.ToolState = "call-"+id, state
		return p
	}
	message := func(id string, role sandbox.Role, parts ...sandbox.PartRecord) sandbox.Message {
		return sandbox.Message{MessageRecord: sandbox.MessageRecord{ID: id, Role: role}, Parts: parts}
	}
	counted := message("3", sandbox.RoleAssistant, part("r", "reasoning", map[string]any{"text": "hm"}), part("e", "text", map[string]any{"text": ""}),
		call("a", sandbox.ToolOutputAvailable, map[string]any{"tool": "x", "input": map[string]any{}, "output": 1.0}))
	counted.Metadata.Usage = map[string]any{"input": 10.0, "output": 5.0}
	more := message("4", sandbox.RoleAssistant, part("t", "text", map[string]any{"text": "done"}), part("f", "file", map[string]any{"name": "gone"}),
		part("s", "source-url", map[string]any{"url": "https://example.org/", "title": "E"}), part("d", "source-document", map[string]any{"title": "D", "media_type": "text/plain"}),
		part("c", "data-compaction", map[string]any{"summary": "s"}), part("u", "unknown", nil))
	more.Metadata.Usage = map[string]any{"input": 20.0, "output": 1.0}
	for _, c := range []struct {
		name string
		list []sandbox.Message
		want string
	}{
		{"none", nil, `[]`},
		{"a file and a text", []sandbox.Message{message("1", sandbox.RoleUser, part("f", "file", map[string]any{}), part("t", "text", map[string]any{"text": "hi"}))},
			`[{"id":"1","parts":[{"filename":"a.txt","mediaType":"text/plain","type":"file","url":"data:text/plain;base64,QQ=="},{"state":"done","text":"hi","type":"text"}],"role":"user"}]`},
		{"the answers of a run are one message", []sandbox.Message{counted, more, message("5", sandbox.RoleUser), message("6", sandbox.RoleAssistant)},
			`[{"id":"3","metadata":{"usage":{"input":30,"output":6}},"parts":[{"type":"step-start"},{"state":"done","text":"hm","type":"reasoning"},{"input":{},"output":1,"state":"output-available","toolCallId":"call-a","type":"tool-x"},` +
				`{"type":"step-start"},{"state":"done","text":"done","type":"text"},{"sourceId":"s","title":"E","type":"source-url","url":"https://example.org/"},{"mediaType":"text/plain","sourceId":"d","title":"D","type":"source-document"},` +
				`{"data":{"summary":"s"},"id":"c","type":"data-compaction"}],"role":"assistant"},{"id":"5","parts":[],"role":"user"},{"id":"6","parts":[{"type":"step-start"}],"role":"assistant"}]`},
		{"calls that failed", []sandbox.Message{message("1", sandbox.RoleAssistant, call("a", sandbox.ToolOutputError, map[string]any{"tool": "x", "input": "{", "error": "no JSON"}),
			call("b", sandbox.ToolOutputError, map[string]any{"tool": "x", "input": nil, "error": "you declined", "reason": "rejected"}), call("c", sandbox.ToolInputAvailable, map[string]any{"tool": "x"}))},
			`[{"id":"1","parts":[{"type":"step-start"},{"errorText":"no JSON","input":"{","state":"output-error","toolCallId":"call-a","type":"tool-x"},` +
				`{"approval":{"approved":false,"id":"ask-call-b","reason":"you declined"},"input":null,"state":"output-denied","toolCallId":"call-b","type":"tool-x"},` +
				`{"input":null,"state":"input-available","toolCallId":"call-c","type":"tool-x"}],"role":"assistant"}]`},
	} {
		got, err := json.Marshal(messages(c.list, func(p sandbox.PartRecord) []sandbox.File {
			if d, _ := p.Data.(map[string]any); d["name"] == "gone" {
				return nil
			}
			return []sandbox.File{{Name: "a.txt", MediaType: "text/plain", Data: []byte("A")}}
		}))
		if err != nil || string(got) != c.want {
			t.Errorf("%s:\ngot  %s, %v\nwant %s", c.name, got, err, c.want)
		}
	}
}

// A question crosses with everything that the request has, and offers only the answers that have an effect.
func TestQuestion(t *testing.T) {
	q := question(sandbox.Request{Once: true, Effects: []sandbox.Effect{{Text: "write a.txt"}}, Patterns: []string{"*"}})
	if fields := reflect.TypeFor[sandbox.Request]().NumField(); fields != len(q)+1 { // the program adds the arguments
		t.Errorf("%d fields of a request, %d members", fields, len(q))
	}
	text, err := json.Marshal(q)
	want := `{"agent":"","answers":["once","reject"],"app":"","call":"","description":"","destroys":false,"diff":"","effects":[{"destroys":false,"inTitle":false,"needs":[],"risk":"","text":"write a.txt"}],` +
		`"needs":[],"patterns":["*"],"reason":"","risk":"","session":"","title":"","tool":"","toolCallId":"","unified":false,"untrusted":false}`
	if err != nil || string(text) != want {
		t.Errorf("got  %s, %v\nwant %s", text, err, want)
	}
}
