//go:build !js

package settings

import "testing"

func TestOffered(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 1, 999: 999, 1000: 1000, 1001: 1000, 10_000: 1000} {
		if got := len(offered(make([]string, n))); got != want {
			t.Errorf("%d of %d names, want %d", got, n, want)
		}
	}
}
