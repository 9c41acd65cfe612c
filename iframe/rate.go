package iframe

import "time"

// rate is a limit by time: burst at once, and then perSecond.
type rate struct{ burst, perSecond float64 }

// rates are what a document's frame may say. Its own script stays far below: a person's clicks are rare, and a batch or a new height comes once for each
// frame of animation. A frame that was taken over may say anything as fast as it can.
type rates struct{ message, image, link, copy, violation, scroll rate }

func frameRates() rates {
	return rates{
		message: rate{4000, 400}, // of any kind but images; above it the frame is taken for lost
		image:   rate{5000, 500}, // text chooses how many there are: above it they are not asked for, and the frame stays
		link:    rate{8, 4}, copy: rate{8, 4}, violation: rate{100, 10}, scroll: rate{30, 30},
	}
}

// bucket counts against a rate. Its zero value is full.
type bucket struct {
	used float64
	at   time.Time
}

// take reports whether one more is within the rate at this time, and counts it if it is.
func (b *bucket) take(r rate, now time.Time) bool {
	if passed := now.Sub(b.at).Seconds(); passed > 0 {
		b.used = max(0, b.used-passed*r.perSecond)
		b.at = now
	}
	if b.used+1 > r.burst {
		return false
	}
	b.used++
	return true
}

// buckets are what one frame has said.
type buckets struct{ message, image, link, copy, violation, scroll bucket }
