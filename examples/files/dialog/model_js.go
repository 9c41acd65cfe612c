package dialog

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// AnswerModel shows the model's own questions one after the other, and returns the user's answers. No option is
// chosen before the user chooses one. A written text is another answer: it takes the place of the chosen option,
// or comes after the chosen ones where several can be chosen. It returns an error with code ErrCapabilityDenied
// if a question is not answered.
func AnswerModel(ctx context.Context, list []sandbox.ModelQuestion) ([][]string, error) {
	var out [][]string
	for i, q := range list {
		answer := ask(ctx, q, i, len(list))
		if answer == nil {
			return nil, protocol.Errorf(protocol.ErrCapabilityDenied, "question", "", "the user did not answer")
		}
		out = append(out, answer)
	}
	return out, nil
}

// ask shows the question with index i of n, until it is answered. It returns nil without an answer.
func ask(ctx context.Context, q sandbox.ModelQuestion, i, n int) []string {
	title := "The assistant asks"
	if n > 1 {
		title = fmt.Sprintf("The assistant asks (%d of %d)", i+1, n)
	}
	options := dom.Create("div", "")
	options.Set("className", "options")
	options.Call("setAttribute", "role", map[bool]string{true: "group", false: "radiogroup"}[q.MultiSelect])
	options.Call("setAttribute", "aria-label", "Suggested answers")
	options.Set("hidden", len(q.Options) == 0)
	field := dom.Element("dialog-field")
	var of dom.Listeners
	defer of.Release()
	for j, o := range q.Options {
		Option(options, "answer", fmt.Sprint(j), o.Label, o.Description)
		in := options.Get("lastElementChild").Call("querySelector", "input")
		in.Set("checked", false)
		if q.MultiSelect {
			in.Set("type", "checkbox")
			continue
		}
		of.On(in, "change", func(js.Value) { field.Set("value", "") })
	}
	if !q.MultiSelect {
		typed := js.FuncOf(func(js.Value, []js.Value) any {
			if on := options.Call("querySelector", "input:checked"); !on.IsNull() {
				on.Set("checked", false)
			}
			return nil
		})
		field.Call("addEventListener", "input", typed)
		defer func() { field.Call("removeEventListener", "input", typed); typed.Release() }()
	}
	label, note := "Your answer", ""
	if len(q.Options) > 0 {
		label = "Or write another answer"
		if q.MultiSelect {
			label = "And, in your words"
		}
	}
	for ctx.Err() == nil {
		text := strings.TrimLeft(q.Question+note, "\n")
		if q.Header != "" {
			text = q.Header + "\n" + text
		}
		pressed, written := Ask(Question{Title: title, Text: text, Label: label, Body: []js.Value{options}, Answers: []string{"No answer", "Answer"}, Until: ctx.Done()})
		if pressed != "Answer" {
			return nil
		}
		var answer []string
		for j, o := range q.Options {
			if options.Get("children").Index(j).Call("querySelector", "input").Get("checked").Bool() {
				answer = append(answer, o.Label)
			}
		}
		if written = strings.TrimSpace(written); written != "" {
			answer = append(answer, written)
		}
		if len(answer) > 0 {
			return slices.Clip(answer)
		}
		note = "\nChoose an answer or write one. \"No answer\" lets the assistant go on without it."
	}
	return nil
}
