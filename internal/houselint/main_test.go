package main

import (
	"strings"
	"testing"
)

// Each check fails on a house built to fail it, and passes if its limit equals the figure.
func TestEachCheckFails(t *testing.T) {
	s, err := read("testdata/house")
	if err == nil {
		s.papers, err = papers("testdata/house")
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(s.papers) != 2 {
		t.Errorf("%d papers, want README.md and docs/page.md", len(s.papers))
	}
	most := Limits{Protocol: 6, Public: 8, Aliases: 1, Unused: 4, Uncalled: 1, Undocumented: 2, Scattered: 1, Files: 3, What: 1000, Semicolons: 1000, PaperWhat: 200, PaperSemicolons: 200, TextWhat: 1000, TextSemicolons: 1000}
	var b strings.Builder
	if !s.check(&b, most, false) {
		t.Fatalf("at its limits:\n%s", &b)
	}
	for want, below := range map[string]func(*Limits){
		"exported names of protocol": func(l *Limits) { l.Protocol-- },
		"      protocol  ":           func(l *Limits) { l.Public-- },
		"tool/tool.go:10:6: Box is an alias of internal/inner.Box": func(l *Limits) { l.Aliases-- },
		"protocol/protocol.go:8:7: protocol.Unused":                func(l *Limits) { l.Unused-- },
		"internal/wire/btcp/codec.go:8:6: btcp.Encode":             func(l *Limits) { l.Uncalled-- },
		"protocol/protocol.go:16:6: protocol.Bare":                 func(l *Limits) { l.Undocumented-- },
		"tool: scattered has methods in 4 files: a, b, c, d":       func(l *Limits) { l.Scattered-- },
		"what, per 1,000 words":                                    func(l *Limits) { l.What = 1 },
		"semicolons":                                               func(l *Limits) { l.Semicolons = 1 },
		"returns, reports":                                         func(l *Limits) { l.Returns = 100 },
		"README.md: 2 in 19 words":                                 func(l *Limits) { l.PaperWhat = 90 },
		"docs/page.md: 3 in 32 words":                              func(l *Limits) { l.PaperSemicolons = 90 },
		"what, per 1,000 of 8 words of errors":                     func(l *Limits) { l.TextWhat = 1 },
		"250.0, at most 1":                                         func(l *Limits) { l.TextSemicolons = 1 },
	} {
		l := most
		below(&l)
		var b strings.Builder
		if s.check(&b, l, false) || !strings.Contains(b.String(), want) {
			t.Errorf("%s does not fail alone:\n%s", want, &b)
		}
		if n := strings.Count(b.String(), "OVER"); n != 1 {
			t.Errorf("%s: %d checks fail:\n%s", want, n, &b)
		}
	}
}

// One word is allowed in a paper of any length, and code is no prose.
func TestPapers(t *testing.T) {
	for text, want := range map[string]Words{
		"what `what;` is [what](what;what)":    {All: 3, What: 2},
		"a\n```go\nwhat; what\n```\nb; c":      {All: 3, Semicolons: 1},
		"a\n\n    what; what\n\tcode; what\nb": {All: 2},
	} {
		if got := count(prose(text)); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
	for n, want := range map[int]bool{0: false, 1: false, 2: true} {
		if got := (Words{All: 10}).over(n, 2); got != want {
			t.Errorf("%d in 10 words is over: %v", n, got)
		}
	}
	if (Words{All: 1000}).over(2, 2) || !(Words{All: 1000}).over(3, 2) {
		t.Error("2 of 1,000 words are allowed, and 3 are not")
	}
}
