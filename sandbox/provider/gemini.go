package provider

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"iter"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/internal/eventstream"
	"github.com/bailey-go/bailey/sandbox/internal/raster"
)

type gemini struct{ o Options }

// Gemini returns a model that uses Google's Gemini API.
func Gemini(o Options) sandbox.Model {
	return &gemini{o.withDefaults("https://generativelanguage.googleapis.com/v1beta")}
}

func (m *gemini) Name() string { return "gemini/" + m.o.Model }
func (m *gemini) Local() bool  { return m.o.local() }

// ContextTokens returns the number of tokens of a request, see [sandbox.RunOptions].
func (m *gemini) ContextTokens() int { return cmp.Or(m.o.Context, 1_000_000) }

func (m *gemini) host() string { return m.o.Host() }

func (m *gemini) Stream(ctx context.Context, r sandbox.ModelRequest) iter.Seq2[sandbox.ModelEvent, error] {
	return func(yield func(sandbox.ModelEvent, error) bool) {
		r, n := m.o.withFiles(r, func(f sandbox.File) bool { return geminiType(f.MediaType) != "" }, true), newNames(r)
		s := &geminiStream{sink: sink{yield: yield}, names: n}
		if err := m.o.thinking(true); err != nil {
			s.end(err)
			return
		}
		err := m.o.post(ctx, "/models/"+url.PathEscape(m.o.Model)+":streamGenerateContent?alt=sse", map[string]string{"x-goog-api-key": m.o.Key}, m.body(r, n), maxImageEvent, s.event)
		if err == nil && s.reason != "" {
			err = s.done()
		}
		s.end(err)
	}
}

func (m *gemini) body(r sandbox.ModelRequest, n names) map[string]any {
	body := map[string]any{"contents": geminiContents(m.o.Model, r, n)}
	if r.System != "" {
		body["systemInstruction"] = map[string]any{"parts": []any{map[string]any{"text": r.System}}}
	}
	config := map[string]any{}
	if n := m.o.maxTokens(r); n > 0 {
		config["maxOutputTokens"] = n
	}
	tokens, old := m.o.ThinkingTokens, strings.Contains(m.o.Model, "gemini-2.5")
	if m.o.Effort != "" && m.o.Effort != "none" && old {
		tokens = tokensFor(m.o.Effort)
	}
	within := thoughtsWithin(tokens, m.o.maxTokens(r))
	switch {
	case within > 0:
		config["thinkingConfig"] = map[string]any{"thinkingBudget": within, "includeThoughts": true}
	case tokens > 0:
		config["thinkingConfig"] = m.leastThoughts(old)
	case m.o.Effort == "none":
		config["thinkingConfig"] = map[string]any{"thinkingBudget": 0}
	case m.o.Effort != "":
		config["thinkingConfig"] = map[string]any{"thinkingLevel": m.o.Effort, "includeThoughts": true}
	}
	if m.o.Temperature != nil {
		config["temperature"] = *m.o.Temperature
	}
	if len(config) > 0 {
		body["generationConfig"] = config
	}
	var tools []any
	for _, t := range r.Tools {
		tools = append(tools, map[string]any{"name": n.wire(t.Name), "description": t.Description, "parametersJsonSchema": t.Parameters})
	}
	if tools != nil {
		body["tools"] = []any{map[string]any{"functionDeclarations": tools}}
	}
	choice := map[string]any{}
	switch mode, tool := m.o.toolChoice(r); mode {
	case "auto", "none":
		choice["mode"] = strings.ToUpper(mode)
	case "required":
		choice["mode"] = "ANY"
	case "tool":
		choice["mode"], choice["allowedFunctionNames"] = "ANY", []string{n.wire(tool)}
	}
	if len(choice) > 0 {
		body["toolConfig"] = map[string]any{"functionCallingConfig": choice}
	}
	return body
}

// leastThoughts returns the setting for a short answer. Gemini thinks unless it is told not to. 2.5
// Pro always thinks, and its smallest number of tokens is 128. Of later models only some take 0, and
// all take the level "low".
// https://ai.google.dev/gemini-api/docs/thinking
func (m *gemini) leastThoughts(old bool) map[string]any {
	switch {
	case !old:
		return map[string]any{"thinkingLevel": "low", "includeThoughts": true}
	case strings.Contains(m.o.Model, "gemini-2.5-pro"):
		return map[string]any{"thinkingBudget": 128, "includeThoughts": true}
	}
	return map[string]any{"thinkingBudget": 0}
}

func geminiContents(model string, r sandbox.ModelRequest, n names) []any {
	out := []any{}
	ids := map[string]string{} // of the calls that Gemini gave one, which their results repeat
	for _, msg := range r.Messages {
		role := "user"
		if msg.Role == sandbox.RoleAssistant {
			role = "model"
		}
		parts := []any{}
		var after []any // files of results, in a message behind the results
		for _, p := range msg.Parts {
			switch p.Type {
			case sandbox.PartText:
				parts = append(parts, geminiTexts(p)...)
			case sandbox.PartCall:
				call := map[string]any{"name": n.wire(p.Tool), "args": orEmpty(p.Args)}
				part := map[string]any{"functionCall": call}
				meta := callMeta(p.Meta)
				if meta.Signature != "" {
					part["thoughtSignature"] = meta.Signature
				}
				if meta.ID != "" {
					call["id"], ids[p.CallID] = meta.ID, meta.ID
				}
				parts = append(parts, part)
			case sandbox.PartFile:
				for _, f := range p.Files {
					part := geminiFile(f)
					var meta geminiMeta
					if json.Unmarshal(p.Meta, &meta) == nil && meta.Signature != "" && role == "model" {
						part["thoughtSignature"] = meta.Signature
					}
					parts = append(parts, part)
				}
			case sandbox.PartResult:
				key := "output"
				if p.Failed {
					key = "error"
				}
				response := map[string]any{"name": n.wire(p.Tool), "response": map[string]any{key: p.Text}}
				if id := ids[p.CallID]; id != "" {
					response["id"] = id
				}
				parts = append(parts, map[string]any{"functionResponse": response})
				var within, later []any
				for _, f := range p.Files {
					if inGeminiResult(model, f) {
						within = append(within, geminiFile(f))
					} else {
						later = append(later, geminiFile(f))
					}
				}
				if within != nil {
					response["parts"] = within
				}
				if later != nil {
					after = append(append(after, map[string]any{"text": resultFiles(n.wire(p.Tool))}), later...)
				}
			}
		}
		if len(parts) > 0 {
			out = append(out, map[string]any{"role": role, "parts": parts})
		}
		if len(after) > 0 {
			out = append(out, map[string]any{"role": "user", "parts": after})
		}
	}
	return out
}

// geminiTexts returns a text as the parts in which it came. The API asks not to join a part that has a
// signature with another one. https://ai.google.dev/gemini-api/docs/thought-signatures
func geminiTexts(p sandbox.ModelPart) (out []any) {
	var meta geminiMeta
	if len(p.Meta) == 0 || json.Unmarshal(p.Meta, &meta) != nil {
		return []any{map[string]any{"text": p.Text}}
	}
	at := 0
	for _, s := range meta.Signatures {
		if s.From < at || s.To < s.From || s.To > len(p.Text) || !utf8.ValidString(p.Text[at:s.From]) || !utf8.ValidString(p.Text[s.From:s.To]) {
			return []any{map[string]any{"text": p.Text}} // it is not the text that was signed
		}
		if s.From > at {
			out = append(out, map[string]any{"text": p.Text[at:s.From]})
		}
		out = append(out, map[string]any{"text": p.Text[s.From:s.To], "thoughtSignature": s.Signature})
		at = s.To
	}
	if at < len(p.Text) {
		out = append(out, map[string]any{"text": p.Text[at:]})
	}
	return out
}

type geminiStream struct {
	sink
	names  names
	calls  int
	usage  sandbox.Usage
	reason string
	speech speech
	text   int               // the length of the text that is streaming, in bytes
	signed []geminiSignature // of that text
}

type geminiChunk struct {
	Candidates []struct {
		Content struct {
			Parts []struct {
				Text      string        `json:"text"`
				Thought   bool          `json:"thought"`
				Signature string        `json:"thoughtSignature"`
				Inline    *geminiInline `json:"inlineData"`
				Call      *struct {
					ID   text            `json:"id"`
					Name string          `json:"name"`
					Args json.RawMessage `json:"args"`
				} `json:"functionCall"`
			} `json:"parts"`
		} `json:"content"`
		Index  int             `json:"index"`
		Finish string          `json:"finishReason"`
		Ground json.RawMessage `json:"groundingMetadata"`
	} `json:"candidates"`
	Feedback struct {
		Block string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage *struct {
		Prompt   int64 `json:"promptTokenCount"`
		Answer   int64 `json:"candidatesTokenCount"`
		Thoughts int64 `json:"thoughtsTokenCount"`
		Cached   int64 `json:"cachedContentTokenCount"`
		Tools    int64 `json:"toolUsePromptTokenCount"` // of the results of the server's own tools, not in Prompt
	} `json:"usageMetadata"`
	Error *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func (s *geminiStream) event(ev eventstream.Event) error {
	var c geminiChunk
	if err := decode(ev, &c); err != nil {
		return err
	}
	if c.Error != nil {
		return &sandbox.ModelError{Status: c.Error.Code, Message: c.Error.Message, Retry: c.Error.Code == 429 || c.Error.Code >= 500, TooLong: tooLong(c.Error.Message)}
	}
	if u := c.Usage; u != nil {
		s.usage = sandbox.Usage{Input: u.Prompt + u.Tools, Output: u.Answer + u.Thoughts, Cached: u.Cached, Reasoning: u.Thoughts}
	}
	if c.Feedback.Block != "" {
		s.reason = "SAFETY"
	}
	for _, cand := range c.Candidates {
		if cand.Index != 0 { // another answer to the same request
			continue
		}
		for _, p := range cand.Content.Parts {
			isText := p.Call == nil && p.Inline == nil && !p.Thought
			var err error
			if p.Call != nil || p.Text != "" {
				err = s.endSpeech()
			}
			if err == nil && !isText {
				err = s.endText()
			}
			switch {
			case err != nil:
			case p.Call != nil:
				err = s.call(string(p.Call.ID), p.Call.Name, p.Call.Args, p.Signature)
			case p.Inline != nil && !p.Thought:
				err = s.file(*p.Inline, p.Signature)
			case p.Text != "" && p.Thought:
				err = s.send(sandbox.ModelEvent{Type: sandbox.PartReasoning, Text: p.Text})
			case isText:
				err = s.say(p.Text, p.Signature)
			}
			if err != nil {
				return err
			}
		}
		if err := s.grounds(cand.Ground); err != nil {
			return err
		}
		if cand.Finish != "" {
			s.reason = cand.Finish
		}
	}
	return nil
}

// geminiInline is a file within an event. One of another form than the API's is empty.
type geminiInline struct {
	media string
	data  []byte
}

func (d *geminiInline) UnmarshalJSON(b []byte) error {
	var in struct {
		Type text `json:"mimeType"`
		Data text `json:"data"`
	}
	if json.Unmarshal(b, &in) != nil {
		return nil
	}
	if data, err := base64.StdEncoding.DecodeString(string(in.Data)); err == nil {
		d.media, d.data = string(in.Type), data
	}
	return nil
}

// geminiMeta is what goes back with a part. With the signature of an image the model can change the
// image, and with that of a call or a text it goes on from its thoughts.
// https://ai.google.dev/gemini-api/docs/image-generation#thought-signatures
type geminiMeta struct {
	Signature  string            `json:"thoughtSignature,omitempty"` // of an image or a call
	ID         string            `json:"id,omitempty"`               // of a call
	Signatures []geminiSignature `json:"signatures,omitempty"`       // of a text
}

// geminiSignature is the signature of a piece of a text.
type geminiSignature struct {
	From      int    `json:"from"` // in bytes
	To        int    `json:"to"`
	Signature string `json:"thoughtSignature"`
}

// callMeta returns the meta of a call. Without an id it is the signature alone.
func callMeta(raw json.RawMessage) (m geminiMeta) {
	if len(raw) == 0 || json.Unmarshal(raw, &m.Signature) == nil {
		return m
	}
	_ = json.Unmarshal(raw, &m)
	return m
}

// say sends a piece of a text.
func (s *geminiStream) say(text, signature string) error {
	from := s.text
	s.text += len(text)
	if signature != "" {
		if len(s.signed) == 1000 {
			return &sandbox.ModelError{Message: "a text with more than 1,000 signatures"}
		}
		s.signed = append(s.signed, geminiSignature{from, s.text, signature})
	}
	if text == "" {
		return nil
	}
	return s.send(sandbox.ModelEvent{Type: sandbox.PartText, Text: text})
}

// endText sends the signatures of the text that has streamed.
func (s *geminiStream) endText() error {
	meta := geminiMeta{Signatures: s.signed}
	s.text, s.signed = 0, nil
	if meta.Signatures == nil {
		return nil
	}
	e := sandbox.ModelEvent{Type: sandbox.PartText}
	e.Meta, _ = json.Marshal(meta)
	return s.send(e)
}

// file sends a file that the model made.
func (s *geminiStream) file(in geminiInline, signature string) error {
	data := in.data
	if len(data) == 0 {
		return nil
	}
	if form, ok := pcmForm(in.media); ok {
		for len(data) > 0 {
			if s.speech.form != form || s.speech.full() {
				if err := s.endSpeech(); err != nil {
					return err
				}
			}
			s.speech.form = form
			data = s.speech.add(data)
		}
		return nil
	}
	if err := s.endSpeech(); err != nil {
		return err
	}
	media := raster.MediaType(in.media, data)
	name := "file"
	switch kind, _, _ := strings.Cut(media, "/"); kind {
	case "image", "audio", "video":
		name = kind
	}
	e := sandbox.ModelEvent{Type: sandbox.PartFile, File: sandbox.File{Name: name, MediaType: media, Data: data}}
	if name == "image" && geminiType(media) != "" {
		e.Meta, _ = json.Marshal(geminiMeta{Signature: signature})
	}
	return s.send(e)
}

// endSpeech sends the speech that came, as one file.
func (s *geminiStream) endSpeech() error {
	if len(s.speech.data) == 0 {
		return nil
	}
	data := s.speech.wav()
	s.speech = speech{}
	return s.send(sandbox.ModelEvent{Type: sandbox.PartFile, File: sandbox.File{Name: "speech.wav", MediaType: "audio/wav", Data: data}})
}

// call sends a complete call. An id is generated here if there is none, because Gemini does not require
// one.
func (s *geminiStream) call(id, name string, args json.RawMessage, signature string) error {
	s.calls++
	e := sandbox.ModelEvent{Type: sandbox.PartCall, CallID: id, Tool: s.names.back(name), Args: orEmpty(args)}
	switch {
	case id != "":
		e.Meta, _ = json.Marshal(geminiMeta{Signature: signature, ID: id})
	case signature != "":
		e.Meta, _ = json.Marshal(signature)
	}
	if id == "" {
		e.CallID = newID()
	}
	start := sandbox.ModelEvent{Type: sandbox.PartCallStart, CallID: e.CallID, Tool: e.Tool}
	if err := s.send(start); err != nil {
		return err
	}
	return s.send(e)
}

func (s *geminiStream) done() error {
	if err := s.endSpeech(); err != nil {
		return err
	}
	if err := s.endText(); err != nil {
		return err
	}
	if err := s.send(sandbox.ModelEvent{Type: sandbox.PartUsage, Usage: s.usage}); err != nil {
		return err
	}
	reason := finishOther
	switch s.reason {
	case "STOP":
		reason = finishStop
		if s.calls > 0 {
			reason = finishCalls
		}
	case "MAX_TOKENS":
		reason = finishLength
	case "SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "RECITATION", "SPII", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		reason = finishFilter
	}
	return s.send(sandbox.ModelEvent{Type: sandbox.PartFinish, Text: reason})
}
