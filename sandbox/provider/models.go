package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
)

// maxModels is the maximum length of a list of models, in bytes. OpenRouter's has about 1 MB.
const maxModels = 8 << 20

// Models asks the server of a model for the names of its models, sorted. They are for
// [Options].Model. The error of a server that refuses is a *[sandbox.ModelError]. A model without a
// server has no list, and the error is then [errors.ErrUnsupported].
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
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
		Models []struct { // Gemini's
			Name    string   `json:"name"`
			Methods []string `json:"supportedGenerationMethods"`
		} `json:"models"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, &sandbox.ModelError{Message: "the list of models can't be read"}
	}
	var names []string
	for _, m := range list.Data {
		names = append(names, m.ID)
	}
	for _, m := range list.Models {
		if len(m.Methods) == 0 || slices.Contains(m.Methods, "generateContent") {
			names = append(names, strings.TrimPrefix(m.Name, "models/"))
		}
	}
	return slices.DeleteFunc(names, func(s string) bool { return s == "" || len(s) > 200 }), nil
}
