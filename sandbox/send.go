package sandbox

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/internal/yielding"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/secrets"
)

// touch records the paths whose content the call's result may contain.
func (c *Call) touch(needs []policy.Need) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range needs {
		c.reads = c.reads || n.Capability == protocol.FSRead
		if n.Capability.TakesPaths() && !n.Tree {
			c.touched = append(c.touched, n.Subject)
			if n.Capability == protocol.FSRead {
				c.got = append(c.got, n.Subject)
			}
		}
	}
}

// narrow records that a call has read content that is sent up to level at most, and in cause where it is
// from.
func (c *Call) narrow(level policy.Send, cause string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.level.Narrow(level) != c.level {
		c.cause = cause
	}
	c.level, c.reads = c.level.Narrow(level), true
}

// tellParent adds the touched paths to the call that made this one, such as a code_run whose code
// calls tools.
func (c *Call) tellParent() {
	if c.parent == nil {
		return
	}
	c.mu.Lock()
	touched, got, from, level, cause, reads := c.touched, c.got, c.from, c.level, c.cause, c.reads
	c.mu.Unlock()
	c.parent.mu.Lock()
	defer c.parent.mu.Unlock()
	c.parent.touched, c.parent.got = append(c.parent.touched, touched...), append(c.parent.got, got...)
	c.parent.from = append(c.parent.from, from...)
	if c.parent.level.Narrow(level) != c.parent.level {
		c.parent.cause = cause
	}
	c.parent.level, c.parent.reads = c.parent.level.Narrow(level), c.parent.reads || reads
}

// sent returns the amount of the call's result that a model may receive: the strictest level of all
// paths whose content may be in it.
func (c *Call) sent() policy.Send {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.least(c.touched)
}

// least returns the strictest of c.level and the policy's levels for paths. mu is held.
func (c *Call) least(paths []string) policy.Send {
	level := c.level
	for _, p := range paths {
		level = level.Narrow(c.box.policy.Policy.Send.For(p))
	}
	return level
}

// sends returns an error if a file may not be moved from one place to another, or if the content
// that the call has read may not be written to the place (from is then empty). The policy's "send"
// lists go by paths. Without this check, a move could make more of a file's content visible to a
// model.
func (c *Call) sends(from, to string) error {
	send := &c.box.policy.Policy.Send
	level, cause := policy.SendContents, ""
	if from != "" {
		level = send.For(from)
	}
	for at := c; from == "" && at != nil && at.scope == c.scope; at = at.parent {
		at.mu.Lock()
		if l := level.Narrow(at.level); l != level {
			level, cause = l, at.cause
		}
		for _, p := range at.got {
			if l := level.Narrow(send.For(p)); l != level {
				level, cause = l, p+" was read"
			}
		}
		at.mu.Unlock()
	}
	there := send.For(to)
	if there.Narrow(level) == there {
		c.scope.root.ledger.wrote(to, c.sources(from))
		return nil
	}
	if cause != "" {
		cause = " (" + cause + ")"
	}
	return protocol.Errorf(protocol.ErrCapabilityDenied, c.tool.ID, to, "the policy sends %s of what would be put here%s, and %s of what is here; put it where no more of it is sent, or read less before", level, cause, there)
}

// sources returns the files whose text is in what the call writes: the moved one, or all that it has read.
func (c *Call) sources(moved string) (from []string) {
	if moved != "" {
		return []string{moved}
	}
	for at := c; at != nil && at.scope == c.scope; at = at.parent {
		at.mu.Lock()
		from = append(from, at.from...)
		at.mu.Unlock()
	}
	return from
}

// forModel returns a result in the form for a model, its files, and descriptions of the content that
// was withheld. A model on this machine receives the complete result, since nothing is sent anywhere.
//
// If the result has more of a file than a session may send, the user is asked. If quiet is set, or the call
// was stopped, that much is withheld.
func (c *Call) forModel(ctx context.Context, res ToolResult, local, quiet bool) (text string, files []File, kept []string) {
	if ctx.Err() != nil { // the call was stopped, but the model still receives its result
		quiet = true
		ctx = context.WithoutCancel(ctx)
	}
	if res.Err() != nil {
		text = fmt.Sprintf("error %s", res.Code)
		if res.Reason != "" {
			text += " (" + string(res.Reason) + ")"
		}
		text += ": " + res.ErrorText
		if !local {
			text, kept = secrets.Redact(ctx, text)
		}
		if res.Data == nil {
			if e := c.excerpt(ctx); !local && e.above > 0 {
				if err := c.allowed(ctx, e, nil, text, true); err != nil {
					return fmt.Sprintf("error %s: its text is %s", res.Code, protocol.Public(err).Message), nil, append(kept, "the text of an error, as the user was not asked or did not agree")
				}
			}
			return text, nil, kept
		}
		text += "\nThe output until then: "
	}
	data := res.Data
	r := redactor{kept: &kept, keys: !c.box.o.off.keys}
	if !local {
		var less []string
		data, less = c.narrowed(ctx, data, res.Files)
		kept = append(kept, less...)
		if m, ok := data.(map[string]any); ok && len(less) > 0 && res.Err() != nil {
			delete(m, "done") // a call that failed is not
		}
		data = r.redacted(ctx, data, 64)
		if e := c.excerpt(ctx); e.above > 0 { // a credential that was cut in two would not be found
			data = e.of(data, "", 64)
			if e.cut > 0 {
				kept = append(kept, fmt.Sprintf("%d bytes of what was read, as the policy sends up to %d of a text", e.cut, e.above))
			}
			if err := c.allowed(ctx, e, data, text, quiet); err != nil {
				data, kept = withheld(data, err), append(kept, protocol.Public(err).Message)
				if res.Err() != nil {
					text = fmt.Sprintf("error %s", res.Code)
				}
			}
		}
	}
	if local {
		files = res.Files
	} else if c.sent() == policy.SendContents {
		files = r.files(ctx, res.Files)
	} else if len(res.Files) > 0 && len(kept) == 0 {
		kept = []string{"the policy sends " + string(c.sent()) + " of this only"}
	}
	return text + modelJSON(ctx, data, res.Metadata), files, kept
}

// excerpt shortens the texts in a result for a model elsewhere.
type excerpt struct {
	above int    // bytes of a text that are sent, 0 for all
	rows  string // the member with the tool's rows
	cut   int    // bytes that were left out

	marked map[string][2]string // what the excerpt kept of a text, before and after its line

	ctx    context.Context
	budget jsx.Budget
}

// excerpt returns the policy's limit for the call, which applies to text of files.
func (c *Call) excerpt(ctx context.Context) *excerpt {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := &excerpt{ctx: context.WithoutCancel(ctx), marked: map[string][2]string{}}
	if c.reads {
		e.above = c.box.policy.Policy.Send.Above
	}
	if c.tool != nil {
		e.rows = c.tool.Rows
	}
	return e
}

// of returns a value with the beginning and the end of each long text and list in it.
func (e *excerpt) of(v any, name string, depth int) any {
	switch v := v.(type) {
	case string:
		return e.text(v)
	case []any:
		if name != "" && name == e.rows && !slices.ContainsFunc(v, func(row any) bool { _, text := row.(string); return !text }) {
			return v // names of files
		}
		return e.list(v, depth)
	case map[string]any:
		if depth == 0 {
			return "(nested too deeply to be sent)"
		}
		out := map[string]any{}
		for k, x := range v {
			out[e.text(k)] = e.of(x, k, depth-1)
		}
		return out
	}
	return v
}

// text returns the beginning and the end of a long text, with the size of the rest between them.
func (e *excerpt) text(s string) string {
	_ = e.budget.Steps(e.ctx, 1+len(s)/64)
	if len(s) <= e.above {
		return s
	}
	head, _ := outputLimit{Bytes: e.above / 2}.truncate(context.Background(), s, func(context.Context, string) (string, error) { return "", nil })
	from := len(s) - e.above/2
	for from < len(s) && !utf8.RuneStart(s[from]) {
		from++
	}
	if i := strings.IndexByte(s[from:], '\n'); i >= 0 && i < e.above/16 {
		from += i + 1
	}
	rest := s[len(head):from]
	e.cut += len(rest)
	short := fmt.Sprintf("%s\n[%d bytes in %d lines are left out of %d bytes in %d lines. Ask for the lines that you need, as with offset and limit of read.]\n%s", head, len(rest), countLines(rest), len(s), countLines(s), s[from:])
	e.marked[short] = [2]string{head, s[from:]}
	return short
}

// list returns the first and the last elements of a long list, with the number of the others between
// them.
func (e *excerpt) list(v []any, depth int) any {
	if depth == 0 {
		return "(nested too deeply to be sent)"
	}
	out, sizes, total := make([]any, len(v)), make([]int, len(v)), 0
	for i, x := range v {
		out[i] = e.of(x, "", depth-1)
		_ = e.budget.Steps(e.ctx, 64) // yields, and its context does not end
		sizes[i] = len(rowLine(out[i])) + 1
		total += sizes[i]
	}
	if total <= e.above {
		return out
	}
	head, size := 0, 0
	for head < len(out) && size+sizes[head] <= e.above/2 {
		size += sizes[head]
		head++
	}
	tail := len(out)
	for size = 0; tail > head && size+sizes[tail-1] <= e.above/2; tail-- {
		size += sizes[tail-1]
	}
	if head == tail {
		return out
	}
	left := 0
	for _, n := range sizes[head:tail] {
		left += n
	}
	e.cut += left
	mark := fmt.Sprintf("[%d of %d rows with %d bytes are left out. Ask for less at once.]", tail-head, len(out), left)
	e.marked[mark] = [2]string{}
	return slices.Concat(out[:head], []any{mark}, out[tail:])
}

// redactor removes credentials from the texts in a result.
type redactor struct {
	kept   *[]string // the kinds of credentials that were found
	keys   bool      // search the names of members too
	budget jsx.Budget
}

const textSteps = 512 // cost of searching an empty text, in steps: each rule has its keywords

func (r *redactor) text(ctx context.Context, s string) string {
	found := []string{"unread rest"}
	if r.budget.Steps(ctx, textSteps) != nil {
		s = "[unread rest removed]"
	} else {
		s, found = secrets.Redact(ctx, s)
	}
	for _, f := range found {
		if !slices.Contains(*r.kept, f) {
			*r.kept = append(*r.kept, f)
		}
	}
	return s
}

// files returns files whose texts are without credentials.
func (r *redactor) files(ctx context.Context, list []File) []File {
	list = slices.Clone(list)
	for i := range list {
		f := &list[i]
		if !f.text() || !isText(f.Data) {
			continue
		}
		if text := r.text(ctx, string(f.Data)); text != string(f.Data) {
			f.Data, f.id, f.size = []byte(text), fileID([]byte(text)), len(text)
		}
	}
	return list
}

// redacted returns a result without the credentials in it.
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
		same := map[string]int{} // the number of names that became equal
		keys := slices.Collect(maps.Keys(v))
		slices.SortFunc(keys, func(a, b string) int { // equal results get equal names
			_ = r.budget.Steps(ctx, 2) // once the context has ended, text removes every text
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

func modelJSON(ctx context.Context, data any, meta ResultMetadata) string {
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
	if err := yielding.EncodeJSON(context.WithoutCancel(ctx), w, data, false); err != nil {
		return fmt.Sprint(data)
	}
	_ = w.Flush() // a strings.Builder accepts every write
	return b.String()
}

// narrowed returns a result without the content that may not be sent, and descriptions of that
// content.
func (c *Call) narrowed(ctx context.Context, data any, files []File) (any, []string) {
	m, ok := data.(map[string]any)
	if ok && c.tool != nil && c.tool.Rows != "" {
		return c.narrowedRows(m)
	}
	level := c.sent()
	if level == policy.SendContents || c.tool == nil {
		return data, nil
	}
	kept := []string{"the policy sends " + string(level) + " of this only"}
	if level == policy.SendNothing {
		return map[string]any{"done": true, "note": "the policy sends nothing of what is in these files; the user sees it"}, kept
	}
	whole := modelJSON(ctx, data, ResultMetadata{})
	if text, ok := m[c.tool.Text].(string); ok && c.tool.Text != "" {
		whole = text
	}
	summary := fmt.Sprintf("%d lines, %d bytes", countLines(whole), len(whole))
	for i, f := range files {
		if i == 0 {
			summary = f.String()
		} else {
			summary += "\n" + f.String()
		}
	}
	out := map[string]any{"summary": summary, "note": "the policy sends a summary of these files only; the user sees the whole"}
	if v, ok := m["version"]; ok {
		out["version"] = v
	}
	return out, kept
}

// narrowedRows returns the rows of a result, with only as much of each as its path allows.
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
		level := policy.SendContents // for rows without a file, such as those of a search engine
		if named {
			level = c.box.policy.Policy.Send.For(path)
		}
		switch {
		case level == policy.SendContents || level == policy.SendSummary && !isMap:
			out = append(out, r)
		case level == policy.SendSummary:
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

// cut truncates a long result, and keeps the complete one for the tool read.
func (c *Call) cut(res *ToolResult) {
	m, ok := res.Data.(map[string]any)
	if !ok || c.tool == nil {
		return
	}
	limit := outputLimitFor(c.tool.ID)
	if text, ok := m[c.tool.Text].(string); ok && c.tool.Text != "" {
		limit.Rows = 0
		head, meta := limit.truncate(context.Background(), text, func(_ context.Context, whole string) (string, error) {
			return c.scope.keepOutput(c.ID, whole, c.sent(), c.sources(""))
		})
		m[c.tool.Text] = head
		res.Metadata.Truncated, res.Metadata.OutputPath = meta.Truncated, meta.OutputPath
	}
	if rows, ok := m[c.tool.Rows].([]any); ok && c.tool.Rows != "" {
		head := c.cutRows(rows, limit)
		if len(head) == len(rows) {
			return
		}
		m[c.tool.Rows] = head
		res.Metadata.Truncated = true
		if path, err := c.scope.keepOutput(c.ID, rowLines(rows), c.rowsSent(rows), c.sources("")); err == nil {
			res.Metadata.OutputPath = path
		}
	}
}

// rowsSent returns the strictest send level of rows.
func (c *Call) rowsSent(rows []any) policy.Send {
	level := policy.SendContents
	for _, r := range rows {
		path, isText := r.(string)
		row, _ := r.(map[string]any)
		if !isText {
			path, isText = row["path"].(string)
		}
		if isText {
			level = level.Narrow(c.box.policy.Policy.Send.For(path))
		}
	}
	return level
}

// cutRows returns the first rows, up to both limits.
func (c *Call) cutRows(rows []any, limit outputLimit) []any {
	rows, _ = truncateRows(limit, rows)
	bytes := 0
	for i, r := range rows {
		if bytes += len(rowLine(r)) + 1; bytes > limit.Bytes {
			return rows[:i]
		}
	}
	return rows
}

// rowLine returns a row of a result as one line of text: a string unchanged, a match of grep as
// path:line:text, and other values as JSON.
func rowLine(row any) string {
	switch r := row.(type) {
	case string:
		return r
	case map[string]any:
		path, _ := r["path"].(string)
		line, _ := r["line"].(float64)
		text, _ := r["text"].(string)
		if path != "" && line > 0 {
			return path + ":" + strconv.Itoa(int(line)) + ":" + text
		}
	}
	text, err := json.Marshal(row)
	if err != nil {
		return ""
	}
	return string(text)
}

func rowLines(rows []any) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(rowLine(r))
		b.WriteByte('\n')
	}
	return b.String()
}
