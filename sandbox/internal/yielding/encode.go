package yielding

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/bailey-go/bailey/internal/jsx"
)

// encoder is the state of one EncodeJSON.
type encoder struct {
	ctx    context.Context
	budget jsx.Budget
	html   bool // <, > and & are not escaped
	values int
}

const (
	restValues = 256      // values between two yields
	restBytes  = 64 << 10 // bytes of text between two yields
	mostNested = 1_000    // nested containers
)

var errNested = errors.New("the value is nested too deeply, or holds itself")

// EncodeJSON writes v to w as [json.Marshal] does, piece by piece, so that hashing a long value needs
// no second copy in memory. If escapeHTML is not set, it does not escape <, > and &. It ends with
// the context. The caller flushes w. The encoders of the wire protocols refuse keys and sizes that
// a result may have, and so can't be used for results.
func EncodeJSON(ctx context.Context, w *bufio.Writer, v any, escapeHTML bool) error {
	e := encoder{ctx: ctx, html: !escapeHTML}
	return e.encode(w, v, 0)
}

func (r *encoder) encode(w *bufio.Writer, v any, depth int) error {
	if r.values++; r.values%restValues == 0 {
		if err := r.budget.Spend(r.ctx); err != nil {
			return err
		}
	}
	if depth > mostNested {
		return errNested
	}
	switch v := v.(type) {
	case string:
		return r.encodeText(w, v)
	case []any:
		if v == nil {
			break
		}
		for i, e := range v {
			if err := w.WriteByte("[,"[min(i, 1)]); err != nil {
				return err
			}
			if err := r.encode(w, e, depth+1); err != nil {
				return err
			}
		}
		if len(v) == 0 {
			w.WriteByte('[')
		}
		return w.WriteByte(']')
	case map[string]any:
		if v == nil {
			break
		}
		for i, k := range slices.Sorted(maps.Keys(v)) {
			if err := w.WriteByte("{,"[min(i, 1)]); err != nil {
				return err
			}
			if err := r.encodeText(w, k); err != nil {
				return err
			}
			if err := w.WriteByte(':'); err != nil {
				return err
			}
			if err := r.encode(w, v[k], depth+1); err != nil {
				return err
			}
		}
		if len(v) == 0 {
			w.WriteByte('{')
		}
		return w.WriteByte('}')
	}
	b, err := r.marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

func (r *encoder) marshal(v any) ([]byte, error) {
	if !r.html {
		return json.Marshal(v)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// encodeText writes a text in quotes.
func (r *encoder) encodeText(w *bufio.Writer, s string) error {
	if err := w.WriteByte('"'); err != nil {
		return err
	}
	for len(s) > 0 {
		n := min(len(s), restBytes)
		for n < len(s) && n > restBytes-utf8.UTFMax && !utf8.RuneStart(s[n]) {
			n--
		}
		b, err := r.marshal(s[:n])
		if err != nil {
			return err
		}
		if _, err := w.Write(b[1 : len(b)-1]); err != nil {
			return err
		}
		if s = s[n:]; s != "" {
			if err := r.budget.Spend(r.ctx); err != nil {
				return err
			}
		}
	}
	return w.WriteByte('"')
}
