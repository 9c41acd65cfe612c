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
		rows     string          // that stand: a is between looks 0 and 1, b between 1 and 2
		want     string          // in the error, "" if all stand
	}{
		"quiet":                 {[]time.Duration{100, 101, 100}, []time.Duration{110, 110, 112}, "ab", ""},
		"just quiet":            {[]time.Duration{100, 115}, []time.Duration{140, 150}, "a", ""},
		"busy between":          {[]time.Duration{100, 116, 100}, []time.Duration{116, 116, 116}, "", "look 1, the loop took 1.16"},
		"busy at first":         {[]time.Duration{200, 100}, []time.Duration{200, 100}, "", "look 0, the loop took 2.00"},
		"one processor is busy": {[]time.Duration{100, 100}, []time.Duration{100, 141}, "", "look 1, the loop took 1.41 times longer on all 2"},
		"busy at the end":       {[]time.Duration{100, 100, 116}, []time.Duration{100, 100, 116}, "a", "the results of b* are not written: look 2, the loop took 1.16"},
		"all the time":          {[]time.Duration{100, 100}, []time.Duration{200, 200}, "", "look 0, the loop took 2.00 times longer"},
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
			var suites []timed
			for i := range len(c.one) - 1 {
				name := string(rune('a' + i))
				suites = append(suites, timed{name, []Row{{ID: name}}, i})
			}
			rows, err := q.sound(suites)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			got := ""
			for _, r := range rows {
				got += r.ID
			}
			if got != c.rows {
				t.Errorf("rows of %q stand, want %q", got, c.rows)
			}
		})
	}
	// Without a look after it no suite stands.
	if rows, err := (&quiet{}).sound([]timed{{"a", []Row{{}}, 0}}); rows != nil || err == nil {
		t.Errorf("without a look: %v, %v", rows, err)
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
