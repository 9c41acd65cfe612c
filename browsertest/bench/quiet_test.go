package main

import (
	"strings"
	"testing"
	"time"
)

// Results of a machine with other work are refused, at the limits and above, and not below.
func TestLoadIsNoticed(t *testing.T) {
	for name, c := range map[string]struct {
		one, all []time.Duration // at each look
		want     string          // in the error, "" if the results stand
	}{
		"quiet":                 {[]time.Duration{100, 101, 100}, []time.Duration{110, 110, 112}, ""},
		"just quiet":            {[]time.Duration{100, 115}, []time.Duration{140, 150}, ""},
		"busy between":          {[]time.Duration{100, 116, 100}, []time.Duration{116, 116, 116}, "look 1, the loop took 1.16"},
		"busy at first":         {[]time.Duration{200, 100}, []time.Duration{200, 100}, "look 0, the loop took 2.00"},
		"one processor is busy": {[]time.Duration{100, 100}, []time.Duration{100, 141}, "look 1, the loop took 1.41 times longer on all 2"},
		"all the time":          {[]time.Duration{100, 100}, []time.Duration{200, 200}, "look 0, the loop took 2.00 times longer"},
	} {
		t.Run(name, func(t *testing.T) {
			at := 0
			q := &quiet{n: 2, measure: func(_, n int) time.Duration {
				if n == 1 {
					return c.one[at]
				}
				return c.all[at]
			}}
			for at = range c.one {
				q.look("look " + string(rune('0'+at)))
			}
			err := q.err()
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	if err := (&quiet{}).err(); err != nil {
		t.Errorf("without a look: %v", err)
	}
}

// A single slow loop is an interrupt, and no load.
func TestTheFastestLoopCounts(t *testing.T) {
	calls := 0
	q := &quiet{n: 2, measure: func(int, int) time.Duration {
		if calls++; calls%loopRounds != 0 {
			return time.Second
		}
		return time.Millisecond
	}}
	q.look("now")
	if q.looks[0].one != time.Millisecond || q.looks[0].all != time.Millisecond {
		t.Errorf("%+v", q.looks[0])
	}
}
