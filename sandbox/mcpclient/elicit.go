package mcpclient

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/bailey-go/bailey/internal/legible"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/secrets"
)

// Limits of a server's questions.
const (
	maxFields  = 20
	maxChoices = 100
	maxTries   = 3 // for answers that don't fit
)

// field is a member of the answer that a server wants, in the restricted JSON Schema of the protocol.
type field struct {
	name        string
	required    bool
	Type        string          `json:"type"`
	Format      string          `json:"format"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Enum        []string        `json:"enum"`
	EnumNames   []string        `json:"enumNames"`
	OneOf       []choice        `json:"oneOf"`
	AnyOf       []choice        `json:"anyOf"`
	Items       *field          `json:"items"`
	Default     json.RawMessage `json:"default"`
	MinLength   *int            `json:"minLength"`
	MaxLength   *int            `json:"maxLength"`
	Minimum     *float64        `json:"minimum"`
	Maximum     *float64        `json:"maximum"`
	MinItems    *int            `json:"minItems"`
	MaxItems    *int            `json:"maxItems"`
}

type choice struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

// choices returns the values that the field can have, nil for any.
func (f *field) choices() (list []choice) {
	if f.Type == "array" && f.Items != nil {
		return f.Items.choices()
	}
	if f.Type == "boolean" {
		return []choice{{"true", "Yes"}, {"false", "No"}}
	}
	list = append(slices.Clone(f.OneOf), f.AnyOf...)
	for i, v := range f.Enum {
		c := choice{v, v}
		if i < len(f.EnumNames) {
			c.Title = f.EnumNames[i]
		}
		list = append(list, c)
	}
	for i := range list {
		list[i].Title = legible.Text(cmp.Or(list[i].Title, list[i].Const))
	}
	return list
}

// password finds the names of secrets that no server may ask for in a form, as the protocol's section on
// elicitation says. The words are English, and those of the largest other languages of forms.
var password = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)pass ?(word|phrase|code|wd)|\b(pwd|pin|otp|cvv|cvc|ssn)\b|(api|access|secret|private|signing|encryption|ssh|recovery)[ _-]?(key|code|phrase)|(access|api|auth|bearer|session|refresh|security|one[ -]time)[ _-]?(token|code)|seed[ _-]?phrase|secret|credential|(card|account) number|passwort|kennwort|contrase\x{f1}a|mot de passe|senha|\x{43f}\x{430}\x{440}\x{43e}\x{43b}|\x{5bc6}\x{7801}|\x{30d1}\x{30b9}\x{30ef}\x{30fc}\x{30c9}`)
})

// secret returns the label of the first field that asks for a password or a key, or "".
func secret(message string, fields []field) string {
	for i := range fields {
		f := &fields[i]
		if f.Type != "string" || f.choices() != nil {
			continue
		}
		name := strings.NewReplacer("_", " ", "-", " ").Replace(f.name)
		if f.Format == "password" || password().MatchString(strings.Join([]string{name, f.name, f.Title, f.Description, message}, "\n")) {
			return f.label()
		}
	}
	return ""
}

// elicit shows a server's questions to the user, and returns the result of its request.
func (c *Client) elicit(ctx context.Context, params json.RawMessage) (map[string]any, error) {
	var p struct {
		Mode, Message string
		Schema        struct {
			Properties json.RawMessage
			Required   []string
		} `json:"requestedSchema"`
	}
	bad := func(format string, args ...any) (map[string]any, error) {
		return nil, protocol.Errorf(protocol.ErrInvalidParams, "elicit", "", format, args...)
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return bad("the questions can't be read")
	}
	if p.Mode != "" && p.Mode != "form" {
		return bad("this client asks by form only")
	}
	fields, err := fieldsOf(p.Schema.Properties, p.Schema.Required)
	if err != nil {
		return bad("%s", err)
	}
	if !c.o.naive {
		p.Message = legible.Text(p.Message)
		for i := range fields {
			fields[i].Title, fields[i].Description = legible.Text(fields[i].Title), legible.Text(fields[i].Description)
		}
		if label := secret(p.Message, fields); label != "" {
			return bad("a password or a key is not asked for in a form, see %.100q; ask for it on a page of the server's", label)
		}
	}
	problem := ""
	for range maxTries {
		answers, err := c.o.Ask(ctx, questions(clip(p.Message, 2000), problem, fields))
		switch {
		case ctx.Err() != nil || errors.Is(err, context.Canceled):
			return map[string]any{"action": "cancel"}, nil
		case err != nil:
			return map[string]any{"action": "decline"}, nil
		}
		content := map[string]any{}
		problem = ""
		for i := range fields {
			var given []string
			if i < len(answers) {
				given = slices.DeleteFunc(slices.Clone(answers[i]), func(s string) bool { return strings.TrimSpace(s) == "" })
			}
			v, err := fields[i].value(given)
			if err == nil && !c.o.naive && slices.ContainsFunc(given, func(s string) bool { return len(secrets.Find(ctx, s)) > 0 }) {
				err = errors.New("this looks like a password or a key, and was not sent")
			}
			if err != nil {
				problem = fields[i].label() + ": " + err.Error()
				break
			}
			if v != nil {
				content[fields[i].name] = v
			}
		}
		if problem == "" {
			return map[string]any{"action": "accept", "content": content}, nil
		}
	}
	return map[string]any{"action": "cancel"}, nil
}

// fieldsOf returns the fields in the server's order.
func fieldsOf(properties json.RawMessage, required []string) (list []field, err error) {
	if len(properties) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(properties))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("the fields can't be read")
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, errors.New("the fields can't be read")
		}
		f := field{name: fmt.Sprint(name)}
		if err := d.Decode(&f); err != nil || len(f.name) > 200 {
			return nil, errors.New("a field can't be read")
		}
		f.required = slices.Contains(required, f.name)
		switch f.Type {
		case "string", "number", "integer", "boolean":
		case "array":
			if f.choices() == nil {
				return nil, errors.New("a list needs its choices")
			}
		default:
			return nil, errors.New("a field is of an unknown type")
		}
		if list = append(list, f); len(list) > maxFields || len(f.choices()) > maxChoices {
			return nil, fmt.Errorf("there are more than %d fields, or more than %d choices", maxFields, maxChoices)
		}
	}
	return list, nil
}

func (f *field) label() string {
	if f.Title != "" {
		return clip(f.Title, 200)
	}
	return legible.Text(f.name)
}

// questions returns the questions for the user. The first one begins with the server's message.
func questions(message, problem string, fields []field) (list []sandbox.ModelQuestion) {
	if problem != "" {
		message = problem + "\n" + message
	}
	for i := range fields {
		f := &fields[i]
		q := sandbox.ModelQuestion{Header: f.label(), Question: clip(f.Description, 1000), MultiSelect: f.Type == "array"}
		if i == 0 {
			q.Question = strings.TrimSpace(message + "\n" + q.Question)
		}
		if f.Description == "" && i > 0 {
			q.Question = f.label()
		}
		list = append(list, q)
		options := &list[i].Options
		for _, c := range f.choices() {
			*options = append(*options, struct {
				Label       string `json:"label"`
				Description string `json:"description,omitempty"`
			}{Label: clip(c.Title, 200)})
		}
		if text := f.usual(); text != "" && len(*options) == 0 {
			*options = append(*options, struct {
				Label       string `json:"label"`
				Description string `json:"description,omitempty"`
			}{text, "the server's suggestion"})
		}
	}
	if len(list) == 0 {
		list = append(list, sandbox.ModelQuestion{Question: message})
	}
	return list
}

// usual returns the default as a text.
func (f *field) usual() string {
	var s string
	if json.Unmarshal(f.Default, &s) == nil {
		return clip(s, 200)
	}
	return clip(string(f.Default), 200)
}

// value returns the value for a field, nil for none, or an error for the user.
func (f *field) value(given []string) (any, error) {
	if len(given) == 0 {
		if len(f.Default) > 0 && string(f.Default) != "null" {
			var v any
			if err := json.Unmarshal(f.Default, &v); err == nil {
				return v, nil
			}
		}
		if f.required {
			return nil, errors.New("an answer is needed")
		}
		return nil, nil
	}
	if f.Type == "array" {
		list := []any{}
		for _, g := range given {
			v, err := f.one(g)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		if f.MinItems != nil && len(list) < *f.MinItems || f.MaxItems != nil && len(list) > *f.MaxItems {
			return nil, errors.New("another number of answers is needed")
		}
		return list, nil
	}
	return f.one(given[0])
}

func (f *field) one(text string) (any, error) {
	if list := f.choices(); list != nil {
		for _, c := range list {
			if text == clip(c.Title, 200) || text == c.Const {
				if f.Type == "boolean" {
					return c.Const == "true", nil
				}
				return c.Const, nil
			}
		}
		return nil, errors.New("choose one of the answers")
	}
	if f.Type == "number" || f.Type == "integer" {
		n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		switch {
		case err != nil || math.IsNaN(n) || math.IsInf(n, 0) || f.Type == "integer" && n != math.Trunc(n):
			return nil, errors.New("a number is needed")
		case f.Minimum != nil && n < *f.Minimum:
			return nil, fmt.Errorf("the number must be at least %g", *f.Minimum)
		case f.Maximum != nil && n > *f.Maximum:
			return nil, fmt.Errorf("the number must be at most %g", *f.Maximum)
		}
		return n, nil
	}
	n := utf8.RuneCountInString(text)
	if f.MinLength != nil && n < *f.MinLength || f.MaxLength != nil && n > *f.MaxLength {
		return nil, errors.New("the text is too short or too long")
	}
	return text, nil
}

// sample asks the app's model for a server, and returns the result of its request.
func (c *Client) sample(ctx context.Context, params json.RawMessage) (map[string]any, error) {
	var p struct {
		System   string          `json:"systemPrompt"`
		Most     int             `json:"maxTokens"`
		Tools    json.RawMessage `json:"tools"`
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	bad := func(why string) (map[string]any, error) {
		return nil, protocol.Errorf(protocol.ErrInvalidParams, "sample", c.o.Name, "%s", why)
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return bad("the request can't be read")
	}
	if len(p.Tools) > 0 && string(p.Tools) != "null" {
		return bad("the model is asked without tools")
	}
	r := sandbox.ModelRequest{System: c.legible(p.System), MaxTokens: min(max(p.Most, 1), maxSample)}
	for _, m := range p.Messages {
		var one part
		list := []part{}
		if json.Unmarshal(m.Content, &list) != nil {
			if json.Unmarshal(m.Content, &one) != nil {
				return bad("a message can't be read")
			}
			list = []part{one}
		}
		out := sandbox.ModelMessage{Role: sandbox.Role(m.Role)}
		if out.Role != sandbox.RoleUser && out.Role != sandbox.RoleAssistant {
			return bad("a message is of neither the user nor the assistant")
		}
		for _, e := range list {
			if e.Type != "text" {
				return bad("only text is sent to the model")
			}
			out.Parts = append(out.Parts, sandbox.ModelPart{Type: sandbox.PartText, Text: c.legible(e.Text)})
		}
		r.Messages = append(r.Messages, out)
	}
	text, finish, err := c.o.Sample(ctx, r)
	switch {
	case errors.Is(err, protocol.ReasonRejected):
		return nil, protocol.Errorf(protocol.ErrCapabilityDenied, "sample", c.o.Name, "the user declined").WithReason(protocol.ReasonRejected)
	case errors.Is(err, protocol.ErrResourceLimit), errors.Is(err, protocol.ErrInvalidParams):
		return nil, err // of the request's own size, or of a budget
	case err != nil: // its text may have what is not the server's business
		return nil, protocol.Errorf(protocol.ErrCapabilityDenied, "sample", c.o.Name, "the app's model did not answer")
	}
	why := "endTurn"
	if finish == "length" {
		why = "maxTokens"
	}
	return map[string]any{"role": "assistant", "model": "the app's", "stopReason": why, "content": map[string]any{"type": "text", "text": text}}, nil
}

// maxSample is the maximum length of an answer of the app's model, in tokens.
const maxSample = 4096
