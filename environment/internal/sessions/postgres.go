package sessions

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bailey-go/bailey/internal/strictjson"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// version is that of the tables.
const version = 1

// Records are text and not jsonb, which refuses the character U+0000 and does not keep numbers as they are.
// n is the order in which records came.
const tables = `
create table if not exists bailey_sessions (id text primary key, record text not null);
create table if not exists bailey_messages (session text references bailey_sessions on delete cascade, id text,
  n bigint generated always as identity, record text not null, primary key (session, id));
create table if not exists bailey_parts (session text references bailey_sessions on delete cascade, id text,
  n bigint generated always as identity, record text not null, primary key (session, id));
create table if not exists bailey_files (session text references bailey_sessions on delete cascade, id text,
  content bytea not null, primary key (session, id));
create table if not exists bailey_locks (session text primary key, holder text not null, until timestamptz not null);
comment on table bailey_sessions is 'version 1'`

// postgres is a store in a database.
type postgres struct {
	leases
	pool *pgxpool.Pool
}

func openPostgres(ctx context.Context, address string) (*postgres, error) {
	config, err := parse(address)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("sessions: %w", err)
	}
	p := &postgres{leases: newLeases(), pool: pool}
	if err := p.prepare(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("sessions: %w", err)
	}
	return p, nil
}

// parse reads an address. Where it names another machine and no sslmode, that is verify-full. The default of the
// protocol is to go on without encryption if the server has none.
func parse(address string) (*pgxpool.Config, error) {
	u, err := url.Parse(address)
	if err != nil { // the error would show the password
		return nil, errors.New("sessions: the address of the database is no URL: want postgres://user@host:5432/database, with special characters of a password as %XX")
	}
	q := u.Query()
	config, err := pgxpool.ParseConfig(address)
	if err == nil && q.Get("sslmode") == "" && os.Getenv("PGSSLMODE") == "" && remote(config) {
		q.Set("sslmode", "verify-full")
		u.RawQuery = q.Encode()
		config, err = pgxpool.ParseConfig(u.String())
	}
	if err != nil {
		return nil, fmt.Errorf("sessions: %w", err)
	}
	return config, nil
}

// remote reports whether a connection may go to another machine.
func remote(config *pgxpool.Config) bool {
	hosts := []string{config.ConnConfig.Host}
	for _, f := range config.ConnConfig.Fallbacks {
		hosts = append(hosts, f.Host)
	}
	return slices.ContainsFunc(hosts, func(host string) bool {
		ip := net.ParseIP(host)
		return !strings.HasPrefix(host, "/") && host != "localhost" && (ip == nil || !ip.IsLoopback())
	})
}

// portsOf returns the TCP ports of a database, each once.
func portsOf(config *pgxpool.Config) []uint16 {
	var out []uint16
	add := func(host string, port uint16) {
		if !strings.HasPrefix(host, "/") && !slices.Contains(out, port) {
			out = append(out, port)
		}
	}
	add(config.ConnConfig.Host, config.ConnConfig.Port)
	for _, f := range config.ConnConfig.Fallbacks {
		add(f.Host, f.Port)
	}
	return out
}

// prepare makes the tables. Programs that start together make them one after the other.
func (p *postgres) prepare(ctx context.Context) error {
	return pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock(hashtext('bailey tables'))`); err != nil {
			return err
		}
		var there *string
		if err := tx.QueryRow(ctx, `select obj_description(to_regclass('bailey_sessions'), 'pg_class')`).Scan(&there); err != nil {
			return err
		}
		if there != nil {
			var n int
			if _, err := fmt.Sscanf(*there, "version %d", &n); err != nil || n != version {
				return fmt.Errorf("the tables of the database are of %q, and this program knows version %d: use the program that made them, or another database", *there, version)
			}
			return nil
		}
		_, err := tx.Exec(ctx, tables)
		return err
	})
}

// Close implements [Store].
func (p *postgres) Close() { p.pool.Close() }

// on calls do with the pool, and once more if the connection was lost: the server ends all when it is restarted, and
// the pool hears of it only when it uses them. Everything that do does can be done twice.
func (p *postgres) on(ctx context.Context, do func() error) error {
	err := do()
	refused, answered := errors.AsType[*pgconn.PgError](err)
	if _, ours := errors.AsType[*protocol.Error](err); err == nil || ours || errors.Is(err, pgx.ErrNoRows) || ctx.Err() != nil ||
		answered && !strings.HasPrefix(refused.Code, "57P") && !strings.HasPrefix(refused.Code, "08") {
		return err
	}
	return do()
}

func noSession(id string) error {
	return protocol.Errorf(protocol.ErrSession, "session", id, "%w", fs.ErrNotExist).WithReason(protocol.ReasonNotFound)
}

// storable reports whether a text can be a key. PostgreSQL has no texts with other bytes.
func storable(id string) bool {
	return utf8.ValidString(id) && !strings.ContainsRune(id, 0)
}

// Sessions implements [sandbox.Store]. Sessions that can't be read are left out.
func (p *postgres) Sessions(ctx context.Context) ([]sandbox.SessionRecord, error) {
	var out []sandbox.SessionRecord
	err := p.on(ctx, func() error {
		rows, err := p.pool.Query(ctx, `select id, record from bailey_sessions`)
		if err != nil {
			return err
		}
		out = nil
		var id, text string
		_, err = pgx.ForEachRow(rows, []any{&id, &text}, func() error {
			if rec, err := session(id, text); err == nil {
				out = append(out, rec)
			}
			return nil
		})
		return err
	})
	slices.SortFunc(out, func(a, b sandbox.SessionRecord) int {
		return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), strings.Compare(a.ID, b.ID))
	})
	return out, err
}

// Session implements [sandbox.Store].
func (p *postgres) Session(ctx context.Context, id string) (rec sandbox.SessionRecord, err error) {
	if !storable(id) {
		return rec, noSession(id)
	}
	var text string
	err = p.on(ctx, func() error {
		return p.pool.QueryRow(ctx, `select record from bailey_sessions where id = $1`, id).Scan(&text)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return rec, noSession(id)
	}
	if err != nil {
		return rec, err
	}
	return session(id, text)
}

func session(id, text string) (rec sandbox.SessionRecord, err error) {
	if err := decode(text, &rec); err != nil {
		return rec, protocol.Errorf(protocol.ErrSession, "session", id, "the record is damaged: %v", err)
	}
	if err := rec.Validate(); err != nil {
		return rec, err
	}
	if rec.ID != id {
		return rec, protocol.Errorf(protocol.ErrSession, "session", id, "the record is another session's")
	}
	return rec, nil
}

// decode reads a record that another program may have written.
func decode(text string, v any) error {
	if strictjson.TooDeep([]byte(text)) {
		return fmt.Errorf("it is nested more than %d deep", strictjson.MaxDepth)
	}
	return json.Unmarshal([]byte(text), v)
}

// Messages implements [sandbox.Store].
func (p *postgres) Messages(ctx context.Context, id string) (ms []sandbox.MessageRecord, ps []sandbox.PartRecord, err error) {
	if _, err := p.Session(ctx, id); err != nil {
		return nil, nil, err
	}
	// Both are read at one moment, so no part is without its message.
	err = p.on(ctx, func() error {
		return pgx.BeginTxFunc(ctx, p.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) (err error) {
			if ms, err = records[sandbox.MessageRecord](ctx, tx, "bailey_messages", id); err != nil {
				return err
			}
			ps, err = records[sandbox.PartRecord](ctx, tx, "bailey_parts", id)
			return err
		})
	})
	if err != nil {
		return nil, nil, err
	}
	at := make(map[string]int, len(ms))
	for i := range ms {
		at[ms[i].ID] = i
	}
	slices.SortStableFunc(ps, func(a, b sandbox.PartRecord) int {
		return cmp.Or(cmp.Compare(at[a.MessageID], at[b.MessageID]), cmp.Compare(a.Index, b.Index))
	})
	return ms, ps, nil
}

func records[T any](ctx context.Context, tx pgx.Tx, table, session string) (out []T, err error) {
	rows, err := tx.Query(ctx, `select record from `+table+` where session = $1 order by n`, session)
	if err != nil {
		return nil, err
	}
	var text string
	_, err = pgx.ForEachRow(rows, []any{&text}, func() error {
		var rec T
		if err := decode(text, &rec); err != nil {
			return protocol.Errorf(protocol.ErrSession, "session", session, "record %d of %s is damaged: %v", len(out)+1, table, err)
		}
		out = append(out, rec)
		return nil
	})
	return out, err
}

// Put implements [sandbox.Store].
func (p *postgres) Put(ctx context.Context, rec sandbox.SessionRecord, messages []sandbox.MessageRecord, parts []sandbox.PartRecord) error {
	if err := rec.Validate(); err != nil {
		return err
	}
	type insertion struct {
		query string
		args  []any
	}
	var list []insertion
	queue := func(query string, v any, args ...any) error {
		text, err := json.Marshal(v)
		list = append(list, insertion{query, append(args, string(text))})
		return err
	}
	const insert = ` (session, id, record) values ($1, $2, $3) on conflict (session, id) do update set record = excluded.record`
	err := queue(`insert into bailey_sessions (id, record) values ($1, $2) on conflict (id) do update set record = excluded.record`, rec, rec.ID)
	for i := range messages {
		err = errors.Join(err, queue(`insert into bailey_messages`+insert, messages[i], rec.ID, messages[i].ID))
	}
	for i := range parts {
		err = errors.Join(err, queue(`insert into bailey_parts`+insert, parts[i], rec.ID, parts[i].ID))
	}
	if err != nil {
		return err
	}
	return p.change(ctx, rec.ID, func(tx pgx.Tx) error {
		b := &pgx.Batch{}
		for _, i := range list {
			b.Queue(i.query, i.args...)
		}
		return tx.SendBatch(ctx, b).Close()
	})
}

// change makes a change of a session in a transaction. If this store has the session's lock, it must still have it:
// the row of the lock can't change hands before the transaction ends.
func (p *postgres) change(ctx context.Context, id string, do func(pgx.Tx) error) error {
	holder := p.holder(id)
	return p.on(ctx, func() error {
		return pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
			if holder != "" {
				tag, err := tx.Exec(ctx, `select 1 from bailey_locks where session = $1 and holder = $2 for share`, id, holder)
				if err != nil {
					return err
				}
				if tag.RowsAffected() == 0 {
					return p.taken(id)
				}
			}
			return do(tx)
		})
	})
}

// PutFile implements [sandbox.Store].
func (p *postgres) PutFile(ctx context.Context, session, id string, data []byte) error {
	if !storable(session) {
		return noSession(session)
	}
	err := p.change(ctx, session, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `insert into bailey_files (session, id, content) values ($1, $2, $3) on conflict (session, id) do update set content = excluded.content where bailey_files.content <> excluded.content`, session, id, data)
		return err
	})
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok && refused.Code == "23503" { // no row that the reference names
		return noSession(session)
	}
	return err
}

// File implements [sandbox.Store].
func (p *postgres) File(ctx context.Context, session, id string) (data []byte, err error) {
	err = pgx.ErrNoRows
	if storable(session) && storable(id) {
		err = p.on(ctx, func() error {
			return p.pool.QueryRow(ctx, `select content from bailey_files where session = $1 and id = $2`, session, id).Scan(&data)
		})
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, protocol.Errorf(protocol.ErrSession, "file", id, "%w", fs.ErrNotExist).WithReason(protocol.ReasonNotFound)
	}
	return data, err
}

// Delete implements [sandbox.Store].
func (p *postgres) Delete(ctx context.Context, id string) error {
	if !storable(id) {
		return noSession(id)
	}
	return p.change(ctx, id, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `delete from bailey_sessions where id = $1`, id)
		return err
	})
}

// Lock implements [sandbox.Store]. The times are the server's, so the programs' clocks do not matter.
func (p *postgres) Lock(ctx context.Context, id string) (func(), error) {
	if !storable(id) {
		return nil, noSession(id)
	}
	holder := rand.Text()
	var tag pgconn.CommandTag
	err := p.on(ctx, func() (err error) {
		tag, err = p.pool.Exec(ctx, `insert into bailey_locks (session, holder, until) values ($1, $2, now() + $3) on conflict (session)
			do update set holder = excluded.holder, until = excluded.until where bailey_locks.until < now() or bailey_locks.holder = excluded.holder`, id, holder, p.lease)
		return err
	})
	if err != nil {
		return nil, err
	}
	if tag.RowsAffected() == 0 {
		return nil, p.elsewhere(id)
	}
	return p.hold(ctx, id, holder, func(ctx context.Context) bool {
		tag, err := p.pool.Exec(ctx, `update bailey_locks set until = now() + $3 where session = $1 and holder = $2`, id, holder, p.lease)
		return err == nil && tag.RowsAffected() == 0
	}, func(ctx context.Context) {
		_ = p.on(ctx, func() error {
			_, err := p.pool.Exec(ctx, `delete from bailey_locks where session = $1 and holder = $2`, id, holder)
			return err
		})
	}), nil
}
