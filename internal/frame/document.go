package frame

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bailey-go/bailey/internal/jsx/trust"
)

// Hello is what a document's inner frame posts to the host, with a port, when
// its script has run.
const Hello = "bailey-document"

// ParseHello tells whether s is a document's hello, and why HTML can't be written
// in its frame if it can't.
func ParseHello(s string) (failure string, ok bool) {
	word, failure, _ := strings.Cut(s, field)
	return failure, word == Hello
}

// field parts the fields of a message from the frame. HTML attribute values and
// text can hold it, so only the last field of a message is free text, or the
// frame's text is cut at it and nothing worse.
const field = "\x1f"

// Batch is one message to a document's frame: orders in a JSON array, written by
// hand because encoding/json would be a tenth of a small program's size.
// document.js lists the orders; each has a method here, so that the only text which
// becomes HTML there is an [HTML] here.
type Batch struct {
	buf []byte
	n   int
}

// HTML is a proof that text may be parsed as HTML. Only the packages that
// trust.Importers lists can make one.
type HTML = trust.HTML

// Reset empties b and numbers it seq; the frame's answer carries the number.
func (b *Batch) Reset(seq int) {
	b.buf = strconv.AppendInt(append(b.buf[:0], '['), int64(seq), 10)
	b.n = 0
}

// Len is the number of orders in b.
func (b *Batch) Len() int { return b.n }

// Size is the number of bytes b will be, about.
func (b *Batch) Size() int { return len(b.buf) }

// String is the finished message.
func (b *Batch) String() string { return string(b.buf) + "]" }

// First stands for the key of a block before all others, in Set.
const First = -1

// Set puts a block's HTML behind the block with the key after, or First; the place of a
// block that is there stays.
func (b *Batch) Set(section string, key, after int, html HTML) {
	if after == First {
		b.add("set", section, key, nil, html.String())
		return
	}
	b.add("set", section, key, after, html.String())
}

// Drop takes a block out.
func (b *Batch) Drop(section string, key int) { b.add("drop", section, key) }

// Section makes a section at the end, or changes its label and direction if they are not "".
func (b *Batch) Section(id, label, dir string) { b.add("section", id, label, dir) }

// Remove takes a section out.
func (b *Batch) Remove(id string) { b.add("remove", id) }

// Busy says whether a section is still being written.
func (b *Batch) Busy(id string, on bool) { b.add("busy", id, on) }

// CSS replaces the app's style.
func (b *Batch) CSS(text string) { b.add("css", text) }

// Variable sets a variable of the style.
func (b *Batch) Variable(name, value string) { b.add("variable", name, value) }

// Scheme sets the colour scheme.
func (b *Batch) Scheme(value string) { b.add("scheme", value) }

// Overflow says whether the content scrolls inside of the frame.
func (b *Batch) Overflow(on bool) { b.add("overflow", on) }

// Image answers a request for an image: url is "" if it is not shown.
func (b *Batch) Image(request int, url, state string) { b.add("image", request, url, state) }

// Copied puts a word on the button at a place, for a moment.
func (b *Batch) Copied(at, word string) { b.add("copied", at, word) }

// add appends an order. Arguments are string, int, bool or nil.
func (b *Batch) add(name string, args ...any) {
	b.n++
	b.buf = append(b.buf, ",["...)
	b.buf = appendJSONString(b.buf, name)
	for _, a := range args {
		b.buf = append(b.buf, ',')
		switch v := a.(type) {
		case string:
			b.buf = appendJSONString(b.buf, v)
		case int:
			b.buf = strconv.AppendInt(b.buf, int64(v), 10)
		case bool:
			b.buf = strconv.AppendBool(b.buf, v)
		case nil:
			b.buf = append(b.buf, "null"...)
		default:
			panic(fmt.Sprintf("frame: an order's argument can't be %T", a))
		}
	}
	b.buf = append(b.buf, ']')
}

// appendJSONString appends s as a JSON string; bytes that are not UTF-8 become
// U+FFFD, as a browser would make them.
func appendJSONString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				b = append(append(b, s[start:i]...), "\ufffd"...)
				start = i + 1
			}
			i += size
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		b = append(b, s[start:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		start = i
	}
	return append(append(b, s[start:]...), '"')
}

// MaxMessage is the length in bytes of the longest message from a frame that is
// looked at.
const MaxMessage = 16 << 10

// MaxHeight is the tallest a frame may call itself, in CSS pixels: above about
// 2^24 browsers lose precision in layout.
const MaxHeight = 1 << 24

// Message is a message from a document's frame.
type Message struct {
	Kind   string   // ack size link copy image scroll drag violation error
	Seq    int      // ack: the batch answered; image: the request
	Height int      // ack, size, scroll: CSS pixels; ack: -1 if not known yet
	Fields []string // what else the kind carries
}

// ParseMessage reads a message from a document's frame. The frame's script is
// ours, but a frame is where hostile text is shown, so nothing is taken on trust.
func ParseMessage(s string) (Message, error) {
	if len(s) > MaxMessage {
		return Message{}, fmt.Errorf("frame: message of %d bytes: more than %d", len(s), MaxMessage)
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
			err = fmt.Errorf("%.20q behind it", rest)
		}
	case "link":
		m.Fields, err = split(rest, 3)
	case "copy":
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
		return Message{}, fmt.Errorf("frame: message of unknown kind %.20q", kind)
	}
	if err != nil {
		return Message{}, fmt.Errorf("frame: message %q: %w", kind, err)
	}
	return m, nil
}

// pixels reads a length in CSS pixels and clamps it: NaN, infinities and
// negative numbers are errors, what is too tall is cut.
func pixels(s string) (int, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || f < 0 || math.IsInf(f, 0) {
		return 0, fmt.Errorf("%.20q is no height", s)
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
			return fmt.Errorf("%.20q is no natural number", s)
		}
	}
	return nil
}
