package spent

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bailey-go/bailey/examples/files/settings"
	"github.com/bailey-go/bailey/internal/consent"
	"github.com/bailey-go/bailey/sandbox"
)

// Short returns what a conversation has used in a few words, such as "12,340 tokens · $0.04", and "" for nothing.
func Short(r sandbox.SessionRecord) string {
	n := r.InputTokens + r.OutputTokens
	if n == 0 {
		return ""
	}
	text := consent.Count(int(n), "token")
	if r.Money > 0 {
		text += " · " + Money(r.Money)
	}
	return text
}

// Lines returns what a conversation has used, a line for each kind of tokens.
func Lines(r sandbox.SessionRecord) []string {
	part := func(n, of int64, what, kind string) string {
		text := what + ": " + consent.Count(int(of), "token")
		if n > 0 {
			text += ", " + consent.Thousands(int(n)) + " of them " + kind
		}
		return text
	}
	list := []string{part(r.CachedTokens, r.InputTokens, "Read by the model", "kept ready by the provider (cached)"),
		part(r.ReasoningTokens, r.OutputTokens, "Written by the model", "thought (reasoning)")}
	if r.Money > 0 {
		list = append(list, "Money: "+Money(r.Money)+", with that of its subagents")
	}
	return list
}

// Money returns an amount with as many digits as small amounts need.
func Money(amount float64) string {
	if amount < 0.0001 {
		return "less than $0.0001"
	}
	if amount < 0.1 {
		return "$" + strconv.FormatFloat(amount, 'f', 4, 64)
	}
	return "$" + strconv.FormatFloat(amount, 'f', 2, 64)
}

// prices returns the prices of four texts: of a million tokens read, read from the cache and written, and the
// most for one task. An empty text is no price.
func prices(texts [4]string) (p settings.Prices, err error) {
	for i, to := range []*float64{&p.Input, &p.Cached, &p.Output, &p.Most} {
		text := strings.TrimPrefix(strings.TrimSpace(texts[i]), "$")
		if text == "" {
			continue
		}
		if *to, err = strconv.ParseFloat(text, 64); err != nil || !(*to >= 0 && *to <= settings.MaxPrice) {
			return settings.Prices{}, fmt.Errorf("%q is no price: write a number of dollars from 0 to %d, such as 2.50", text, settings.MaxPrice)
		}
	}
	if p.Most > 0 && p.Input == 0 && p.Output == 0 {
		return settings.Prices{}, fmt.Errorf("a limit needs the prices: what a task costs is counted by them")
	}
	return p, nil
}
