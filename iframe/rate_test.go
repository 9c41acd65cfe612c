package iframe

import (
	"testing"
	"time"
)

func TestBucket(t *testing.T) {
	r := rate{burst: 3, perSecond: 2}
	start := time.Unix(1000, 0)
	var b bucket
	for i, c := range []struct {
		after time.Duration // since the start
		want  bool
	}{
		{0, true}, {0, true}, {0, true}, {0, false}, // the burst, and one above
		{499 * time.Millisecond, false}, {500 * time.Millisecond, true}, {500 * time.Millisecond, false},
		{400 * time.Millisecond, false},                                             // a clock that was set back gives nothing
		{time.Hour, true}, {time.Hour, true}, {time.Hour, true}, {time.Hour, false}, // no more than a burst is saved up
	} {
		if got := b.take(r, start.Add(c.after)); got != c.want {
			t.Errorf("%d, after %v: %v, want %v", i, c.after, got, c.want)
		}
	}
}
