package secrets_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/jsx/jsxtest"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/secrets"
)

func TestMain(m *testing.M) { jsxtest.Main(m) }

// stored runs a function of JavaScript on the open database, and returns its text.
func stored(t *testing.T, name, code string) string {
	t.Helper()
	open, err := jsx.Call(jsx.Global(), "Function", "name", `return new Promise((done, fail) => {
		const r = indexedDB.open(name, 1);
		r.onerror = () => fail(r.error);
		r.onsuccess = () => { const db = r.result; Promise.resolve((`+code+`)(db, (q) => new Promise((ok, no) => { q.onsuccess = () => ok(q.result); q.onerror = () => no(q.error); }))).then((v) => { db.close(); done(String(v)); }, (e) => { db.close(); fail(e); }); };
	})`)
	must(t, err)
	v, err := jsx.CallAwait(t.Context(), open, "call", nil, name)
	must(t, err)
	text, err := jsx.String(v, 1<<20)
	must(t, err)
	return text
}

// A store of the browser's keeps its secrets, and another store of the same name has the same ones.
func TestOpenStore(t *testing.T) {
	ctx := t.Context()
	s, err := secrets.OpenStore(ctx, "secrets-test-open")
	must(t, err)
	must(t, s.Set(ctx, "a", hidden, []string{"a.example.com", "*.example.org"}))
	must(t, s.Set(ctx, "b", "value-of-b", []string{"b.example.com"}))
	again, err := secrets.OpenStore(ctx, "secrets-test-open")
	must(t, err)
	for _, s := range []*secrets.Store{s, again} {
		all, err := s.List(ctx)
		if err != nil || fmt.Sprint(all) != "map[a:[a.example.com *.example.org] b:[b.example.com]]" {
			t.Errorf("%v %v", all, err)
		}
		if got, err := s.Fill(ctx, "Bearer secret.a.placeholder", "x.example.org:443"); got != "Bearer "+hidden || err != nil {
			t.Errorf("%q %v", got, err)
		}
		if got, err := s.Hide(ctx, "it is "+hidden, "a.example.com:443"); got != "it is secret.a.placeholder" || err != nil {
			t.Errorf("%q %v", got, err)
		}
		if _, err := s.Fill(ctx, "secret.b.placeholder", "a.example.com:443"); !errors.Is(err, protocol.ErrSecurityViolation) {
			t.Error(err)
		}
	}
	must(t, again.Set(ctx, "b", "another-of-b", []string{"c.example.com"}))
	if got, err := s.Fill(ctx, "secret.b.placeholder", "c.example.com:443"); got != "another-of-b" || err != nil {
		t.Errorf("replaced: %q %v", got, err)
	}
	must(t, s.Remove(ctx, "a"))
	if _, err := again.Fill(ctx, "secret.a.placeholder", "a.example.com:443"); !errors.Is(err, protocol.ErrInvalidParams) {
		t.Errorf("removed: %v", err)
	}
	other, err := secrets.OpenStore(ctx, "secrets-test-other")
	must(t, err)
	if all, err := other.List(ctx); err != nil || len(all) != 0 {
		t.Errorf("another store has %v %v", all, err)
	}
	if _, err := secrets.OpenStore(ctx, ""); !errors.Is(err, protocol.ErrInvalidParams) {
		t.Error(err)
	}
}

// What a script finds in the database: no value, and a key that it can't export. An entry with other hosts
// than those that the user agreed to is refused. Off is the entry with its own hosts.
func TestAttackStoredSecrets(t *testing.T) {
	a := attack.Start(t, "secrets")
	ctx := t.Context()
	const name = "secrets-test-attack"
	s, err := secrets.OpenStore(ctx, name)
	must(t, err)
	must(t, s.Set(ctx, "a", hidden, []string{"a.example.com"}))
	must(t, s.Set(ctx, "b", "value-of-b", []string{"evil.example.org"}))
	dump := stored(t, name, `async (db, ask) => {
		const out = [];
		for (const store of db.objectStoreNames) for (const row of await ask(db.transaction(store).objectStore(store).getAll())) {
			out.push(JSON.stringify(row));
			for (const v of Object.values(row)) if (v instanceof ArrayBuffer || ArrayBuffer.isView(v)) out.push(String.fromCharCode(...new Uint8Array(v.buffer ?? v)));
		}
		return out.join("\n");
	}`)
	if !strings.Contains(dump, "a.example.com") {
		t.Errorf("nothing was read: %q", dump)
	}
	a.Try("a copy of the database", strings.Contains(dump, hidden[:6]))
	a.Try("the key is exported", stored(t, name, `async (db, ask) => crypto.subtle.exportKey("raw", await ask(db.transaction("keys").objectStore("keys").get("key"))).then(() => "exported", (e) => e.name)`) != "InvalidAccessError")
	fills := func(host string) bool {
		got, err := s.Fill(ctx, "secret.a.placeholder", host)
		if err != nil && strings.Contains(err.Error(), hidden) {
			t.Error("the error has the value")
		}
		return err == nil && strings.Contains(got, hidden)
	}
	put := func(change string) {
		t.Helper()
		stored(t, name, `async (db, ask) => { const s = db.transaction("secrets", "readwrite").objectStore("secrets"); const row = await ask(s.get("a")), b = await ask(s.get("b")); `+change+`; await ask(s.put(row, "a")); }`)
	}
	a.Off("other hosts in the entry", fills("a.example.com:443"))
	put(`row.hosts = ["evil.example.org"]`)
	a.Try("other hosts in the entry", fills("evil.example.org:443"))
	put(`row.hosts = ["a.example.com", "evil.example.org"]`)
	a.Try("a host more in the entry", fills("evil.example.org:443"))
	put(`row.hosts = ["a.example.com"]; row.data = b.data; row.iv = b.iv`)
	if got, err := s.Fill(ctx, "secret.a.placeholder", "a.example.com:443"); err == nil {
		t.Errorf("the value of another entry is taken: %q", got)
	}
}
