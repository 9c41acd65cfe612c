package sandbox

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
)

// A store caches locked sessions only.
func TestStoreForgetsWhatIsGivenBack(t *testing.T) {
	s := newSegmented(folderFiles{fsaccess.NewMemory(fsaccess.MemoryOptions{})})
	ctx, at := context.Background(), time.Unix(1000, 0).UTC()
	check := func(when string, want int) {
		t.Helper()
		if len(s.cache) != want || len(s.held) != want {
			t.Errorf("%s: messages of %d sessions and locks of %d are kept, want %d", when, len(s.cache), len(s.held), want)
		}
	}
	var give []func()
	for i := range 10 {
		id := fmt.Sprint("s", i)
		unlock, err := s.Lock(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		give = append(give, unlock)
		m := MessageRecord{ID: "m", SessionID: id, Role: RoleUser, CreatedAt: at, UpdatedAt: at}
		if err := s.Put(ctx, SessionRecord{ID: id, Agent: "main", CreatedAt: at, UpdatedAt: at}, []MessageRecord{m}, nil); err != nil {
			t.Fatal(err)
		}
	}
	check("held", 10)
	for _, unlock := range give[:7] {
		unlock()
	}
	check("seven given back", 3)
	for i := range 10 {
		if ms, _, err := s.Messages(ctx, fmt.Sprint("s", i)); err != nil || len(ms) != 1 {
			t.Fatalf("session %d has %d messages: %v", i, len(ms), err)
		}
	}
	check("after reading all", 3)
	for _, unlock := range give {
		unlock()
	}
	check("all given back", 0)
}
