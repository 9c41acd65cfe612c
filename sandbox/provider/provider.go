package provider

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bailey-go/bailey/internal/strictjson"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/internal/eventstream"
)

// Options configure a model and the connection to it.
type Options struct {
	Transport fetch.Transport   // default fetch.Browser()
	URL       string            // the server's address up to its version, such as "http://localhost:11434/v1"; empty is the provider's own
	Key       string            // API key, or empty
	Model     string            // the provider's name of the model, such as "claude-sonnet-4-5"
	Header    map[string]string // additional headers
	// MaxTokens is the maximum length of an answer, in tokens. A limit in the request, such as
	// [sandbox.RunOptions].MaxTokens, replaces it. 0 is the provider's own limit, or 8,192 for
	// [Anthropic], which requires one. Reasoning counts too. Where a number of tokens is sent for the
	// thoughts, it is at most half of this limit, and a limit below 2,048 leaves none, see Effort and
	// ThinkingTokens. [OpenAIChat] sends the limit as max_completion_tokens to OpenAI and Azure, and as
	// max_tokens to all other servers.
	MaxTokens int
	// Context is the number of tokens that the model accepts in a request, with its answer. 0 is
	// 200,000 for [Anthropic], 128,000 for [OpenAI] and [OpenAIChat] at OpenAI's own address,
	// 1,000,000 for [Gemini], and 100,000 for other servers. Set it for a local model, because some
	// servers leave out what is too long without an error. See [sandbox.RunOptions].
	Context int
	// Effort is how much the model thinks before it answers: "none", "minimal", "low", "medium",
	// "high", "xhigh" or "max". No model knows all of them, and the server refuses an unknown one.
	// "" leaves it to the server. Claude up to 4.5 and Gemini 2.5 take a number of tokens in its
	// place: 1,024 for "minimal", 4,096 for "low", 10,240 for "medium" and 24,576 for more, but at most
	// half of the limit of the answer, see MaxTokens. With a limit below 2,048 they do not think. Only
	// Gemini 2.5 Pro always does, and gets its minimum of 128. The thoughts are asked for where the
	// server can show them.
	Effort string
	// ThinkingTokens is the maximum number of tokens of the thoughts, in place of an Effort, for
	// [Anthropic]'s and [Gemini]'s models of those versions, and for OpenRouter. Claude takes at least
	// 1,024. 0 is no limit of its own. Other servers have no such limit, and a request to them fails.
	// At most half of the limit of the answer is sent, see MaxTokens. With a limit below 2,048 it is as
	// for an Effort. OpenRouter then gets no setting, and Gemini's later models get the level "low".
	ThinkingTokens int
	// TextOnly declares that the model takes no images or other files. A line such as
	// "[image: a.png, image/png, 1234 bytes]" stands for each file. Set it for a text model, because
	// most servers refuse each request of a conversation that has a file the model can't read. Without
	// it, a line stands for files of types that the API has no form for: all but PNG, JPEG, GIF, WebP
	// and PDF for [Anthropic] and [OpenAI], PDF too for [OpenAIChat] at servers other than OpenAI, Azure
	// and OpenRouter, and GIF for [Gemini], which takes audio too.
	TextOnly bool
	// Temperature is how freely the model chooses its words: 0 is the least, and most models take up to 1
	// or 2. nil leaves it to the server. Models that think refuse it at times.
	Temperature *float64
	// ToolChoice is "auto", "none", "required", or the name of a tool that the model must call. "" leaves
	// it to the server. The last two are for the answer to a message of the user's: a request that ends
	// with results does not have them, because the model would then never stop to call tools.
	ToolChoice string
	// Body has additional members of the body of each request, such as {"top_p": 0.9} or
	// {"service_tier": "flex"}. They replace members of the same name.
	Body map[string]any
	// OnDevice declares that URL is on this machine, so that no content leaves it. It is ignored
	// unless the host of URL is localhost or a loopback address.
	OnDevice bool
	// Now returns the current time, for dates in Retry-After. nil is time.Now.
	Now func() time.Time
}

// Host returns the "host:port" of o.URL, or "" if it is empty. For a provider's own address use the
// function [Host].
func (o Options) Host() string {
	_, rest, _ := strings.Cut(o.URL, "://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}

// The reasons at the end of an answer, see [sandbox.ModelEvent].
const (
	finishStop   = "stop"
	finishLength = "length"
	finishFilter = "content-filter"
	finishCalls  = "tool-calls"
	finishOther  = "other"
)

// Host returns the "host:port", or "host", of the server that a model of this package uses, for the
// policy and for the page's headers. If headers.Headers.Reaches reports false for it, the
// page must be reloaded with new headers before the model can be used. It returns "" for a model without a
// server.
func Host(m sandbox.Model) string {
	if h, ok := m.(interface{ host() string }); ok {
		return h.host()
	}
	return ""
}

func (o Options) withDefaults(url string) Options {
	if o.URL == "" {
		o.URL = url
	}
	o.URL = strings.TrimSuffix(o.URL, "/")
	if o.Transport == nil {
		o.Transport = fetch.Browser()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// maxTokens returns the limit of the answer to a request, or 0.
func (o *Options) maxTokens(r sandbox.ModelRequest) int { return cmp.Or(r.MaxTokens, o.MaxTokens) }

// toolChoice returns the choice for a request, which is "auto", "none", "required", "tool" for the tool
// of the name, or "" for none.
func (o *Options) toolChoice(r sandbox.ModelRequest) (mode, tool string) {
	if o.ToolChoice == "" || len(r.Tools) == 0 {
		return "", ""
	}
	if o.ToolChoice == "auto" || o.ToolChoice == "none" {
		return o.ToolChoice, ""
	}
	if n := len(r.Messages); n > 0 && slices.ContainsFunc(r.Messages[n-1].Parts, func(p sandbox.ModelPart) bool { return p.Type == sandbox.PartResult }) {
		return "", ""
	}
	if o.ToolChoice == "required" {
		return o.ToolChoice, ""
	}
	if slices.ContainsFunc(r.Tools, func(t sandbox.ModelTool) bool { return t.Name == o.ToolChoice }) {
		return "tool", o.ToolChoice
	}
	return "", "" // such as of a subagent that does not have the tool
}

// openAIContext returns the number of tokens of a request to OpenAI, or to a server with its API.
func (o *Options) openAIContext() int {
	if host, _, _ := protocol.SplitHost(o.Host()); o.Context == 0 && host == "api.openai.com" {
		return 128_000
	}
	return o.Context
}

func (o *Options) local() bool {
	host, _, err := protocol.SplitHost(o.Host())
	return o.OnDevice && err == nil && protocol.Loopback(host)
}

// maxImageEvent is the limit of an event, in bytes, where an answer may have images: 12 MiB of them in
// base64, as many as an answer may have, and 1 MiB of other data. The last event of a Responses stream
// repeats them all.
const maxImageEvent = 12<<20/3*4 + 1<<20

// post sends a request and calls do with each event of the response, of at most most bytes. Errors are
// *[sandbox.ModelError], or the cause of the context.
func (o *Options) post(ctx context.Context, path string, header map[string]string, body map[string]any, most int, do func(eventstream.Event) error) error {
	maps.Copy(body, o.Body)
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	h := map[string]string{"content-type": "application/json", "accept": "text/event-stream"}
	res, err := o.Transport.Do(ctx, fetch.Request{Method: "POST", URL: o.URL + path, Header: o.headers(h, header), Body: text})
	if err != nil {
		return o.unanswered(ctx, err)
	}
	defer res.Body.Close()
	if res.Status != 200 {
		return o.refused(res)
	}
	err = eventstream.ReadUpTo(res.Body, most, do)
	var me *sandbox.ModelError
	switch {
	case errors.As(err, &me):
		me.Message = o.clean(me.Message) // a server may repeat the key within a stream, too
		return me
	case err == nil || errors.Is(err, errStop):
		return err
	case errors.Is(err, protocol.ErrResourceLimit) && ctx.Err() == nil: // the same request has the same answer
		return &sandbox.ModelError{Message: "a piece of the answer has more than " + strconv.Itoa(most>>20) + " MiB, the most that is read; ask for less at once, such as a smaller image"}
	}
	return o.unanswered(ctx, err)
}

// headers returns all headers of a request. Those of later maps replace those of earlier ones, and
// the app's own replace all.
func (o *Options) headers(list ...map[string]string) map[string]string {
	h := map[string]string{}
	for _, more := range append(list, o.Header) {
		for k, v := range more {
			h[strings.ToLower(k)] = v
		}
	}
	return h
}

// thinking returns the error of options about thinking that exclude each other, or that the server
// does not have.
func (o *Options) thinking(takesTokens bool) error {
	why := ""
	switch {
	case o.ThinkingTokens < 0:
		why = "Options.ThinkingTokens is negative"
	case o.ThinkingTokens > 0 && o.Effort != "":
		why = "Options has both Effort and ThinkingTokens: set one of them"
	case o.ThinkingTokens > 0 && !takesTokens:
		why = "this server takes no limit of tokens for its thoughts: set Options.Effort in place of ThinkingTokens"
	default:
		return nil
	}
	return &sandbox.ModelError{Message: why}
}

// tokensFor returns the tokens for an effort, for models that take no effort.
func tokensFor(effort string) int {
	switch effort {
	case "minimal":
		return 1024
	case "low":
		return 4096
	case "medium":
		return 10_240
	}
	return 24_576
}

// leastThinking is the smallest limit of an answer with a number of tokens for thoughts. Half of it
// is the smallest number that Claude takes.
const leastThinking = 2048

// thoughtsWithin returns the tokens of thoughts for an answer of at most most tokens, or 0 for none.
// The thoughts are a part of the answer, and Claude refuses a request in which they may fill it.
func thoughtsWithin(tokens, most int) int {
	switch {
	case most <= 0: // no limit
		return tokens
	case most < leastThinking:
		return 0
	}
	return min(tokens, most/2)
}

// errStop ends a stream whose consumer has stopped, or that is complete.
var errStop = errors.New("stop")

func (o *Options) unanswered(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	why := protocol.Public(err).Message
	var e *protocol.Error
	if !errors.As(err, &e) {
		why = "the connection failed or was cut off"
	}
	return &sandbox.ModelError{Message: o.clean(why), Retry: true}
}

// clean removes the key from a text and limits its length.
func (o *Options) clean(s string) string {
	if len(o.Key) >= 4 {
		s = strings.ReplaceAll(s, o.Key, "(key)")
	}
	if len(s) > 2000 {
		s = s[:2000] + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// refused returns the error of a response whose status is not 200.
func (o *Options) refused(res *fetch.Response) error {
	body, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	e := &sandbox.ModelError{Status: res.Status, Message: o.clean(errorText(body))}
	switch res.Status { // not 429, whose words are similar at some providers
	case 400, 413, 422, 500:
		e.TooLong = tooLong(string(body)) || res.Status == 413 && e.Message == "" // of a server, or of a proxy before it
	}
	if e.Message == "" {
		e.Message = "the server answered " + strconv.Itoa(res.Status)
	}
	e.Retry = mayRetry(res.Status)
	switch res.Header["x-should-retry"] { // OpenAI and Anthropic say so where the status alone does not
	case "true":
		e.Retry = true
	case "false":
		e.Retry = false
	}
	if n, err := strconv.ParseFloat(res.Header["retry-after-ms"], 64); err == nil && n >= 0 && n < 1e9 {
		e.RetryAfter = time.Duration(n * float64(time.Millisecond))
	} else if d := retryInfo(body); d > 0 {
		e.RetryAfter = d
	} else if v := res.Header["retry-after"]; v != "" {
		if n, err := strconv.ParseFloat(v, 64); err == nil && n >= 0 && n < 1e6 {
			e.RetryAfter = time.Duration(n * float64(time.Second))
		} else if at, err := time.Parse("Mon, 02 Jan 2006 15:04:05 GMT", v); err == nil {
			e.RetryAfter = max(0, at.Sub(o.Now()))
		}
	}
	return e
}

// tooLong reports whether an error is about a request with more tokens than the model accepts. Few
// servers have a code for it, so the words decide. A false match costs one summary.
func tooLong(text string) bool {
	text = strings.ToLower(text)
	for _, words := range []string{
		"context_length_exceeded", "maximum context length", "context window", "context length", "context size", "maximum model length", // OpenAI, vLLM, OpenRouter, llama.cpp
		"prompt is too long", "input is too long", // Anthropic, Bedrock
		"input length",                                              // Anthropic, Alibaba, Volcano
		"exceeds the maximum number of tokens", "input token count", // Gemini
		"too many tokens", "reduce the length of the messages", // Mistral, Groq
		"maximum prompt length", "exceeded model token limit", "prompt exceeds max length", // xAI, Moonshot, Zhipu
		"prompt token count", "tokens_limit_reached", // GitHub
		"request_too_large", "request entity too large", // Anthropic, and proxies
		"`inputs` tokens + `max_new_tokens`", "`inputs` must have less than", // Hugging Face
	} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// mayRetry reports whether a new attempt may succeed after a response with this status.
func mayRetry(status int) bool {
	switch status {
	case 408, 409, 425, 429, 500, 502, 503, 504, 529:
		return true
	}
	return false
}

// retryInfo returns the delay in the error of a Google API, or 0. The error is in an array at times.
// https://cloud.google.com/apis/design/errors#error_details
func retryInfo(body []byte) time.Duration {
	if strictjson.TooDeep(body) {
		return 0
	}
	type answer struct {
		Error struct {
			Details []struct {
				Type  string `json:"@type"`
				Delay string `json:"retryDelay"`
			} `json:"details"`
		} `json:"error"`
	}
	var one answer
	if json.Unmarshal(body, &one) != nil {
		var list []answer
		if json.Unmarshal(body, &list) != nil || len(list) == 0 {
			return 0
		}
		one = list[0]
	}
	for _, d := range one.Error.Details {
		if delay, err := time.ParseDuration(d.Delay); err == nil && strings.HasSuffix(d.Type, "google.rpc.RetryInfo") {
			return max(0, delay)
		}
	}
	return 0
}

// errorText returns the provider's error message in a response.
func errorText(body []byte) string {
	if strictjson.TooDeep(body) {
		return ""
	}
	var wrapped struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	if json.Unmarshal(body, &wrapped) != nil {
		var list []json.RawMessage // Gemini sends this form at times
		if json.Unmarshal(body, &list) == nil && len(list) > 0 {
			return errorText(list[0])
		}
		return strings.TrimSpace(string(body[:min(len(body), 300)]))
	}
	var e struct {
		Message string `json:"message"`
	}
	var text string
	switch {
	case json.Unmarshal(wrapped.Error, &e) == nil && e.Message != "":
		return e.Message
	case json.Unmarshal(wrapped.Error, &text) == nil && text != "":
		return text
	}
	return wrapped.Message
}

// decode decodes an event's data. An undecodable event is an error that may be retried.
func decode(e eventstream.Event, v any) error {
	if err := json.Unmarshal([]byte(e.Data), v); err != nil {
		return unread()
	}
	return nil
}

// unread returns the error of a piece of an answer that is not in the form of the API.
func unread() error {
	return &sandbox.ModelError{Message: "a piece of the answer can't be read", Retry: true}
}

// arguments are a call's arguments: a text of JSON, or the object itself, as some servers send it.
type arguments string

func (a *arguments) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		*a = arguments(b)
		return nil
	}
	return json.Unmarshal(b, (*string)(a))
}

// sink passes events on until the consumer stops.
type sink struct {
	yield    func(sandbox.ModelEvent, error) bool
	finished bool
	gone     bool
}

func (s *sink) send(e sandbox.ModelEvent) error {
	if s.gone {
		return errStop
	}
	if e.Type == sandbox.PartFinish {
		s.finished = true
	}
	if !s.yield(e, nil) {
		s.gone = true
		return errStop
	}
	return nil
}

// end yields the stream's error, once.
func (s *sink) end(err error) {
	if s.gone || s.finished {
		return
	}
	if err == nil || errors.Is(err, errStop) {
		err = &sandbox.ModelError{Message: "the answer was cut off", Retry: true}
	}
	s.gone = true
	s.yield(sandbox.ModelEvent{}, err)
}

// names maps the tools' names to names that providers accept: letters, digits, _ and -, at most 64
// characters. A changed name is unique.
type names struct{ to, from map[string]string }

func newNames(r sandbox.ModelRequest) names {
	n := names{map[string]string{}, map[string]string{}}
	for _, t := range r.Tools {
		n.wire(t.Name)
	}
	return n
}

func (n names) wire(name string) string {
	if w, ok := n.to[name]; ok {
		return w
	}
	w := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' {
			return r
		}
		return '_'
	}, name)
	if w == "" {
		w = "_"
	}
	base := w[:min(len(w), 60)]
	w = w[:min(len(w), 64)]
	for i := 2; n.from[w] != ""; i++ {
		w = base + "_" + strconv.Itoa(i)
	}
	n.to[name], n.from[w] = w, name
	return w
}

func (n names) back(w string) string {
	if name, ok := n.from[w]; ok {
		return name
	}
	return w
}

// newID returns an id for a call that has none. It is unique in the conversation, also after a summary
// has made that shorter.
func newID() string { return "call-" + rand.Text() }

// cutOff stands for the arguments of a call that was cut off before them. It is no JSON, so the call
// is an error. Without arguments it would be another call.
const cutOff = "the answer ended before the arguments"

// cutShort reports whether an answer with this reason at its end may lack the end of a call.
func cutShort(reason string) bool { return reason == finishLength || reason == finishFilter }

func orEmpty(args json.RawMessage) json.RawMessage {
	if len(args) == 0 || string(args) == "null" || !json.Valid(args) {
		return json.RawMessage("{}")
	}
	return args
}
