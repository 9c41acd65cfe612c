package vendors

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/provider"
)

// An answer is what a client makes of a stream, in one form for all. The ids of calls that are not in
// the stream are "+". An answer that failed has its text and its error alone.
type answer struct {
	Name     string
	Text     string
	Thoughts [][2]string // the text and the signature of each block
	Calls    []struct{ ID, Tool, Args string }
	Files    []string // in base64
	Sources  [][2]string
	Usage    [4]int64 // input, output, cached, reasoning
	Stop     string
	Error    string
	Message  string
}

// fields returns the answer as texts to compare.
func (a answer) fields() map[string]string {
	f := map[string]string{"text": a.Text, "error": a.Error}
	if a.Error != "" {
		return f
	}
	var calls []string
	for _, c := range a.Calls {
		var v any
		if json.Unmarshal([]byte(c.Args), &v) == nil {
			text, _ := json.Marshal(v)
			c.Args = string(text)
		}
		calls = append(calls, c.ID+" "+c.Tool+" "+c.Args)
	}
	for name, v := range map[string]any{"thoughts": a.Thoughts, "sources": a.Sources} {
		if text := js(v); text != "null" && text != "[]" {
			f[name] = text
		}
	}
	f["calls"], f["files"] = strings.Join(calls, "; "), strings.Join(a.Files, "; ")
	f["usage"], f["stop"] = fmt.Sprint(a.Usage), a.Stop
	return f
}

var makers = map[string]func(provider.Options) sandbox.Model{
	"anthropic": provider.Anthropic, "chat": provider.OpenAIChat, "responses": provider.OpenAI, "gemini": provider.Gemini,
	"openrouter": provider.OpenAIChat, "mistral": provider.OpenAIChat, "deepseek": provider.OpenAIChat,
}

var addresses = map[string]string{"openrouter": "https://openrouter.ai/api/v1", "mistral": "https://api.mistral.ai/v1", "deepseek": "https://api.deepseek.com"}

// pieces divides a text for one of several ways in which a network delivers it.
func (s stream) pieces(way int) (out [][]byte) {
	text := []byte(s.text)
	switch way {
	case 0: // one event at a time
		for _, e := range strings.SplitAfter(s.text, "\n\n") {
			out = append(out, []byte(e))
		}
	case 1: // byte by byte
		for i := range text {
			out = append(out, text[i:i+1])
		}
	case 2: // at random, with empty pieces
		r := rand.New(rand.NewPCG(1, uint64(len(text))))
		for len(text) > 0 {
			n := min(r.IntN(40), len(text))
			out, text = append(out, text[:n]), text[n:]
		}
	}
	return out
}

// ours returns the answer of package provider.
func (s stream) ours(t *testing.T, way int) (a answer) {
	status := s.status
	if status == 0 {
		status = 200
	}
	transport := fetch.TransportFunc(func(context.Context, fetch.Request) (*fetch.Response, error) {
		var readers []io.Reader
		for _, p := range s.pieces(way) {
			readers = append(readers, bytes.NewReader(p))
		}
		if s.broken {
			readers = append(readers, failing{})
		}
		return &fetch.Response{Status: status, Header: s.header, Body: io.NopCloser(io.MultiReader(readers...))}, nil
	})
	m := makers[s.peer](provider.Options{Transport: transport, URL: addresses[s.peer], Model: "m", Key: "key-1234"})
	thought, blocks := "", s.peer == "anthropic" || s.peer == "responses"
	block := func(signature string) {
		if thought != "" || signature != "" {
			a.Thoughts = append(a.Thoughts, [2]string{thought, signature})
		}
		thought = ""
	}
	signed := func(kind string, raw json.RawMessage) { // of Gemini's parts
		var meta struct {
			Signature  string `json:"thoughtSignature"`
			Signatures []struct {
				Signature string `json:"thoughtSignature"`
			}
		}
		if json.Unmarshal(raw, &meta.Signature) != nil {
			must(t, json.Unmarshal(raw, &meta))
		}
		if meta.Signature != "" {
			a.Thoughts = append(a.Thoughts, [2]string{kind, meta.Signature})
		}
		for _, one := range meta.Signatures {
			a.Thoughts = append(a.Thoughts, [2]string{kind, one.Signature})
		}
	}
	r := sandbox.ModelRequest{Messages: []sandbox.ModelMessage{{Role: sandbox.RoleUser, Parts: []sandbox.ModelPart{{Type: sandbox.PartText, Text: "hi"}}}}}
	for e, err := range m.Stream(t.Context(), r) {
		if err != nil {
			a.Error, a.Message = class(err, s.status != 0)
			break
		}
		if blocks && e.Type != sandbox.PartReasoning && e.Type != sandbox.PartUsage {
			block("")
		}
		switch e.Type {
		case sandbox.PartText:
			a.Text += e.Text
			if len(e.Meta) > 0 {
				signed("(a text)", e.Meta)
			}
		case sandbox.PartReasoning:
			thought += e.Text
			if len(e.Meta) == 0 {
				continue
			}
			var meta struct {
				Signature, Redacted string
				Encrypted           string `json:"encrypted_content"`
				Details             []struct{ Signature, Data string }
			}
			must(t, json.Unmarshal(e.Meta, &meta))
			if blocks {
				block(meta.Signature + meta.Redacted + meta.Encrypted)
			}
			for _, d := range meta.Details {
				if d.Signature+d.Data != "" {
					a.Thoughts = append(a.Thoughts, [2]string{"(detail)", d.Signature + d.Data})
				}
			}
		case sandbox.PartCall:
			id := e.CallID
			if !strings.Contains(s.text, id) {
				id = "+"
			}
			a.Calls = append(a.Calls, struct{ ID, Tool, Args string }{id, e.Tool, string(e.Args)})
			if len(e.Meta) > 0 {
				signed("(a call)", e.Meta)
			}
		case sandbox.PartFile:
			a.Files = append(a.Files, base64.StdEncoding.EncodeToString(e.File.Data))
		case sandbox.PartSource:
			a.Sources = append(a.Sources, [2]string{e.Source.URL, e.Source.Title})
		case sandbox.PartUsage:
			a.Usage = [4]int64{e.Usage.Input, e.Usage.Output, e.Usage.Cached, e.Usage.Reasoning}
		case sandbox.PartFinish:
			a.Stop = e.Text
		}
	}
	if thought != "" {
		a.Thoughts = slices.Insert(a.Thoughts, 0, [2]string{thought, ""})
	}
	return a
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("the connection broke") }

// class returns the class of an error of package provider, and its message.
func class(err error, refused bool) (class, message string) {
	var me *sandbox.ModelError
	if !errors.As(err, &me) {
		return "unknown: " + err.Error(), ""
	}
	switch {
	case me.Status != 0:
		class = fmt.Sprint("status ", me.Status)
	case strings.Contains(me.Message, "was cut off"):
		class = "cut"
	case strings.Contains(me.Message, "can't be read"):
		class = "unreadable"
	default:
		class = "stream"
	}
	if auth := me.Status == 401 || me.Status == 403; auth != errors.Is(err, protocol.ErrCapabilityDenied) {
		class += ", with the wrong code"
	}
	if refused {
		switch {
		case !me.Retry:
			class += ", not again"
		case me.RetryAfter > 0:
			class += fmt.Sprintf(", again after %d ms", me.RetryAfter.Milliseconds())
		default:
			class += ", again"
		}
	}
	return class, me.Message
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func allStreams() []stream {
	return slices.Concat(anthropicStreams(), chatStreams(), responsesStreams(), geminiStreams(), openRouterStreams(), mistralStreams(), deepSeekStreams())
}

// theirs returns the answers of the vendors' packages by the names of the streams.
func theirs(t *testing.T, list []stream) map[string]answer {
	t.Helper()
	var in bytes.Buffer
	for _, s := range list {
		status, header := 200, map[string]string{"content-type": "text/event-stream"}
		if s.status != 0 {
			status, header["content-type"] = s.status, "application/json"
			if !strings.HasPrefix(s.text, "{") && !strings.HasPrefix(s.text, "[") {
				header["content-type"] = "text/html"
			}
		}
		for k, v := range s.header {
			header[k] = v
		}
		way := 0
		if s.small {
			way = 1
		}
		must(t, json.NewEncoder(&in).Encode(map[string]any{"name": s.peer + ": " + s.name, "peer": s.peer, "status": status, "header": header, "pieces": s.pieces(way), "broken": s.broken}))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "check.mjs")
	cmd.Stdin = &in
	text, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("node: %v\n%s", err, exit.Stderr)
		}
		t.Fatalf("%v (npm ci at the top of the repository installs what this needs)", err)
	}
	out := map[string]answer{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var a answer
		must(t, json.Unmarshal(lines.Bytes(), &a))
		out[a.Name] = a
	}
	return out
}

func short(s string) string {
	if len(s) > 300 {
		s = s[:300] + "…"
	}
	return s
}

// A stream has the same text, thoughts, calls, files, sources, usage, reason at its end and class of
// error for package provider and for the vendor's own npm package. The table of differences has every
// exception with its reason. One that is no longer there fails too.
func TestStreamsAreReadAsTheVendorsDo(t *testing.T) {
	list := allStreams()
	if len(list) < 160 {
		t.Fatalf("%d streams, want at least 160", len(list))
	}
	expected := map[string]difference{}
	for _, d := range differences {
		key := d.stream + " / " + d.field
		if _, twice := expected[key]; twice || d.why == "" {
			t.Errorf("%s: named twice, or without a reason", key)
		}
		expected[key] = d
	}
	other := theirs(t, list)
	equal, names := 0, map[string]bool{}
	for _, s := range list {
		name := s.peer + ": " + s.name
		if names[name] {
			t.Errorf("two streams are named %q", name)
		}
		names[name] = true
		a := s.ours(t, 0)
		for way := 1; way <= 2; way++ {
			if b := s.ours(t, way); js(b) != js(a) {
				t.Errorf("%s: in other pieces it is\n%s, and not\n%s", name, short(js(b)), short(js(a)))
			}
		}
		b, ok := other[name]
		if !ok {
			t.Errorf("%s: the vendor's package has not read it", name)
			continue
		}
		mine, yours, same := a.fields(), b.fields(), true
		for _, field := range []string{"text", "thoughts", "calls", "files", "sources", "usage", "stop", "error", "message"} {
			m, y := mine[field], yours[field]
			if field == "message" {
				m, y = "", ""
				if a.Error == b.Error && (a.Error == "stream" || strings.HasPrefix(a.Error, "status")) && s.text != "" && !strings.Contains(b.Message, a.Message) {
					m, y = a.Message, b.Message
				}
			}
			if a.Error+b.Error != "" && field != "text" && field != "error" && field != "message" {
				continue
			}
			key := name + " / " + field
			d, listed := expected[key]
			delete(expected, key)
			switch {
			case m == y && listed:
				t.Errorf("%s: there is no difference any more: %q", key, short(m))
			case m != y && !listed:
				t.Errorf("%s:\n  ours   %q\n  theirs %q (%s)", key, short(m), short(y), short(b.Message))
			case m != y && (m != d.ours || y != d.theirs):
				t.Errorf("%s: the difference is another one:\n  ours   %q\n  theirs %q", key, short(m), short(y))
			}
			same = same && m == y
		}
		if same {
			equal++
		}
	}
	for key := range expected {
		t.Errorf("%s: there is no such stream or field", key)
	}
	t.Logf("%d streams, %d equal in all, %d differences in %d", len(list), equal, len(differences), len(list)-equal)
}
