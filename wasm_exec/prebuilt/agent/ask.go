//go:build js && wasm

package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/wasm_exec/prebuilt/internal/page"
)

// maxReply bounds the texts of an answer, in UTF-16 units.
const maxReply = 8 << 10

// asker asks the page, one question at a time, or an element <bailey-consent>, which shows a whole prompt. The page has only
// to say yes, so everything else refuses: an error, another value, and no answer at all, until the run is stopped.
type asker struct {
	ask jsx.Value // a function, or an object whose function stay returns that of an element
	box *theBox
	by  *dialogs
}

// Ask implements [sandbox.Asker].
func (a asker) Ask(ctx context.Context, p sandbox.Prompt) ([]sandbox.Reply, error) {
	out := make([]sandbox.Reply, len(p.Requests))
	refuse := func(err error, r sandbox.Request) { // the page's developer has to know
		fmt.Fprintf(os.Stderr, "bailey: box(options): ask: %v; this refuses %s\n", err, r.Tool)
	}
	if jsx.TypeOf(a.ask) != "function" {
		replies, err := a.element(ctx, a.ask, p)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			refuse(err, p.Requests[0])
		}
		copy(out, replies)
		return out, nil
	}
	for i, r := range p.Requests {
		reply, err := a.one(ctx, r)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			refuse(err, r)
		}
		out[i] = reply
	}
	return out, nil
}

// element asks by the element that v stands for.
func (a asker) element(ctx context.Context, v jsx.Value, p sandbox.Prompt) ([]sandbox.Reply, error) {
	stay, err := jsx.Call(v, "stay")
	if err != nil {
		return nil, err
	}
	return a.by.ask(ctx, a.box, stay, p)
}

func (a asker) one(ctx context.Context, r sandbox.Request) (sandbox.Reply, error) {
	input, err := page.ToPage(r.Args) // of code in an enclave, these may be more than JSON
	if err != nil {
		return sandbox.Reply{}, err
	}
	q := question(r)
	q["input"] = input
	question, err := jsx.ToJS(q)
	if err != nil {
		return sandbox.Reply{}, err
	}
	signal, stop := jsx.Signal(ctx)
	defer stop()
	v, err := jsx.Invoke(a.ask, question, map[string]any{"signal": signal})
	if err == nil {
		v, err = jsx.Await(ctx, v)
	}
	if err != nil {
		return sandbox.Reply{}, err
	}
	if jsx.TypeOf(v) == "object" && jsx.Has(v, "stay") {
		replies, err := a.element(ctx, v, sandbox.Prompt{Requests: []sandbox.Request{r}})
		if err != nil || len(replies) != 1 {
			return sandbox.Reply{}, err
		}
		return replies[0], nil
	}
	return replyOf(v)
}

var errReply = errors.New(`the answer must be "once", "session", "project", "reject" or "never", an object with it as answer, or a <bailey-consent> in the page`)

// replyOf reads an answer. The zero Reply, which refuses, comes with each error.
func replyOf(v jsx.Value) (sandbox.Reply, error) {
	var r sandbox.Reply
	answer := v
	if jsx.TypeOf(v) == "object" {
		var err error
		if answer, err = jsx.Get(v, "answer"); err != nil {
			return sandbox.Reply{}, err
		}
		for key, to := range map[string]*string{"pattern": &r.Pattern, "reason": &r.Reason} {
			x, err := jsx.Get(v, key)
			if err == nil && !jsx.Nullish(x) {
				*to, err = jsx.String(x, maxReply)
			}
			if err != nil {
				return sandbox.Reply{}, fmt.Errorf("%s: %w", key, err)
			}
		}
	}
	if jsx.TypeOf(answer) != "string" {
		return sandbox.Reply{}, errReply
	}
	text, err := jsx.String(answer, 20)
	r.Answer = policy.Answer(text)
	if err != nil || !r.Answer.Valid() {
		return sandbox.Reply{}, errReply
	}
	return r, nil
}

// answers returns the answers to a list of questions of the model, or of an MCP server: a list of texts for each.
func answers(ctx context.Context, answer jsx.Value, server string, questions []sandbox.ModelQuestion) ([][]string, error) {
	list := make([]any, len(questions))
	for i, q := range questions {
		options := make([]any, len(q.Options))
		for k, o := range q.Options {
			options[k] = map[string]any{"label": o.Label, "description": o.Description}
		}
		list[i] = map[string]any{"question": q.Question, "header": q.Header, "options": options, "multiSelect": q.MultiSelect}
	}
	signal, stop := jsx.Signal(ctx)
	defer stop()
	call := map[string]any{"signal": signal}
	if server != "" {
		call["server"] = server
	}
	v, err := jsx.Invoke(answer, list, call)
	if err == nil {
		v, err = jsx.Await(ctx, v)
	}
	if err != nil {
		return nil, thrown(err)
	}
	x, err := tree(v)
	if err != nil {
		return nil, err
	}
	rows, ok := x.([]any)
	if !ok || len(rows) != len(questions) {
		return nil, fmt.Errorf("answer: must return a list with a list of texts for each of the %d questions", len(questions))
	}
	out := make([][]string, len(rows))
	for i, row := range rows {
		texts, ok := row.([]any)
		if !ok {
			return nil, errors.New("answer: must return a list of texts for each question")
		}
		for _, t := range texts {
			s, ok := t.(string)
			if !ok {
				return nil, errors.New("answer: must return texts")
			}
			out[i] = append(out[i], s)
		}
	}
	return out, nil
}
