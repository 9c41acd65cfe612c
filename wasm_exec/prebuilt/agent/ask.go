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

// asker asks the page, one question at a time. The page has only to say yes, so everything else refuses: an error,
// another value, and no answer at all, until the run is stopped.
type asker struct{ ask jsx.Value }

// Ask implements [sandbox.Asker].
func (a asker) Ask(ctx context.Context, p sandbox.Prompt) ([]sandbox.Reply, error) {
	out := make([]sandbox.Reply, len(p.Requests))
	for i, r := range p.Requests {
		reply, err := a.one(ctx, r)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil { // the page's developer has to know
			fmt.Fprintf(os.Stderr, "bailey: box(options): ask: %v; this refuses %s\n", err, r.Tool)
		}
		out[i] = reply
	}
	return out, nil
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
	return replyOf(v)
}

var errReply = errors.New(`the answer must be "once", "session", "project", "reject" or "never", or an object with it as answer`)

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

// answers returns the answers to a list of the model's own questions: a list of texts for each.
func answers(ctx context.Context, answer jsx.Value, questions []sandbox.ModelQuestion) ([][]string, error) {
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
	v, err := jsx.Invoke(answer, list, map[string]any{"signal": signal})
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
