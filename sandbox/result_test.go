package sandbox

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/protocol"
)

func TestTruncate(t *testing.T) {
	ctx := context.Background()
	var kept string
	store := func(_ context.Context, whole string) (string, error) { kept = whole; return "out/1.txt", nil }
	fails := func(context.Context, string) (string, error) { return "", errors.New("/home/me: disk full") }
	lines := strings.Repeat("0123456789abcde\n", 20)
	for _, c := range []struct {
		name  string
		limit outputLimit
		text  string
		want  string
		cut   bool
	}{
		{"below", outputLimit{Bytes: 10}, "123456789", "123456789", false},
		{"at", outputLimit{Bytes: 10}, "1234567890", "1234567890", false},
		{"above", outputLimit{Bytes: 10}, "12345678901", "1234567890", true},
		{"within a character", outputLimit{Bytes: 10}, "123456789é", "123456789", true},
		{"a line's end is near", outputLimit{Bytes: 161}, lines, lines[:160], true},
		{"a line's end is far", outputLimit{Bytes: 30}, "a\n" + strings.Repeat("b", 50), "a\n" + strings.Repeat("b", 28), true},
		{"rows at", outputLimit{Rows: 3}, "a\nb\nc\n", "a\nb\nc\n", false},
		{"rows above", outputLimit{Rows: 2}, "a\nb\nc\n", "a\nb\n", true},
		{"no limit", outputLimit{}, lines, lines, false},
	} {
		kept = ""
		head, meta := c.limit.truncate(ctx, c.text, store)
		if head != c.want || meta.Truncated != c.cut {
			t.Errorf("%s: %q, %+v", c.name, head, meta)
		}
		if c.cut && (kept != c.text || meta.OutputPath != "out/1.txt") || !c.cut && kept != "" {
			t.Errorf("%s: the sidecar has %q", c.name, kept)
		}
	}
	for name, s := range map[string]sidecar{"none": nil, "broken": fails} {
		head, meta := outputLimit{Bytes: 4}.truncate(ctx, "123456", s)
		if !strings.HasPrefix(head, "1234\n[cut here") || !meta.Truncated || meta.OutputPath != "" || strings.Contains(head, "/home") {
			t.Errorf("%s: %q %+v", name, head, meta)
		}
	}
	if rows, cut := truncateRows(outputLimitFor("grep"), make([]int, 201)); len(rows) != 200 || !cut {
		t.Error("grep")
	}
	if rows, cut := truncateRows(outputLimitFor("glob"), make([]int, 1000)); len(rows) != 1000 || cut {
		t.Error("glob")
	}
	if outputLimitFor("read").Bytes != 200<<10 {
		t.Error("read")
	}
}

func TestResultOfACall(t *testing.T) {
	if r := failed(protocol.Errorf(protocol.ErrTimeout, "", "", "late").WithReason(protocol.ReasonStale), time.Second); r.Type != "error" || r.ErrorText != "late" || r.Code != protocol.ErrTimeout || r.Metadata.DurationMS != 1000 || !errors.Is(r.Err(), protocol.ReasonStale) {
		t.Errorf("%+v", r)
	}
	if r := failed(errors.New("/home/me: disk full"), 0); r.ErrorText != "execution failed" {
		t.Errorf("%+v", r)
	}
	if r := succeeded(1, time.Millisecond); r.Type != "output" || r.Data != 1 || r.Metadata.DurationMS != 1 || r.Err() != nil {
		t.Errorf("%+v", r)
	}
}
