package panel

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

const (
	maxRows = 500     // of a list
	maxLine = 200     // bytes of a row's line
	maxText = 8 << 10 // bytes of a row's text
)

// lists is the content of an open panel.
type lists struct {
	trace, chunks rows

	mu    sync.Mutex
	box   *sandbox.Box
	names []string // of pools, in the order in which they were added
	pools map[string]func() any
}

func (l *lists) setBox(b *sandbox.Box) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.box = b
}

func (l *lists) theBox() *sandbox.Box {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.box
}

func (l *lists) setPool(name string, stats func() any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.names = slices.DeleteFunc(l.names, func(n string) bool { return n == name && stats == nil })
	if stats == nil {
		delete(l.pools, name)
		return
	}
	if l.pools[name] == nil {
		l.names = append(l.names, name)
	}
	if l.pools == nil {
		l.pools = map[string]func() any{}
	}
	l.pools[name] = stats
}

// counters returns the pools' names, and a table of two columns for each.
func (l *lists) counters() (names []string, tables [][][]string) {
	l.mu.Lock()
	names = slices.Clone(l.names)
	pools := maps.Clone(l.pools)
	l.mu.Unlock()
	for _, n := range names {
		tables = append(tables, fieldsOf(pools[n]()))
	}
	return names, tables
}

// fieldsOf returns the members of a value's JSON, sorted, with their values.
func fieldsOf(v any) [][]string {
	members, text := membersOf(v)
	if members == nil {
		return [][]string{{"", oneLine(text)}}
	}
	var out [][]string
	for _, k := range slices.Sorted(maps.Keys(members)) {
		out = append(out, []string{oneLine(k), oneLine(string(members[k]))})
	}
	return out
}

// membersOf returns the members of a value's JSON. If it is no object, they are nil, and the text is the JSON or
// the error.
func membersOf(v any) (members map[string]json.RawMessage, text string) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err.Error()
	}
	if json.Unmarshal(data, &members) != nil {
		members = nil
	}
	return members, string(data)
}

// row is a line of a list, with a text that is shown when it is opened.
type row struct {
	when, kind, line, text string
	state                  string // "", "ask", "deny" or "error"
	join                   string // a row is joined to the one before if this is the same and not empty
	size, times            int    // of joined rows: bytes of deltas, and number
	tool, args             string // of a call, for its explanation
}

// rows is a list of the newest rows. Rows have numbers that never change.
type rows struct {
	mu      sync.Mutex
	list    []row
	first   int    // the number of list[0]
	dirty   int    // the lowest number of a row that was changed since the last take
	changed func() // called after each change; it must not block
}

func (r *rows) add(n row) {
	r.mu.Lock()
	if last := len(r.list) - 1; last >= 0 && n.join != "" && r.list[last].join == n.join {
		r.list[last].merge(n)
		r.dirty = min(r.dirty, r.first+last)
	} else {
		n.times = 1
		r.list = append(r.list, n)
		if len(r.list) > maxRows {
			r.list = slices.Delete(r.list, 0, 1)
			r.first++
		}
		r.dirty = max(min(r.dirty, r.first+len(r.list)-1), r.first)
	}
	changed := r.changed
	r.mu.Unlock()
	if changed != nil {
		changed()
	}
}

// merge adds a later delta to its row.
func (r *row) merge(n row) {
	r.times++
	r.size += n.size
	r.text = cut(r.text+n.text, maxText)
	r.line = oneLine(strconv.Itoa(r.times) + " pieces, " + strconv.Itoa(r.size) + " bytes: " + r.text)
}

// take returns the rows that changed since it was last called, the number of the first of them, and the
// number of the first row of the list.
func (r *rows) take() (changed []row, from, first int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	from = max(r.dirty, r.first)
	changed = slices.Clone(r.list[from-r.first:])
	r.dirty = r.first + len(r.list)
	return changed, from, r.first
}

// at returns the row with a number, if the list still has it.
func (r *rows) at(number int) (row, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := number - r.first; i >= 0 && i < len(r.list) {
		return r.list[i], true
	}
	return row{}, false
}

// clear removes all rows. Later rows have new numbers.
func (r *rows) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.first += len(r.list)
	r.list, r.dirty = nil, r.first
}

func ofEvent(e protocol.TraceEvent) row {
	n := row{when: e.Time.Format("15:04:05.000"), kind: oneLine(string(e.Type)), text: textOf(e)}
	words := []string{e.Tool, string(e.Capability), string(e.Decision), e.Rule, e.Error}
	if s, ok := e.Input.(string); ok && e.Capability != "" {
		words[1] = s // "fs.read on notes.md"
	}
	if e.Type == protocol.TraceEnd {
		words = append(words, e.Status, strconv.FormatFloat(e.DurationMS, 'f', 1, 64)+" ms")
	}
	for _, w := range words {
		if w != "" && n.line != "" {
			n.line += " · "
		}
		n.line += w
	}
	n.line = oneLine(n.line)
	switch {
	case e.Decision == protocol.ActionDeny || e.Status == "denied":
		n.state = "deny"
	case e.Decision == protocol.ActionAsk:
		n.state = "ask"
	case e.Error != "" || e.Status == "error":
		n.state = "error"
	}
	if e.Type == protocol.TraceStart {
		n.tool, n.args = e.Tool, textOf(e.Input)
	}
	return n
}

func ofChunk(c sandbox.Chunk, err error) row {
	if err != nil {
		return row{kind: "error", line: oneLine(err.Error()), text: visible(cut(err.Error(), maxText)), state: "error"}
	}
	n := row{kind: oneLine(string(c.Type)), line: oneLine(strings.Join([]string{c.ToolName, c.Reason, c.ErrorText, c.Delta}, " "))}
	switch {
	case strings.HasSuffix(n.kind, "-delta"):
		n.join = n.kind + " " + c.ID + c.ToolCallID
		n.text, n.size = visible(cut(c.Delta, maxText)), len(c.Delta)
	case c.Type == "tool-output-denied":
		n.state = "deny"
	case c.Type == "tool-approval-request":
		n.state = "ask"
	case c.ErrorText != "":
		n.state = "error"
	}
	if n.join == "" {
		n.text = textOf(filled(c))
	}
	return n
}

// filled returns the fields of a chunk that are set. Chunk's own JSON would add its methods to the page.
func filled(c sandbox.Chunk) map[string]json.RawMessage {
	type plain sandbox.Chunk
	all, _ := membersOf(plain(c))
	maps.DeleteFunc(all, func(_ string, v json.RawMessage) bool {
		return string(v) == `""` || string(v) == "null" || string(v) == "false"
	})
	return all
}

// textOf returns a value as indented JSON, at most maxText bytes of it.
func textOf(v any) string {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return cut(err.Error(), maxText)
	}
	return visible(cut(string(data), maxText))
}

// cut returns at most the first max bytes of a text, with an ellipsis if it is longer.
func cut(s string, max int) string {
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return s[:max] + "…"
}

// visible returns a text with escapes in place of invisible characters, such as those that change the
// direction of what follows. A model's text could show a row as another one with them.
func visible(s string) string {
	if !strings.ContainsFunc(s, hidden) {
		return s
	}
	var b strings.Builder
	for _, c := range s {
		if hidden(c) {
			b.WriteString(`\u{` + strconv.FormatInt(int64(c), 16) + `}`)
		} else {
			b.WriteRune(c)
		}
	}
	return b.String()
}

func hidden(c rune) bool { return c != '\n' && c != '\t' && !unicode.IsGraphic(c) }

// oneLine returns the beginning of a text as a line.
func oneLine(s string) string {
	return cut(visible(strings.Join(strings.Fields(cut(s, 4*maxLine)), " ")), maxLine)
}

// template returns arguments to begin with for a tool: its required members, or all of them if none is.
func template(schema string) string {
	var s struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	if json.Unmarshal([]byte(schema), &s) != nil {
		return "{}"
	}
	names := s.Required
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(s.Properties))
	}
	args := map[string]any{}
	for _, n := range names {
		switch s.Properties[n].Type {
		case "array":
			args[n] = []any{}
		case "object":
			args[n] = map[string]any{}
		case "number", "integer":
			args[n] = 0
		case "boolean":
			args[n] = false
		default:
			args[n] = ""
		}
	}
	return textOf(args)
}
