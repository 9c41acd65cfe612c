package provider

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/internal/eventstream"
	"github.com/bailey-go/bailey/sandbox/internal/raster"
)

type chat struct{ o Options }

// OpenAIChat returns a model that uses OpenAI's Chat Completions API. OpenRouter and most servers
// for local models support this API too.
func OpenAIChat(o Options) sandbox.Model {
	return &chat{o.withDefaults("https://api.openai.com/v1")}
}

func (m *chat) Name() string { return "chat/" + m.o.Model }
func (m *chat) Local() bool  { return m.o.local() }

// ContextTokens returns the number of tokens of a request, see [sandbox.RunOptions].
func (m *chat) ContextTokens() int { return m.o.openAIContext() }

func (m *chat) host() string { return m.o.Host() }

func (m *chat) Stream(ctx context.Context, r sandbox.ModelRequest) iter.Seq2[sandbox.ModelEvent, error] {
	return func(yield func(sandbox.ModelEvent, error) bool) {
		r, n := m.o.withFiles(r, m.takes, false), newNames(r)
		s := &chatStream{sink: sink{yield: yield}, names: n, calls: map[int]int{}}
		if err := m.o.thinking(m.openRouter()); err != nil {
			s.end(err)
			return
		}
		err := m.o.post(ctx, "/chat/completions", m.o.bearer(), m.body(r, n), maxImageEvent, s.event)
		if err == nil && s.reason != "" {
			err = s.finish() // some servers send no [DONE]
		}
		s.end(err)
	}
}

func (m *chat) body(r sandbox.ModelRequest, n names) map[string]any {
	body := map[string]any{"model": m.o.Model, "stream": true, "stream_options": map[string]any{"include_usage": true}, "messages": chatMessages(r, n)}
	if n := m.o.maxTokens(r); n > 0 {
		body[m.limit()] = n
	}
	tokens := thoughtsWithin(m.o.ThinkingTokens, m.o.maxTokens(r))
	switch {
	case tokens > 0:
		body["reasoning"] = map[string]any{"max_tokens": tokens}
	case m.o.Effort != "" && m.openRouter():
		body["reasoning"] = map[string]any{"effort": m.o.Effort}
	case m.o.Effort != "":
		body["reasoning_effort"] = m.o.Effort
	}
	var tools []any
	for _, t := range r.Tools {
		tools = append(tools, map[string]any{"type": "function", "function": map[string]any{"name": n.wire(t.Name), "description": t.Description, "parameters": t.Parameters}})
	}
	if tools != nil {
		body["tools"] = tools
	}
	switch mode, tool := m.o.toolChoice(r); mode {
	case "auto", "none", "required":
		body["tool_choice"] = mode
	case "tool":
		body["tool_choice"] = map[string]any{"type": "function", "function": map[string]any{"name": n.wire(tool)}}
	}
	if m.o.Temperature != nil {
		body["temperature"] = *m.o.Temperature
	}
	return body
}

// takes reports whether the server takes a file. The form for PDF is known to OpenAI, Azure and
// OpenRouter, and many other servers refuse it. https://openrouter.ai/docs/features/multimodal/pdfs
func (m *chat) takes(f sandbox.File) bool {
	return isImage(f) || isPDF(f) && (m.openRouter() || m.limit() == "max_completion_tokens")
}

// openRouter reports whether the server is OpenRouter, which has its own names for thoughts.
func (m *chat) openRouter() bool {
	host, _, _ := protocol.SplitHost(m.o.Host())
	return host == "openrouter.ai"
}

// limit returns the name of the parameter for the maximum length of an answer. OpenAI's reasoning
// models refuse the old name max_tokens. Other servers, such as Ollama, ignore the new one.
func (m *chat) limit() string {
	host, _, _ := protocol.SplitHost(m.o.Host())
	if strings.HasSuffix(host, ".openai.com") || strings.HasSuffix(host, ".openai.azure.com") {
		return "max_completion_tokens"
	}
	return "max_tokens"
}

func chatMessages(r sandbox.ModelRequest, n names) []any {
	var out []any
	if r.System != "" {
		out = append(out, map[string]any{"role": "system", "content": r.System})
	}
	turn := -1 // the last message of the user's own, which has no results alone
	for i, msg := range r.Messages {
		if msg.Role == sandbox.RoleUser && slices.ContainsFunc(msg.Parts, func(p sandbox.ModelPart) bool { return p.Type == sandbox.PartText || p.Type == sandbox.PartFile }) {
			turn = i
		}
	}
	for i, msg := range r.Messages {
		var text, thought strings.Builder
		var calls, files []any
		var details chatJoin
		var named bool // the server calls thoughts reasoning_content
		for _, p := range msg.Parts {
			switch p.Type {
			case sandbox.PartText:
				if text.Len() > 0 && msg.Role == sandbox.RoleUser { // the content of a file, or a line in its place
					text.WriteByte('\n')
				}
				text.WriteString(p.Text)
			case sandbox.PartReasoning:
				var meta chatMeta
				if json.Unmarshal(p.Meta, &meta) == nil {
					details.add(meta.Details...)
					named = named || meta.Named
				}
				thought.WriteString(p.Text)
			case sandbox.PartCall:
				calls = append(calls, map[string]any{"id": p.CallID, "type": "function", "function": map[string]any{"name": n.wire(p.Tool), "arguments": string(orEmpty(p.Args))}})
			case sandbox.PartResult:
				out = append(out, map[string]any{"role": "tool", "tool_call_id": p.CallID, "content": p.Text})
				if len(p.Files) > 0 { // a result is text, so its files come behind all results
					files = append(files, map[string]any{"type": "text", "text": resultFiles(n.wire(p.Tool))})
				}
				for _, f := range p.Files {
					files = append(files, chatFile(f))
				}
			case sandbox.PartFile:
				for _, f := range p.Files {
					files = append(files, chatFile(f))
				}
			}
		}
		role := "user"
		if msg.Role == sandbox.RoleAssistant {
			role = "assistant"
		}
		m := map[string]any{"role": role, "content": text.String()}
		if files != nil {
			if text.Len() > 0 {
				files = append(files, map[string]any{"type": "text", "text": text.String()})
			}
			m["content"] = files
		}
		if calls != nil {
			m["tool_calls"] = calls
		}
		if items := (chatMeta{Details: details.joined()}).items(); items != nil {
			m["reasoning_details"] = items
		}
		// DeepSeek refuses a call of the current turn without its thoughts, and needs no older ones.
		// https://api-docs.deepseek.com/guides/thinking_mode
		if named && calls != nil && i > turn {
			m["reasoning_content"] = thought.String()
		}
		if text.Len() > 0 || calls != nil || files != nil {
			out = append(out, m)
		}
	}
	return out
}

// chatMeta is what must be sent back with the thoughts of a message.
type chatMeta struct {
	Details []chatDetail `json:"details,omitempty"`
	Named   bool         `json:"reasoning_content,omitempty"`
}

// chatDetail is an element of OpenRouter's reasoning_details.
// https://openrouter.ai/docs/use-cases/reasoning-tokens
type chatDetail struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	Summary   string          `json:"summary,omitempty"`
	Data      string          `json:"data,omitempty"`
	Signature string          `json:"signature,omitempty"`
	ID        json.RawMessage `json:"id,omitempty"`
	Format    string          `json:"format,omitempty"`
	Index     *int            `json:"index,omitempty"`
}

// items returns the details for a request. A stored conversation may have been written by anyone, so
// no other type of item is sent.
func (m chatMeta) items() (out []any) {
	for _, d := range m.Details {
		switch d.Type {
		case "reasoning.text", "reasoning.summary", "reasoning.encrypted":
			out = append(out, d)
		}
	}
	return out
}

// follows reports whether a piece continues the detail before it.
func (d chatDetail) follows(before chatDetail) bool {
	same := before.Index == nil && d.Index == nil || before.Index != nil && d.Index != nil && *before.Index == *d.Index
	return same && before.Type == d.Type && d.Type != "reasoning.encrypted"
}

// chatJoin joins the pieces of details. The server chooses the number of pieces, so the work is linear
// in their length.
type chatJoin []*chatOpen

type chatOpen struct {
	chatDetail
	text, summary strings.Builder // of all pieces, in place of Text and Summary
}

func (j *chatJoin) add(pieces ...chatDetail) {
	for _, d := range pieces {
		n := len(*j)
		if n == 0 || !d.follows((*j)[n-1].chatDetail) {
			*j = append(*j, &chatOpen{chatDetail: d})
			n++
		}
		last := (*j)[n-1]
		last.text.WriteString(d.Text)
		last.summary.WriteString(d.Summary)
		last.Signature = cmp.Or(d.Signature, last.Signature)
		last.Format = cmp.Or(last.Format, d.Format)
		if len(d.ID) > 0 && string(d.ID) != "null" {
			last.ID = d.ID
		}
	}
}

// joined returns the details with the texts of all their pieces.
func (j chatJoin) joined() []chatDetail {
	out := make([]chatDetail, len(j))
	for i, d := range j {
		out[i] = d.chatDetail
		out[i].Text, out[i].Summary = d.text.String(), d.summary.String()
	}
	return out
}

type chatStream struct {
	sink
	details chatJoin    // of the thoughts, as far as they were not sent
	last    *chatDetail // the last detail, also if it was sent
	count   int         // of the details
	named   bool        // the server calls thoughts reasoning_content
	thinks  bool        // a block of thoughts is open
	said    bool        // a text or a call has begun
	names   names
	list    []*block    // the calls, in order
	calls   map[int]int // the position in list by the API's index
	usage   sandbox.Usage
	reason  string
}

type chatChunk struct {
	Choices []struct {
		Index int `json:"index"`
		Delta struct {
			Content   chatContent `json:"content"`
			Images    chatImages  `json:"images"`
			Refusal   string      `json:"refusal"`
			Reasoning text        `json:"reasoning"`
			Thought   text        `json:"reasoning_content"`
			Details   chatDetails `json:"reasoning_details"`
			Notes     chatNotes   `json:"annotations"`
			Calls     []struct {
				Index    *int   `json:"index"`
				ID       string `json:"id"`
				Function struct {
					Name string    `json:"name"`
					Args arguments `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"delta"`
		Finish string `json:"finish_reason"`
	} `json:"choices"`
	Usage *chatUsage      `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// chatUsage is the count of tokens. Mistral and DeepSeek have names of their own for the cached ones.
// https://docs.mistral.ai/api/endpoint/chat, https://api-docs.deepseek.com/guides/kv_cache
type chatUsage struct {
	Input   int64 `json:"prompt_tokens"`
	Output  int64 `json:"completion_tokens"`
	Details struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	Detail struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"prompt_token_details"`
	Cached int64 `json:"num_cached_tokens"`
	Hit    int64 `json:"prompt_cache_hit_tokens"`
	Out    struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func (u *chatUsage) usage() sandbox.Usage {
	return sandbox.Usage{Input: u.Input, Output: u.Output, Cached: cmp.Or(u.Details.Cached, u.Detail.Cached, u.Cached, u.Hit), Reasoning: u.Out.Reasoning}
}

// chatImages are the addresses of images that the model made, as OpenRouter sends them: data addresses.
// A value of another form is left out. https://openrouter.ai/docs/features/multimodal/image-generation
type chatImages []string

func (c *chatImages) UnmarshalJSON(b []byte) error {
	var list []struct {
		Image struct {
			URL text `json:"url"`
		} `json:"image_url"`
	}
	if json.Unmarshal(b, &list) != nil {
		return nil
	}
	for _, i := range list {
		*c = append(*c, string(i.Image.URL))
	}
	return nil
}

// image sends an image that the model made. One at another address is a source, because nothing may
// load it unasked.
func (s *chatStream) image(address string) error {
	media, data, ok := dataAddress(address)
	if !ok {
		return s.send(sandbox.ModelEvent{Type: sandbox.PartSource, Source: sandbox.Source{URL: address, Title: "image"}})
	}
	return s.send(sandbox.ModelEvent{Type: sandbox.PartFile, File: sandbox.File{Name: "image", MediaType: raster.MediaType(media, data), Data: data}})
}

// dataAddress returns the type and the content of a data address in base64.
func dataAddress(address string) (media string, data []byte, ok bool) {
	head, body, found := strings.Cut(address, ",")
	media, isData := strings.CutPrefix(head, "data:")
	media, isBase64 := strings.CutSuffix(media, ";base64")
	data, err := base64.StdEncoding.DecodeString(body)
	return media, data, found && isData && isBase64 && err == nil && len(data) > 0
}

// text returns the text of details, for servers that send it there alone.
func (d chatDetails) text() string {
	var b strings.Builder
	for _, piece := range d {
		b.WriteString(piece.Text)
		b.WriteString(piece.Summary)
	}
	return b.String()
}

// chatDetails are pieces of reasoning_details. A value of another form is left out.
type chatDetails []chatDetail

func (d *chatDetails) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, (*[]chatDetail)(d)) != nil {
		*d = nil
	}
	return nil
}

// chatNotes are annotations of a text. A value of another form is left out.
type chatNotes []json.RawMessage

func (n *chatNotes) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, (*[]json.RawMessage)(n)) != nil {
		*n = nil
	}
	return nil
}

// chatContent is the content of a message: a text, or a list of parts, as Mistral's reasoning models
// send it.
type chatContent struct{ text, thought string }

func (c *chatContent) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &c.text) == nil {
		return nil
	}
	type part struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Thinking []struct {
			Text string `json:"text"`
		} `json:"thinking"`
	}
	var parts []part
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	var said, thought strings.Builder // a server chooses the number of parts
	for _, p := range parts {
		said.WriteString(p.Text)
		for _, t := range p.Thinking {
			thought.WriteString(t.Text)
		}
	}
	c.text, c.thought = said.String(), thought.String()
	return nil
}

// errorStatus returns the HTTP status in an error of a stream, as OpenRouter sends it, or 0.
func errorStatus(raw json.RawMessage) int {
	var e struct {
		Code int `json:"code"`
	}
	if json.Unmarshal(raw, &e) != nil || e.Code < 400 || e.Code > 599 {
		return 0
	}
	return e.Code
}

func (s *chatStream) event(ev eventstream.Event) error {
	if ev.Data == "[DONE]" {
		if s.reason == "" {
			return &sandbox.ModelError{Message: "the answer was cut off", Retry: true}
		}
		return s.finish()
	}
	var c chatChunk
	if err := decode(ev, &c); err != nil {
		return err
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		status := errorStatus(c.Error)
		return &sandbox.ModelError{Status: status, Message: errorText([]byte(ev.Data)), Retry: status == 0 || mayRetry(status), TooLong: tooLong(ev.Data)}
	}
	if c.Usage != nil {
		s.usage = c.Usage.usage()
	}
	for _, ch := range c.Choices {
		if ch.Index != 0 { // another answer to the same request
			continue
		}
		d := ch.Delta
		for _, piece := range d.Details {
			if s.last == nil || !piece.follows(*s.last) {
				s.count++
			}
			if s.last = &piece; s.count > 1000 {
				return &sandbox.ModelError{Message: "more than 1,000 pieces of reasoning"}
			}
			s.details.add(piece)
		}
		s.named = s.named || d.Thought != ""
		// Some servers send the same reasoning under both names, and some in the details alone.
		thought := cmp.Or(string(d.Reasoning), string(d.Thought), d.Content.thought)
		if thought == "" && !s.said {
			thought = d.Details.text()
		}
		if thought != "" {
			s.thinks = true
			if err := s.send(sandbox.ModelEvent{Type: sandbox.PartReasoning, Text: thought}); err != nil {
				return err
			}
		}
		if text := d.Content.text + d.Refusal; text != "" {
			if err := s.endThoughts(); err != nil {
				return err
			}
			if err := s.send(sandbox.ModelEvent{Type: sandbox.PartText, Text: text}); err != nil {
				return err
			}
		}
		for _, address := range d.Images {
			if err := s.endThoughts(); err != nil {
				return err
			}
			if err := s.image(address); err != nil {
				return err
			}
		}
		for _, note := range d.Notes {
			if err := s.cite(note); err != nil {
				return err
			}
		}
		for _, tc := range d.Calls {
			if err := s.call(tc.Index, tc.ID, tc.Function.Name, string(tc.Function.Args)); err != nil {
				return err
			}
		}
		switch ch.Finish {
		case "":
		case "error", "insufficient_system_resource": // of OpenRouter and Mistral, and of DeepSeek
			return &sandbox.ModelError{Message: "the server stopped within the answer (" + ch.Finish + ")", Retry: true}
		default:
			s.reason = ch.Finish
		}
	}
	return nil
}

// call adds a piece of a call. The pieces of one call have its index. Where there is none, they follow
// one another. A piece with another id begins another call, also at the same index. An id that comes
// late belongs to the call that was begun without one, and the call keeps the generated id.
func (s *chatStream) call(index *int, id, name, args string) error {
	at := len(s.list) - 1
	if index != nil {
		var ok bool
		if at, ok = s.calls[*index]; !ok {
			at = -1
		}
	}
	switch {
	case at < 0:
	case id == "" && index == nil && name != "":
		at = -1
	case id != "" && s.list[at].late(s.names.back(name)):
		s.list[at].given = id
	case id != "" && s.list[at].given != id:
		at = -1
	}
	if at < 0 {
		if len(s.list) >= 1000 {
			return &sandbox.ModelError{Message: "more than 1,000 calls at once"}
		}
		b := &block{id: id, given: id, name: s.names.back(name)}
		if id == "" {
			b.id = newID()
		}
		at = len(s.list)
		s.list = append(s.list, b)
		if index != nil {
			s.calls[*index] = at
		}
		if err := s.endThoughts(); err != nil {
			return err
		}
		if err := s.send(sandbox.ModelEvent{Type: sandbox.PartCallStart, CallID: b.id, Tool: b.name}); err != nil {
			return err
		}
	}
	if args == "" {
		return nil
	}
	b := s.list[at]
	b.args.WriteString(args)
	return s.send(sandbox.ModelEvent{Type: sandbox.PartCallDelta, CallID: b.id, Text: args})
}

// late reports whether an id that comes now belongs to b, which has none yet. A piece with another
// name, or with a name after arguments that are complete, begins another call.
func (b *block) late(name string) bool {
	return b.given == "" && (name == "" || name == b.name && !json.Valid([]byte(b.args.String())))
}

// endThoughts sends the meta of the open block of thoughts, if there is one. A text or a call follows.
// Details that come without an open block wait for the next block, or for the end: each meta without
// a block of its own makes an empty one.
func (s *chatStream) endThoughts() error {
	s.said = true
	if !s.thinks {
		return nil
	}
	return s.sendMeta()
}

// sendMeta sends what must be sent back with the thoughts, as far as it was not sent.
func (s *chatStream) sendMeta() error {
	m := chatMeta{Details: s.details.joined(), Named: s.named}
	s.details, s.named, s.thinks = nil, false, false
	if !m.Named && m.items() == nil {
		return nil
	}
	meta, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return s.send(sandbox.ModelEvent{Type: sandbox.PartReasoning, Meta: meta})
}

// finish sends the calls, because the API does not mark their end, and then the finish reason.
func (s *chatStream) finish() error {
	if s.finished {
		return nil
	}
	if err := s.sendMeta(); err != nil {
		return err
	}
	for _, b := range s.list {
		args := b.args.String()
		switch {
		case args != "":
		case cutShort(openAIFinish(s.reason)):
			args = cutOff
		default:
			args = "{}"
		}
		if err := s.send(sandbox.ModelEvent{Type: sandbox.PartCall, CallID: b.id, Tool: b.name, Args: json.RawMessage(args)}); err != nil {
			return err
		}
	}
	if err := s.send(sandbox.ModelEvent{Type: sandbox.PartUsage, Usage: s.usage}); err != nil {
		return err
	}
	return s.send(sandbox.ModelEvent{Type: sandbox.PartFinish, Text: openAIFinish(s.reason)})
}

func openAIFinish(reason string) string {
	switch reason {
	case "stop":
		return finishStop
	case "tool_calls", "function_call":
		return finishCalls
	case "length", "model_length": // the second is Mistral's, for the end of the window
		return finishLength
	case "content_filter":
		return finishFilter
	}
	return finishOther
}
