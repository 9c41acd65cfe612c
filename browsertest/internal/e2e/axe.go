package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// Violation is a rule of axe-core that the page breaks.
type Violation struct {
	ID, Impact, Help string
	HelpURL          string
	// Nodes are the elements that break the rule.
	Nodes []AxeNode
}

// AxeNode is an element that breaks a rule. Target is axe's path to it, through frames.
type AxeNode struct {
	HTML    string
	Target  []json.RawMessage
	Summary string `json:"failureSummary"`
}

// String returns the rule, its impact and the HTML of the elements that break it.
func (v Violation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s): %s", v.ID, v.Impact, v.Help)
	for _, n := range v.Nodes {
		fmt.Fprintf(&b, "\n  %s", n.HTML)
	}
	return b.String()
}

// Axe runs axe-core over the page and those frames below it that permit scripts, and returns the
// violations. The source is the path of axe-core's file. The options choose rules and tags, as JSON
// for axe.run. If empty, all rules run.
func (p *Page) Axe(ctx context.Context, source, options string) ([]Violation, error) {
	js, err := os.ReadFile(source)
	if err != nil {
		return nil, fmt.Errorf("e2e: axe-core: %w (npm install axe-core)", err)
	}
	if options == "" {
		options = "{}"
	}
	// The expression ends in 0, because its value would otherwise be axe itself. A frame that
	// already has axe keeps it, because a second copy would answer as well, and make all later runs
	// slower.
	if _, err := p.EvalFrames(ctx, "if (!globalThis.axe) { "+string(js)+"\n;axe.configure({allowedOrigins: ['<unsafe_all_origins>']}); } 0"); err != nil {
		return nil, err
	}
	var list []Violation
	// axe sends messages to its copies in frames. The short times keep a frame that cannot answer
	// from blocking the run for a minute.
	err = p.Eval(ctx, `axe.run(document, Object.assign({resultTypes: ["violations"], pingWaitTime: 500, frameWaitTime: 10000}, `+options+`)).then((r) => r.violations)`, &list)
	return list, err
}
