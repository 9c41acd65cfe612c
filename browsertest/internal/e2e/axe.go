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
	// Nodes are the elements, each as HTML with axe's path to it, which goes
	// through frames.
	Nodes []AxeNode
}

// AxeNode is an element that breaks a rule.
type AxeNode struct {
	HTML    string
	Target  []json.RawMessage
	Summary string `json:"failureSummary"`
}

func (v Violation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s): %s", v.ID, v.Impact, v.Help)
	for _, n := range v.Nodes {
		fmt.Fprintf(&b, "\n  %s", n.HTML)
	}
	return b.String()
}

// Axe runs axe-core, whose source lies at the path, over the page and over those
// frames below it that permit scripts, and returns what it finds. Rules and tags
// may be chosen by options, JSON as axe.run takes it; empty means all rules.
func (p *Page) Axe(ctx context.Context, source, options string) ([]Violation, error) {
	js, err := os.ReadFile(source)
	if err != nil {
		return nil, fmt.Errorf("e2e: axe-core: %w (npm install axe-core)", err)
	}
	if options == "" {
		options = "{}"
	}
	// axe talks to its copies in frames by postMessage; a frame that cannot
	// answer must not hold the run up for a minute.
	// The value of the source would be axe itself, so that is dropped. A second copy in a
	// frame would answer as well, and each makes all later runs slower.
	if _, err := p.EvalFrames(ctx, "if (!globalThis.axe) { "+string(js)+"\n;axe.configure({allowedOrigins: ['<unsafe_all_origins>']}); } 0"); err != nil {
		return nil, err
	}
	var list []Violation
	err = p.Eval(ctx, `axe.run(document, Object.assign({resultTypes: ["violations"], pingWaitTime: 500, frameWaitTime: 10000}, `+options+`)).then((r) => r.violations)`, &list)
	return list, err
}
