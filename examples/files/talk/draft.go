package talk

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/bailey-go/bailey/internal/consent"
)

// Limits of a draft. A long file takes no more memory than a short one.
const (
	draftEnd    = 8000 // bytes of the text that is being written
	draftLines  = 100
	draftStart  = 240 // bytes of each argument, for the head of the card
	draftArgs   = 32
	draftNested = 64
)

// draft reads the arguments of a call while the model writes them: the pieces of a JSON object. It does not check
// them. The box does, once they are whole.
type draft struct {
	size int               // bytes until now
	args map[string][]byte // the beginnings of the arguments that are texts

	open []byte // the brackets that are open
	name []byte // of the present argument
	text []byte // the end of the present text
	in   bool   // a name or a text is being written
	key  bool   // it is a name
	esc  int    // characters of an escape that are to come, and one more for those of \u
	code rune   // of \u
	high rune   // the first half of a pair of these
	odd  bool   // it is no JSON object, or too deep
}

// write takes the next piece.
func (d *draft) write(piece string) {
	d.size += len(piece)
	for i := 0; i < len(piece) && !d.odd; i++ {
		d.next(piece[i])
	}
}

func (d *draft) next(c byte) {
	switch {
	case d.in && d.esc > 0:
		d.escaped(c)
	case d.in && c == '\\':
		d.esc = 1
	case d.in && c == '"':
		d.in = false
	case d.in:
		d.add(c)
	case c == '"':
		if d.in, d.high = true, 0; !d.key {
			d.text = d.text[:0]
		} else if len(d.open) == 1 {
			d.name = d.name[:0]
		}
	case c == '{' || c == '[':
		if d.key = c == '{'; len(d.open) == draftNested || len(d.open) == 0 && !d.key {
			d.odd = true
			return
		}
		d.open = append(d.open, c)
	case c == '}' || c == ']':
		d.open, d.key = d.open[:max(len(d.open)-1, 0)], false
	case c == ',':
		d.key = bytes.HasSuffix(d.open, []byte("{"))
	case c == ':':
		d.key = false
	}
}

// escaped takes a character behind a backslash.
func (d *draft) escaped(c byte) {
	if d.esc == 1 {
		d.esc = 0
		if c == 'u' {
			d.esc, d.code = 5, 0
		} else if i := strings.IndexByte("nrtbf", c); i >= 0 {
			d.add("\n\r\t\b\f"[i])
		} else {
			d.add(c)
		}
		return
	}
	d.code = d.code<<4 | rune(max(strings.IndexByte("0123456789abcdef", c|0x20), 0))
	if d.esc--; d.esc > 1 {
		return
	}
	r := d.code
	d.esc = 0
	switch {
	case d.high != 0:
		r = utf16.DecodeRune(d.high, r)
	case utf16.IsSurrogate(r):
		d.high = r
		return
	}
	d.add(utf8.AppendRune(nil, r)...)
}

// add takes the next bytes of a name or a text.
func (d *draft) add(c ...byte) {
	d.high = 0
	if d.key {
		if len(d.open) == 1 && len(d.name) < draftStart {
			d.name = append(d.name, c...)
		}
		return
	}
	if len(d.text) > 2*draftEnd {
		d.text = append(d.text[:0], d.text[len(d.text)-draftEnd:]...)
	}
	d.text = append(d.text, c...)
	if len(d.open) != 1 {
		return
	}
	at, there := d.args[string(d.name)]
	if len(at) >= draftStart || !there && len(d.args) == draftArgs {
		return
	}
	if d.args == nil {
		d.args = map[string][]byte{}
	}
	d.args[string(d.name)] = append(at, c...)
}

// arguments returns the beginnings of the arguments that are texts, as far as they are written.
func (d *draft) arguments() map[string]any {
	args := map[string]any{}
	for name, text := range d.args {
		args[name] = strings.ToValidUTF8(string(text), "")
	}
	return args
}

// end returns the end of the text that is being written, or "" while it is so short that the head of the card has it.
func (d *draft) end() string {
	if len(d.text) <= 80 && !bytes.Contains(d.text, []byte("\n")) {
		return ""
	}
	return consent.Last(string(d.text), draftLines, draftEnd)
}
