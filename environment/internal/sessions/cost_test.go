//go:build unix

package sessions

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/minio/minio-go/v7"

	"github.com/bailey-go/bailey/environment/internal/pgtest"
	"github.com/bailey-go/bailey/environment/internal/s3test"
	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// converse holds a conversation of 20 questions. Each answer calls a tool and has 1,000 bytes of text.
func converse(b *testing.B, store sandbox.Store) {
	b.Helper()
	p, err := policy.Parse(`{"capabilities": {"fs.read": ["."], "fs.write": ["."]}, "rules": [{"permission": "*", "action": "allow"}]}`, policy.Options{})
	must(b, err)
	files := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	must(b, files.WriteFile("notes.txt", []byte(strings.Repeat("A line of the notes.\n", 40)), 0o644))
	box, err := sandbox.New(sandbox.Options{FS: files, Policy: p, Sessions: store, Tools: sandbox.Standard()})
	must(b, err)
	ctx := context.Background()
	s, err := box.NewSession(ctx, sandbox.SessionOptions{})
	must(b, err)
	defer s.Close()
	for range 20 {
		_, err := s.Say(ctx, strings.Repeat("A question. ", 10))
		must(b, err)
		model := &sandboxtest.Model{OnDevice: true, Turns: []sandboxtest.Turn{
			sandboxtest.CallTool("read", map[string]any{"path": "notes.txt"}), sandboxtest.Say(strings.Repeat("An answer. ", 90)),
		}}
		for _, err := range box.Run(ctx, s, model, sandbox.RunOptions{}) {
			must(b, err)
		}
	}
}

// What a session costs in a bucket, for docs/scale.md.
func BenchmarkBucket(b *testing.B) {
	server := s3test.Start(b)
	store, err := Open(b.Context(), server.Address)
	must(b, err)
	var mu sync.Mutex
	writes, reads := 0, 0
	server.Between(func(w http.ResponseWriter, r *http.Request, real http.Handler) {
		mu.Lock()
		switch r.Method {
		case http.MethodPut, http.MethodPost:
			writes++
		case http.MethodDelete: // which costs nothing
		default:
			if strings.Contains(r.URL.RawQuery, "list-type") {
				writes++ // a list has the price of a write
			} else {
				reads++
			}
		}
		mu.Unlock()
		real.ServeHTTP(w, r)
	})
	for b.Loop() {
		converse(b, store)
	}
	o := store.(*objects)
	size, number := int64(0), 0
	for e := range o.api.Client.ListObjects(b.Context(), o.bucket, minio.ListObjectsOptions{Recursive: true}) {
		must(b, e.Err)
		size, number = size+e.Size, number+1
	}
	n := float64(b.N)
	b.ReportMetric(float64(writes)/n, "writes/op")
	b.ReportMetric(float64(reads)/n, "reads/op")
	b.ReportMetric(float64(size)/n, "stored-B/op")
	b.ReportMetric(float64(number)/n, "objects/op")
}

// What a session costs in a database, for docs/scale.md.
func BenchmarkDatabase(b *testing.B) {
	address, _ := pgtest.Start(b).Database(b)
	store, err := Open(b.Context(), address)
	must(b, err)
	p := store.(*postgres)
	size := func() (n int64) {
		must(b, p.pool.QueryRow(b.Context(), `select sum(pg_total_relation_size(c.oid)) from pg_class c where relname like 'bailey_%' and relkind = 'r'`).Scan(&n))
		return n
	}
	before := size()
	for b.Loop() {
		converse(b, store)
	}
	stored := size() - before
	b.ReportMetric(float64(stored)/float64(b.N), "stored-B/op")
}
