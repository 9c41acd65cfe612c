// Package document is the wire between the host and the frame of a document. Batches of orders go
// down as JSON, and messages go up as strings of fields. document.js is its twin in the frame. Both
// are tested with the vectors in testdata. The package trusts nothing that comes up.
package document

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/bailey-go/bailey/internal/jsx/trust"
	"github.com/bailey-go/bailey/internal/strictjson"
)

// JS is the JavaScript twin: the text of a constant baileyDocument. It stands before the script
// of the frame.
//
//go:embed document.js
var JS string

// Hello is the message that a document's inner frame posts to the host, with a port, when its
// script has run.
const Hello = "bailey-document"

// ParseHello reports whether s is a document's hello. If HTML can't be written in the frame,
// failure is the reason.
func ParseHello(s string) (failure string, ok bool) {
	word, failure, _ := strings.Cut(s, field)
	return failure, word == Hello
}

// field separates the fields of a message from the frame. HTML attribute values and text may
// contain it. So only the last field of a message is free text, and a separator in another
// field can only cut the frame's own text.
const field = "\x1f"

// Batch is one message to a document's frame: orders in a JSON array. It is encoded by hand,
// because encoding/json would be a tenth of a small program's size. document.js lists the
// orders. Each order has a method here, so only an [HTML] value becomes HTML in the frame.
type Batch struct {
	buf []byte
	n   int
}

// HTML is a proof that text may be parsed as HTML. Only the packages in trust.Importers can
// make one.
type HTML = trust.HTML

// Reset empties b and gives it the number seq, which the frame's answer repeats.
func (b *Batch) Reset(seq int) {
	b.buf = strconv.AppendInt(append(b.buf[:0], '['), int64(seq), 10)
	b.n = 0
}

// Len returns the number of orders in b.
func (b *Batch) Len() int { return b.n }

// Size returns the approximate number of bytes of the message.
func (b *Batch) Size() int { return len(b.buf) }

// String returns the complete message.
func (b *Batch) String() string { return string(b.buf) + "]" }

// First is the value of after in [Batch.Set] for a block before all others.
const First = -1

// Set sets a block's HTML. A new block is put after the block with the key after, or before all
// others if after is First. An existing block stays in its place.
func (b *Batch) Set(section string, key, after int, html HTML) {
	if after == First {
		b.add("set", section, key, nil, html.String())
		return
	}
	b.add("set", section, key, after, html.String())
}

// Drop removes a block.
func (b *Batch) Drop(section string, key int) { b.add("drop", section, key) }

// Section adds a section at the end. If it exists, Section changes its label, its direction and its
// kind where they are not "".
func (b *Batch) Section(id, label, dir, kind string) { b.add("section", id, label, dir, kind) }

// Remove removes a section.
func (b *Batch) Remove(id string) { b.add("remove", id) }

// Busy marks whether a section is still being written.
func (b *Batch) Busy(id string, on bool) { b.add("busy", id, on) }

// CSS replaces the app's style.
func (b *Batch) CSS(text string) { b.add("css", text) }

// Variable sets a variable of the style.
func (b *Batch) Variable(name, value string) { b.add("variable", name, value) }

// Scheme sets the colour scheme.
func (b *Batch) Scheme(value string) { b.add("scheme", value) }

// Overflow sets whether the content scrolls inside the frame.
func (b *Batch) Overflow(on bool) { b.add("overflow", on) }

// Image answers a request for an image. url is "" if the image is not shown.
func (b *Batch) Image(request int, url, state string) { b.add("image", request, url, state) }

// Copied shows a word on the button at a place, for a moment.
func (b *Batch) Copied(at, word string) { b.add("copied", at, word) }

// add appends an order. Arguments are string, int, bool or nil. It panics for any other type.
func (b *Batch) add(name string, args ...any) {
	b.n++
	b.buf = append(b.buf, ",["...)
	b.buf = strictjson.AppendString(b.buf, name)
	for _, a := range args {
		b.buf = append(b.buf, ',')
		switch v := a.(type) {
		case string:
			b.buf = strictjson.AppendString(b.buf, v)
		case int:
			b.buf = strconv.AppendInt(b.buf, int64(v), 10)
		case bool:
			b.buf = strconv.AppendBool(b.buf, v)
		case nil:
			b.buf = append(b.buf, "null"...)
		default:
			panic(fmt.Sprintf("document: an order's argument can't be %T", a))
		}
	}
	b.buf = append(b.buf, ']')
}

// MaxMessage is the maximum length of a message from a frame, in bytes. Longer messages are
// ignored.
const MaxMessage = 16 << 10

// MaxHeight is the maximum height that a frame can report, in CSS pixels. Above about 2^24
// browsers lose precision in layout.
const MaxHeight = 1 << 24

// Message is a message from a document's frame.
type Message struct {
	Kind   string   // ack size link copy save open csv image scroll drag violation error
	Seq    int      // ack: the batch answered, image: the request
	Height int      // ack, size, scroll: CSS pixels. ack: -1 if not known yet
	Fields []string // the other fields of the kind
}

// ParseMessage parses a message from a document's frame. The frame's script is ours, but the
// frame also shows hostile text, so every field is checked.
func ParseMessage(s string) (Message, error) {
	if len(s) > MaxMessage {
		return Message{}, fmt.Errorf("document: message of %d bytes: more than %d", len(s), MaxMessage)
	}
	kind, rest, _ := strings.Cut(s, field)
	m := Message{Kind: kind}
	var err error
	switch kind {
	case "ack":
		seq, height, _ := strings.Cut(rest, field)
		if m.Seq, err = strconv.Atoi(seq); err != nil {
			break
		}
		if m.Height = -1; height != "" {
			m.Height, err = pixels(height)
		}
	case "size", "scroll":
		m.Height, err = pixels(rest)
	case "drag":
		if rest != "" {
			err = fmt.Errorf("unexpected text %.20q", rest)
		}
	case "link":
		m.Fields, err = split(rest, 3)
	case "copy", "save", "open", "csv":
		if m.Fields, err = split(rest, 3); err == nil {
			err = naturals(m.Fields[1], m.Fields[2])
		}
	case "image":
		if m.Fields, err = split(rest, 3); err == nil {
			m.Seq, err = strconv.Atoi(m.Fields[0])
			m.Fields = m.Fields[1:]
		}
	case "violation":
		m.Fields, err = split(rest, 4)
	case "error":
		m.Fields = []string{rest}
	default:
		return Message{}, fmt.Errorf("document: message of unknown kind %.20q", kind)
	}
	if err != nil {
		return Message{}, fmt.Errorf("document: message %q: %w", kind, err)
	}
	return m, nil
}

// pixels parses a length in CSS pixels. NaN, infinities and negative numbers are errors. A
// length above MaxHeight becomes MaxHeight.
func pixels(s string) (int, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || f < 0 || math.IsInf(f, 0) {
		return 0, fmt.Errorf("%.20q is not a height", s)
	}
	return int(min(math.Ceil(f), MaxHeight)), nil
}

func split(s string, n int) ([]string, error) {
	fields := strings.SplitN(s, field, n)
	if len(fields) != n {
		return nil, fmt.Errorf("%d fields: want %d", len(fields), n)
	}
	return fields, nil
}

func naturals(fields ...string) error {
	for _, s := range fields {
		if _, err := strconv.ParseUint(s, 10, 31); err != nil {
			return fmt.Errorf("%.20q is not a natural number", s)
		}
	}
	return nil
}
