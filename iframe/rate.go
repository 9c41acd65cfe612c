package iframe

import "time"

// rate is a rate limit: burst events at once, and then perSecond.
type rate struct{ burst, perSecond float64 }

// rates are the limits for the messages of a document's frame. The frame's own script stays far
// below them: clicks are rare, and it sends one batch answer or new height in an animation
// frame. A compromised frame may send anything as fast as it can.
type rates struct{ message, image, link, copy, violation, scroll rate }

func frameRates() rates {
	return rates{
		message: rate{4000, 400}, // of any kind except images. A frame above it counts as lost
		image:   rate{5000, 500}, // the text chooses their number: images above it are not requested, and the frame stays
		link:    rate{8, 4}, copy: rate{8, 4}, violation: rate{100, 10}, scroll: rate{30, 30},
	}
}

// bucket counts events against a rate. Its zero value is full, so a whole burst is available.
type bucket struct {
	used float64
	at   time.Time
}

// take reports whether one more event is within the rate at this time. If so, it counts the
// event.
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

// buckets count the messages of one frame.
type buckets struct{ message, image, link, copy, violation, scroll bucket }
