package unseen

import "testing"

func TestHiddenCharactersAreMarked(t *testing.T) {
	for s, want := range map[string]string{
		"plain\tü 文 😀":               "plain\tü 文 😀",
		"photo\u202egnp.exe":         "photo⟨U+202E⟩gnp.exe",
		"a\u200b\u200b\u200bb\u00ad": "a⟨U+200B ×3⟩b⟨U+00AD⟩",
		"\x00\x1b[31m":               "⟨U+0000⟩⟨U+001B⟩[31m",
		"\U000e0041\u2066x\u2069":    "⟨U+E0041⟩⟨U+2066⟩x⟨U+2069⟩",
		"👩\u200d👧 a\u200db":          "👩\u200d👧 a⟨U+200D⟩b",
		"gr\xfc\xdfe":                "gr⟨not UTF-8 ×2⟩e",
		"a\ufffdb":                   "a\ufffdb",
		"a.pdf\u2800\u2800.html":     "a.pdf⟨U+2800 ×2⟩.html",
		"\ufffc\u180f":               "⟨U+FFFC⟩⟨U+180F⟩",
		"":                           "",
	} {
		if got := Text(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}
