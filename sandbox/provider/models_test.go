//go:build !js

package provider_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/provider"
)

// rests counts how often work asks whether it may go on, which is when it can yield to the page.
type rests struct {
	context.Context
	n    int
	stop func(n int)
}

func (r *rests) Err() error {
	if r.n++; r.stop != nil {
		r.stop(r.n)
	}
	return r.Context.Err()
}

// listOf returns a list of n models. Each has a description of size bytes.
func listOf(n, size int) string {
	var b strings.Builder
	b.WriteString(`{"data":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"id":"m` + strconv.Itoa(i) + `","description":"` + strings.Repeat("d", size) + `","more":[1,2,3,4,5]}`)
	}
	b.WriteString(`]}`)
	return b.String()
}

// A long list of models is read in pieces, so that the page is not held meanwhile. It can be stopped
// there.
func TestModelsAreReadInPieces(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		names int
		least int // rests
	}{
		"many models":        {listOf(10_000, 100), 10_000, 10_000 * 12 / 256},
		"long descriptions":  {listOf(8, 1<<19), 8, 8 * 8},
		"a few":              {listOf(3, 10), 3, 0},
		"many other members": {`{"data":[{"id":"a"}],"x":[` + strings.Repeat("1,", 400_000) + `1]}`, 1, 400_000 / 256},
		"many methods":       {`{"models":[` + strings.Repeat(`{"name":"a","supportedGenerationMethods":[`+strings.Repeat(`"x",`, 99)+`"generateContent"]},`, 2000) + `{"name":"b"}]}`, 2, 2000 * 100 / 256},
	} {
		r := &recorder{status: 200, text: c.text}
		m := provider.OpenAIChat(provider.Options{Transport: r, Model: "m"})
		ctx := &rests{Context: t.Context()}
		got, err := provider.Models(ctx, m)
		if err != nil || len(got) != c.names {
			t.Errorf("%s: %d names, %v", name, len(got), err)
		}
		if ctx.n < c.least {
			t.Errorf("%s: %d rests, at least %d", name, ctx.n, c.least)
		}
		if c.least == 0 {
			continue
		}
		why := errors.New("closed")
		stopped, stop := context.WithCancelCause(t.Context())
		half := ctx.n / 2
		ctx = &rests{Context: stopped, stop: func(n int) {
			if n == half {
				stop(why)
			}
		}}
		if got, err := provider.Models(ctx, m); got != nil || !errors.Is(err, why) || ctx.n > half+10 {
			t.Errorf("%s: stopped: %d names, %v, after %d of %d rests", name, len(got), err, ctx.n, half)
		}
	}
}

func TestModelsHaveLimits(t *testing.T) {
	deep := func(n int) string {
		return `{"data":[{"id":"a"}],"x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`
	}
	for name, c := range map[string]struct {
		text, err string
	}{
		"deep, at the limit":    {deep(63), ""},
		"too deep":              {deep(64), "nested deeper"},
		"very deep":             {deep(1_000_000), "nested deeper"},
		"10,000 models":         {listOf(10_000, 1), ""},
		"10,001 models":         {listOf(10_001, 1), "more than 10,000 models"},
		"too many members":      {`{"data":[{"id":"a"}],"x":[` + strings.Repeat("1,", 1_000_000) + `1]}`, "more values than the limit"},
		"no JSON":               {`<html>`, "not JSON"},
		"no object":             {`[{"id":"a"}]`, "no list of models"},
		"no list":               {`{"data":{"id":"a"}}`, "no list of models"},
		"a key that is refused": {`{"data":[{"id":"a","__proto__":{}}]}`, "refused"},
		"the key in a name":     {`{"data":[{"id":"a","key-123456":[}]}`, "(key)"},
		"items of another kind": {`{"data":[{"id":"a"},7,null,{"id":7},{"id":"` + strings.Repeat("n", 201) + `"}]}`, ""},
	} {
		r := &recorder{status: 200, text: c.text}
		got, err := provider.Models(t.Context(), provider.OpenAIChat(provider.Options{Transport: r, Model: "m", Key: "key-123456"}))
		if c.err == "" {
			if err != nil || len(got) == 0 {
				t.Errorf("%s: %q, %v", name, got, err)
			}
			continue
		}
		var me *sandbox.ModelError
		if !errors.As(err, &me) || me.Retry || got != nil || !strings.Contains(me.Message, c.err) || strings.Contains(me.Message, "123456") || len(me.Message) > 2010 {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if !errors.Is(err, protocol.ErrExecution) {
			t.Errorf("%s: the code of %v", name, err)
		}
	}
}
