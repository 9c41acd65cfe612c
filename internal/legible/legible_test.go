package legible

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"Reads a file.\n\tQuickly.":            "Reads a file.\n\tQuickly.",
		"a\U000E0069\U000E0067b":               "ab", // tag characters
		"a\u200b\u2060\ufeff\u00adb":           "ab",
		"a\u202eb\u2066c\u200e":                "abc",
		"a\ufe01\ufe0eb\U000E0100\U000E01EFc":  "abc",
		"a\u3164\u115f\u2800\u034fb":           "ab",
		"a\x00\x1b[31m\x7fb":                   "a[31mb",
		"a\u00a0b\u2003c\u2028d":               "a b c d",
		"a\u200db":                             "ab",
		"\u0915\u094d\u200d\u0937":             "\u0915\u094d\u200d\u0937", // Devanagari needs it
		"\u0915\u200d\u200d\u200d\u0937":       "\u0915\u200d\u0937",
		"\U0001F469\u200d\U0001F680":           "\U0001F469\u200d\U0001F680",
		"\u2764\ufe0f\u200d\U0001F525":         "\u2764\ufe0f\u200d\U0001F525",
		"\u2764\ufe0f\ufe0f\ufe0f":             "\u2764\ufe0f",
		"1\ufe0f\u20e3 x\ufe0f":                "1\ufe0f\u20e3 x",
		"Gr\u00fc\u00dfe, \u4f60\u597d \u2713": "Gr\u00fc\u00dfe, \u4f60\u597d \u2713",
		"a\xffb":                               "a\ufffdb",
	} {
		if got := Text(in); got != want {
			t.Errorf("%q: %q, not %q", in, got, want)
		}
	}
}

// No text of hidden characters alone leaves any, and a cleaned text stays as it is.
func FuzzText(f *testing.F) {
	f.Add("a\u200db\ufe0f\u2764\ufe0f\u200d")
	f.Fuzz(func(t *testing.T, s string) {
		once := Text(s)
		if !utf8.ValidString(once) || Text(once) != once {
			t.Errorf("%q: %q, and then %q", s, once, Text(once))
		}
		if strings.ContainsAny(once, "\u200b\u202e\u2066\ufeff\U000E0041") {
			t.Errorf("%q keeps invisible characters: %q", s, once)
		}
	})
}
