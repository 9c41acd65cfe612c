package provider

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/bailey-go/bailey/sandbox"
)

// PromptAPI is the browser's built-in model, which runs on this machine (Prompt API,
// LanguageModel). Chrome and Edge on a desktop have one. In other browsers, and if the model is not
// downloaded, Stream yields a [sandbox.ModelError] with the reason. Call State first. No content
// leaves the machine. The zero value is English without downloads.
//
// The model is small. It receives the tools as a description, and answers in a JSON schema with a
// text and at most one call. For this reason the text is streamed only if there are no tools. It
// receives the images of the conversation if the browser's model takes images, as Chrome's does on some
// devices. A line with the name, the type and the size stands for each other file, and for all of them
// where it does not.
type PromptAPI struct {
	// Languages are the languages of the conversation, as BCP 47 tags. The default is "en".
	Languages []string
	// Download permits the browser to download its model, some gigabytes, if it does not have it
	// yet. The browser requires a click of the user shortly before.
	Download bool
	// Progress is called with the completed part of the download, 0 to 1.
	Progress func(done float64)

	window atomic.Int64 // the tokens that the last session could hold, or 0
}

// The states of the browser's model, see [PromptAPI.State].
const (
	promptAvailable    = "available"
	promptDownloadable = "downloadable"
	promptDownloading  = "downloading"
	promptUnavailable  = "unavailable"
	promptMissing      = "missing"
)

// State returns the state of the browser's model for these languages. It is one of the states of
// the Prompt API, or "missing" if the browser has no Prompt API. A model that is "available" can be
// used. It must be downloaded first if it is "downloadable", is being downloaded if it is
// "downloading", and does not support the device or the language if it is "unavailable".
func (m *PromptAPI) State(ctx context.Context) (string, error) { return promptState(ctx, m, false) }

// Name implements [sandbox.Model].
func (m *PromptAPI) Name() string { return "browser/prompt-api" }

// Local implements [sandbox.Model]. It returns true.
func (m *PromptAPI) Local() bool { return true }

// defaultPromptContext is the window of a session that Chrome with Gemini Nano and Edge with Phi-4-mini
// report (LanguageModel.contextWindow, formerly inputQuota).
const defaultPromptContext = 9_216

// ContextTokens returns the number of tokens that the browser's model accepts in a request, with its
// answer, see [sandbox.RunOptions]. The browser tells it with each session, so it is 9,216, as in
// Chrome and Edge, before the first request.
func (m *PromptAPI) ContextTokens() int { return cmp.Or(int(m.window.Load()), defaultPromptContext) }

// turn is a message in the form of the Prompt API. Only one of the user has images.
type turn struct {
	Role, Content string
	Images        []sandbox.File
}

// promptRequest is one request: the conversation so far, the last message with its images, and the
// schema of the answer, if any. images is set if any message has some.
type promptRequest struct {
	before []turn
	ask    string
	shown  []sandbox.File
	schema any
	images bool
}

// promptUsage is the number of tokens in the model's window, before and after a request. It is 0 if
// unknown.
type promptUsage struct{ before, after int64 }

// Stream implements [sandbox.Model].
func (m *PromptAPI) Stream(ctx context.Context, r sandbox.ModelRequest) iter.Seq2[sandbox.ModelEvent, error] {
	return func(yield func(sandbox.ModelEvent, error) bool) {
		s := &sink{yield: yield}
		s.end(m.answer(ctx, r, s))
	}
}

func (m *PromptAPI) answer(ctx context.Context, r sandbox.ModelRequest, s *sink) error {
	state, err := m.State(ctx)
	if err != nil {
		return err
	}
	if err := m.usable(state); err != nil {
		return err
	}
	n := newNames(r)
	req := newPromptRequest(r, n, isImage)
	if req.images { // a model that takes none has another state with them, or the browser does not know them
		if state, err := promptState(ctx, m, true); err != nil || m.usable(state) != nil {
			req = newPromptRequest(r, n, noFiles)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	var whole strings.Builder
	usage, err := promptStream(ctx, m, req, func(text string) error {
		if whole.WriteString(text); whole.Len() > maxPrompt {
			return &sandbox.ModelError{Message: "the browser's model does not come to an end"}
		}
		if req.schema != nil {
			return nil
		}
		return s.send(sandbox.ModelEvent{Type: sandbox.PartText, Text: text})
	})
	if err != nil {
		return err
	}
	reason := finishStop
	if req.schema != nil {
		if reason, err = structured(whole.String(), n, s); err != nil {
			return err
		}
	}
	if err := s.send(sandbox.ModelEvent{Type: sandbox.PartUsage, Usage: sandbox.Usage{Input: usage.before, Output: max(0, usage.after-usage.before)}}); err != nil {
		return err
	}
	return s.send(sandbox.ModelEvent{Type: sandbox.PartFinish, Text: reason})
}

// maxPrompt is the maximum length of an answer, in bytes. A small model may repeat itself without
// end.
const maxPrompt = 1 << 20

// usable returns an error with the reason if the model can't be used in a state.
func (m *PromptAPI) usable(state string) error {
	why := ""
	switch {
	case state == promptAvailable || m.Download && (state == promptDownloadable || state == promptDownloading):
		return nil
	case state == promptMissing:
		why = "this browser has no model of its own (no LanguageModel); use Chrome or Edge on a desktop, or another provider"
	case state == promptUnavailable:
		why = "the browser's own model does not work on this device or in this language; use another provider"
	case state == promptDownloadable || state == promptDownloading:
		why = "the browser's own model is not downloaded yet; set PromptAPI.Download and ask from a click"
	default:
		why = "the browser's own model is in the unknown state " + strconv.Quote(state)
	}
	return &sandbox.ModelError{Message: why}
}

func newPromptRequest(r sandbox.ModelRequest, n names, takes func(sandbox.File) bool) promptRequest {
	r = new(Options).withFiles(r, takes, false)
	req := promptRequest{}
	system := r.System
	if len(r.Tools) > 0 {
		var enum []any
		var b strings.Builder
		for _, t := range r.Tools {
			enum = append(enum, n.wire(t.Name))
			b.WriteString("\n- " + n.wire(t.Name) + ": " + t.Description + " Arguments: " + string(t.Parameters))
		}
		system = strings.TrimSpace(system + "\n\nAnswer with JSON: text is what you say to the user. To use a tool, set tool to its name and args to its arguments; you get its result next. Otherwise leave tool out. The tools are:" + b.String())
		req.schema = map[string]any{"type": "object", "required": []any{"text"}, "additionalProperties": false, "properties": map[string]any{
			"text": map[string]any{"type": "string"}, "tool": map[string]any{"type": "string", "enum": enum}, "args": map[string]any{"type": "object"}}}
	}
	if system != "" {
		req.before = append(req.before, turn{Role: "system", Content: system})
	}
	for _, msg := range r.Messages {
		if t, ok := promptTurn(msg, n, req.schema != nil); ok {
			req.before = append(req.before, t)
			req.images = req.images || len(t.Images) > 0
		}
	}
	if last := len(req.before) - 1; last >= 0 && req.before[last].Role == "user" {
		req.ask, req.shown = req.before[last].Content, req.before[last].Images
		req.before = req.before[:last]
	} else {
		req.ask = "Go on."
	}
	return req
}

// promptTurn returns a message in the form in which the model would have written it. Its own calls
// are JSON.
func promptTurn(msg sandbox.ModelMessage, n names, asJSON bool) (turn, bool) {
	role := "user"
	if msg.Role == sandbox.RoleAssistant {
		role = "assistant"
	}
	var said, lines []string
	var images []sandbox.File
	for _, p := range msg.Parts {
		images = append(images, p.Files...)
		switch p.Type {
		case sandbox.PartText:
			said = append(said, p.Text)
		case sandbox.PartCall:
			text, _ := json.Marshal(map[string]any{"text": strings.Join(said, "\n"), "tool": n.wire(p.Tool), "args": orEmpty(p.Args)})
			lines, said = append(lines, string(text)), nil
		case sandbox.PartResult:
			what := "Result of "
			if p.Failed {
				what = "Error of "
			}
			said = append(said, what+n.wire(p.Tool)+":\n"+p.Text)
		}
	}
	if len(said) > 0 {
		text := strings.Join(said, "\n")
		if role == "assistant" && asJSON {
			data, _ := json.Marshal(map[string]any{"text": text})
			text = string(data)
		}
		lines = append(lines, text)
	}
	return turn{role, strings.Join(lines, "\n"), images}, len(lines)+len(images) > 0
}

// structured reads an answer that follows the schema.
func structured(text string, n names, s *sink) (reason string, err error) {
	var a struct {
		Text string          `json:"text"`
		Tool string          `json:"tool"`
		Args json.RawMessage `json:"args"`
	}
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		return "", &sandbox.ModelError{Message: "the browser's model did not answer in the form it was asked for", Retry: true}
	}
	if a.Text != "" {
		if err := s.send(sandbox.ModelEvent{Type: sandbox.PartText, Text: a.Text}); err != nil {
			return "", err
		}
	}
	if a.Tool == "" {
		return finishStop, nil
	}
	id := newID()
	err = s.send(sandbox.ModelEvent{Type: sandbox.PartCallStart, CallID: id, Tool: n.back(a.Tool)})
	if err == nil {
		err = s.send(sandbox.ModelEvent{Type: sandbox.PartCall, CallID: id, Tool: n.back(a.Tool), Args: orEmpty(a.Args)})
	}
	return finishCalls, err
}

// promptFailed returns an error for an exception of the browser, by its name. With images the status is
// that of a file which the model can't read, so that the box sends the request again without them.
func promptFailed(ctx context.Context, name string, images bool, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	var me *sandbox.ModelError
	if errors.As(err, &me) || errors.Is(err, errStop) {
		return err
	}
	if images {
		switch name {
		case "NotSupportedError", "EncodingError", "InvalidStateError", "DataError", "TypeError":
			return &sandbox.ModelError{Status: 415, Message: "the browser's model can't read an image: " + name}
		}
	}
	switch name {
	case "QuotaExceededError":
		return &sandbox.ModelError{TooLong: true, Message: "the conversation is longer than the browser's model can hold; begin a new one, or set RunOptions.Context to less"}
	case "NotAllowedError":
		return &sandbox.ModelError{Message: "the browser does not let this page use its model now: a download needs a click, and a frame the permission language-model"}
	case "NotSupportedError":
		return &sandbox.ModelError{Message: "the browser's model can't do that, such as this language"}
	case "NotReadableError":
		return &sandbox.ModelError{Message: "the browser held back what its model said"}
	}
	return &sandbox.ModelError{Message: "the browser's model failed: " + name, Retry: true}
}
