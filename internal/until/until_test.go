package until

import (
	"sync/atomic"
	"testing"
	"time"
)

func TestTrueWaitsForTheCondition(t *testing.T) {
	var met atomic.Bool
	calls := 0
	go func() { Turns(3); met.Store(true) }()
	True(t, "a goroutine's word", func() bool { calls++; return met.Load() })
	if calls < 2 {
		t.Errorf("the condition was met after %d calls, want at least 2", calls)
	}
}

func TestPassedIsNeverShort(t *testing.T) {
	start := time.Now()
	Passed(3 * time.Millisecond)
	if took := time.Since(start); took < 3*time.Millisecond {
		t.Errorf("returned after %v", took)
	}
}
