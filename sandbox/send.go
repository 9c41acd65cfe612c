package sandbox

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/secrets"
)

// touch notes what a call's result may tell of.
func (c *Call) touch(needs []Need) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range needs {
		if n.Capability.ScopeKind() == protocol.ScopePaths && !n.Tree {
			c.touched = append(c.touched, n.Subject)
			if n.Capability == protocol.FSRead {
				c.got = append(c.got, n.Subject)
			}
		}
	}
}

// narrow notes that a call has read what is sent so far only.
func (c *Call) narrow(level protocol.Send) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.level = c.level.Narrow(level)
}

// tellParent hands on what was touched to the call that made this one, such as code
// that calls tools.
func (c *Call) tellParent() {
	if c.parent == nil {
		return
	}
	c.mu.Lock()
	touched, got, level := c.touched, c.got, c.level
	c.mu.Unlock()
	c.parent.mu.Lock()
	defer c.parent.mu.Unlock()
	c.parent.touched, c.parent.got = append(c.parent.touched, touched...), append(c.parent.got, got...)
	c.parent.level = c.parent.level.Narrow(level)
}

// sent says how much of the call's result a model may see: the strictest of what the
// policy says about each path in it.
func (c *Call) sent() protocol.Send {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.least(c.touched)
}

// least is the strictest of what the policy says about paths, and of c.level; mu is held.
func (c *Call) least(paths []string) protocol.Send {
	level := c.level
	for _, p := range paths {
		level = level.Narrow(c.box.policy.Policy.Send.For(p))
	}
	return level
}

// sends says why a file may not be moved from one place to another, or what was read (from
// is empty) not be written there: as the lists go by paths, a model would be sent more of
// it then.
func (c *Call) sends(from, to string) error {
	send := &c.box.policy.Policy.Send
	level := protocol.SendContents
	if from != "" {
		level = send.For(from)
	}
	for at := c; from == "" && at != nil && at.scope == c.scope; at = at.parent {
		at.mu.Lock()
		level = level.Narrow(at.least(at.got))
		at.mu.Unlock()
	}
	if there := send.For(to); there.Narrow(level) != there {
		return protocol.Errorf(protocol.ErrCapabilityDenied, c.tool.ID, to, "the policy sends %s of what would be put here, and %s of what is here; put it where no more of it is sent", level, there)
	}
	return nil
}

// forModel is a result as a model gets to see it, and what was kept back of it. What a
// model on this machine sees is not sent anywhere, and so is whole.
func (c *Call) forModel(ctx context.Context, res protocol.ToolResult, local bool) (text string, kept []string) {
	if ctx.Err() != nil { // the call was stopped; what it says of that is still told
		ctx = context.WithoutCancel(ctx)
	}
	if res.Type == protocol.ResultError {
		text = fmt.Sprintf("error %s", res.Code)
		if res.Reason != "" {
			text += " (" + string(res.Reason) + ")"
		}
		text += ": " + res.ErrorText
	} else {
		data := res.Data
		if !local {
			data, kept = c.narrowed(ctx, data)
		}
		if !local {
			r := redactor{kept: &kept, keys: !c.box.o.off.keys}
			data = r.redacted(ctx, data, 64)
		}
		return modelJSON(ctx, data, res.Metadata), kept
	}
	if local {
		return text, kept
	}
	text, found := secrets.RedactContext(ctx, text)
	return text, append(kept, found...)
}

// redactor takes the credentials out of the texts in a result.
type redactor struct {
	kept   *[]string // the kinds of what was found
	keys   bool      // in the names of members too
	budget jsx.Budget
}

const textSteps = 512 // of the search of a text that is empty: each rule has its words

func (r *redactor) text(ctx context.Context, s string) string {
	found := []string{"unread rest"}
	if r.budget.Steps(ctx, textSteps) != nil {
		s = "[unread rest removed]"
	} else {
		s, found = secrets.RedactContext(ctx, s)
	}
	for _, f := range found {
		if !slices.Contains(*r.kept, f) {
			*r.kept = append(*r.kept, f)
		}
	}
	return s
}

// redacted is a result without the credentials in it.
func (r *redactor) redacted(ctx context.Context, v any, depth int) any {
	switch v := v.(type) {
	case string:
		return r.text(ctx, v)
	case []any:
		if depth == 0 {
			return "(nested too deeply to be looked at)"
		}
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = r.redacted(ctx, e, depth-1)
		}
		return out
	case map[string]any:
		if depth == 0 {
			return "(nested too deeply to be looked at)"
		}
		out := map[string]any{}
		same := map[string]int{} // how many names have become one
		keys := slices.Collect(maps.Keys(v))
		slices.SortFunc(keys, func(a, b string) int { // so that the same is named the same
			_ = r.budget.Steps(ctx, 2) // after its end, the texts are taken out
			return strings.Compare(a, b)
		})
		for _, k := range keys {
			name := k
			if r.keys {
				name = r.text(ctx, k)
			}
			for base := name; ; {
				if _, taken := out[name]; !taken {
					break
				}
				_ = r.budget.Steps(ctx, 32)
				same[base]++
				name = fmt.Sprintf("%s (%d)", base, same[base]+1)
			}
			out[name] = r.redacted(ctx, v[k], depth-1)
		}
		return out
	}
	return v
}

func modelJSON(ctx context.Context, data any, meta protocol.ResultMetadata) string {
	if m, ok := data.(map[string]any); ok && meta.Truncated {
		with := map[string]any{"truncated": true}
		if meta.OutputPath != "" {
			with["whole_output"] = meta.OutputPath
		}
		for k, v := range m {
			with[k] = v
		}
		data = with
	}
	var b strings.Builder
	w := bufio.NewWriter(&b)
	r := resting{ctx: context.WithoutCancel(ctx), html: true}
	if err := r.encode(w, data, 0); err != nil {
		return fmt.Sprint(data)
	}
	_ = w.Flush() // a strings.Builder takes all
	return b.String()
}

// narrowed takes out of a result what may not be sent.
func (c *Call) narrowed(ctx context.Context, data any) (any, []string) {
	m, ok := data.(map[string]any)
	if ok && c.tool != nil && c.tool.Rows != "" {
		return c.narrowedRows(m)
	}
	level := c.sent()
	if level == protocol.SendContents || c.tool == nil {
		return data, nil
	}
	kept := []string{"the policy sends " + string(level) + " of this only"}
	if level == protocol.SendNothing {
		return map[string]any{"done": true, "note": "the policy sends nothing of what is in these files; the person sees it"}, kept
	}
	whole := modelJSON(ctx, data, protocol.ResultMetadata{})
	if text, ok := m[c.tool.Text].(string); ok && c.tool.Text != "" {
		whole = text
	}
	out := map[string]any{"summary": fmt.Sprintf("%d lines, %d bytes", countLines(whole), len(whole)), "note": "the policy sends a summary of these files only; the person sees the whole"}
	if v, ok := m["version"]; ok {
		out["version"] = v
	}
	return out, kept
}

// narrowedRows keeps of each row what its path allows.
func (c *Call) narrowedRows(m map[string]any) (any, []string) {
	rows, _ := m[c.tool.Rows].([]any)
	out := make([]any, 0, len(rows))
	hidden := 0
	for _, r := range rows {
		row, isMap := r.(map[string]any)
		path, named := r.(string)
		if isMap {
			path, named = row["path"].(string)
		}
		level := protocol.SendContents // what is of no file, such as a search engine's
		if named {
			level = c.box.policy.Policy.Send.For(path)
		}
		switch {
		case level == protocol.SendContents || level == protocol.SendSummary && !isMap:
			out = append(out, r)
		case level == protocol.SendSummary:
			hidden++
			out = append(out, map[string]any{"path": path, "line": row["line"]})
		default:
			hidden++
		}
	}
	if hidden == 0 {
		return m, nil
	}
	with := map[string]any{}
	for k, v := range m {
		with[k] = v
	}
	with[c.tool.Rows] = out
	return with, []string{fmt.Sprintf("the policy kept back %d rows or their text", hidden)}
}

func countLines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}
