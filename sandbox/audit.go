package sandbox

import (
	"bufio"
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/internal/yielding"
)

// An Audit is an append-only log of all steps. Each line contains the hash of the line before it,
// so a changed, missing or inserted line is detected by [VerifyAudit]. It is safe for concurrent
// use.
//
// The hashes prove that the log is complete from its first to its last line, but only to a verifier
// who stored the last hash elsewhere. The owner of the page can always write another log.
type Audit struct {
	mu    sync.Mutex
	w     io.Writer
	werr  error
	seq   int64
	last  string
	lines [][]byte    // the newest lines
	size  int         // bytes of lines
	packs []auditPack // older lines, the oldest first
}

// auditPack is a block of compressed lines. Compression reduces them to about a seventh.
type auditPack struct {
	data  []byte // deflate, of the lines with a line feed after each
	lines int
	size  int // bytes of the lines without line feeds
}

// auditEntry is one line of an [Audit].
type auditEntry struct {
	Seq       int64                `json:"seq"`
	Prev      string               `json:"prev"` // hash of the line before, empty in the first
	Trace     *protocol.TraceEvent `json:"trace,omitempty"`
	Violation *protocol.Violation  `json:"violation,omitempty"`
	Note      string               `json:"note,omitempty"`
	Time      time.Time            `json:"ts,omitzero"`
	// Input and Output are the arguments and the result of a call, as text or JSON. Of more than 2
	// KiB only the SHA-256 hash and the length are kept.
	Input  string `json:"input,omitempty"`
	Output string `json:"output,omitempty"`
	Hash   string `json:"hash,omitempty"` // of the line without this member
}

const (
	auditLines = 20_000   // lines kept in memory, while the writer gets all lines
	auditBytes = 16 << 20 // bytes of lines kept in memory
	auditPlain = 1 << 18  // bytes of lines that are not compressed yet
	auditValue = 2 << 10  // largest input or output that is kept as text
)

// NewAudit returns an empty log. If w is not nil, each line is also written to it. An error of w is
// returned by [Audit.Err] and ends the writing to w, but the log itself continues.
func NewAudit(w io.Writer) *Audit { return &Audit{w: w} }

// Note adds a line of the app, such as the start of the program.
func (a *Audit) Note(text string, at time.Time) { a.add(auditEntry{Note: text, Time: at}) }

func (a *Audit) trace(e protocol.TraceEvent) {
	entry := auditEntry{Input: auditText(e.Input), Output: auditText(e.Output)}
	e.Input, e.Output = nil, nil
	entry.Trace = &e
	a.add(entry)
}

func (a *Audit) violation(v protocol.Violation) { a.add(auditEntry{Violation: &v}) }

// auditText returns a value for an entry, shortened to a hash if it is long. It yields to the page
// during long work, but is not cancelled: every entry is made.
func auditText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		if len(v) <= auditValue {
			return v
		}
		var d inShort
		var budget jsx.Budget
		_ = jsx.WriteIn(context.Background(), &budget, &d, v) // inShort returns no errors
		return d.text()
	}
	d := new(inShort)
	w := auditWriters.Get().(*bufio.Writer)
	defer auditWriters.Put(w)
	w.Reset(d)
	if err := yielding.EncodeJSON(context.Background(), w, v, true); err != nil {
		return "(not JSON)"
	}
	_ = w.Flush()
	return d.text()
}

// Every call has several entries, so what makes one is used again.
var (
	auditWriters = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, auditValue) }}
	auditBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}
)

// inShort keeps the bytes written to it, or their hash and length if there are more than
// auditValue.
type inShort struct {
	head []byte
	sum  hash.Hash // nil: head has all bytes
	n    int
}

func (d *inShort) Write(b []byte) (int, error) {
	d.n += len(b)
	if d.sum == nil && d.n <= auditValue {
		d.head = append(d.head, b...)
		return len(b), nil
	}
	if d.sum == nil {
		d.sum = sha256.New()
		d.sum.Write(d.head)
	}
	return d.sum.Write(b)
}

func (d *inShort) text() string {
	if d.sum == nil {
		return string(d.head)
	}
	return "sha256:" + hex.EncodeToString(d.sum.Sum(nil)) + " of " + strconv.Itoa(d.n) + " bytes"
}

func (a *Audit) add(e auditEntry) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seq++
	e.Seq, e.Prev, e.Hash = a.seq, a.last, ""
	line, err := sealed(&e)
	if err != nil { // a time that JSON can't represent
		e.Trace, e.Violation, e.Note = nil, nil, "an entry could not be written: "+err.Error()
		line, _ = sealed(&e)
	}
	a.last = e.Hash
	a.lines = append(a.lines, line)
	a.size += len(line)
	if a.size >= auditPlain {
		a.pack()
	}
	if a.w != nil && a.werr == nil {
		_, a.werr = a.w.Write(append(line, '\n'))
	}
}

// pack compresses the lines, and drops packs that Export never returns any more. mu is held.
func (a *Audit) pack() {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestSpeed) // fails only for an invalid level, and a Buffer never fails
	for _, line := range a.lines {
		_, _ = w.Write(line)
		_, _ = w.Write([]byte{'\n'})
	}
	_ = w.Close()
	a.packs = append(a.packs, auditPack{bytes.Clone(b.Bytes()), len(a.lines), a.size})
	a.lines, a.size = nil, 0
	lines, size := a.kept()
	old := 0
	for _, p := range a.packs {
		lines, size = lines-p.lines, size-p.size
		if lines < auditLines && size < auditBytes {
			break
		}
		old++
	}
	a.packs = slices.Delete(a.packs, 0, old)
}

// kept returns the number of lines in memory and their bytes. mu is held.
func (a *Audit) kept() (lines, size int) {
	lines, size = len(a.lines), a.size
	for _, p := range a.packs {
		lines, size = lines+p.lines, size+p.size
	}
	return lines, size
}

// sealed returns an entry as JSON with its hash.
func sealed(e *auditEntry) ([]byte, error) {
	e.Hash = ""
	b := auditBuffers.Get().(*bytes.Buffer)
	defer func() {
		if b.Cap() <= auditPlain {
			auditBuffers.Put(b)
		}
	}()
	b.Reset()
	if err := json.NewEncoder(b).Encode(e); err != nil {
		return nil, err
	}
	body := b.Bytes()[:b.Len()-1] // without the encoder's line feed
	sum := sha256.Sum256(body)
	var digits [2 * sha256.Size]byte
	hex.Encode(digits[:], sum[:])
	e.Hash = string(digits[:])
	const before, after = `,"hash":"`, `"}`
	line := make([]byte, 0, len(body)+len(before)+len(digits)+len(after)) // and room for a line feed
	line = append(append(line, body[:len(body)-1]...), before...)
	return append(append(line, digits[:]...), after...), nil
}

// Head returns the number and the hash of the last line. Store them elsewhere to be able to prove
// later that the log is complete.
func (a *Audit) Head() (seq int64, hash string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.seq, a.last
}

// Err returns the first error of the log's writer.
func (a *Audit) Err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.werr
}

// Export writes the last 20,000 lines, or fewer if they exceed 16 MiB, as JSON lines.
func (a *Audit) Export(w io.Writer) error {
	a.mu.Lock()
	last, packs := slices.Clone(a.lines), slices.Clone(a.packs)
	n, size := a.kept()
	a.mu.Unlock()
	write := func(line []byte) error {
		if n > 1 && (n > auditLines || size > auditBytes) { // more lines than Export promises
			n, size = n-1, size-len(line)
			return nil
		}
		_, err := w.Write(append(line[:len(line):len(line)], '\n'))
		return err
	}
	for _, p := range packs {
		text, err := io.ReadAll(flate.NewReader(bytes.NewReader(p.data)))
		if err != nil {
			return err
		}
		for line := range bytes.Lines(text) {
			if err := write(line[:len(line)-1]); err != nil {
				return err
			}
		}
	}
	for _, line := range last {
		if err := write(line); err != nil {
			return err
		}
	}
	return nil
}

// VerifyAudit reads an exported log and returns the number and hash of its last line, to compare
// with [Audit.Head]. If a line was changed, removed or inserted, it returns
// [protocol.ErrSecurityViolation] with the number of the line, and the number and hash of the line
// before it. A line of more than 1 MiB is an error.
func VerifyAudit(r io.Reader) (seq int64, hash string, err error) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20)
	for n := 0; in.Scan(); n++ {
		var e auditEntry
		d := json.NewDecoder(bytes.NewReader(in.Bytes()))
		d.DisallowUnknownFields()
		if err := d.Decode(&e); err != nil {
			return seq, hash, broken(seq+1, "is not an entry")
		}
		claimed := e.Hash
		again, err := sealed(&e)
		switch {
		case err != nil || e.Hash != claimed || !bytes.Equal(again, in.Bytes()):
			return seq, hash, broken(e.Seq, "was changed")
		case n > 0 && (e.Seq != seq+1 || e.Prev != hash):
			return seq, hash, broken(e.Seq, "does not follow the line before")
		case n == 0 && e.Seq == 1 && e.Prev != "":
			return seq, hash, broken(e.Seq, "can't be the first")
		}
		seq, hash = e.Seq, e.Hash
	}
	return seq, hash, in.Err()
}

func broken(seq int64, why string) error {
	n, _ := json.Marshal(seq)
	return protocol.Errorf(protocol.ErrSecurityViolation, "audit", "line "+string(n), "%s", why)
}
