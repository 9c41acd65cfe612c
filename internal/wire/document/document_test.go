package document

import (
	"encoding/json"
	"html"
	"strings"
	"testing"
)

func TestBatchIsJSON(t *testing.T) {
	var b Batch
	b.Reset(7)
	texts := []string{"", "a", `"\`, "\x00\x1f\n\t\r", "</script>", "\u2028", "日本\U0001F600", html.EscapeString("<b>")}
	for _, s := range texts {
		b.add("set", s, 3, nil, true, "\xff")
	}
	var got []any
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatal(err)
	}
	if got[0] != 7.0 || len(got) != len(texts)+1 || b.Len() != len(texts) {
		t.Fatalf("batch %v", got)
	}
	for i, s := range texts {
		op := got[i+1].([]any)
		if op[0] != "set" || op[1] != s || op[2] != 3.0 || op[3] != nil || op[4] != true || op[5] != "\ufffd" {
			t.Errorf("order %d: %v, want %q", i, op, s)
		}
	}
}

// A message may have MaxMessage bytes.
func TestMaxMessage(t *testing.T) {
	at := "error\x1f" + strings.Repeat("a", MaxMessage-len("error\x1f"))
	if _, err := ParseMessage(at); err != nil {
		t.Errorf("a message of MaxMessage bytes: %v", err)
	}
	if _, err := ParseMessage(at + "a"); err == nil {
		t.Error("a message of MaxMessage+1 bytes was believed")
	}
}

func FuzzParseMessage(f *testing.F) {
	f.Add("ack\x1f1\x1f2")
	f.Add("copy\x1fs\x1f1\x1f0")
	f.Fuzz(func(t *testing.T, s string) {
		m, err := ParseMessage(s)
		if err == nil && (m.Height < -1 || m.Height > MaxHeight) {
			t.Fatalf("height %d", m.Height)
		}
	})
}
