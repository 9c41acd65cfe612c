package markdown

import (
	"bytes"
	"testing"
	"unicode"
)

// What is passed over quickly is what the slow way would find nothing in.
func TestQuickLooksMissNothing(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		s := []byte("a" + string(r))
		if direction(r) == 2 && !mayTurn(s) {
			t.Errorf("%U turns text, and is not looked for", r)
		}
	}
	for n := range 20 {
		text := bytes.Repeat([]byte("a"), n)
		if !isASCII(text) {
			t.Errorf("%d letters", n)
		}
		for i := range n {
			text[i] = 0x80
			if isASCII(text) {
				t.Errorf("%d bytes, the one at %d is beyond", n, i)
			}
			text[i] = 'a'
		}
	}
	for _, s := range []string{"—", "’", "😀", "日本"} {
		if mayTurn([]byte(s)) {
			t.Errorf("%s turns nothing", s)
		}
	}
}
