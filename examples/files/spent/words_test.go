package spent

import (
	"strings"
	"testing"

	"github.com/bailey-go/bailey/examples/files/settings"
	"github.com/bailey-go/bailey/sandbox"
)

func TestWords(t *testing.T) {
	for _, c := range []struct {
		r     sandbox.SessionRecord
		short string
		lines string
	}{
		{sandbox.SessionRecord{}, "", "Read by the model: 0 tokens|Written by the model: 0 tokens"},
		{sandbox.SessionRecord{InputTokens: 1}, "1 token", "Read by the model: 1 token|Written by the model: 0 tokens"},
		{sandbox.SessionRecord{InputTokens: 12000, CachedTokens: 9000, OutputTokens: 340, ReasoningTokens: 200, Money: 0.0421}, "12,340 tokens · $0.0421",
			"Read by the model: 12,000 tokens, 9,000 of them kept ready by the provider (cached)|Written by the model: 340 tokens, 200 of them thought (reasoning)|Money: $0.0421, with that of its subagents"},
		{sandbox.SessionRecord{OutputTokens: 2, Money: 0.00001}, "2 tokens · less than $0.0001", "Read by the model: 0 tokens|Written by the model: 2 tokens|Money: less than $0.0001, with that of its subagents"},
		{sandbox.SessionRecord{OutputTokens: 2, Money: 12.345}, "2 tokens · $12.35", "Read by the model: 0 tokens|Written by the model: 2 tokens|Money: $12.35, with that of its subagents"},
	} {
		if got := Short(c.r); got != c.short {
			t.Errorf("%q, not %q", got, c.short)
		}
		if got := strings.Join(Lines(c.r), "|"); got != c.lines {
			t.Errorf("%q, not %q", got, c.lines)
		}
	}
}

func TestPrices(t *testing.T) {
	for _, c := range []struct {
		texts [4]string
		want  settings.Prices
		ok    bool
	}{
		{[4]string{}, settings.Prices{}, true},
		{[4]string{" 3 ", "0.30", "$15", "2"}, settings.Prices{Input: 3, Cached: 0.3, Output: 15, Most: 2}, true},
		{[4]string{"100000", "", "0", ""}, settings.Prices{Input: 100000}, true},
		{[4]string{"100000.01", "", "", ""}, settings.Prices{}, false},
		{[4]string{"-1", "", "", ""}, settings.Prices{}, false},
		{[4]string{"NaN", "", "", ""}, settings.Prices{}, false},
		{[4]string{"three", "", "", ""}, settings.Prices{}, false},
		{[4]string{"", "", "", "2"}, settings.Prices{}, false},
	} {
		got, err := prices(c.texts)
		if got != c.want || (err == nil) != c.ok {
			t.Errorf("%q: %+v, %v", c.texts, got, err)
		}
	}
}
