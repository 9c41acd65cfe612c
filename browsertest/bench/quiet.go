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

// err returns an error that names when the machine had other work, or nil.
func (q *quiet) err() error {
	if len(q.looks) == 0 {
		return nil
	}
	best := slices.MinFunc(q.looks, func(a, b look) int { return int(a.one - b.one) }).one
	var busy []string
	for _, l := range q.looks {
		switch {
		case 100*l.one > slower*best:
			busy = append(busy, fmt.Sprintf("%s, the loop took %.2f of its fastest time", l.when, float64(l.one)/float64(best)))
		case 100*l.all > shared*l.one:
			busy = append(busy, fmt.Sprintf("%s, the loop took %.2f times longer on all %d processors than on one", l.when, float64(l.all)/float64(l.one), q.n))
		}
	}
	if busy == nil {
		return nil
	}
	return fmt.Errorf("the machine had other work, so results are not written: %s. End the other work, and run it again", strings.Join(busy, "; "))
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
