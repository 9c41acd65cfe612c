package frame

import (
	"testing"
	"time"
)

func TestKillDelay(t *testing.T) {
	now := time.Now()
	for n, want := range map[int]time.Duration{0: 0, 4: 0, 5: 250 * time.Millisecond, 6: 500 * time.Millisecond, 100: 2 * time.Second} {
		kills := make([]time.Time, n)
		for i := range kills {
			kills[i] = now.Add(-time.Second)
		}
		if d := KillDelay(now, kills); d != want {
			t.Errorf("%d kills: %v, want %v", n, d, want)
		}
		if d := KillDelay(now.Add(killWindow), kills); d != 0 {
			t.Errorf("%d kills long ago: %v", n, d)
		}
	}
}

func TestBeatIsLost(t *testing.T) {
	for _, c := range []struct {
		sent  int
		alive bool
		want  bool
	}{
		{silentBeats - 1, false, false}, {silentBeats, false, true}, {silentBeats + 1, false, true},
		{silentBeats, true, false}, {busyBeats - 1, true, false}, {busyBeats, true, true}, {busyBeats + 1, true, true},
	} {
		var b beat
		for range c.sent {
			b.NextPing()
		}
		if got := b.lost(c.alive); got != c.want {
			t.Errorf("%d pings, alive %t: %t", c.sent, c.alive, got)
		}
		if b.Pong(); b.lost(c.alive) {
			t.Errorf("%d pings, alive %t: lost after an answer", c.sent, c.alive)
		}
	}
}
