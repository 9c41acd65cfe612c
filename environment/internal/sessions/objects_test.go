package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/bailey-go/bailey/environment/internal/s3test"
	"github.com/bailey-go/bailey/internal/storetest"
	"github.com/bailey-go/bailey/internal/until"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// bucket returns a function that opens a new bucket, and its server.
func bucket(t *testing.T) (func() *objects, *s3test.Server) {
	t.Helper()
	server := s3test.Start(t)
	return func() *objects {
		s, err := Open(t.Context(), server.Address)
		must(t, err)
		t.Cleanup(s.Close)
		return s.(*objects)
	}, server
}

func TestObjects(t *testing.T) {
	open, _ := bucket(t)
	storetest.Run(t, func() sandbox.Store { return open() })
	storetest.Whole(t, func() sandbox.Store { return open() })
	o := open()
	storetest.Leases(t, func() sandbox.Store { return open() }, func(id string) {
		must(t, o.change(t.Context(), id, func(h *head) error {
			h.Until = o.now().Add(-time.Second)
			return nil
		}))
	})
}

// A lease holds until its end, by the clock of the program that wants it.
func TestEndOfALease(t *testing.T) {
	open, _ := bucket(t)
	first, second := open(), open()
	at := time.Now()
	first.now = func() time.Time { return at }
	unlock, err := first.Lock(t.Context(), "ses-e")
	must(t, err)
	defer unlock()
	for _, row := range []struct {
		after time.Duration
		free  bool
	}{{first.lease - time.Nanosecond, false}, {first.lease, true}} {
		second.now = func() time.Time { return at.Add(row.after) }
		end, err := second.Lock(t.Context(), "ses-e")
		if (err == nil) != row.free {
			t.Errorf("after %v: %v", row.after, err)
		}
		if err == nil {
			end()
		}
	}
}

// keys returns the keys of all objects of a bucket.
func keys(t *testing.T, o *objects) (out []string) {
	t.Helper()
	for e := range o.api.Client.ListObjects(t.Context(), o.bucket, minio.ListObjectsOptions{Recursive: true}) {
		must(t, e.Err)
		out = append(out, e.Key)
	}
	return out
}

// A session of many small changes has few segments, nothing is left of the others, and its deletion leaves its head.
func TestSegments(t *testing.T) {
	open, _ := bucket(t)
	o := open()
	rec := storetest.Session("ses-s", storetest.At)
	const n = 200
	for i := range n {
		m, p := storetest.Message(rec.ID, i)
		must(t, o.Put(t.Context(), rec, []sandbox.MessageRecord{m}, []sandbox.PartRecord{p}))
		must(t, o.Put(t.Context(), rec, nil, []sandbox.PartRecord{p})) // it streams
	}
	if list := keys(t, o); len(list) > 12 {
		t.Errorf("%d objects: %q", len(list), list)
	}
	ms, ps, err := open().Messages(t.Context(), rec.ID)
	if must(t, err); len(ms) != n || len(ps) != n || ms[n-1].ID != fmt.Sprint("m", n-1) {
		t.Errorf("%d messages, %d parts", len(ms), len(ps))
	}
	must(t, o.Delete(t.Context(), rec.ID))
	if list := keys(t, o); len(list) != 1 || !strings.Contains(list[0], "/heads/") {
		t.Errorf("after the deletion: %q", list)
	}
}

// Programs that write one session at once lose nothing.
func TestObjectsAtOnce(t *testing.T) {
	open, _ := bucket(t)
	rec := storetest.Session("ses-a", storetest.At)
	var wg sync.WaitGroup
	const programs, each = 4, 10
	for i := range programs {
		o := open()
		wg.Go(func() {
			for k := range each {
				m, p := storetest.Message(rec.ID, i*each+k)
				if err := o.Put(t.Context(), rec, []sandbox.MessageRecord{m}, []sandbox.PartRecord{p}); err != nil {
					t.Error(err)
				}
				if _, _, err := o.Messages(t.Context(), rec.ID); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if ms, ps, err := open().Messages(t.Context(), rec.ID); err != nil || len(ms) != programs*each || len(ps) != programs*each {
		t.Errorf("%d messages, %d parts, %v", len(ms), len(ps), err)
	}
}

// A lease changes hands between a program's read of the head and its write: the write fails.
func TestOvertakenWrite(t *testing.T) {
	open, server := bucket(t)
	first, second := open(), open()
	ctx := t.Context()
	rec := storetest.Session("ses-o", storetest.At)
	_, err := first.Lock(ctx, rec.ID)
	must(t, err)
	must(t, first.Put(ctx, rec, nil, nil))
	second.now = func() time.Time { return time.Now().Add(time.Hour) }
	var once sync.Once
	server.Between(func(w http.ResponseWriter, r *http.Request, real http.Handler) {
		if r.Method == "PUT" && strings.Contains(r.URL.Path, "/segments/") { // the head was read
			once.Do(func() {
				server.Between(nil)
				if _, err := second.Lock(ctx, rec.ID); err != nil {
					t.Error(err)
				}
			})
		}
		real.ServeHTTP(w, r)
	})
	m, part := storetest.Message(rec.ID, 0)
	if err := first.Put(ctx, rec, []sandbox.MessageRecord{m}, []sandbox.PartRecord{part}); !errors.Is(err, protocol.ErrSession) {
		t.Errorf("%v", err)
	}
	if ms, _, err := second.Messages(ctx, rec.ID); err != nil || len(ms) != 0 {
		t.Errorf("%d messages, %v", len(ms), err)
	}
}

// The answer to a write is lost, so it is not known whether it was made. Said again, it is there once.
func TestLostAnswer(t *testing.T) {
	open, server := bucket(t)
	o := open()
	rec := storetest.Session("ses-l", storetest.At)
	must(t, o.Put(t.Context(), rec, nil, nil))
	for _, more := range []bool{false, true} {
		lost := 0
		server.Between(func(w http.ResponseWriter, r *http.Request, real http.Handler) {
			if r.Method != "PUT" || !strings.Contains(r.URL.Path, "/heads/") || lost > 0 {
				real.ServeHTTP(w, r)
				return
			}
			lost++
			real.ServeHTTP(httptest.NewRecorder(), r)
			if more { // another program adds to it before this one tries again
				other := open()
				m, part := storetest.Message(rec.ID, 7)
				part.Data = map[string]any{"text": strings.Repeat("x", 10)}
				if err := other.Put(t.Context(), rec, []sandbox.MessageRecord{m}, []sandbox.PartRecord{part}); err != nil {
					t.Error(err)
				}
			}
			panic(http.ErrAbortHandler)
		})
		m, part := storetest.Message(rec.ID, 0)
		if more { // too large to become a part of the other's segment
			m, part = storetest.Message(rec.ID, 1)
			part.Data = map[string]any{"text": strings.Repeat("y", 1<<20)}
		}
		must(t, o.Put(t.Context(), rec, []sandbox.MessageRecord{m}, []sandbox.PartRecord{part}))
		want := map[bool]int{false: 1, true: 3}[more]
		if ms, ps, err := open().Messages(t.Context(), rec.ID); err != nil || lost != 1 || len(ms) != want || len(ps) != want {
			t.Errorf("%d messages, %d parts, %v, %d answers lost", len(ms), len(ps), err, lost)
		}
	}
}

// What a program left that died in the middle of a change goes an hour later.
func TestSweep(t *testing.T) {
	open, _ := bucket(t)
	o := open()
	rec := storetest.Session("ses-w", storetest.At)
	m, part := storetest.Message(rec.ID, 0)
	must(t, o.Put(t.Context(), rec, []sandbox.MessageRecord{m}, []sandbox.PartRecord{part}))
	h, _, err := o.head(t.Context(), rec.ID)
	must(t, err)
	left := o.segmentKey(h.Room, "left")
	_, err = o.put(t.Context(), left, []byte("{}"), always)
	must(t, err)
	for after, want := range map[time.Duration]bool{59 * time.Minute: true, 61 * time.Minute: false} {
		o.now = func() time.Time { return time.Now().Add(after) }
		if _, err := o.put(t.Context(), left, []byte("{}"), always); err != nil {
			t.Fatal(err)
		}
		unlock, err := o.Lock(t.Context(), rec.ID)
		must(t, err)
		unlock()
		if _, _, err := o.get(t.Context(), left, 100); missing(err) == want {
			t.Errorf("after %v: %v", after, err)
		}
		if ms, _, err := o.Messages(t.Context(), rec.ID); err != nil || len(ms) != 1 {
			t.Errorf("after %v: %d messages, %v", after, len(ms), err)
		}
	}
}

// An open session's lease is renewed, and a closed one's is not.
func TestRenewalOfObjects(t *testing.T) {
	open, _ := bucket(t)
	o := open()
	o.lease = 300 * time.Millisecond
	unlock, err := o.Lock(t.Context(), "ses-n")
	must(t, err)
	end := func() time.Time {
		h, _, err := o.head(t.Context(), "ses-n")
		must(t, err)
		return h.Until
	}
	first := end()
	until.True(t, "the lease is renewed twice", func() bool { return end().After(first.Add(o.lease / 2)) })
	unlock()
	if at := end(); !at.IsZero() {
		t.Errorf("the lease lasts until %v", at)
	}
}

// Objects that another program damaged are errors that name the session, and stop no other one.
func TestDamagedObjects(t *testing.T) {
	open, _ := bucket(t)
	o := open()
	ctx := t.Context()
	m, part := storetest.Message("ses-d", 0)
	whole := func() head {
		must(t, o.Put(ctx, storetest.Session("ses-d", storetest.At), []sandbox.MessageRecord{m}, []sandbox.PartRecord{part}))
		h, _, err := o.head(ctx, "ses-d")
		must(t, err)
		return h
	}
	must(t, o.Put(ctx, storetest.Session("ses-fine", storetest.At), nil, nil))
	for name, damage := range map[string]func(h *head) (key string, text string){
		"no JSON":         func(*head) (string, string) { return o.headKey("ses-d"), "{" },
		"deep":            func(*head) (string, string) { return o.headKey("ses-d"), strings.Repeat("[", 1<<20) },
		"another version": func(h *head) (string, string) { h.Version++; return o.headKey("ses-d"), text(t, h) },
		"another session": func(h *head) (string, string) { h.ID = "ses-fine"; return o.headKey("ses-d"), text(t, h) },
		"the record of another": func(h *head) (string, string) {
			h.Record = []byte(text(t, storetest.Session("ses-fine", storetest.At)))
			return o.headKey("ses-d"), text(t, h)
		},
		"a segment": func(h *head) (string, string) { return o.segmentKey(h.Room, h.Segments[0].Name), "{" },
		"a segment that is gone": func(h *head) (string, string) {
			h.Segments[0].Name = "gone"
			return o.headKey("ses-d"), text(t, h)
		},
	} {
		_ = o.remove(ctx, o.headKey("ses-d"))
		h := whole()
		key, data := damage(&h)
		_, err := o.put(ctx, key, []byte(data), always)
		must(t, err)
		if _, _, err := o.Messages(ctx, "ses-d"); !errors.Is(err, protocol.ErrSession) {
			t.Errorf("%s: %v", name, err)
		}
		if list, err := o.Sessions(ctx); err != nil || len(list) < 1 || list[len(list)-1].ID != "ses-fine" {
			t.Errorf("%s: %v %v", name, list, err)
		}
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	must(t, err)
	return string(b)
}

// A server that ignores conditions is refused, as are addresses that would send secrets or go nowhere.
func TestOpenObjects(t *testing.T) {
	open, server := bucket(t)
	open()
	server.Between(func(w http.ResponseWriter, r *http.Request, real http.Handler) {
		r.Header.Del("If-None-Match")
		r.Header.Del("If-Match")
		real.ServeHTTP(w, r)
	})
	if _, err := Open(t.Context(), server.Address); err == nil || !strings.Contains(err.Error(), "ignores If-Match") {
		t.Errorf("%v", err)
	}
	server.Between(nil)
	if _, err := Open(t.Context(), strings.Replace(server.Address, "bailey/", "other/", 1)); err == nil || !strings.Contains(err.Error(), "the bucket other") {
		t.Errorf("%v", err)
	}
	for address, want := range map[string]string{
		"s3:":                                "names no bucket",
		"s3:///prefix":                       "names no bucket",
		"s3://id:key@bucket":                 "credentials do not belong",
		"s3://bucket?key=x":                  `no parameter "key"`,
		"s3://bucket?endpoint=http://a.test": "another machine",
		"s3://bucket?endpoint=a.test:9000":   "https://host:port",
		"s3://bucket?endpoint=https://a/b":   "https://host:port",
		"s3://bucket?endpoint=https://a:0":   "port",
		"s3://bucket?endpoint=ftp://a":       "https://host:port",
		"s3://%zz":                           "no URL",
	} {
		if _, err := Open(t.Context(), address); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "id:key") {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
	for address, want := range map[string]place{
		"s3://b": {"s3.amazonaws.com", "b", "", "", true, 443},
		"s3://b/a/c/?endpoint=http://127.0.0.1:9000&region=x": {"127.0.0.1:9000", "b", "a/c/", "x", false, 9000},
		"s3://b?endpoint=https://minio.test":                  {"minio.test", "b", "", "", true, 443},
		"s3://b?endpoint=http://[::1]":                        {"[::1]", "b", "", "", false, 80},
	} {
		if p, err := placeOf(address); err != nil || p != want {
			t.Errorf("%s: %+v %v", address, p, err)
		}
	}
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	if _, err := Open(t.Context(), server.Address); err == nil || !strings.Contains(err.Error(), "no credentials") {
		t.Errorf("%v", err)
	}
}

// The limits of objects hold at their values.
func TestLimitsOfObjects(t *testing.T) {
	open, _ := bucket(t)
	o := open()
	_, err := o.put(context.Background(), "x", []byte("12345"), always)
	must(t, err)
	for most, fits := range map[int]bool{4: false, 5: true, 6: true} {
		if _, _, err := o.get(t.Context(), "x", most); (err == nil) != fits {
			t.Errorf("5 bytes of at most %d: %v", most, err)
		}
	}
}
