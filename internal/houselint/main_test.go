package main

import (
	"strings"
	"testing"
)

// Each check fails on a house built to fail it, and passes if its limit equals the figure.
func TestEachCheckFails(t *testing.T) {
	s, err := read("testdata/house")
	if err != nil {
		t.Fatal(err)
	}
	most := Limits{Protocol: 6, Public: 8, Aliases: 1, Unused: 4, Undocumented: 2, Scattered: 1, Files: 3, What: 1000, Semicolons: 1000}
	var b strings.Builder
	if !s.check(&b, most, false) {
		t.Fatalf("at its limits:\n%s", &b)
	}
	for want, below := range map[string]func(*Limits){
		"exported names of protocol": func(l *Limits) { l.Protocol-- },
		"      protocol  ":           func(l *Limits) { l.Public-- },
		"tool/tool.go:10:6: Box is an alias of internal/inner.Box": func(l *Limits) { l.Aliases-- },
		"protocol/protocol.go:8:7: protocol.Unused":                func(l *Limits) { l.Unused-- },
		"protocol/protocol.go:16:6: protocol.Bare":                 func(l *Limits) { l.Undocumented-- },
		"tool: scattered has methods in 4 files: a, b, c, d":       func(l *Limits) { l.Scattered-- },
		"what, per 1,000 words":                                    func(l *Limits) { l.What = 1 },
		"semicolons":                                               func(l *Limits) { l.Semicolons = 1 },
		"returns, reports":                                         func(l *Limits) { l.Returns = 100 },
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
