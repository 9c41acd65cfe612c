//go:build unix

package sessions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/bailey-go/bailey/environment/internal/pgtest"
	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/storetest"
	"github.com/bailey-go/bailey/internal/until"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m.Run)) }

// database returns a function that opens a new database, and the server.
func database(t *testing.T) (func() *postgres, *pgtest.Server) {
	t.Helper()
	server := pgtest.Start(t)
	address, _ := server.Database(t)
	return func() *postgres {
		s, err := Open(t.Context(), address)
		must(t, err)
		t.Cleanup(s.Close)
		return s.(*postgres)
	}, server
}

func TestPostgres(t *testing.T) {
	open, _ := database(t)
	storetest.Run(t, func() sandbox.Store { return open() })
	storetest.Whole(t, func() sandbox.Store { return open() })
	p := open()
	storetest.Leases(t, func() sandbox.Store { return open() }, func(id string) {
		tag, err := p.pool.Exec(t.Context(), `update bailey_locks set until = now() - interval '1 s' where session = $1`, id)
		if must(t, err); tag.RowsAffected() != 1 {
			t.Fatal("there was no lease")
		}
	})
}

// Programs that start together make the tables once. Those of a later version are left alone.
func TestTables(t *testing.T) {
	open, _ := database(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := Open(t.Context(), open().pool.Config().ConnString())
			if err != nil {
				t.Error(err)
				return
			}
			s.Close()
		})
	}
	wg.Wait()
	p := open()
	_, err := p.pool.Exec(t.Context(), `comment on table bailey_sessions is 'version 2'`)
	must(t, err)
	if _, err := Open(t.Context(), p.pool.Config().ConnString()); err == nil {
		t.Error("opened tables of another version")
	}
}

// A conversation goes on in another program, and the end of the server in the middle of it loses nothing that was stored.
func TestPostgresHandsOver(t *testing.T) {
	open, server := database(t)
	ctx := context.Background()
	box := func() *sandbox.Box {
		p, err := policy.Parse(`{"capabilities": {"fs.read": ["."], "fs.write": ["."]}, "rules": [{"permission": "*", "action": "allow"}]}`, policy.Options{})
		must(t, err)
		b, err := sandbox.New(sandbox.Options{FS: fsaccess.NewMemory(fsaccess.MemoryOptions{}), Policy: p, Sessions: open(), Tools: sandbox.Standard()})
		must(t, err)
		return b
	}
	b := box()
	s, err := b.NewSession(ctx, sandbox.SessionOptions{})
	must(t, err)
	answer := func(b *sandbox.Box, s *sandbox.Session, text string) error {
		for _, err := range b.Run(ctx, s, &sandboxtest.Model{OnDevice: true, Turns: []sandboxtest.Turn{sandboxtest.Say(text)}}, sandbox.RunOptions{}) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	_, err = s.Say(ctx, "one")
	must(t, err)
	must(t, answer(b, s, "the first answer"))
	if _, err := box().OpenSession(ctx, s.ID()); !errors.Is(err, protocol.ErrSession) {
		t.Errorf("open in two programs: %v", err)
	}
	must(t, server.Control("restart", "-m", "immediate"))
	must(t, answer(b, s, "an answer after a restart"))
	must(t, server.Control("stop", "-m", "immediate"))
	if _, err := s.Say(ctx, "lost"); err == nil {
		t.Error("stored without a server")
	}
	must(t, server.Control("start"))
	_, err = s.Say(ctx, "two")
	must(t, err)
	id := s.ID()
	s.Close()
	b = box()
	s, err = b.OpenSession(ctx, id)
	must(t, err)
	defer s.Close()
	must(t, answer(b, s, "the second answer"))
	var got []string
	for _, m := range s.Messages() {
		for _, p := range m.Parts {
			if data, ok := p.Data.(map[string]any); ok && p.Type == "text" {
				got = append(got, fmt.Sprint(data["text"]))
			}
		}
	}
	if want := "[one the first answer an answer after a restart two the second answer]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// An open session's lease is renewed, and a closed one's is not.
func TestRenewal(t *testing.T) {
	open, _ := database(t)
	p := open()
	p.lease = 300 * time.Millisecond
	unlock, err := p.Lock(t.Context(), "ses-n")
	must(t, err)
	end := func() (at time.Time) {
		must(t, p.pool.QueryRow(t.Context(), `select until from bailey_locks where session = 'ses-n'`).Scan(&at))
		return at
	}
	first := end()
	until.True(t, "the lease is renewed twice", func() bool { return end().After(first.Add(p.lease / 2)) })
	unlock()
	var left int
	must(t, p.pool.QueryRow(t.Context(), `select count(*) from bailey_locks`).Scan(&left))
	if left != 0 {
		t.Errorf("%d leases are left", left)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
