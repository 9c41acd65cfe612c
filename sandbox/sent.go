package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/internal/gate"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// ledger counts how much text of each file a session and its subagents have sent to models elsewhere.
// Without it, a model could collect a file above the policy's limit range by range.
//
// A line counts towards every file that the call has read, because a program can give a file's text any
// form. A line that was sent before counts no more.
type ledger struct {
	seed maphash.Seed

	mu    sync.Mutex
	sent  map[string]float64  // bytes by source: a file, or a folder whose files a program could read
	long  map[string]bool     // files that were longer than the limit of one text when a call read them
	made  map[string][]string // the sources of files that calls wrote or moved, by path
	lines map[uint64]bool     // hashes of the lines that were sent
	whole map[string]bool     // sources that the user agreed to send in full
	dirty bool                // sent or made has changed since it was last stored
}

const (
	sentTimes   = 4       // times the limit of one text is the limit of a file in a session
	sentKnown   = 8       // bytes of the shortest line that is recognised: shorter ones could be a code
	sentLines   = 100_000 // lines that are recognised
	sentSources = 10_000  // sources that are counted one by one
	sentOrigin  = 50      // sources of one file
	sentPath    = 512     // bytes of a path: moves in circles make longer ones
	sentRest    = "."     // the source of what is counted together: the whole folder
)

func newLedger(rec *SessionRecord) *ledger {
	l := &ledger{seed: maphash.MakeSeed(), sent: map[string]float64{}, made: map[string][]string{}, long: map[string]bool{}, lines: map[uint64]bool{}, whole: map[string]bool{}}
	if rec != nil {
		maps.Copy(l.sent, rec.Sent)
		maps.Copy(l.made, rec.Derived)
		for _, p := range rec.Long {
			l.long[p] = true
		}
	}
	return l
}

// store puts the counts into a session's record.
func (l *ledger) store(rec *SessionRecord) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dirty {
		rec.Sent, rec.Derived, rec.Long, l.dirty = maps.Clone(l.sent), maps.Clone(l.made), slices.Sorted(maps.Keys(l.long)), false
	}
}

// changed reports whether the counts have changed since they were last stored.
func (l *ledger) changed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dirty
}

// isLong reports whether a file was read when it was longer than the limit of one text. It stays so when a
// short file takes its place, because copies of its parts may be left. Above sentSources all files are long.
func (l *ledger) isLong(path string) bool {
	return l.long[path] || len(l.long) >= sentSources
}

// wrote records the sources of a file that a call writes or moves. They stay when the file is written
// again, because a call that is refused has written nothing.
func (l *ledger) wrote(path string, from []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	from = append(slices.Clone(from), l.made[path]...)
	slices.Sort(from)
	from = slices.DeleteFunc(slices.Compact(from), func(s string) bool { return s == path })
	if len(from) > sentOrigin {
		from = []string{sentRest}
	}
	if len(from) == 0 || slices.Equal(from, l.made[path]) || l.made[path] == nil && len(l.made) >= sentSources {
		return // above that number a file counts as one of the whole folder, see origins
	}
	l.made[path], l.dirty = from, true
}

// origins returns the paths and the files that they were made of. mu is held.
func (l *ledger) origins(paths []string) []string {
	seen := map[string]bool{}
	for todo := slices.Clone(paths); len(todo) > 0; {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[p] {
			continue
		}
		if len(seen) >= sentOrigin*sentOrigin || len(p) > sentPath { // moves in circles
			seen[sentRest] = true
			continue
		}
		seen[p] = true
		for at := p; at != ""; at = at[:max(strings.LastIndexByte(at, '/'), 0)] { // a folder may have been moved
			for _, from := range l.made[at] {
				if from != sentRest {
					from += p[len(at):]
				}
				todo = append(todo, from)
			}
		}
	}
	if len(l.made) >= sentSources {
		seen[sentRest] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// fresh returns the number of bytes of the lines in texts that no model has received, and their hashes.
// mu is held.
func (l *ledger) fresh(texts []string) (n float64, lines []uint64) {
	now := map[uint64]bool{}
	known := func(line string) (uint64, bool) {
		h := maphash.String(l.seed, line)
		return h, l.lines[h] || now[h]
	}
	for _, text := range texts {
		for line := range strings.Lines(text) {
			bare := strings.TrimRight(line, "\r\n")
			if len(bare) < sentKnown {
				n += float64(len(line))
				continue
			}
			h, is := known(bare)
			if _, inDiff := known(bare[1:]); is || inDiff && strings.ContainsRune("+- ", rune(bare[0])) {
				continue
			}
			now[h] = true
			lines = append(lines, h)
			n += float64(len(line))
		}
	}
	return n, lines
}

// source is a source whose limit a result would pass.
type source struct {
	path        string
	size        int64 // of the file, or -1
	sent, fresh float64
}

// String returns the source in words.
func (s source) String() string {
	name := gate.Spelled(s.path)
	if s.path == sentRest {
		name = "what programs read in the folder"
	}
	if s.size < 0 {
		return fmt.Sprintf("%s (%.0f bytes were sent)", name, s.sent)
	}
	return fmt.Sprintf("%s (%.0f of %d bytes were sent)", name, s.sent, s.size)
}

// charge counts texts by the files they are of. If a file's limit would be passed, it counts nothing and
// returns these files. The function limit is called with mu held.
func (l *ledger) charge(by map[string][]string, limit func(path string, long bool) (most float64, size int64)) (over []source) {
	l.mu.Lock()
	defer l.mu.Unlock()
	add, all := map[string]float64{}, []uint64(nil)
	for _, path := range slices.Sorted(maps.Keys(by)) {
		n, lines := l.fresh(by[path])
		all = append(all, lines...)
		for _, p := range l.origins([]string{path}) {
			if _, known := l.sent[p]; !known && len(l.sent)+len(add) >= sentSources {
				p = sentRest
			}
			add[p] += n
		}
	}
	for _, p := range slices.Sorted(maps.Keys(add)) {
		if l.whole[p] || add[p] == 0 {
			continue
		}
		if most, size := limit(p, l.isLong(p)); l.sent[p]+add[p] > most {
			over = append(over, source{p, size, l.sent[p], add[p]})
		}
	}
	if len(over) > 0 {
		return over
	}
	for p, n := range add {
		if n > 0 {
			l.sent[p] += n
			l.dirty = true
		}
	}
	for _, h := range all {
		if len(l.lines) < sentLines {
			l.lines[h] = true
		}
	}
	return nil
}

// agree records that the user agreed to send files in full.
func (l *ledger) agree(over []source) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range over {
		l.whole[s.path] = true
	}
}

// most returns how many bytes of a file a session sends before the user is asked: four times the limit of
// one text, but no more than half of the file, and at least the limit itself. A file that was never longer
// than the limit is sent whole. Of a folder whose files a program could read, no file is known, so it has the least limit.
func (e *excerpt) most(ctx context.Context, fsys fsaccess.FS, path string, long bool) (most float64, size int64) {
	above := float64(e.above)
	fi, err := fsaccess.WithContext(ctx, fsys).Stat(path)
	switch {
	case err != nil || fi.IsDir():
		return above, -1
	case fi.Size() <= int64(e.above) && !long:
		return 1 << 53, fi.Size()
	}
	return max(above, min(above*sentTimes, float64(fi.Size()/2))), fi.Size()
}

// texts returns the texts of a value as they are sent, without the lines that the excerpt put into them.
// Numbers count with their digits, because a list of numbers can be the bytes of a text. So do the other
// values of JSON.
func (e *excerpt) texts(v any, out []string) []string {
	switch v := v.(type) {
	case string:
		if parts, ok := e.marked[v]; ok {
			return append(out, parts[:]...)
		}
		return append(out, v)
	case []any:
		out = append(out, "[") // lists in lists can be a code, too
		for _, x := range v {
			out = e.texts(x, out)
		}
	case map[string]any:
		for k, x := range v {
			out = e.texts(x, e.texts(k, out))
		}
	default:
		out = append(out, fmt.Sprint(v))
	}
	return out
}

// bySource returns the texts of a result by the files that the call has read. The rows of a search are of
// the files that they name. The names of the result's own members are the tool's.
func (e *excerpt) bySource(c *Call, data any, failure string) map[string][]string {
	c.mu.Lock()
	from := slices.Compact(slices.Sorted(slices.Values(c.from)))
	c.mu.Unlock()
	by := map[string][]string{}
	add := func(texts []string) {
		for _, p := range from {
			by[p] = append(by[p], texts...)
		}
	}
	add([]string{failure})
	m, ok := data.(map[string]any)
	if !ok {
		add(e.texts(data, nil))
		return by
	}
	for k, v := range m {
		rows, _ := v.([]any)
		switch {
		case k == "version" || k != "value" && isScalar(v): // an exit code, a number of lines
		case e.rows == "" || k != e.rows || rows == nil:
			add(e.texts(v, nil))
		default:
			for _, r := range rows {
				row, _ := r.(map[string]any)
				path, named := row["path"].(string)
				switch _, name := r.(string); {
				case name: // of a file, or the excerpt's line
				case named:
					by[path] = append(by[path], e.texts(row["text"], nil)...)
				default:
					add(e.texts(r, nil))
				}
			}
		}
	}
	return by
}

// isScalar reports whether a value of JSON is a number, true, false or null.
func isScalar(v any) bool {
	switch v.(type) {
	case string, []any, map[string]any:
		return false
	}
	return true
}

// reading records files whose text the call has, or folders whose files a program could read. All folders
// are one source, because one file can be read through each folder above it.
func (c *Call) reading(paths ...string) {
	l, above := c.scope.root.ledger, c.box.policy.Policy.Send.Above
	for _, p := range paths {
		c.mu.Lock()
		n := len(c.from)
		again := n > 0 && c.from[n-1] == p
		c.mu.Unlock()
		if again {
			continue
		}
		if above > 0 && p != sentRest {
			switch fi, err := c.box.raw.Stat(p); {
			case err != nil:
			case fi.IsDir():
				p = sentRest
			case fi.Size() > int64(above):
				l.mu.Lock()
				if !l.isLong(p) {
					l.long[p], l.dirty = true, true
				}
				l.mu.Unlock()
			}
		}
		c.mu.Lock()
		c.from = append(c.from, p)
		c.mu.Unlock()
	}
}

// told records that the result is the words of a model elsewhere, which had no more of the files than was
// counted. So it is neither cut nor counted again. The policy's lists still apply to it.
func (c *Call) told() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.from, c.reads = nil, false
}

// allowed counts what a result sends. If it is more of a file than a session may send, the user is asked,
// unless quiet is set. The error is that of a declined question.
func (c *Call) allowed(ctx context.Context, e *excerpt, data any, failure string, quiet bool) error {
	if e.rows == "" && c.sent() != policy.SendContents { // a summary
		return nil
	}
	by := e.bySource(c, data, failure)
	if len(by) == 0 {
		return nil
	}
	l := c.scope.root.ledger
	limit := func(path string, long bool) (float64, int64) { return e.most(e.ctx, c.box.raw, path, long) }
	for {
		over := l.charge(by, limit)
		if len(over) == 0 {
			return nil
		}
		words := over[0].String()
		if len(over) > 1 {
			words = fmt.Sprintf("%s and %d other files", words, len(over)-1)
		}
		if quiet || ctx.Err() != nil {
			return protocol.Errorf(protocol.ErrCapabilityDenied, c.tool.ID, over[0].path, "more of %s is sent only after the user was asked", words)
		}
		if err := c.askMore(ctx, over, data); err != nil {
			return err
		}
		l.agree(over)
	}
}

// askMore asks the user about sending more of files.
func (c *Call) askMore(ctx context.Context, over []source, data any) error {
	to := cmp.Or(c.receiver(), "the model")
	r := gate.Request{Call: c.ID, ToolCall: c.model, Tool: c.tool.ID, Args: c.Args, Risk: protocol.RiskMedium, Session: c.Session(), Agent: c.scope.agent,
		Reason: fmt.Sprintf("the policy sends some of a text of more than %d bytes, and asks before it sends more", c.box.policy.Policy.Send.Above)}
	for _, s := range over {
		r.Effects = append(r.Effects, gate.Effect{Text: "send " + to + " all that it asks for of " + s.String() + " in this conversation", Risk: protocol.RiskMedium})
	}
	if text := modelJSON(ctx, data, ResultMetadata{}); len(text) <= gate.MaxShown/2 {
		r.Diff = text
	}
	p := c.passage(nil)
	p.Step, p.Late = c.trace.step, true
	return c.box.gate.Confirm(ctx, p, r)
}

// withheld returns what a model receives in place of a result that the user does not send.
func withheld(data any, why error) any {
	whole := modelJSON(context.Background(), data, ResultMetadata{})
	out := map[string]any{"summary": fmt.Sprintf("%d lines, %d bytes", countLines(whole), len(whole)), "note": "not sent: " + protocol.Public(why).Message + ". The call is done, and the user sees its whole result. Work with what you have, or ask the user."}
	if m, ok := data.(map[string]any); ok && m["version"] != nil {
		out["version"] = m["version"]
	}
	return out
}
