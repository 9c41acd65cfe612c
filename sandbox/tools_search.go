package sandbox

import (
	"context"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
)

// inTree returns the need of a tool that searches below a path.
func inTree(_ context.Context, c *Call) ([]Need, error) {
	return []Need{{Capability: protocol.FSRead, Subject: c.root(), Tree: true, Filtered: true}}, nil
}

func (c *Call) root() string {
	if p := c.text("path"); p != "" {
		return p
	}
	return "."
}

func globTool() Tool {
	return Tool{
		Tool: protocol.Tool{ID: "glob", Requires: requires(protocol.FSRead),
			Description: "Lists files by pattern: * within a name, ** across folders, ? one character, [abc] one of these. path is where to begin.",
			Parameters:  `{"type":"object","properties":{"pattern":{"type":"string","minLength":1},"path":{"type":"string"}},"required":["pattern"],"additionalProperties":false}`},
		Needs: inTree,
		Run:   runGlob,
		Rows:  "paths",
	}
}

// maxFound is the maximum number of rows of a search.
const maxFound = 10_000

func runGlob(ctx context.Context, c *Call) (any, error) {
	matches, err := globMatcher("glob", c.text("pattern"))
	if err != nil {
		return nil, err
	}
	paths, more := []any{}, false
	for e, err := range c.FS.Walk(ctx, c.Permit, c.root(), fsaccess.WalkOptions{}) {
		if err != nil {
			if e.Path == c.root() {
				return nil, err
			}
			continue
		}
		if e.Dir || !matches(below(c.root(), e.Path)) {
			continue
		}
		if len(paths) == maxFound {
			more = true
			break
		}
		paths = append(paths, e.Path)
	}
	out := map[string]any{"paths": paths}
	if more {
		out["more"] = true
	}
	return out, nil
}

// globMatcher returns a function that matches a path with a pattern of the policy's syntax. A
// literal matches that name only, and not the files below it.
func globMatcher(tool, text string) (func(string) bool, error) {
	p, err := protocol.ParsePattern(text)
	if err != nil {
		e := protocol.Errorf(protocol.ErrInvalidParams, tool, "", "%s", protocol.Public(err).Message)
		return nil, e.WithReason(protocol.ReasonParse)
	}
	return p.Match, nil
}

func below(root, path string) string {
	if root == "." {
		return path
	}
	return strings.TrimPrefix(path, root+"/")
}

func grepTool() Tool {
	return Tool{
		Tool: protocol.Tool{ID: "grep", Requires: requires(protocol.FSRead),
			Description: "Searches files for a regular expression (RE2), line by line. include is a pattern for file names, such as *.go; path is where to begin.",
			Parameters:  `{"type":"object","properties":{"pattern":{"type":"string","minLength":1,"maxLength":1024},"path":{"type":"string"},"include":{"type":"string"}},"required":["pattern"],"additionalProperties":false}`},
		Needs: inTree,
		Run:   runGrep,
		Rows:  "matches",
	}
}

// The cost of an expression is its size times the bytes of the searched text, at about 0.1 µs a
// step in a browser. fsaccess.Grep yields to the page and checks the context and the tool's time
// limit, even within a line. For large expressions the total cost is limited too.
const (
	grepSmall   = 60
	grepSteps   = 2 << 30
	grepLargest = 2_000 // instructions
)

func runGrep(ctx context.Context, c *Call) (any, error) {
	re, size, err := expression(c.text("pattern"))
	if err != nil {
		return nil, err
	}
	var include func(string) bool
	if text := c.text("include"); text != "" {
		if include, err = globMatcher("grep", text); err != nil {
			return nil, err
		}
		if !strings.Contains(text, "/") {
			base := include
			include = func(p string) bool { return base(p[strings.LastIndexByte(p, '/')+1:]) }
		}
	}
	budget, skipped := int64(grepSteps), 0
	o := fsaccess.GrepOptions{Max: maxFound}
	o.Skip = func(e fsaccess.Entry) bool {
		if e.Dir {
			return false
		}
		if include != nil && !include(below(c.root(), e.Path)) {
			return true
		}
		if size > grepSmall {
			if budget -= e.Size * int64(size); budget < 0 {
				skipped++
				return true
			}
		}
		return false
	}
	matches, last := []any{}, ""
	for m, err := range c.FS.Grep(ctx, c.Permit, c.root(), re, o) {
		if err != nil {
			if m.Path == c.root() || ctx.Err() != nil {
				return nil, err
			}
			continue
		}
		if m.Path != last { // code that made this call may pass the result on
			c.touch([]Need{{Capability: protocol.FSRead, Subject: m.Path}})
			last = m.Path
		}
		matches = append(matches, map[string]any{"path": m.Path, "line": float64(m.Line), "text": m.Text})
	}
	out := map[string]any{"matches": matches}
	if skipped > 0 {
		out["skipped"] = float64(skipped)
		out["note"] = "the expression is too costly for all files; use a simpler one, or a narrower path"
	}
	return out, nil
}

// expression compiles a model's regular expression and returns its size in instructions.
func expression(text string) (*regexp.Regexp, int, error) {
	bad := func(why string) (*regexp.Regexp, int, error) {
		return nil, 0, protocol.Errorf(protocol.ErrInvalidParams, "grep", "", "%s", why).WithReason(protocol.ReasonParse)
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return bad("this is not a regular expression in RE2's syntax: " + err.Error())
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return bad("this is not a regular expression in RE2's syntax")
	}
	if len(prog.Inst) > grepLargest {
		return bad("the expression is too large once its repetitions are written out")
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return bad("this is not a regular expression in RE2's syntax")
	}
	return re, len(prog.Inst), nil
}
