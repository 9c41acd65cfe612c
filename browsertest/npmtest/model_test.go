package npmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/bailey-go/bailey/browsertest/internal/e2e"
)

// turn is one answer of the scripted model.
type turn struct {
	Text  string
	Calls []struct {
		Tool string
		Args json.RawMessage // also a text that is no JSON
	}
	Status int  // not 0: an error, with Text as its message
	Hold   bool // after the text the answer goes on until the page ends the request
	System bool // the text is the system prompt
	Echo   bool // the text is the request: its results, or else the number of its messages and the files of the last one
}

// chatMessage is a message of the Chat Completions API.
type chatMessage struct {
	Role    string
	Content any
}

// text returns the texts of a message and the addresses of its files.
func (m chatMessage) text() (text string, files []string) {
	if s, ok := m.Content.(string); ok {
		return s, nil
	}
	list, _ := m.Content.([]any)
	for _, p := range list {
		p, _ := p.(map[string]any)
		s, _ := p["text"].(string)
		text += s
		if image, ok := p["image_url"].(map[string]any); ok {
			files = append(files, fmt.Sprint(image["url"]))
		}
	}
	return text, files
}

// model is a provider with the Chat Completions API. The last message of the user has its turns as JSON, so that a test has its
// whole script in one place.
func model(w http.ResponseWriter, r *http.Request) {
	var req struct{ Messages []chatMessage }
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &req)
	}
	var turns []turn
	step, results, system := 0, "", ""
	var files []string
	for _, m := range req.Messages {
		text, with := m.text()
		switch m.Role {
		case "system", "developer":
			system += text
		case "user":
			if files = with; !strings.Contains(text, "[{") { // the files of a result come as a message of the user
				continue
			}
			step, results, turns = 0, "", nil
			_ = json.NewDecoder(strings.NewReader(text[strings.Index(text, "[{"):])).Decode(&turns)
		case "assistant":
			step++
		case "tool":
			results += text + "\n"
		}
	}
	if err != nil || step >= len(turns) {
		http.Error(w, `{"error":{"message":"the script has ended"}}`, http.StatusTeapot)
		return
	}
	t := turns[step]
	if t.Status != 0 {
		w.WriteHeader(t.Status)
		fmt.Fprintf(w, `{"error":{"message":%q}}`, t.Text)
		return
	}
	if t.System {
		t.Text = "the system prompt: " + system
	}
	if t.Echo {
		if t.Text = strings.TrimSpace(results); t.Text == "" {
			t.Text = fmt.Sprint(len(req.Messages), " messages, files ", files)
		}
	}
	out := e2e.NewCompletions(w)
	if t.Text != "" {
		out.Delta(map[string]any{"content": t.Text})
	}
	if t.Hold {
		<-r.Context().Done()
		return
	}
	var calls []e2e.Called
	for i, c := range t.Calls {
		args := string(c.Args)
		var raw string
		if json.Unmarshal(c.Args, &raw) == nil {
			args = raw
		}
		calls = append(calls, e2e.Called{ID: fmt.Sprintf("m%d-%d", len(req.Messages), i), Tool: c.Tool, Args: args})
	}
	out.End(calls, 5)
}
