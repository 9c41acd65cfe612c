package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/jsx/jsxtest"
	"github.com/bailey-go/bailey/internal/storetest"
	"github.com/bailey-go/bailey/internal/testpage"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

func TestMain(m *testing.M) { jsxtest.Main(m) }

// Two stores over one database are like two tabs: the browser's locks separate them.
func TestIndexedStoresShareLocks(t *testing.T) {
	ctx := context.Background()
	a, err := sandbox.IndexedStore(ctx, "test-locks")
	must(t, err)
	b, err := sandbox.IndexedStore(ctx, "test-locks")
	must(t, err)
	unlock, err := a.Lock(ctx, "ses-tab")
	must(t, err)
	if _, err := b.Lock(ctx, "ses-tab"); !errors.Is(err, protocol.ErrSession) {
		t.Errorf("held by both: %v", err)
	}
	unlock()
	unlock, err = b.Lock(ctx, "ses-tab")
	must(t, err)
	// One store reads the changes of the other, even after many reads.
	rec := storetest.Session("ses-tab", storetest.At)
	for n := range 3 {
		m, p := storetest.Message(rec.ID, n)
		must(t, b.Put(ctx, rec, []sandbox.MessageRecord{m}, []sandbox.PartRecord{p}))
		if ms, _, err := a.Messages(ctx, rec.ID); err != nil || len(ms) != n+1 {
			t.Errorf("%d messages, %v", len(ms), err)
		}
	}
	unlock()
	must(t, a.Delete(ctx, rec.ID))
}

// The database is opened once to list all sessions, however many there are.
func TestIndexedStoreListsAtOnce(t *testing.T) {
	ctx := context.Background()
	store, err := sandbox.IndexedStore(ctx, "test-list")
	must(t, err)
	const n = 30
	for i := range n {
		rec := storetest.Session(fmt.Sprint("ses-", i), storetest.At)
		must(t, store.Put(ctx, rec, nil, nil))
		defer func() { must(t, store.Delete(ctx, rec.ID)) }()
	}
	count, err := jsx.NewGlobal("Function", `const open = IDBFactory.prototype.open; let n = 0;
		IDBFactory.prototype.open = function (...args) { n++; return open.apply(this, args); };
		return () => { IDBFactory.prototype.open = open; return n; };`)
	must(t, err)
	counted, err := jsx.Invoke(count)
	must(t, err)
	list, err := store.Sessions(ctx)
	must(t, err)
	v, err := jsx.Invoke(counted)
	must(t, err)
	opens, err := jsx.Int(v)
	must(t, err)
	if len(list) != n || opens != 1 {
		t.Errorf("%d sessions of %d, and the database was opened %d times", len(list), n, opens)
	}
}

// Two real tabs: this page, and the page that testpage.Run opens beside it. The second one runs all
// tests up to this one again while this page waits. Only one tab has a session at a time, and each
// reads the changes of the other.
func TestTwoTabs(t *testing.T) {
	if !testpage.Available() {
		t.Skip("two tabs need browsertest")
	}
	ctx := context.Background()
	store, err := sandbox.IndexedStore(ctx, "test-two-tabs")
	must(t, err)
	b, err := sandbox.New(sandbox.Options{Policy: parse(t, "{}"), Sessions: store})
	must(t, err)
	sessions, err := b.Sessions(ctx)
	must(t, err)
	if len(sessions) == 0 { // the first of the two
		s, err := b.NewSession(ctx, sandbox.SessionOptions{})
		must(t, err)
		defer func() { must(t, store.Delete(ctx, s.ID())) }()
		_, err = s.Say(ctx, "said in the first tab")
		must(t, err)
		defer func() {
			s.Close()
			all, err := b.Sessions(ctx)
			must(t, err)
			if len(all) != 2 {
				t.Fatalf("%d sessions after the second tab", len(all))
			}
			for _, r := range all {
				if r.ID == s.ID() {
					continue
				}
				other, err := b.OpenSession(ctx, r.ID)
				must(t, err)
				if n := len(other.Messages()); n != 1 {
					t.Errorf("%d messages of the second tab", n)
				}
				other.Close()
				must(t, store.Delete(ctx, r.ID))
			}
		}()
	}
	testpage.Run(t, testpage.Page{}, func(t *testing.T) {
		if len(sessions) != 1 {
			t.Fatalf("%d sessions of the first tab are seen", len(sessions))
		}
		id := sessions[0].ID
		if _, err := b.OpenSession(ctx, id); !errors.Is(err, protocol.ErrSession) {
			t.Errorf("open in both: %v", err)
		}
		if ms, _, err := store.Messages(ctx, id); err != nil || len(ms) != 1 {
			t.Errorf("%d messages, %v", len(ms), err)
		}
		s, err := b.NewSession(ctx, sandbox.SessionOptions{})
		must(t, err)
		defer s.Close()
		_, err = s.Say(ctx, "said in the second tab")
		must(t, err)
	})
}
