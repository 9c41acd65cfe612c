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
