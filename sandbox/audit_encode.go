package sandbox

import (
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"
)

// encodeEntry writes an entry just as json.Marshal does. The steps of a call, of which
// there are five or more in each, are written by hand: by reflection they would take
// half of what a call costs in a browser.
func encodeEntry(e *AuditEntry) ([]byte, error) {
	if b, ok := appendTrace(e); ok {
		return b, nil
	}
	return json.Marshal(e)
}

// appendTrace writes an entry that is a step of a call, and is false for what it does
// not know how to write.
func appendTrace(e *AuditEntry) ([]byte, bool) {
	t := e.Trace
	if t == nil || e.Violation != nil || !e.Time.IsZero() || t.Input != nil || t.Output != nil || !plainTime(t.Time) || !plainFloat(t.DurationMS) {
		return nil, false
	}
	w := entryWriter{make([]byte, 0, 512+len(e.Input)+len(e.Output)+len(t.Error)), true}
	w.b = append(w.b, `{"seq":`...)
	w.b = strconv.AppendInt(w.b, e.Seq, 10)
	w.member(`,"prev":`, e.Prev)
	w.b = append(w.b, `,"trace":{"trace_id":`...)
	w.text(t.TraceID)
	w.optional(`,"parent_trace_id":`, t.ParentID)
	w.optional(`,"root_id":`, t.RootID)
	w.member(`,"exec_id":`, t.ExecID)
	w.member(`,"type":`, string(t.Type))
	w.b = append(w.b, `,"ts":"`...)
	w.b = t.Time.AppendFormat(w.b, time.RFC3339Nano)
	w.b = append(w.b, '"')
	if t.DurationMS != 0 {
		w.b = append(w.b, `,"duration_ms":`...)
		w.b = strconv.AppendFloat(w.b, t.DurationMS, 'f', -1, 64)
	}
	w.optional(`,"tool":`, t.Tool)
	w.optional(`,"server":`, t.Server)
	w.optional(`,"capability":`, string(t.Capability))
	w.optional(`,"decision":`, string(t.Decision))
	w.optional(`,"rule":`, t.Rule)
	w.optional(`,"status":`, t.Status)
	w.optional(`,"error":`, t.Error)
	w.b = append(w.b, '}')
	w.optional(`,"note":`, e.Note)
	w.optional(`,"input":`, e.Input)
	w.optional(`,"output":`, e.Output)
	w.optional(`,"hash":`, e.Hash)
	return append(w.b, '}'), w.ok
}

// plainTime and plainFloat report whether JSON's form is the simple one.
func plainTime(t time.Time) bool {
	_, offset := t.Zone()
	return t.Year() >= 0 && t.Year() <= 9999 && offset%60 == 0 && offset > -24*3600 && offset < 24*3600
}

func plainFloat(f float64) bool { return f == 0 || f >= 1e-6 && f < 1e21 }

type entryWriter struct {
	b  []byte
	ok bool
}

func (w *entryWriter) member(key, v string) {
	w.b = append(w.b, key...)
	w.text(v)
}

func (w *entryWriter) optional(key, v string) {
	if v != "" {
		w.member(key, v)
	}
}

// text writes a string; one with more in it than plain ASCII is left to package json,
// but for quotes, of which JSON within JSON is full.
func (w *entryWriter) text(s string) {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '<' || c == '>' || c == '&' || c == 0x7f {
			b, err := json.Marshal(s)
			w.b, w.ok = append(w.b, b...), w.ok && err == nil
			return
		}
	}
	w.b = append(w.b, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		if c := s[i]; c == '"' || c == '\\' {
			w.b = append(append(w.b, s[from:i]...), '\\', c)
			from = i + 1
		}
	}
	w.b = append(append(w.b, s[from:]...), '"')
}
