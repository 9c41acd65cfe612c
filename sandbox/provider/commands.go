package provider

import (
	"context"
	"encoding/json"
	"iter"
	"regexp"
	"strings"
	"sync"

	"github.com/bailey-go/bailey/internal/strictjson"
	"github.com/bailey-go/bailey/sandbox"
)

// Commands returns a [sandbox.Model] that recognizes plain English requests by rules, such as
// "rename a.txt to b.txt", and calls the tools that a model would call. With it an app can be tried
// without a key and without a network. It is not a language model: it answers other requests with a
// list of those that it recognizes.
func Commands() sandbox.Model { return commands{} }

type commands struct{}

func (commands) Name() string { return "commands" }
func (commands) Local() bool  { return true }

// ContextTokens returns a number that no conversation reaches: rules need no summary.
func (commands) ContextTokens() int { return 1 << 30 }

// done is a call that was made for the request, with its result.
type done struct {
	tool   string
	args   map[string]any
	failed bool
	text   string         // in the form for a model
	out    map[string]any // text, decoded, or nil if the call failed
}

// move is the next step: calls, or a text that ends the run.
type move struct {
	calls []want
	say   string
	help  bool // answer with the list of requests
}

type want struct {
	tool string
	args map[string]any
}

// rule is a form of request. next is called again after each round of calls.
type rule struct {
	re   *regexp.Regexp
	help string
	next func(m []string, past []done) move
}

func (commands) Stream(ctx context.Context, r sandbox.ModelRequest) iter.Seq2[sandbox.ModelEvent, error] {
	return func(yield func(sandbox.ModelEvent, error) bool) {
		text, past := request(r.Messages)
		next := answerTo(text, past, r.Tools)
		finish := finishStop
		if next.say != "" && !yield(sandbox.ModelEvent{Type: sandbox.PartText, Text: next.say}, nil) {
			return
		}
		for _, c := range next.calls {
			finish = finishCalls
			args, err := json.Marshal(c.args)
			if err != nil {
				yield(sandbox.ModelEvent{}, err)
				return
			}
			id := newID()
			if !yield(sandbox.ModelEvent{Type: sandbox.PartCallStart, CallID: id, Tool: c.tool}, nil) ||
				!yield(sandbox.ModelEvent{Type: sandbox.PartCall, CallID: id, Tool: c.tool, Args: args}, nil) {
				return
			}
		}
		yield(sandbox.ModelEvent{Type: sandbox.PartFinish, Text: finish}, nil)
	}
}

// request returns the last message of the user, and the calls made since.
func request(messages []sandbox.ModelMessage) (text string, past []done) {
	at := len(messages) - 1
	for ; at >= 0; at-- {
		if m := messages[at]; m.Role == sandbox.RoleUser && len(m.Parts) > 0 && m.Parts[0].Type == sandbox.PartText {
			text = m.Parts[0].Text
			break
		}
	}
	byID := map[string]int{}
	for _, m := range messages[max(at, 0):] {
		for _, p := range m.Parts {
			switch p.Type {
			case sandbox.PartCall:
				d := done{tool: p.Tool}
				if !strictjson.TooDeep(p.Args) {
					_ = json.Unmarshal(p.Args, &d.args)
				}
				byID[p.CallID] = len(past)
				past = append(past, d)
			case sandbox.PartResult:
				if i, ok := byID[p.CallID]; ok {
					past[i].failed, past[i].text = p.Failed, p.Text
					if !p.Failed && !strictjson.TooDeep(p.Text) {
						_ = json.Unmarshal([]byte(p.Text), &past[i].out)
					}
				}
			}
		}
	}
	return text, past
}

func answerTo(text string, past []done, tools []sandbox.ModelTool) move {
	text = strings.TrimSpace(text)
	text = polite().ReplaceAllString(text, "")
	text = strings.TrimRight(strings.TrimSpace(text), ".!? ")
	text = strings.TrimSuffix(text, " please")
	for _, r := range commandRules() {
		m := r.re.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		for i := range m {
			m[i] = unquote(m[i])
		}
		next := r.next(m, past)
		if next.help {
			next.say = "I am no model, only a reader of commands. I know:\n" + help()
		}
		for _, c := range next.calls {
			if !has(tools, c.tool) {
				return move{say: "I understood that, and would need the tool " + c.tool + ", which is not there."}
			}
		}
		return next
	}
	return move{say: "I did not understand that. I am no model, only a reader of commands. I know:\n" + help()}
}

func has(tools []sandbox.ModelTool, name string) bool {
	for _, t := range tools {
		if t.Name == name {
			return true
		}
	}
	return false
}

var polite = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:(?:please|hey|hi|hello|ok|okay|now|then|and|could you|can you|would you|will you|i want you to|i'd like you to|i want to|i'd like to|let's|kindly)[, ]+)+`)
})

func help() string {
	var b strings.Builder
	for _, r := range commandRules() {
		if r.help != "" {
			b.WriteString("- " + r.help + "\n")
		}
	}
	return b.String()
}

// unquote removes quotes and backquotes around a name or a text.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	for _, q := range []string{`"`, "'", "`", "“”", "‘’"} {
		open, shut := q, q
		if r := []rune(q); len(r) == 2 {
			open, shut = string(r[0]), string(r[1])
		}
		if strings.HasPrefix(s, open) && strings.HasSuffix(s, shut) && len(s) >= len(open)+len(shut) {
			return s[len(open) : len(s)-len(shut)]
		}
	}
	return s
}

// once returns a next function with one round of calls, and then a text about the results.
func once(calls func(m []string) []want, tell func(m []string, past []done) string) func([]string, []done) move {
	return func(m []string, past []done) move {
		if len(past) == 0 {
			return move{calls: calls(m)}
		}
		if why := failure(past); why != "" {
			return move{say: why}
		}
		return move{say: tell(m, past)}
	}
}

// failure returns a text about the failed calls, or "".
func failure(past []done) string {
	var b strings.Builder
	for _, d := range past {
		if d.failed {
			if b.Len() == 0 {
				b.WriteString("That did not go well:\n")
			}
			b.WriteString("- " + d.tool + ": " + reason(d) + "\n")
		}
	}
	return b.String()
}

// reason returns the reason of a failed call, without the words that are meant for a model.
func reason(d done) string {
	text := d.text
	if strings.HasPrefix(text, "error ") {
		if _, why, ok := strings.Cut(text, ": "); ok {
			text = why
		}
	}
	return strings.TrimPrefix(text, "call "+d.tool+": ")
}

func one(tool string, args map[string]any) []want { return []want{{tool, args}} }

func strs(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, e := range list {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}
