package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
)

// maxModels is the maximum length of a list of models, in bytes. OpenRouter's has about 1 MB and 500
// models. maxListed is the maximum number of models, and maxNodes of values and members.
const maxModels, maxListed, maxNodes = 8 << 20, 10_000, 1_000_000

// Models asks the server of a model for the names of its models, sorted. They are for
// [Options].Model. The error of a server that refuses, or whose list has more than 10,000 models, is a
// *[sandbox.ModelError]. So is that of a list which is no strict JSON: a name of a member twice, or a
// half of a surrogate pair, also in a description. A model without a server has no list, and the error
// is then [errors.ErrUnsupported]. Models yields to the page while it reads a long list.
func Models(ctx context.Context, m sandbox.Model) ([]string, error) {
	l, ok := m.(interface {
		models(ctx context.Context) ([]string, error)
	})
	if !ok {
		return nil, fmt.Errorf("%s has no list of models: %w", m.Name(), errors.ErrUnsupported)
	}
	list, err := l.models(ctx)
	slices.Sort(list)
	return slices.Compact(list), err
}

func (m *anthropic) models(ctx context.Context) ([]string, error) {
	return m.o.models(ctx, "/models?limit=1000", m.header())
}

func (m *responses) models(ctx context.Context) ([]string, error) {
	return m.o.models(ctx, "/models", m.o.bearer())
}

func (m *chat) models(ctx context.Context) ([]string, error) {
	return m.o.models(ctx, "/models", m.o.bearer())
}

func (m *gemini) models(ctx context.Context) ([]string, error) {
	return m.o.models(ctx, "/models?pageSize=1000", map[string]string{"x-goog-api-key": m.o.Key})
}

// bearer returns the header with the key, which servers on the user's machine do not need.
func (o *Options) bearer() map[string]string {
	if o.Key == "" {
		return map[string]string{}
	}
	return map[string]string{"authorization": "Bearer " + o.Key}
}

func (o *Options) models(ctx context.Context, path string, header map[string]string) ([]string, error) {
	res, err := o.Transport.Do(ctx, fetch.Request{Method: "GET", URL: o.URL + path, Header: o.headers(header)})
	if err != nil {
		return nil, o.unanswered(ctx, err)
	}
	defer res.Body.Close()
	if res.Status != 200 {
		return nil, o.refused(res)
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, maxModels+1))
	if err != nil {
		return nil, o.unanswered(ctx, err)
	}
	if len(data) > maxModels {
		return nil, &sandbox.ModelError{Message: "the list of models has more than 8 MiB"}
	}
	var budget jsx.Budget
	tree, err := protocol.ParseJSON(string(data), protocol.JSONLimits{Bytes: maxModels, Nodes: maxNodes, Rest: func() error { return budget.Spend(ctx) }})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, &sandbox.ModelError{Message: o.clean("the list of models can't be read: " + protocol.Public(err).Message)}
	}
	return listed(ctx, &budget, tree)
}

// listed returns the names in a list of models.
func listed(ctx context.Context, budget *jsx.Budget, tree any) ([]string, error) {
	whole, ok := tree.(map[string]any)
	if !ok {
		return nil, noList()
	}
	var names []string
	for _, of := range []struct{ list, name string }{{"data", "id"}, {"models", "name"}} { // models is Gemini's
		list, ok := whole[of.list].([]any)
		switch {
		case !ok && whole[of.list] != nil:
			return nil, noList()
		case len(list) > maxListed:
			return nil, &sandbox.ModelError{Message: "the list of models has more than 10,000 models"}
		}
		for _, e := range list {
			m, _ := e.(map[string]any)
			name, _ := m[of.name].(string)
			var methods []any
			if of.list == "models" {
				name = strings.TrimPrefix(name, "models/")
				methods, _ = m["supportedGenerationMethods"].([]any)
				methods = methods[:min(len(methods), 100)]
			}
			if err := budget.Steps(ctx, 1+len(methods)); err != nil {
				return nil, context.Cause(ctx)
			}
			if name != "" && len(name) <= 200 && (len(methods) == 0 || slices.Contains(methods, any("generateContent"))) {
				names = append(names, name)
			}
		}
	}
	return names, nil
}

func noList() error { return &sandbox.ModelError{Message: "the server's answer is no list of models"} }
