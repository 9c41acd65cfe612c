package provider

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
)

// Options say which model, and how to reach it.
type Options struct {
	Transport fetch.Transport // fetch.Browser() if nil
	URL       string          // the server's address up to its version, such as "http://localhost:11434/v1"; the provider's own if empty
	Key       string
	Model     string
	MaxTokens int               // of an answer, where the request says nothing; 8,192
	Header    map[string]string // more headers
	// OnDevice says that URL is this machine, so that nothing is sent anywhere. It is
	// believed for localhost and loopback addresses only.
	OnDevice bool
	// Now is the clock for retry-after dates; time.Now if nil.
	Now func() time.Time
}

// Host is "host:port" that URL names; see the function Host for a provider's own address.
func (o Options) Host() string {
	_, rest, _ := strings.Cut(o.URL, "://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}

// Host is "host:port", or "host", of the server that one of this package's models asks,
// for the policy and for the page's headers: where policy.Covered says that the page's
// don't reach it, the page has to be loaded again before the model can be used. It is
// empty for a model that asks none.
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
	if o.MaxTokens == 0 {
		o.MaxTokens = 8192
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

func (o *Options) local() bool {
	host, _, err := protocol.SplitHost(o.Host())
	return o.OnDevice && err == nil && protocol.Loopback(host)
}

// post sends a request and gives each event of the answer to do. Errors are
// *[sandbox.ModelError], or the context's.
func (o *Options) post(ctx context.Context, path string, header map[string]string, body any, do func(fetch.Event) error) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	h := map[string]string{"content-type": "application/json", "accept": "text/event-stream"}
	for _, more := range []map[string]string{header, o.Header} {
		for k, v := range more {
			h[strings.ToLower(k)] = v
		}
	}
	res, err := o.Transport.Do(ctx, fetch.Request{Method: "POST", URL: o.URL + path, Header: h, Body: text})
	if err != nil {
		return o.unanswered(ctx, err)
	}
	defer res.Body.Close()
	if res.Status != 200 {
		return o.refused(res)
	}
	err = fetch.Events(res.Body, do)
	var me *sandbox.ModelError
	switch {
	case err == nil || errors.As(err, &me) || errors.Is(err, errStop):
		return err
	}
	return o.unanswered(ctx, err)
}

// errStop ends a stream that nobody listens to any more, or that has said all.
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

// clean keeps the key out of a text.
func (o *Options) clean(s string) string {
	if len(o.Key) >= 4 {
		s = strings.ReplaceAll(s, o.Key, "(key)")
	}
	if len(s) > 2000 {
		s = s[:2000] + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// refused makes an error of an answer that is not 200.
func (o *Options) refused(res *fetch.Response) error {
	body, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	e := &sandbox.ModelError{Status: res.Status, Message: o.clean(errorText(body))}
	if e.Message == "" {
		e.Message = "the server answered " + strconv.Itoa(res.Status)
	}
	switch res.Status {
	case 408, 409, 425, 429, 500, 502, 503, 504, 529:
		e.Retry = true
	}
	if v := res.Header["retry-after"]; v != "" {
		if n, err := strconv.ParseFloat(v, 64); err == nil && n >= 0 && n < 1e6 {
			e.RetryAfter = time.Duration(n * float64(time.Second))
		} else if at, err := time.Parse("Mon, 02 Jan 2006 15:04:05 GMT", v); err == nil {
			e.RetryAfter = max(0, at.Sub(o.Now()))
		}
	}
	return e
}

// errorText is what a provider says went wrong.
func errorText(body []byte) string {
	if protocol.CheckDepth(body) != nil {
		return ""
	}
	var wrapped struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	if json.Unmarshal(body, &wrapped) != nil {
		var list []json.RawMessage // Gemini, at times
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

// decode reads an event's data; what can't be read is worth another try.
func decode(e fetch.Event, v any) error {
	if err := json.Unmarshal([]byte(e.Data), v); err != nil {
		return &sandbox.ModelError{Message: "a piece of the answer can't be read", Retry: true}
	}
	return nil
}

// sink hands on events until nobody takes them.
type sink struct {
	yield    func(sandbox.ModelEvent, error) bool
	finished bool
	gone     bool
}

func (s *sink) send(e sandbox.ModelEvent) error {
	if s.gone {
		return errStop
	}
	if e.Type == sandbox.EventFinish {
		s.finished = true
	}
	if !s.yield(e, nil) {
		s.gone = true
		return errStop
	}
	return nil
}

// end tells how the stream ended, once.
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

// names are the tools' names as providers take them: letters, digits, _ and -, at most
// 64. A name that has to be changed gets one of its own.
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

func orEmpty(args json.RawMessage) json.RawMessage {
	if len(args) == 0 || !json.Valid(args) {
		return json.RawMessage("{}")
	}
	return args
}
