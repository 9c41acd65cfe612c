package sandbox

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// The log in memory is bounded by lines and by bytes, and is a whole chain at any length.
func TestAuditBounds(t *testing.T) {
	at := time.Unix(1000, 0)
	width := func(a *Audit, text string) int {
		before := a.size
		a.Note(text, at)
		return a.size - before
	}
	long := strings.Repeat("x", 1<<20)
	for _, c := range []struct {
		name string
		text string
		n    int // notes
		want func(each int) int
	}{
		{"fewer bytes", long, 15, func(int) int { return 15 }},
		{"as many bytes as are kept", long, 16, func(each int) int { return auditBytes / each }},
		{"more bytes", long, 17, func(each int) int { return auditBytes / each }},
		{"far more bytes", long, 100, func(each int) int { return auditBytes / each }},
		{"fewer lines", "", auditLines - 1, func(int) int { return auditLines - 1 }},
		{"as many lines as are kept", "", auditLines, func(int) int { return auditLines }},
		{"more lines", "", auditLines + 1, func(int) int { return auditLines }},
		{"far more lines", "", 3*auditLines + 7, func(int) int { return auditLines }},
		{"one line larger than all", strings.Repeat("x", auditBytes+1), 3, func(int) int { return 1 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, each := NewAudit(nil), 0
			for range c.n {
				each = width(a, c.text)
				if each < 0 { // lines were dropped
					each = len(a.lines[len(a.lines)-1])
				}
			}
			size := 0
			for _, line := range a.lines {
				size += len(line)
			}
			if size != a.size || len(a.lines) >= 2*auditLines || a.size >= 2*auditBytes && len(a.lines) > 1 {
				t.Errorf("%d lines of %d bytes are in memory, counted as %d", len(a.lines), size, a.size)
			}
			var b bytes.Buffer
			if err := a.Export(&b); err != nil {
				t.Fatal(err)
			}
			if got, want := bytes.Count(b.Bytes(), []byte("\n")), c.want(each); got != want {
				t.Errorf("%d lines are written, want %d", got, want)
			}
			if len(c.text) >= 1<<20 {
				return // longer lines than are read
			}
			seq, hash, err := VerifyAudit(&b)
			if n, head := a.Head(); err != nil || seq != n || hash != head || n != int64(c.n) {
				t.Errorf("%v: %d %s, and the head is %d %s", err, seq, hash, n, head)
			}
		})
	}
}
