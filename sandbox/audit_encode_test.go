package sandbox

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/bailey-go/bailey/protocol"
)

// fill puts something into each member there is, those of later days too.
func fill(v reflect.Value, text string) {
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString(text + v.Type().Field(i).Name)
		case reflect.Float64:
			f.SetFloat(1.5)
		case reflect.Int64:
			f.SetInt(7)
		}
	}
}

// What is written by hand is what json.Marshal writes, so that a log of one version
// is one of the next.
func TestEntriesAreWrittenAsJSON(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 60, time.FixedZone("x", 5400))
	byHand := 0
	for _, text := range []string{"", "plain", `{"path":"a\b","n":1}`, "<b>&\u2028", "\x00\n\x7f\xff\xe2", "ü→", `"`, `\`} {
		for _, ms := range []float64{0, 1e-7, 1e-6, 0.25, 1.0 / 3, 1e20, 1e21} {
			for _, when := range []time.Time{{}, at, at.UTC(), at.In(time.FixedZone("y", 90)), time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)} {
				trace := protocol.TraceEvent{}
				fill(reflect.ValueOf(&trace).Elem(), text)
				trace.DurationMS, trace.Time = ms, when
				e := AuditEntry{Trace: &trace}
				fill(reflect.ValueOf(&e).Elem(), text)
				want, werr := json.Marshal(&e)
				got, err := encodeEntry(&e)
				if (err == nil) != (werr == nil) || !bytes.Equal(got, want) {
					t.Errorf("%q %v %v:\n%s %v\n%s %v", text, ms, when, got, err, want, werr)
				}
				if _, ok := appendTrace(&e); ok {
					byHand++
				}
			}
		}
	}
	if byHand != 8*5*3 {
		t.Errorf("%d were written by hand", byHand)
	}
	for _, e := range []AuditEntry{{}, {Note: "n", Time: at}, {Violation: &protocol.Violation{Detail: "d"}}, {Trace: &protocol.TraceEvent{Input: 1}},
		{Trace: &protocol.TraceEvent{Output: 1}}, {Trace: &protocol.TraceEvent{DurationMS: -1}}, {Trace: &protocol.TraceEvent{}, Time: at}} {
		want, _ := json.Marshal(&e)
		if got, err := encodeEntry(&e); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s %v\n%s", got, err, want)
		}
	}
	if _, err := encodeEntry(&AuditEntry{Trace: &protocol.TraceEvent{DurationMS: math.NaN()}}); err == nil {
		t.Error("a duration that is no number was written")
	}
}

func FuzzEntry(f *testing.F) {
	f.Add("t", "r", `{"a":"<"}`, 0.5, int64(1))
	f.Add("", "\xff\\\"\u2029", "é\x1b", 1e-9, int64(-1<<62))
	f.Fuzz(func(t *testing.T, tool, rule, input string, ms float64, nano int64) {
		e := AuditEntry{Seq: nano, Prev: rule, Input: input, Trace: &protocol.TraceEvent{Tool: tool, Rule: rule, DurationMS: ms, Time: time.Unix(0, nano)}}
		want, werr := json.Marshal(&e)
		if got, err := encodeEntry(&e); (err == nil) != (werr == nil) || !bytes.Equal(got, want) {
			t.Errorf("%s %v\n%s %v", got, err, want, werr)
		}
	})
}
