package main

import (
	"fmt"
	"hash/crc32"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// loopTime is about how long one calibrated loop takes on each processor.
	loopTime = 100 * time.Millisecond
	// loopRounds is the number of loops at one time. The fastest counts, because a single interrupt
	// is no load.
	loopRounds = 7
	// slower is the longest time of the loop beside its fastest, in percent. Results of a slower
	// machine are refused.
	slower = 115
	// shared is the longest time of the loop on all processors at once beside that on one, in
	// percent.
	shared = 140
)

// quiet watches the machine's speed with a calibrated loop before, between and after the suites.
type quiet struct {
	work    int                             // steps of one loop
	measure func(work, n int) time.Duration // the time of work steps on n goroutines at once
	n       int                             // processors
	looks   []look
}

// look is the speed at one time.
type look struct {
	when     string
	one, all time.Duration // the loop on one processor, and on all of them at once
}

// newQuiet calibrates the loop.
func newQuiet() *quiet {
	q := &quiet{work: 1 << 10, measure: spin, n: runtime.NumCPU()}
	for q.fastest(1) < loopTime {
		q.work *= 2
	}
	return q
}

func (q *quiet) fastest(n int) time.Duration {
	var all []time.Duration
	for range loopRounds {
		all = append(all, q.measure(q.work, n))
	}
	return slices.Min(all)
}

// look measures the machine's speed now.
func (q *quiet) look(when string) {
	q.looks = append(q.looks, look{when, q.fastest(1), q.fastest(q.n)})
}

// busy returns for each look the reason why the machine had other work then, or "".
func (q *quiet) busy() []string {
	if len(q.looks) == 0 {
		return nil
	}
	best := slices.MinFunc(q.looks, func(a, b look) int { return int(a.one - b.one) }).one
	why := make([]string, len(q.looks))
	for i, l := range q.looks {
		switch {
		case 100*l.one > slower*best:
			why[i] = fmt.Sprintf("%s, the loop took %.2f of its fastest time", l.when, float64(l.one)/float64(best))
		case 100*l.all > shared*l.one:
			why[i] = fmt.Sprintf("%s, the loop took %.2f times longer on all %d processors than on one", l.when, float64(l.all)/float64(l.one), q.n)
		}
	}
	return why
}

// A timed suite ran between two looks: before it, and the next one.
type timed struct {
	prefix string
	rows   []Row
	before int
}

// sound returns the rows of the suites with a quiet machine before and after, and an error that names the others.
func (q *quiet) sound(suites []timed) ([]Row, error) {
	why := q.busy()
	var rows []Row
	var refused, when []string
	for _, s := range suites {
		if s.before+1 < len(why) && why[s.before] == "" && why[s.before+1] == "" {
			rows = append(rows, s.rows...)
		} else {
			refused = append(refused, s.prefix+"*")
		}
	}
	if refused == nil {
		return rows, nil
	}
	for _, w := range why {
		if w != "" {
			when = append(when, w)
		}
	}
	return rows, fmt.Errorf("the machine had other work, so the results of %s are not written: %s. End the other work, and run them again",
		strings.Join(refused, ", "), strings.Join(when, "; "))
}

// spin returns the time of work steps on n goroutines at once.
func spin(work, n int) time.Duration {
	data := make([]byte, 4096)
	var wait sync.WaitGroup
	began := time.Now()
	for range n {
		wait.Go(func() {
			sum := uint32(0)
			for range work {
				sum = crc32.Update(sum, crc32.IEEETable, data)
			}
			runtime.KeepAlive(sum)
		})
	}
	wait.Wait()
	return time.Since(began)
}
