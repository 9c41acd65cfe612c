package sandbox

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/strictjson"
	"github.com/bailey-go/bailey/protocol"
)

// answer is one message of the model while it streams.
type answer struct {
	run   *run
	msg   MessageRecord
	parts []PartRecord
	calls []int   // indexes into parts
	wrong []Chunk // of calls that can't be made, emitted once the message is stored
	open  string  // the id of the text or reasoning that is streaming
	kind  string  // "text" or "reasoning"
	usage Usage
	said  strings.Builder
	names map[string][]string // the ids of begun calls that are not complete, by the model's id
	told  []string            // the ids of the calls that chunks name
	asked map[string]asked    // by the id of the call

	files   map[string]*File // that the model made, by the id of the part; without the contents that are stored
	sizes   map[string]int   // of the session's files and those of the answer, nil until it has one
	sources []Source         // each once
	later   []Source         // those that wait for the end of the text

	quiet   bool         // it is no message of the session
	drafted []PartRecord // the parts as they were stored while they streamed
}

// draftAfter is how long a piece of an answer waits until it is stored. A page that is closed loses
// no more of it.
const draftAfter = time.Second

// draft stores the text, the reasoning and the files that came. Calls are stored when the answer is
// complete, because they are made only then. An error is not reported: the whole answer is stored at
// its end.
func (a *answer) draft(ctx context.Context) {
	parts := cloneParts(a.parts)
	if i := slices.IndexFunc(parts, func(p PartRecord) bool { return p.ToolCallID != "" }); i >= 0 {
		parts = parts[:i]
	}
	for i, p := range parts {
		data, _ := p.Data.(map[string]any)
		data = maps.Clone(data)
		if p.ID == a.open {
			data["text"] = a.said.String()
		}
		parts[i].Data = data
	}
	a.storeFiles(ctx, parts)
	msg := a.msg
	msg.Metadata.Partial = true
	if a.run.s.put(context.WithoutCancel(ctx), []MessageRecord{msg}, a.emptied(parts)) == nil && len(parts) > len(a.drafted) {
		a.drafted = parts
	}
}

// emptied appends the parts that were stored of an earlier try which had more, without their text.
func (a *answer) emptied(parts []PartRecord) []PartRecord {
	for _, p := range a.drafted[min(len(parts), len(a.drafted)):] {
		p.Type, p.Data = "text", map[string]any{"text": ""}
		parts = append(parts, p)
	}
	return parts
}

// newPart returns the next part. Another try of an answer writes over the parts that were stored of
// the one before.
func (a *answer) newPart(kind string, data any) PartRecord {
	p := a.run.s.newPart(a.msg, len(a.parts), kind, data)
	if i := len(a.parts); i < len(a.drafted) {
		p.ID = a.drafted[i].ID
	}
	return p
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

func (a *answer) reset() {
	a.parts, a.calls, a.wrong, a.open, a.usage = nil, nil, nil, "", Usage{}
	a.names, a.told, a.files, a.sizes, a.sources, a.later = nil, nil, nil, nil, nil, nil
}

// ids returns the ids that chunks of this answer have named: of texts, of reasoning, and of calls,
// also of those that are not complete.
func (a *answer) ids() []any {
	var out []any
	for _, p := range a.parts {
		if p.ToolCallID == "" {
			out = append(out, p.ID)
		}
	}
	for _, id := range a.told {
		out = append(out, id)
	}
	return out
}

// begin returns the id under which a call is shown and stored. It is the model's id, unless that is
// empty, longer than 256 bytes or the id of another call of the session.
func (a *answer) begin(id string) string {
	own := id
	if id == "" || len(id) > 256 || slices.Contains(a.told, id) || a.run.s.called(id) {
		own = "call-" + randomID(9)
	}
	a.told = append(a.told, own)
	return own
}

func (a *answer) text() string {
	var b strings.Builder
	for _, p := range a.parts {
		if p.Type == "text" {
			m, _ := p.Data.(map[string]any)
			s, _ := m["text"].(string)
			b.WriteString(s)
		}
	}
	return b.String()
}

type streamed struct {
	e   ModelEvent
	err error
}

// stream receives one answer. The model runs on its own goroutine, so that a model that ignores its
// context blocks nothing.
func (a *answer) stream(ctx context.Context, req ModelRequest) (finish string, err error) {
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events := make(chan streamed)
	go func() {
		defer close(events)
		for e, err := range a.run.model.Stream(ctx, req) {
			select {
			case events <- streamed{e, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	var due <-chan time.Time // when what came must be stored
	for {
		select {
		case <-ctx.Done():
			a.closeOpen()
			return "", context.Cause(ctx)
		case <-due:
			due = nil
			a.draft(ctx)
		case x, ok := <-events:
			switch {
			case ctx.Err() != nil: // both were ready: an interruption comes before the event
				a.closeOpen()
				return "", context.Cause(ctx)
			case !ok:
				a.closeOpen()
				return "", &ModelError{Message: "the answer was cut off", Retry: true}
			case x.err != nil:
				a.closeOpen()
				return "", x.err
			case x.e.Type == PartFinish:
				a.closeOpen()
				return x.e.Text, nil
			}
			if a.full(x.e) {
				a.closeOpen()
				return "", &ModelError{Message: "the answer has more than 1,000 parts (texts, thoughts, files and calls), so its rest is left out"}
			}
			if !a.take(ctx, x.e) {
				return "", errGone
			}
			if due == nil && !a.quiet && (x.e.Text != "" && (x.e.Type == PartText || x.e.Type == PartReasoning) || x.e.Type == PartFile || x.e.Type == PartSource) {
				due = time.After(draftAfter)
			}
		}
	}
}

// maxParts is the number of parts of an answer, with the calls that have begun. Each part is stored,
// shown and sent again, so a model that never ends a list of them would stop the page.
const maxParts = 1000

func (a *answer) count() int { return len(a.parts) - len(a.calls) + len(a.told) + len(a.later) }

// full reports whether an event begins a part that an answer can't have any more.
func (a *answer) full(e ModelEvent) bool {
	if a.count() < maxParts {
		return false
	}
	switch e.Type {
	case PartText, PartReasoning:
		return a.open == "" || a.kind != string(e.Type)
	case PartCallStart:
		return true
	case PartCall:
		return len(a.names[e.CallID]) == 0
	case PartFile:
		return !a.quiet
	}
	return false
}

// take converts an event to chunks and parts. It returns false if the consumer has stopped
// iterating.
func (a *answer) take(ctx context.Context, e ModelEvent) bool {
	switch e.Type {
	case PartText, PartReasoning:
		kind := "text"
		if e.Type == PartReasoning {
			kind = "reasoning"
		}
		if a.kind != kind || a.open == "" {
			if !a.closeOpen() {
				return false
			}
			p := a.newPart(kind, map[string]any{"text": ""})
			a.parts = append(a.parts, p)
			a.open, a.kind = p.ID, kind
			a.said.Reset()
			if !a.run.emit(Chunk{Type: ChunkType(kind + "-start"), ID: p.ID}) {
				return false
			}
		}
		a.said.WriteString(e.Text)
		if len(e.Meta) > 0 {
			a.last()["meta"] = string(e.Meta)
		}
		if e.Text != "" && !a.run.emit(Chunk{Type: ChunkType(kind + "-delta"), ID: a.open, Delta: e.Text}) {
			return false
		}
		// A signature ends its block of reasoning. The next block has one of its own.
		return kind == "text" || len(e.Meta) == 0 || a.closeOpen()
	case PartCallStart:
		id := a.begin(e.CallID)
		if a.names == nil {
			a.names = map[string][]string{}
		}
		a.names[e.CallID] = append(a.names[e.CallID], id)
		return a.closeOpen() && a.run.emit(Chunk{Type: "tool-input-start", ToolCallID: id, ToolName: e.Tool, Dynamic: a.dynamic(e.Tool)})
	case PartCallDelta:
		ids := a.names[e.CallID]
		return len(ids) == 0 || a.run.emit(Chunk{Type: "tool-input-delta", ToolCallID: ids[len(ids)-1], Delta: e.Text})
	case PartCall:
		return a.closeOpen() && a.call(ctx, e)
	case PartFile:
		return a.quiet || a.file(ctx, e)
	case PartSource:
		return a.quiet || a.source(e.Source)
	case PartUsage:
		a.usage = e.Usage.checked()
	}
	return true
}

func (a *answer) last() map[string]any {
	m, _ := a.parts[len(a.parts)-1].Data.(map[string]any)
	return m
}

func (a *answer) closeOpen() bool {
	if a.open == "" {
		return true
	}
	id := a.open
	a.open = ""
	a.last()["text"] = a.said.String()
	meta, _ := a.last()["meta"].(string)
	ok := a.run.emit(Chunk{Type: ChunkType(a.kind + "-end"), ID: id, ProviderMetadata: a.metadata(meta)})
	later := a.later
	a.later = nil
	for _, s := range later {
		ok = a.cite(s) && ok
	}
	return ok
}

// metadata returns what belongs to the provider in the form of AI SDK: an object below its name.
func (a *answer) metadata(meta string) map[string]any {
	if meta == "" {
		return nil
	}
	var v any
	if strictjson.TooDeep([]byte(meta)) || json.Unmarshal([]byte(meta), &v) != nil {
		return nil
	}
	if _, ok := v.(map[string]any); !ok {
		v = map[string]any{"value": v}
	}
	name, _, _ := strings.Cut(a.run.model.Name(), "/")
	return map[string]any{name: v}
}

// file makes the part and the chunk of a file that the model made. A line stands for one that can't be
// kept. The content is stored with the part, because the answer may be repeated until then.
func (a *answer) file(ctx context.Context, e ModelEvent) bool {
	f, err := a.kept(e.File)
	if err != nil {
		return a.take(ctx, ModelEvent{Type: PartText, Text: leftOut(err)})
	}
	if !a.closeOpen() {
		return false
	}
	data := f.record()
	if len(e.Meta) > 0 {
		data["meta"] = string(e.Meta)
	}
	p := a.newPart("file", data)
	a.parts = append(a.parts, p)
	if a.files == nil {
		a.files = map[string]*File{}
	}
	a.files[p.ID] = &f
	meta := map[string]any{"bailey": map[string]any{"id": p.ID}} // a chunk of this type has no id of its own
	maps.Copy(meta, a.metadata(string(e.Meta)))
	return a.run.emit(Chunk{Type: "file", URL: "data:" + f.MediaType + ";base64," + base64.StdEncoding.EncodeToString(f.Data), MediaType: f.MediaType, ProviderMetadata: meta})
}

// kept returns a file of the model's with all its fields, or the error of one that the answer or the
// session can't have.
func (a *answer) kept(f File) (File, error) {
	var have []File
	for _, h := range a.files {
		have = append(have, *h)
	}
	f.made = true
	list, err := checkFiles(have, f)
	if err != nil {
		return f, err
	}
	if a.sizes == nil {
		a.run.s.mu.Lock()
		a.sizes = a.run.s.fileSizes()
		a.run.s.mu.Unlock()
	}
	sizes := maps.Clone(a.sizes)
	if err := fits(sizes, list); err != nil {
		return f, err
	}
	a.sizes = sizes
	return list[len(have)], nil
}

// leftOut returns the line that stands for a file of the model's.
func leftOut(err error) string {
	return "\n[a file of the model's is left out: " + protocol.Public(err).Message + "]\n"
}

// storeFiles stores the contents of the files that the model made, as far as they are not stored. A line
// stands for one that can't be stored.
func (a *answer) storeFiles(ctx context.Context, parts []PartRecord) {
	for i := range parts {
		f := a.files[parts[i].ID]
		if f == nil || f.Data == nil {
			continue
		}
		if err := a.run.s.storeFiles(context.WithoutCancel(ctx), []File{*f}, false); err != nil {
			parts[i].Type, parts[i].Data = "text", map[string]any{"text": leftOut(err)}
			continue
		}
		f.Data = nil
	}
}

// Limits of the sources of an answer. All but maxSources are in bytes.
const (
	maxSources   = 100
	maxSourceURL = 8192
	maxTitle     = 1000
)

// clean returns a source with its limits, or false for one that can't be shown.
func (s Source) clean() (Source, bool) {
	s.Title = strings.ToValidUTF8(s.Title[:min(len(s.Title), maxTitle)], "")
	if s.URL != "" {
		return s, len(s.URL) <= maxSourceURL && utf8.ValidString(s.URL) && (strings.HasPrefix(s.URL, "https://") || strings.HasPrefix(s.URL, "http://"))
	}
	s.MediaType = strings.ToLower(cmp.Or(s.MediaType, "text/plain"))
	s.Title = cmp.Or(s.Title, "document")
	if s.Filename != "" {
		s.Filename = cleanName(s.Filename)
	}
	return s, validMediaType(s.MediaType)
}

// source stores a source of the answer, once. While a text streams, its sources wait for its end.
func (a *answer) source(s Source) bool {
	s, ok := s.clean()
	if !ok || slices.Contains(a.sources, s) || len(a.sources) == maxSources || a.count() >= maxParts {
		return true
	}
	a.sources = append(a.sources, s)
	if a.open != "" {
		a.later = append(a.later, s)
		return true
	}
	return a.cite(s)
}

// cite makes the part and the chunk of a source.
func (a *answer) cite(s Source) bool {
	c := Chunk{Type: "source-url", URL: s.URL, Title: s.Title}
	if s.URL == "" {
		c = Chunk{Type: "source-document", MediaType: s.MediaType, Title: s.Title, Filename: s.Filename}
	}
	p := a.newPart(string(c.Type), s.record())
	a.parts = append(a.parts, p)
	c.SourceID = p.ID
	return a.run.emit(c)
}

// record returns the stored form of a source.
func (s Source) record() map[string]any {
	if s.URL != "" {
		return map[string]any{"url": s.URL, "title": s.Title}
	}
	return map[string]any{"media_type": s.MediaType, "title": s.Title, "filename": s.Filename}
}

// importedSource returns the stored form of a stranger's source, or false for one that can't be shown.
func importedSource(p PartRecord) (data map[string]any, ok bool) {
	d, _ := p.Data.(map[string]any)
	str := func(key string) string { s, _ := d[key].(string); return s }
	s := Source{Title: str("title"), URL: str("url")}
	if p.Type == "source-document" {
		s = Source{Title: s.Title, MediaType: str("media_type"), Filename: str("filename")}
	} else if s.URL == "" {
		return nil, false
	}
	s, ok = s.clean()
	return s.record(), ok
}

// dynamic reports whether a tool is not one of the app's own.
func (a *answer) dynamic(tool string) bool {
	t := a.run.box.byID[builtinName(tool)]
	return t != nil && t.foreign()
}

// call records a tool call. The model chose the tool's name, so it may be any text.
func (a *answer) call(ctx context.Context, e ModelEvent) bool {
	if ids := a.names[e.CallID]; len(ids) > 0 {
		a.names[e.CallID] = ids[1:]
		e.CallID = ids[0]
	} else {
		e.CallID = a.begin(e.CallID)
	}
	kind := "tool-" + e.Tool
	if protocol.ValidToolName(e.Tool) != nil || len(kind) > 128 {
		kind = "tool-unknown"
	}
	tree, err := parseArgs(ctx, string(e.Args))
	data := map[string]any{"tool": e.Tool, "input": tree}
	if len(e.Meta) > 0 {
		data["meta"] = string(e.Meta)
	}
	p := a.newPart(kind, data)
	p.ToolCallID, p.ToolState = e.CallID, ToolInputAvailable
	if err != nil {
		msg := protocol.Public(err).Message
		data["input"], data["error"] = string(e.Args), msg
		data["model"] = "error INVALID_PARAMS: " + msg
		p.ToolState = ToolOutputError
		a.wrong = append(a.wrong, Chunk{Type: "tool-input-error", ToolCallID: e.CallID, ToolName: e.Tool, Dynamic: a.dynamic(e.Tool), Input: string(e.Args), ErrorText: msg})
	}
	a.parts = append(a.parts, p)
	a.calls = append(a.calls, len(a.parts)-1)
	return err != nil || a.run.emit(Chunk{Type: "tool-input-available", ToolCallID: e.CallID, ToolName: e.Tool, Dynamic: a.dynamic(e.Tool), Input: tree, ProviderMetadata: a.metadata(string(e.Meta))})
}

// save stores the message as far as it has arrived, and emits the errors of calls that can't be
// made. They are not emitted earlier, because the answer may be repeated until it is complete.
func (a *answer) save(ctx context.Context) error {
	a.msg.Metadata.Usage = map[string]any{"input": float64(a.usage.Input), "output": float64(a.usage.Output)}
	if a.usage.Cached > 0 {
		a.msg.Metadata.Usage["cached"] = float64(a.usage.Cached)
	}
	if a.usage.Reasoning > 0 {
		a.msg.Metadata.Usage["reasoning"] = float64(a.usage.Reasoning)
	}
	a.storeFiles(ctx, a.parts)
	if err := a.run.s.put(ctx, []MessageRecord{a.msg}, a.emptied(cloneParts(a.parts))); err != nil {
		return err
	}
	for _, c := range a.wrong {
		a.run.emit(c)
	}
	return nil
}

func cloneParts(ps []PartRecord) []PartRecord {
	return append([]PartRecord(nil), ps...)
}

// ended is a call that has ended, or a question about one that begins or has ended.
type ended struct {
	at    int    // index into calls
	early any    // an output that is stored before the call ends
	ask   string // the id of the question
	reply *bool  // whether the user agreed, nil when the question begins
	late  bool   // the question came while the call was at work
	res   ToolResult
	model string
	far   string // the text for a model on another machine
	files []File // of the result; those with local set are not for a model on another machine
	kept  []string
	who   []any // who decided, a line for each step
}

// carryOut makes the calls concurrently, and handles each result as it arrives.
func (a *answer) carryOut(ctx context.Context) error {
	var todo []ToolCall
	news := make(chan ended)
	over, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	tell := func(e ended) {
		select {
		case news <- e:
		case <-over.Done():
		}
	}
	var places []int // of the calls to make, in a.calls
	for i, at := range a.calls {
		p := a.parts[at]
		if p.ToolState.Final() {
			continue
		}
		places = append(places, i)
		data, _ := p.Data.(map[string]any)
		name, _ := data["tool"].(string)
		todo = append(todo, ToolCall{ID: p.ToolCallID, Tool: name, Args: data["input"],
			asking: func(late bool) func(bool) {
				ask := "ask-" + randomID(6)
				tell(ended{at: i, ask: ask, late: late})
				return func(agreed bool) { tell(ended{at: i, ask: ask, late: late, reply: &agreed}) }
			},
			early: func(output map[string]any) { tell(ended{at: i, early: output}) },
			done: func(res ToolResult, c *Call) {
				far, sent, kept := c.forModel(ctx, res, false, a.run.model.Local())
				e := ended{at: i, res: res, model: far, far: far, kept: kept, who: c.trace.decisions()}
				if a.run.model.Local() {
					e.model, _, e.kept = c.forModel(ctx, res, true, true)
				}
				for i, f := range res.Files {
					if f.local = len(sent) == 0; !f.local && sent[i].id != f.id {
						f.far = &sent[i]
					}
					e.files = append(e.files, f)
				}
				tell(e)
			}})
	}
	left := len(todo)
	if left == 0 {
		return nil
	}
	var tick <-chan time.Time
	at := &atWork{calls: map[int]*Call{}, told: map[int]string{}}
	for i := range todo {
		todo[i].begun = func(c *Call) { at.begin(places[i], c) }
	}
	if every := a.run.o.Progress; every > 0 {
		t := time.NewTicker(every)
		defer t.Stop()
		tick = t.C
	}
	if a.run.gone {
		return a.abandon(ctx, at, errGone)
	}
	go a.run.box.CallAll(ctx, todo...)
	var stopped error
	for left > 0 {
		select {
		case e := <-news:
			if e.ask != "" {
				a.question(e)
				continue
			}
			if e.early != nil {
				if err := a.begun(ctx, e); err != nil {
					return err
				}
				continue
			}
			left--
			at.end(e.at)
			if err := a.settle(ctx, e); err != nil {
				return err
			}
		case <-tick:
			a.progress(ctx, at)
		case <-ctx.Done():
			stopped = context.Cause(ctx)
		}
		if a.run.gone && stopped == nil {
			stopped = errGone
		}
		if stopped != nil {
			return a.abandon(ctx, at, stopped)
		}
	}
	return nil
}

// begun stores an output of a call that goes on, such as the session of a subagent. Without it, a page that is
// closed would forget what belongs to the call.
func (a *answer) begun(ctx context.Context, e ended) error {
	p := &a.parts[a.calls[e.at]]
	p.Data = with(p.Data, "output", e.early)
	return a.run.s.put(context.WithoutCancel(ctx), []MessageRecord{a.msg}, []PartRecord{*p})
}

// with returns a copy of a part's data with one more member.
func with(data any, key string, value any) map[string]any {
	out := map[string]any{}
	old, _ := data.(map[string]any)
	maps.Copy(out, old)
	out[key] = value
	return out
}

// atWork has the calls that run, by their places, and the outputs that were last shown of them.
type atWork struct {
	mu    sync.Mutex
	calls map[int]*Call
	told  map[int]string
}

func (w *atWork) begin(at int, c *Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls[at] = c
}

func (w *atWork) end(at int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.calls, at)
}

// call returns the running call at a place, or nil.
func (w *atWork) call(at int) *Call {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls[at]
}

// all returns the running calls in order.
func (w *atWork) all() (places []int, calls []*Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, at := range slices.Sorted(maps.Keys(w.calls)) {
		places, calls = append(places, at), append(calls, w.calls[at])
	}
	return places, calls
}

// maxPreliminary is the maximum length of an output that is shown before its end, as JSON, in bytes.
const maxPreliminary = 256 << 10

// progress emits the outputs of running calls that have changed.
func (a *answer) progress(ctx context.Context, w *atWork) {
	places, calls := w.all()
	for i, c := range calls {
		out := c.preliminary()
		if out == nil {
			continue
		}
		out = plainOutput(ctx, out)
		text, err := json.Marshal(out)
		if err != nil || len(text) > maxPreliminary || string(text) == w.told[places[i]] {
			continue
		}
		w.told[places[i]] = string(text)
		p := a.parts[a.calls[places[i]]]
		data, _ := p.Data.(map[string]any)
		tool, _ := data["tool"].(string)
		a.run.emit(Chunk{Type: "tool-output-available", ToolCallID: p.ToolCallID, Dynamic: a.dynamic(tool), Preliminary: true, Output: out})
	}
}

// question emits the chunk of a question that begins or has ended. A call that is at work goes on
// whatever the user answers, but AI SDK's messages allow no output of a call with a declined approval.
// So the question is a part of its own.
func (a *answer) question(e ended) {
	id := a.parts[a.calls[e.at]].ToolCallID
	if e.late {
		data := map[string]any{"toolCallId": id}
		if e.reply != nil {
			data["approved"] = *e.reply
		}
		a.run.emit(Chunk{Type: ChunkApproval, ID: e.ask, Data: data})
		return
	}
	if a.asked == nil {
		a.asked = map[string]asked{}
	}
	if e.reply == nil {
		a.asked[id] = asked{id: e.ask, open: true}
		a.run.emit(Chunk{Type: "tool-approval-request", ApprovalID: e.ask, ToolCallID: id})
		return
	}
	a.asked[id] = asked{id: e.ask, agreed: *e.reply}
	a.run.emit(Chunk{Type: "tool-approval-response", ApprovalID: e.ask, ToolCallID: id, Approved: *e.reply})
}

// asked is the last question about a call.
type asked struct {
	id           string
	open, agreed bool
}

// failed emits the chunk of a call that failed. AI SDK's messages allow no error of a call that the
// user was asked about and did not agree to. Such a call is a denied one.
func (a *answer) failed(id, text string) {
	q, ok := a.asked[id]
	if ok && q.open {
		a.run.emit(Chunk{Type: "tool-approval-response", ApprovalID: q.id, ToolCallID: id, Reason: text})
	}
	kind := ChunkType("tool-output-error")
	if ok && !q.agreed {
		kind = "tool-output-denied"
	}
	a.run.emit(Chunk{Type: kind, ToolCallID: id, ErrorText: text})
}

// settle stores the result of a call and emits its chunk.
func (a *answer) settle(ctx context.Context, e ended) error {
	p := &a.parts[a.calls[e.at]]
	old, _ := p.Data.(map[string]any)
	data := map[string]any{"tool": old["tool"], "input": old["input"], "model": e.model}
	if err := a.keepFiles(ctx, data, &e); err != nil {
		return err
	}
	if e.far != e.model {
		data["far"] = e.far
	}
	if m, ok := old["meta"]; ok {
		data["meta"] = m
	}
	if len(e.who) > 0 {
		data["decided"] = e.who
	}
	p.ToolState = ToolOutputAvailable
	if e.res.Err() != nil {
		p.ToolState = ToolOutputError
		data["error"], data["code"] = e.res.ErrorText, string(e.res.Code)
		if e.res.Data != nil { // what it had put out
			data["output"] = plainOutput(ctx, e.res.Data)
		}
		if e.res.Reason == protocol.ReasonRejected {
			data["reason"] = string(e.res.Reason)
		}
	} else {
		data["output"] = plainOutput(ctx, e.res.Data)
		tool, _ := old["tool"].(string)
		a.run.done = append(a.run.done, tool+" "+rowLine(old["input"]))
	}
	p.Data = data
	if err := a.run.s.put(context.WithoutCancel(ctx), []MessageRecord{a.msg}, []PartRecord{*p}); err != nil {
		return err
	}
	if p.ToolState == ToolOutputError {
		a.failed(p.ToolCallID, e.res.ErrorText)
	} else {
		tool, _ := old["tool"].(string)
		a.run.emit(Chunk{Type: "tool-output-available", ToolCallID: p.ToolCallID, Dynamic: a.dynamic(tool), Output: data["output"]})
	}
	if len(e.kept) > 0 {
		a.run.emit(Chunk{Type: ChunkKept, Data: map[string]any{"toolCallId": p.ToolCallID, "kept": e.kept}})
	}
	return nil
}

// keepFiles stores the files of a result. If the session has too many, the model is told that it
// does not get them.
func (a *answer) keepFiles(ctx context.Context, data map[string]any, e *ended) error {
	err := a.run.s.storeFiles(context.WithoutCancel(ctx), withFar(e.files), false)
	if errors.Is(err, protocol.ErrResourceLimit) {
		note := "\n[the files of this result are left out: " + protocol.Public(err).Message + "]"
		e.model, e.far = e.model+note, e.far+note
		data["model"] = e.model
		return nil
	}
	if err != nil || len(e.files) == 0 {
		return err
	}
	var list []any
	for _, f := range e.files {
		list = append(list, f.record())
	}
	data["files"] = list
	return nil
}

// plainOutput returns a result as a tree of JSON values. A value that JSON can't represent becomes
// a text.
func plainOutput(ctx context.Context, v any) any {
	if plain(v, 64) {
		return v
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "(a value that JSON has no form for)"
	}
	var budget jsx.Budget
	ctx = context.WithoutCancel(ctx) // the result of a stopped call is stored too
	tree, err := protocol.ParseJSON(string(b), protocol.JSONLimits{Bytes: 64 << 20, Nodes: 5_000_000, Rest: func() error { return budget.Spend(ctx) }})
	if err != nil {
		return string(b)
	}
	return tree
}

// keep stores an answer that ended too early, with an error for each of its calls.
func (a *answer) keep(ctx context.Context, why error) {
	if len(a.parts) == 0 && len(a.drafted) == 0 {
		return
	}
	a.msg.Metadata.Partial = true
	ctx = context.WithoutCancel(ctx)
	if err := a.save(ctx); err == nil && len(a.calls) > 0 {
		_ = a.abandon(ctx, nil, why)
	}
}

// abandon stores and emits an error for each call that has no result yet, with the output of those in work.
func (a *answer) abandon(ctx context.Context, work *atWork, why error) error {
	var ps []PartRecord
	for i, at := range a.calls {
		p := &a.parts[at]
		if p.ToolState.Final() {
			continue
		}
		data := with(p.Data, "error", "stopped")
		data["code"], data["model"] = string(protocol.ErrAborted), "error ABORTED: the run was stopped before this call ended"
		if c := work.call(i); c != nil {
			if res := c.stopped(); res.Data != nil {
				far, _, _ := c.forModel(ctx, res, false, a.run.model.Local())
				data["output"], data["model"] = plainOutput(ctx, res.Data), far
				if a.run.model.Local() {
					if data["model"], _, _ = c.forModel(ctx, res, true, true); data["model"] != far {
						data["far"] = far
					}
				}
			}
		}
		p.ToolState, p.Data = ToolOutputError, data
		ps = append(ps, *p)
	}
	if err := a.run.s.put(context.WithoutCancel(ctx), []MessageRecord{a.msg}, ps); err != nil {
		return err
	}
	for _, p := range ps {
		a.failed(p.ToolCallID, "stopped")
	}
	return why
}
