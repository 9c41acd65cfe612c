package markdown_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/iframe/internal/labels"
	"github.com/bailey-go/bailey/iframe/markdown"
	"github.com/bailey-go/bailey/internal/attack"
)

const beside = `<span class="bailey-target"> (`

// unlabelled returns a function that renders text without the real target beside links. The
// result must still contain a link, or the control would show nothing.
func unlabelled(t *testing.T) func(text string) string {
	r := newRenderer(t, markdown.Options{})
	r.WithoutLabels()
	return func(text string) string {
		out, _ := render(t, r, text)
		if !strings.Contains(out, " data-href=") {
			t.Errorf("%q has no link: %s", text, out)
		}
		return out
	}
}

// A link whose text may be taken for another host has the real one beside it.
func TestAttackDeceptiveLinks(t *testing.T) {
	rows := labels.Deceptive()
	if len(rows) < 300 {
		t.Fatalf("%d rows: want 300", len(rows))
	}
	count := attack.Start(t, "B3")
	r, off := newRenderer(t, markdown.Options{}), unlabelled(t)
	passed, warned := 0, 0
	for _, row := range rows {
		out, report := render(t, r, row.Markdown)
		checkOutput(t, r, row.Markdown, out, report)
		if report.Count(markdown.Limit)+report.Count(markdown.Broken) > 0 {
			t.Errorf("%s: shown as plain text: %s", row.Name, report)
		}
		passes := !strings.Contains(out, beside+"evil.test)</span>")
		count.Off(row.Name, !strings.Contains(off(row.Markdown), "(evil.test)"))
		if count.Try(row.Name, passes); passes {
			passed++
			t.Errorf("%s: nothing says where it leads:\n%s\n%s", row.Name, row.Markdown, out)
		} else if strings.Contains(out, "data-warning") {
			warned++
		}
	}
	t.Logf("%d deceptive links: %d pass, %d with a warning, the rest with the host alone", len(rows), passed, warned)
}

// An honest link is accused of nothing.
func TestHonestLinksHaveNoWarning(t *testing.T) {
	rows := labels.Honest()
	if len(rows) < 200 {
		t.Fatalf("%d rows: want 200", len(rows))
	}
	r := newRenderer(t, markdown.Options{})
	accused, noted := 0, 0
	for _, row := range rows {
		out, report := render(t, r, row.Markdown)
		checkOutput(t, r, row.Markdown, out, report)
		if report.Count(markdown.Deception) > 0 || strings.Contains(out, "data-warning") {
			accused++
			t.Errorf("%s: %s\n%s", row.Name, report, out)
		} else if strings.Contains(out, beside) {
			noted++
			t.Logf("%s has its host beside it", row.Name)
		}
	}
	t.Logf("%d honest links: %d accused, %d with the host beside them", len(rows), accused, noted)
}

// Links of the review that found these tricks.
func TestAttackLinksThatLie(t *testing.T) {
	count := attack.Start(t, "13")
	r, off := newRenderer(t, markdown.Options{}), unlabelled(t)
	for _, text := range []string{
		"https://www.bank.com/login", "www.bank.com", // controls
		"→https://www.bank.com/login", "🔒https://www.bank.com/login", "#https://www.bank.com", "1https://bank.com", "https://www.bank.com·", "https://www.bank.com¨/login", "bank․com", "www․bank․com", "https://bank․com",
		"https:∕∕www․bank․com", "xhttps://bank.com", "•www.bank.com", "🔒 https:⁄⁄bank․com",
	} {
		out, report := render(t, r, "["+text+"](https://evil.example)")
		count.Off(text, !strings.Contains(off("["+text+"](https://evil.example)"), "(evil.example)"))
		count.Try(fmt.Sprintf("%q leads to evil.example, and neither the text nor a warning says so (report %+v)", text, report), !strings.Contains(out, "evil.example)</span>"))
	}
}

// A mail to more than the address in its path, and a code instead of a number.
func TestAttackMailAndCalls(t *testing.T) {
	count := attack.Start(t, "B6")
	r, off := newRenderer(t, markdown.Options{}), unlabelled(t)
	for target, shows := range map[string]string{
		"mailto:help@bank.com?to=spy@evil.test":                "help@bank.com, spy@evil.test",
		"mailto:help@bank.com?cc=spy@evil.test":                "help@bank.com, spy@evil.test",
		"mailto:help@bank.com?BCC=spy@evil.test":               "help@bank.com, spy@evil.test",
		"mailto:help@bank.com?subject=a&%62cc=spy%40evil.test": "help@bank.com, spy@evil.test",
		"mailto:help@bank.com,spy@evil.test":                   "help@bank.com, spy@evil.test",
		"mailto:help@bank.com%2cspy@evil.test":                 "help@bank.com, spy@evil.test",
		"mailto:?to=spy@evil.test":                             "spy@evil.test",
		"mailto:/help@bank.com":                                "help@bank.com",
		"mailto:spy@bank.com":                                  "spy@bank.com",
		"mailto:help@bank.com.evil.test":                       "help@bank.com.evil.test",
		"tel:+1900123456":                                      "+1900123456",
	} {
		label := "help@bank.com"
		if strings.HasPrefix(target, "tel:") {
			label = "+49 30 123456"
		}
		out, report := render(t, r, "["+label+"]("+target+")")
		count.Off(target, !strings.Contains(off("["+label+"]("+target+")"), "("+shows+")"))
		count.Try(fmt.Sprintf("%s: %s\n%s", target, report, out), !strings.Contains(out, beside+shows+")</span>") || report.Count(markdown.Deception) != 1)
	}
	for _, code := range []string{"tel:*21*+1900%23", "tel:**21*1900#", "tel:%2A21%2a1900%23", "tel:#31#1900", "tel:+49;x=*21", "TEL:*#06#"} {
		out, report := render(t, r, "[call us]("+code+")")
		count.Try(fmt.Sprintf("%s: %s\n%s", code, report, out), strings.Contains(out, "data-href") || report.Count(markdown.Scheme) != 1)
		if r.Verify(`<a data-href="` + code + `" role="link" tabindex="0">a</a>`) {
			t.Errorf("%s: the last check takes it", code)
		}
	}
}

// Invisible characters are shown, unless languages and emoji need them.
func TestUnseenCharactersAreShown(t *testing.T) {
	r := newRenderer(t, markdown.Options{})
	for _, c := range []struct{ in, want string }{
		{"a\u200bb", "a⟨U+200B⟩b"},
		{"a\u2062b", "a⟨U+2062⟩b"}, {"a\u2063b", "a⟨U+2063⟩b"}, {"a\u2064b", "a⟨U+2064⟩b"},
		{"a\ufe0fb", "a⟨U+FE0F⟩b"}, {"\u2764\ufe00\ufe01\ufe02b", "⟨hidden characters: 3⟩b"},
		{"\U0001f600" + strings.Repeat("\U000e0101", 50), "⟨hidden characters: 50⟩"},
		{"a&#x200b;&#x200c;b", "⟨U+200C⟩b"}, {"a\u200b\u200cb", "⟨hidden characters: 2⟩"},
		{"a\u3164b", "a⟨U+3164⟩b"}, {"a\ufff9b", "a⟨U+FFF9⟩b"}, {"a\U0001d173b", "a⟨hidden characters: 1⟩b"},
		{"`a\u200bb`", "<code>a⟨U+200B⟩b</code>"}, {"`a\u200fb`", "<code>a⟨U+200F⟩b</code>"}, {"`a\u200eb`", "<code>a⟨U+200E⟩b</code>"},
		{"`a\u061cb`", "<code>a⟨U+061C⟩b</code>"}, {"```\na\u200f<\u200f b\n```", "a⟨U+200F⟩&lt;⟨U+200F⟩ b"},
		{"<pre><code>a&rlm;b</code></pre>", "<pre><code>a⟨U+200F⟩b</code></pre>"}, {"<code>a&lrm;b</code>", "<code>a⟨U+200E⟩b</code>"},
		{"<pre><code dir=rtl>a</code></pre>", "<pre><code>a</code></pre>"}, {`<pre><span title="x dir=" dir=rtl>a</span></pre>`, `<pre><span title="x dir=">a</span></pre>`},
		// what stays
		{"\u2764\ufe0f", "\u2764\ufe0f"}, {"\u2764\ufe0f\u200d\U0001f525", "\u2764\ufe0f\u200d\U0001f525"}, {"1\ufe0f\u20e3", "1\ufe0f\u20e3"},
		{"\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"}, {"\u0e01\u200b\u0e02", "\u0e01\u200b\u0e02"},
		{"\u8fbb\U000e0100", "\u8fbb\U000e0100"}, {"\u0dc1\u0dca\u200d\u0dbb\u0dd3", "\u0dc1\u0dca\u200d\u0dbb\u0dd3"}, {"\u05d0\u200f!", "\u05d0\u200f!"},
		{"`\U0001f469\u200d\U0001f680`", "\U0001f469\u200d\U0001f680"},
	} {
		out, report := render(t, r, c.in)
		checkOutput(t, r, c.in, out, report)
		if !strings.Contains(out, c.want) || report.Count(markdown.Broken) > 0 {
			t.Errorf("%q: want %q in\n%s\n%s", c.in, c.want, out, report)
		}
	}
}

// Hosts that browsers would map to others are no links, and an address in the text of a
// link is text.
func TestDeadAndNestedLinks(t *testing.T) {
	r := newRenderer(t, markdown.Options{})
	for _, host := range []string{"e\u0301vil.test", "\ufb01nd.test", "\u2460.test", "\U0001d41aa.test", "a\u0323.test", "\u0430\u0301.test"} {
		if out, report := render(t, r, "[a](https://"+host+"/)"); strings.Contains(out, "data-href") {
			t.Errorf("%q: %s\n%s", host, report, out)
		}
	}
	for _, host := range []string{"\u00e9vil.test", "\u0939\u093f\u0928\u094d\u0926\u0940.test", "\u0e44\u0e17\u0e22.test", "b\u00fccher.example"} {
		if out, report := render(t, r, "[a](https://"+host+"/)"); !strings.Contains(out, `data-href="https://xn--`) {
			t.Errorf("%q: %s\n%s", host, report, out)
		}
	}
	for _, text := range []string{"[mail <a@b.example> now](https://c.example)", "[see <https://b.example> now](https://c.example)", "*x* [**<a@b.example>**](https://c.example)"} {
		if out, report := render(t, r, text); strings.Contains(out, "bailey-note") || !strings.Contains(out, "c.example)</span>") {
			t.Errorf("%s: %s\n%s", text, report, out)
		}
	}
}

// A text that is cut has no elements of its own and nothing that is laid out together.
func TestCut(t *testing.T) {
	r := newRenderer(t, markdown.Options{})
	for in, want := range map[string]string{
		"*a* <b>b</b>":                     "a b",
		"a" + strings.Repeat("\u0301", 20): "a",
		"a &lt;b&gt;":                      "a &lt;b&gt;",
		"\u05d0\u05d1 a":                   " a",
		strings.Repeat("long ", 100):       strings.Repeat("long ", 60),
	} {
		h, _, err := r.Render([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		out := h.Cut().String()
		if !r.Verify(out) || !strings.Contains(out, `<pre class="bailey-plain">`+want) || strings.Count(out, "<") != 4 {
			t.Errorf("%q: %s", in, out)
		}
	}
}
