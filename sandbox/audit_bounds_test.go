package sandbox

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/native"
	"github.com/bailey-go/bailey/protocol"
)

// The log in memory is bounded by lines and by bytes, and is a whole chain at any length.
func TestAuditBounds(t *testing.T) {
	native.Only(t)
	at := time.Unix(1000, 0)
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
			for range c.n - 1 {
				a.Note(c.text, at)
			}
			line, err := sealed(&auditEntry{Seq: a.seq + 1, Prev: a.last, Note: c.text, Time: at})
			if err != nil {
				t.Fatal(err)
			}
			each = len(line)
			a.Note(c.text, at)
			if n, size := a.kept(); n >= 2*auditLines || size >= 2*auditBytes && n > 1 || a.size >= auditPlain+each {
				t.Errorf("%d lines of %d bytes are in memory, %d of them plain", n, size, a.size)
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

// The compressed lines of many calls need a fraction of their bytes.
func TestAuditCompresses(t *testing.T) {
	native.Only(t)
	const n = 3000
	a := NewAudit(nil)
	for i := range n {
		a.trace(protocol.TraceEvent{TraceID: randomID(8), ExecID: randomID(8), Tool: "read", Input: map[string]any{"path": fmt.Sprintf("notes/%d.md", i)}, Output: strings.Repeat("some words ", i%100)})
	}
	held := a.size
	for _, p := range a.packs {
		held += cap(p.data)
	}
	lines, size := a.kept()
	if held > size/4 {
		t.Errorf("%d lines of %d bytes hold %d", lines, size, held)
	}
	var b bytes.Buffer
	if err := a.Export(&b); err != nil {
		t.Fatal(err)
	}
	if seq, _, err := VerifyAudit(&b); err != nil || seq != n {
		t.Errorf("line %d: %v", seq, err)
	}
}

// An entry of the log keeps a value of up to 2 KiB, and the hash and length of a longer one.
func TestAuditTextInShort(t *testing.T) {
	for n, whole := range map[int]bool{0: true, auditValue - 1: true, auditValue: true, auditValue + 1: false, 200 << 10: false} {
		text := strings.Repeat("a", n)
		wrapped := strings.Repeat("a", max(0, n-len(`{"a":""}`)))
		for want, v := range map[string]any{text: text, `{"a":"` + wrapped + `"}`: map[string]any{"a": wrapped}} {
			got := auditText(v)
			if hashed := fmt.Sprintf("sha256:%x of %d bytes", sha256.Sum256([]byte(want)), len(want)); whole && got != want || !whole && got != hashed {
				t.Errorf("%d bytes: %.80q", n, got)
			}
		}
	}
}
