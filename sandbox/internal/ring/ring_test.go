package ring_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/bailey-go/bailey/sandbox/internal/ring"
)

func ExampleRing() {
	last := ring.New[string](2)
	for _, s := range []string{"a", "b", "c"} {
		last.Add(s)
	}
	fmt.Println(last.All(), last.Total())
	last.Clear()
	fmt.Println(last.All(), last.Total())
	// Output:
	// [b c] 3
	// [] 3
}

func TestRing(t *testing.T) {
	var zero ring.Ring[int]
	for i := range 250 {
		zero.Add(i)
	}
	if all := zero.All(); len(all) != 100 || all[0] != 150 || all[99] != 249 || !slices.IsSorted(all) {
		t.Errorf("%v", all)
	}
	zero.Clear()
	zero.Add(7)
	if all := zero.All(); len(all) != 1 || all[0] != 7 || zero.Total() != 251 {
		t.Errorf("%v %d", all, zero.Total())
	}
	r := ring.New[int](3)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 1000 {
				r.Add(i)
				if i%100 == 0 {
					r.Clear()
				}
			}
		})
	}
	wg.Wait()
	if r.Total() != 8000 || len(r.All()) > 3 {
		t.Errorf("%d %v", r.Total(), r.All())
	}
}
