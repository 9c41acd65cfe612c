package printed

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// Both streams count together. At the limit all is written, and above it what fits, and the program is ended.
func TestLimit(t *testing.T) {
	for _, c := range []struct {
		first, second string
		ended         bool
	}{{"abc", "d", false}, {"abc", "de", false}, {"abc", "def", true}, {"abcdef", "", true}} {
		var out, errs bytes.Buffer
		ended := 0
		o := New(5, func() { ended++ })
		_, err := io.WriteString(o.To(&out), c.first)
		if err == nil {
			_, err = io.WriteString(o.To(&errs), c.second)
		}
		want := c.first + c.second
		if got := out.String() + errs.String(); got != want[:min(len(want), 5)] || (ended == 1) != c.ended || errors.Is(err, ErrLimit) != c.ended {
			t.Errorf("%q and %q: written %q, ended %d times, %v", c.first, c.second, got, ended, err)
		}
	}
	if n, err := io.WriteString(New(1, nil).To(nil), "x"); n != 1 || err != nil {
		t.Error(n, err)
	}
}
