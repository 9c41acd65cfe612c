package sessions

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// objects is a store in a bucket of an S3-compatible server.
//
// Each session has one object that changes, its head. It is written only on the condition that it is still the one
// that was read, so of two programs that change a session at once one begins again. The head has the record, the lease
// and the names of the segments, which have the messages and parts and never change. All objects of a session but the
// head are in a room, which is another one after the session was deleted.
type objects struct {
	leases
	api            minio.Core
	bucket, prefix string
	now            func() time.Time
}

// head is what a session's only changing object has.
type head struct {
	Version  int             `json:"version"`
	ID       string          `json:"id"`
	Record   json.RawMessage `json:"record,omitempty"` // none if there is no such session
	Room     string          `json:"room,omitempty"`
	Segments []segment       `json:"segments,omitempty"`
	Holder   string          `json:"holder,omitempty"`
	Until    time.Time       `json:"until,omitzero"`
}

type segment struct {
	Name string `json:"name"`
	Size int    `json:"size"` // in bytes
}

// batch is the content of a segment. A record replaces the earlier one with its id.
type batch struct {
	Messages []sandbox.MessageRecord `json:"messages,omitempty"`
	Parts    []sandbox.PartRecord    `json:"parts,omitempty"`
}

// Limits of what is read. Segments are not merged beyond a quarter of theirs.
const (
	maxHead    = 8 << 20
	maxSegment = 64 << 20
	maxContent = 256 << 20
)

// tries is how often a change is begun again because another one came first.
const tries = 50

// place is an address of a bucket.
type place struct {
	endpoint, bucket, prefix, region string
	secure                           bool
	port                             uint16
}

// placeOf reads s3://bucket/prefix?endpoint=https://host:port&region=name.
func placeOf(address string) (p place, err error) {
	bad := func(format string, args ...any) (place, error) {
		return p, fmt.Errorf("sessions: "+format+": want s3://bucket/prefix?endpoint=https://host:port&region=name", args...)
	}
	u, err := url.Parse(address)
	if err != nil { // the error would show a password
		return bad("the address of the bucket is no URL")
	}
	if u.User != nil {
		return bad("credentials do not belong into the address: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	q := u.Query()
	for k := range q {
		if k != "endpoint" && k != "region" {
			return bad("the address of the bucket has no parameter %q", k)
		}
	}
	if u.Host == "" || u.Fragment != "" {
		return bad("the address names no bucket")
	}
	p.bucket, p.prefix, p.region = u.Host, strings.Trim(u.Path, "/"), q.Get("region")
	if p.prefix != "" {
		p.prefix += "/"
	}
	end, err := url.Parse(cmp.Or(q.Get("endpoint"), "https://s3.amazonaws.com"))
	if err != nil || end.Host == "" || end.Scheme != "https" && end.Scheme != "http" || strings.Trim(end.Path, "/") != "" || end.User != nil || end.RawQuery != "" {
		return bad("the endpoint is not https://host:port")
	}
	ip := net.ParseIP(end.Hostname())
	if p.secure = end.Scheme == "https"; !p.secure && end.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return bad("%s is another machine, so its endpoint must begin with https", end.Host)
	}
	p.endpoint = end.Host
	port := cmp.Or(end.Port(), map[bool]string{true: "443", false: "80"}[p.secure])
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return bad("the endpoint's port is no number from 1 to 65535")
	}
	p.port = uint16(n)
	return p, nil
}

func openObjects(ctx context.Context, address string) (*objects, error) {
	p, err := placeOf(address)
	if err != nil {
		return nil, err
	}
	// The address of a cloud's metadata is not among them: nothing here asks it for credentials.
	chain := credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}})
	if v, err := chain.GetWithContext(nil); err != nil || v.AccessKeyID == "" || v.SecretAccessKey == "" {
		return nil, errors.New("sessions: there are no credentials of the bucket: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a file in AWS_SHARED_CREDENTIALS_FILE")
	}
	api, err := minio.NewCore(p.endpoint, &minio.Options{Creds: chain, Secure: p.secure, Region: p.region})
	if err != nil {
		return nil, fmt.Errorf("sessions: %w", err)
	}
	o := &objects{leases: newLeases(), api: *api, bucket: p.bucket, prefix: p.prefix, now: time.Now}
	if err := o.probe(ctx); err != nil {
		return nil, fmt.Errorf("sessions: the bucket %s: %w", p.bucket, err)
	}
	return o, nil
}

// Close implements [Store]. There are no connections that a server waits for.
func (o *objects) Close() {}

// probe finds out whether the server heeds conditions. Without them two programs could overwrite each other's messages.
func (o *objects) probe(ctx context.Context) error {
	key := o.prefix + "probe-" + rand.Text()
	if _, err := o.put(ctx, key, []byte("{}"), none); err != nil {
		return err
	}
	_, again := o.put(ctx, key, []byte("{}"), none)
	_, other := o.put(ctx, key, []byte("{}"), "00000000000000000000000000000000")
	err := o.remove(ctx, key)
	for _, e := range []error{again, other} {
		if e != nil && !overtaken(e) {
			return errors.Join(e, err)
		}
		if e == nil {
			return errors.New("the server ignores If-Match and If-None-Match, so two programs could overwrite each other's messages: use another server, or a newer version of it")
		}
	}
	return err
}

const (
	always = "*"
	none   = ""
)

// put writes an object, if its ETag is the given one: none is no object, and always is any or none.
func (o *objects) put(ctx context.Context, key string, data []byte, etag string) (string, error) {
	opts := minio.PutObjectOptions{ContentType: "application/json", DisableMultipart: true, SendContentMd5: true}
	switch etag {
	case always:
	case none:
		opts.SetMatchETagExcept("*")
	default:
		opts.SetMatchETag(etag)
	}
	info, err := o.api.Client.PutObject(ctx, o.bucket, key, bytes.NewReader(data), int64(len(data)), opts)
	return info.ETag, err
}

// get reads an object of at most so many bytes.
func (o *objects) get(ctx context.Context, key string, most int) (data []byte, etag string, err error) {
	r, info, _, err := o.api.GetObject(ctx, o.bucket, key, minio.GetObjectOptions{})
	if err != nil {
		return nil, "", err
	}
	defer r.Close()
	if data, err = io.ReadAll(io.LimitReader(r, int64(most)+1)); err == nil && len(data) > most {
		err = fmt.Errorf("the object %s has more than %d bytes", key, most)
	}
	return data, info.ETag, err
}

func (o *objects) remove(ctx context.Context, key string) error {
	return o.api.RemoveObject(ctx, o.bucket, key, minio.RemoveObjectOptions{})
}

// missing reports whether an object is not there.
func missing(err error) bool { return minio.ToErrorResponse(err).StatusCode == http.StatusNotFound }

// overtaken reports whether a condition was not met, or another write of the same object came in between.
func overtaken(err error) bool {
	code := minio.ToErrorResponse(err).StatusCode
	return code == http.StatusPreconditionFailed || code == http.StatusConflict
}

func (o *objects) headKey(id string) string {
	sum := sha256.Sum256([]byte(id))
	return o.prefix + "heads/" + hex.EncodeToString(sum[:])
}

func (o *objects) roomKey(room string) string { return o.prefix + "rooms/" + room + "/" }

func (o *objects) segmentKey(room, name string) string { return o.roomKey(room) + "segments/" + name }

// head returns the head of a session and its ETag. Without one the head is empty.
func (o *objects) head(ctx context.Context, id string) (h head, etag string, err error) {
	data, etag, err := o.get(ctx, o.headKey(id), maxHead)
	if missing(err) {
		return head{Version: version, ID: id}, none, nil
	}
	if err == nil {
		err = h.decode(id, data)
	}
	return h, etag, err
}

func (h *head) decode(id string, data []byte) error {
	if err := decode(string(data), h); err != nil {
		return protocol.Errorf(protocol.ErrSession, "session", id, "the head is damaged: %v", err)
	}
	if h.Version != version {
		return protocol.Errorf(protocol.ErrSession, "session", id, "it is of version %d, and this program knows version %d: use the program that made it", h.Version, version)
	}
	if id != "" && h.ID != id {
		return protocol.Errorf(protocol.ErrSession, "session", id, "the head is another session's")
	}
	return nil
}

// errNothing ends a change that changes nothing, and errAgain begins it anew.
var (
	errNothing = errors.New("nothing to change")
	errAgain   = errors.New("again")
)

// change changes the head of a session. If this store has the session's lease, it must still have it. do may be called
// again, with a newer head.
func (o *objects) change(ctx context.Context, id string, do func(*head) error) error {
	holder := o.holder(id)
	for range tries {
		h, etag, err := o.head(ctx, id)
		if err != nil {
			return err
		}
		if err := o.still(&h, holder); err != nil {
			return err
		}
		switch err := do(&h); {
		case errors.Is(err, errNothing):
			return nil
		case errors.Is(err, errAgain):
			continue
		case err != nil:
			return err
		}
		data, err := json.Marshal(h)
		if err != nil {
			return err
		}
		if len(data) > maxHead {
			return protocol.Errorf(protocol.ErrResourceLimit, "session", id, "its record has more than %d bytes", maxHead)
		}
		if _, err = o.put(ctx, o.headKey(id), data, etag); !overtaken(err) {
			return err
		}
	}
	return protocol.Errorf(protocol.ErrSession, "session", id, "other programs changed it %d times in the meantime; try again", tries)
}

// still returns an error if a holder has lost its lease to another one.
func (o *objects) still(h *head, holder string) error {
	if holder == "" || h.Holder == holder {
		return nil
	}
	return o.taken(h.ID)
}

// Sessions implements [sandbox.Store]. Sessions that can't be read are left out.
func (o *objects) Sessions(ctx context.Context) ([]sandbox.SessionRecord, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var mu sync.Mutex
	var out []sandbox.SessionRecord
	var failed error
	var wg sync.WaitGroup
	room := make(chan struct{}, 16)
	for e := range o.api.Client.ListObjects(ctx, o.bucket, minio.ListObjectsOptions{Prefix: o.prefix + "heads/", Recursive: true}) {
		if e.Err != nil {
			failed = e.Err
			break
		}
		room <- struct{}{}
		wg.Go(func() {
			defer func() { <-room }()
			data, _, err := o.get(ctx, e.Key, maxHead)
			var h head
			if err != nil && !missing(err) {
				mu.Lock()
				defer mu.Unlock()
				failed = err
				return
			}
			if err != nil || h.decode("", data) != nil || h.Record == nil {
				return
			}
			if rec, err := session(h.ID, string(h.Record)); err == nil {
				mu.Lock()
				defer mu.Unlock()
				out = append(out, rec)
			}
		})
	}
	wg.Wait()
	slices.SortFunc(out, func(a, b sandbox.SessionRecord) int {
		return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), strings.Compare(a.ID, b.ID))
	})
	return out, failed
}

// there returns the head of a session that exists, and its record.
func (o *objects) there(ctx context.Context, id string) (h head, rec sandbox.SessionRecord, err error) {
	h, _, err = o.head(ctx, id)
	if err == nil && h.Record == nil {
		err = noSession(id)
	}
	if err == nil {
		rec, err = session(id, string(h.Record))
	}
	return h, rec, err
}

// Session implements [sandbox.Store].
func (o *objects) Session(ctx context.Context, id string) (sandbox.SessionRecord, error) {
	_, rec, err := o.there(ctx, id)
	return rec, err
}

// Messages implements [sandbox.Store].
func (o *objects) Messages(ctx context.Context, id string) ([]sandbox.MessageRecord, []sandbox.PartRecord, error) {
	var all batch
	for try := 0; ; try++ {
		h, _, err := o.there(ctx, id)
		if err != nil {
			return nil, nil, err
		}
		all, err = o.read(ctx, &h, h.Segments)
		// Between the two a segment may have become a part of another one.
		if err == nil || !missing(err) || try == tries {
			if missing(err) {
				err = protocol.Errorf(protocol.ErrSession, "session", id, "a segment of its messages is missing")
			}
			if err != nil {
				return nil, nil, err
			}
			break
		}
	}
	at := make(map[string]int, len(all.Messages))
	for i := range all.Messages {
		at[all.Messages[i].ID] = i
	}
	slices.SortStableFunc(all.Parts, func(a, b sandbox.PartRecord) int {
		return cmp.Or(cmp.Compare(at[a.MessageID], at[b.MessageID]), cmp.Compare(a.Index, b.Index))
	})
	return all.Messages, all.Parts, nil
}

// read returns the content of segments as one.
func (o *objects) read(ctx context.Context, h *head, list []segment) (batch, error) {
	parts, errs := make([]batch, len(list)), make([]error, len(list))
	var wg sync.WaitGroup
	for i, s := range list {
		wg.Go(func() {
			data, _, err := o.get(ctx, o.segmentKey(h.Room, s.Name), maxSegment)
			if err == nil {
				if err = decode(string(data), &parts[i]); err != nil {
					err = protocol.Errorf(protocol.ErrSession, "session", h.ID, "segment %d of its messages is damaged: %v", i+1, err)
				}
			}
			errs[i] = err
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return batch{}, err
		}
	}
	return merged(parts...), nil
}

// merged returns batches as one. A record stays where its id came first, with the content that came last.
func merged(list ...batch) (out batch) {
	messages, parts := map[string]int{}, map[string]int{}
	for _, b := range list {
		for _, m := range b.Messages {
			if i, ok := messages[m.ID]; ok {
				out.Messages[i] = m
				continue
			}
			messages[m.ID] = len(out.Messages)
			out.Messages = append(out.Messages, m)
		}
		for _, p := range b.Parts {
			if i, ok := parts[p.ID]; ok {
				out.Parts[i] = p
				continue
			}
			parts[p.ID] = len(out.Parts)
			out.Parts = append(out.Parts, p)
		}
	}
	return out
}

// Put implements [sandbox.Store]. Its records become a segment, together with the last segments of up to twice its
// size. So a session of n changes has about log n segments, and a record is written about log n times.
func (o *objects) Put(ctx context.Context, rec sandbox.SessionRecord, messages []sandbox.MessageRecord, parts []sandbox.PartRecord) error {
	if err := rec.Validate(); err != nil {
		return err
	}
	record, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	added := batch{messages, parts}
	text, err := json.Marshal(added)
	if err != nil {
		return err
	}
	fresh, done := "", []string(nil) // the keys of the segment of the last try, and of those that it replaces
	err = o.change(ctx, rec.ID, func(h *head) error {
		if fresh != "" {
			if slices.ContainsFunc(h.Segments, func(s segment) bool { return o.segmentKey(h.Room, s.Name) == fresh }) {
				return errNothing // the try was made, and its answer lost
			}
			_ = o.remove(ctx, fresh) // it was overtaken
		}
		fresh, done = "", nil
		if h.Record == nil {
			h.Room, h.Segments = rand.Text(), nil
		}
		h.Record = record
		if len(messages)+len(parts) == 0 {
			return nil
		}
		from, size := len(h.Segments), len(text)
		for from > 0 && h.Segments[from-1].Size <= 2*size && size+h.Segments[from-1].Size <= maxSegment/4 {
			from--
			size += h.Segments[from].Size
		}
		data := text
		if from < len(h.Segments) {
			last, err := o.read(ctx, h, h.Segments[from:])
			if missing(err) {
				return o.lost(ctx, h)
			}
			if err == nil {
				data, err = json.Marshal(merged(last, added))
			}
			if err != nil {
				return err
			}
		}
		if len(data) > maxSegment {
			return protocol.Errorf(protocol.ErrResourceLimit, "session", rec.ID, "the records of one change have more than %d bytes", maxSegment)
		}
		added := segment{rand.Text(), len(data)}
		fresh = o.segmentKey(h.Room, added.Name)
		if _, err := o.put(ctx, fresh, data, always); err != nil {
			return err
		}
		for _, old := range h.Segments[from:] {
			done = append(done, o.segmentKey(h.Room, old.Name))
		}
		h.Segments = append(h.Segments[:from:from], added)
		return nil
	})
	if err == nil {
		for _, key := range done {
			_ = o.remove(ctx, key) // one that stays is removed by sweep
		}
	}
	return err
}

// lost returns errAgain if a session has other segments by now, and otherwise an error that says that one is missing.
func (o *objects) lost(ctx context.Context, h *head) error {
	now, _, err := o.head(ctx, h.ID)
	if err != nil {
		return err
	}
	if now.Room != h.Room || !slices.Equal(now.Segments, h.Segments) {
		return errAgain
	}
	return protocol.Errorf(protocol.ErrSession, "session", h.ID, "a segment of its messages is missing in the bucket")
}

// fileKey returns the key of a file, or none if id is not the name of one.
func (o *objects) fileKey(room, id string) string {
	if sum, err := hex.DecodeString(id); err != nil || len(sum) != sha256.Size || strings.ToLower(id) != id {
		return none
	}
	return o.roomKey(room) + "files/" + id
}

// PutFile implements [sandbox.Store].
func (o *objects) PutFile(ctx context.Context, session, id string, data []byte) error {
	holder := o.holder(session)
	h, _, err := o.there(ctx, session)
	if err == nil {
		err = o.still(&h, holder)
	}
	if err != nil {
		return err
	}
	key := o.fileKey(h.Room, id)
	if key == none {
		return protocol.Errorf(protocol.ErrSession, "file", id, "the id of a file is the SHA-256 of its content, in hex")
	}
	if len(data) > maxContent {
		return protocol.Errorf(protocol.ErrResourceLimit, "file", id, "a file of a session has at most %d bytes", maxContent)
	}
	_, err = o.put(ctx, key, data, always)
	return err
}

// File implements [sandbox.Store].
func (o *objects) File(ctx context.Context, session, id string) ([]byte, error) {
	absent := protocol.Errorf(protocol.ErrSession, "file", id, "%w", fs.ErrNotExist).WithReason(protocol.ReasonNotFound)
	h, _, err := o.there(ctx, session)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, absent
	}
	if err != nil {
		return nil, err
	}
	key := o.fileKey(h.Room, id)
	if key == none {
		return nil, absent
	}
	data, _, err := o.get(ctx, key, maxContent)
	if missing(err) {
		return nil, absent
	}
	return data, err
}

// Delete implements [sandbox.Store]. An empty head stays, without which a program that had read the old one could bring
// the session back.
func (o *objects) Delete(ctx context.Context, id string) error {
	room := ""
	err := o.change(ctx, id, func(h *head) error {
		if h.Record == nil {
			return errNothing
		}
		room = h.Room
		h.Record, h.Room, h.Segments = nil, "", nil
		return nil
	})
	if err != nil || room == "" {
		return err
	}
	return o.clear(ctx, room, func(minio.ObjectInfo) bool { return true })
}

// clear removes objects of a room.
func (o *objects) clear(ctx context.Context, room string, which func(minio.ObjectInfo) bool) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for e := range o.api.Client.ListObjects(ctx, o.bucket, minio.ListObjectsOptions{Prefix: o.roomKey(room), Recursive: true}) {
		err := e.Err
		if err == nil && which(e) {
			err = o.remove(ctx, e.Key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sweep removes the segments that a program left which died between two steps. Those of the last hour may be a part of
// a change that another program is about to make.
func (o *objects) sweep(ctx context.Context, h *head) {
	if h.Room == "" {
		return
	}
	keep := map[string]bool{}
	for _, s := range h.Segments {
		keep[o.segmentKey(h.Room, s.Name)] = true
	}
	segments := o.segmentKey(h.Room, "")
	_ = o.clear(ctx, h.Room, func(e minio.ObjectInfo) bool {
		return strings.HasPrefix(e.Key, segments) && !keep[e.Key] && o.now().Sub(e.LastModified) > time.Hour
	})
}

// Lock implements [sandbox.Store]. The end of a lease is a time of the program that has it. Where the clocks of two
// programs differ, one may take the lease early. Then the other's next change is refused, so no change is lost
// without a word.
func (o *objects) Lock(ctx context.Context, id string) (func(), error) {
	holder := rand.Text()
	var got head
	err := o.change(ctx, id, func(h *head) error {
		if h.Holder != "" && h.Holder != holder && o.now().Before(h.Until) {
			return o.elsewhere(id)
		}
		h.Holder, h.Until = holder, o.now().Add(o.lease)
		got = *h
		return nil
	})
	if err != nil {
		return nil, err
	}
	o.sweep(ctx, &got)
	set := func(ctx context.Context, to string, until time.Time) {
		_ = o.change(ctx, id, func(h *head) error {
			if h.Holder != holder {
				return errNothing
			}
			h.Holder, h.Until = to, until
			return nil
		})
	}
	return o.hold(ctx, id, holder, func(ctx context.Context) bool {
		set(ctx, holder, o.now().Add(o.lease))
		return false
	}, func(ctx context.Context) { set(ctx, "", time.Time{}) }), nil
}
