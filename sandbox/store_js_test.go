package sandbox_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bailey-go/bailey/internal/jsx/jsxtest"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

func TestMain(m *testing.M) { jsxtest.Main(m) }

// Two stores over one database are as two tabs: the browser's locks stand between them.
func TestIndexedStoresShareLocks(t *testing.T) {
	ctx := context.Background()
	a, err := sandbox.NewIndexedStore(ctx, "test-locks")
	must(t, err)
	b, err := sandbox.NewIndexedStore(ctx, "test-locks")
	must(t, err)
	unlock, err := a.Lock(ctx, "ses-tab")
	must(t, err)
	if _, err := b.Lock(ctx, "ses-tab"); !errors.Is(err, protocol.ErrSession) {
		t.Errorf("held by both: %v", err)
	}
	unlock()
	unlock, err = b.Lock(ctx, "ses-tab")
	must(t, err)
	// What the one wrote the other reads, however often it has read before.
	rec := storedSession("ses-tab", storedAt)
	for n := range 3 {
		m, p := storedMessage(rec.ID, n)
		must(t, b.Put(ctx, rec, []protocol.MessageRecord{m}, []protocol.PartRecord{p}))
		if ms, _, err := a.Messages(ctx, rec.ID); err != nil || len(ms) != n+1 {
			t.Errorf("%d messages, %v", len(ms), err)
		}
	}
	unlock()
	must(t, a.Delete(ctx, rec.ID))
}
