package web

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/bailey-go/bailey/internal/attack"
)

func TestMarkdown(t *testing.T) {
	for in, want := range map[string]string{
		"":                                                   "",
		"plain":                                              "plain",
		"<h1>One</h1><p>two</p>":                             "# One\n\ntwo",
		"<h2></h2>text":                                      "text",
		"<h3><a href=/x>T</a></h3>":                          "### [T](/x)",
		"<p>a  b\n c</p><p>d":                                "a b c\n\nd",
		"a<br>b<br><br>c":                                    "a\nb\nc",
		"<b>bold</b> and <i>it</i>, <b> x </b>.":             "**bold** and *it*, **x** .",
		"<b></b>x<a href=/y></a>":                            "x",
		"<b>a<b>b</b>c</b>":                                  "**abc**",
		"<ul><li>a<li>b<ul><li>c</ul></ul>d":                 "- a\n- b\n  - c\n\nd",
		"<ol><li>a</li><li><p>b</p><p>c</p></ol>":            "1. a\n\n2. b\n\n   c",
		"<ul><li></li><li>x</li></ul>":                       "- x",
		"<blockquote><p>a</p><p>b</p></blockquote>c":         "> a\n>\n> b\n\nc",
		"<blockquote><ul><li>a</ul></blockquote>":            "> - a",
		"<pre><code class='language-go'>a\n  b</code></pre>": "```go\na\n  b\n```",
		"<pre>```</pre>":                                     "````\n```\n````",
		"<code>a`b</code>":                                   "``a`b``",
		"<code> </code>x":                                    "x",
		"<a href='/a b(c)'>t</a>":                            "[t](/a%20b%28c%29)",
		"<a href='javascript:x'>t</a>":                       "t",
		"<a href=/x><div>t</div></a>":                        "[t](/x)",
		"<a href=/x>a<a href=/y>b</a>":                       "[a](/x)[b](/y)",
		"<img src=/p.png alt='a b'>":                         "![a b](/p.png)",
		"<img src='data:image/png;base64,xx' alt=a>":         "a",
		"<table><tr><th>a<th>b<tr><td>1<td>2</table>":        "| a | b |\n| --- | --- |\n| 1 | 2 |",
		"<table><tr><td><b>a<td>b</table>c":                  "| **a** | b |\n| --- | --- |\n\nc",
		"<hr>x":                                              "* * *\n\nx",
		"<script>x<b></script><style>y</style><noscript><p>z</p></noscript>t": "t",
		"<head><title>T</title><p>x":                                          "x",
		"<svg><svg></svg><p>in</svg>out":                                      "inout",
		"1. a":                                                                `1\. a`,
		"# a *b* [c] `d` <p>- e":                                              "\\# a \\*b\\* \\[c\\] \\`d\\`\n\n\\- e",
		"snake_case _x_ 1.5 a-b":                                              `snake_case \_x\_ 1.5 a-b`,
		"&lt;b&gt; &amp; &nbsp;x":                                             "\\<b> & \u00a0x",
		"<p>a</p></div></li></ul></a></b></table>":                            "a",
	} {
		if got, err := markdown(context.Background(), in, "https://page.example/a/b"); got != want || err != nil {
			t.Errorf("%q:\n got %q, %v\nwant %q", in, got, err, want)
		}
	}
}

// Pages whose Markdown was once read differently from the page, or lost text.
func TestMarkdownSaysWhatThePageShows(t *testing.T) {
	for in, want := range map[string]string{
		// addresses
		"<a href='java&#10;script:x'>t</a><a href='&#1;JavaScript:x'>u</a><a href=' vbscript:x'>v</a>": "tuv",
		"<a href='data:text/html,x'>t</a> <a href='#x'>u</a>":                                          "t u",
		"<img src=' da&#9;ta:image/png;base64,xx' alt=a>":                                              "a",
		"<base href='https://other.example/c/'><base href=/no><a href=x>t</a><img src=//i.example/y>":  "[t](https://other.example/c/x)![](https://i.example/y)",
		"<head><base href=/c/></head><a href=x>t</a>":                                                  "[t](https://page.example/c/x)",
		"<a href=x>t</a>": "[t](x)",
		"<a href='/a`'>x</a> or <a href='/b`'>y</a>":                      "[x](/a%60) or [y](/b%60)",
		"<a href='/a&#10;&#13;b&#1;c\u007f\"'>x</a>":                      "[x](/ab%01c%7F%22)",
		"<a href='/?a=1&b=2&amp;copy;'>y</a>":                             "[y](/?a=1&b=2&amp;copy;)",
		"<table><tr><td><code>a|b</code><td><a href='/|'>c|d</a></table>": "| `a\\|b` | [c\\|d](/%7C) |\n| --- | --- |",
		// hidden content
		"<script/>x</script><style/>y{}</style><noembed><p>n</noembed><noframes>f</noframes>z": "z",
		"<div hidden>a<div>b</div>c</div>x<span style='color:red; Display : none'>d</span>y":   "xy",
		"<p hidden>a<p>b<ul><li hidden>c<ul><li>d</ul><li>e</ul>":                              "b\n\n- e",
		"<table><tr hidden><td>a<tr><td>b<td style='visibility:hidden'>c<td>d</table>":         "| b | d |\n| --- | --- |",
		"<div hidden=until-found>a</div><body style='display:none'>b<img hidden src=/x>":       "a\n\nb",
		"<p>a<!-- c > d --><![CDATA[x]]>b<template><p>y</template><input value=v>":             "ab",
		// visible content
		"<p>a<svg><path/><p>b":                              "a\n\nb",
		"<h2><button>S</button></h2><p>t<button>B</button>": "## S\n\nt",
		"<code>a<pre>x</pre></code>":                        "`a`\n\n```\nx\n```",
		"<details><summary>S</summary>b</details>":          "S\n\nb",
		"<dl><dt>T<dd>D</dl>":                               "T\nD",
		"<plaintext>a<b>":                                   "```\na<b>\n```",
		// text that is no structure
		"<img alt='# H'>":       "\\# H",
		"<img alt='- a'>b":      "\\- ab",
		"a<br>=====<p>==<p>= b": "a\n\\=====\n\n\\==\n\n\\= b",
		"a<br>:-":               "a\n\\:-",
		"a!<a href=/x>b</a>":    "a! [b](/x)",
		"&amp;lt;b&amp;gt; R&amp;D; x&amp;#60; a&amp;b": "\\&lt;b\\&gt; R\\&D; x\\&#60; a&b",
		"<code>a</code><code>b</code>":                  "`a` `b`",
		"<h1>a<br>b</h1>c":                              "# a b\n\nc",
		// numbers
		"10<sup>5</sup>, m<sup>2</sup>, H<sub>2</sub>O, 10<sub>2</sub>, <sup>1</sup>": "10^5, m2, H2O, 10_2, 1",
		"<del>10</del><ins>5</ins> <s></s>x":                                          "~~10~~5 x",
		"<ol start=5><li>a<li value=9>b<li>c</ol>":                                    "5. a\n9. b\n10. c",
		"<ol start=-3><li value='99999999999'>a</ol>":                                 "99999999. a",
		// tables
		"<table><caption>C</caption><tr><th colspan=2>a<th>b<tr><td>1<td>2<td colspan=900>3</table>": "C\n\n| a | | b |\n| --- | --- | --- |\n| 1 | 2 | 3 " + strings.Repeat("| ", 197) + "|",
	} {
		if got, err := markdown(t.Context(), in, "https://page.example/a/b"); got != want || err != nil {
			t.Errorf("%q:\n got %q, %v\nwant %q", in, got, err, want)
		}
	}
	if got, err := markdown(t.Context(), "<pre>"+strings.Repeat("<br>"+strings.Repeat("a", 1000), 600), ""); err != nil || !strings.HasSuffix(got, leftOut) {
		t.Errorf("a long block of code ends with %q, %v", got[len(got)-30:], err)
	}
}

// Text after an element that was never closed is not lost. In the HTML standard a head ends at the
// first text or element that does not belong there, options end each other, and a button ends at
// the next one or with its parent.
func TestMarkdownLosesNoTextBehindWhatIsOpen(t *testing.T) {
	for in, want := range map[string]string{
		"<head>text": "text",
		"<html><head><title>T</title>text<p>more":                              "text\n\nmore",
		"<head><title>T</title><meta charset=utf-8><link href=x> \n text":      "text",
		"<head><script>x</script>text":                                         "text",
		"<head><style>x</style><b>bold</b>":                                    "**bold**",
		"<head><noscript>n</noscript><template>t</template>text":               "text",
		"<head><base href=//b.example/><title>T</title>text <a href=x>l</a>":   "text [l](https://b.example/x)",
		"<head hidden>text":                                                    "text",
		"<head style='display:none'><title>T</title><p>text":                   "text",
		"<head><head>text":                                                     "text",
		"<head></p></div>text":                                                 "text",
		"<head>&amp;":                                                          "&",
		"<head><title>T</title></body>text":                                    "text",
		"<p>a<head><title>T</title>b":                                          "ab",
		"<select><option>one<option>two</select>text":                          "one\ntwo\ntext",
		"<select>text":                                                         "text",
		"<p>a<select><option>one<p>text":                                       "a\none\n\ntext",
		"<select><option>one<optgroup label=g><option>two</select>":            "one\ntwo",
		"<select><select>text":                                                 "text",
		"<select><option>one<input>text":                                       "onetext",
		"<select><option>one<textarea>x</textarea>text":                        "onetext",
		"<table><tr><td><select><option>one<td>text</table>":                   "| one | text |\n| --- | --- |",
		"<select><option hidden>h<option>one</select>text":                     "one\ntext",
		"<select><option hidden>h</select>text":                                "text",
		"<select><option hidden>h<input>text":                                  "text",
		"<select><optgroup hidden><option>h<optgroup><option>one</select>text": "one\ntext",
		"<select><optgroup hidden><option>h</select>text":                      "text",
		"<select hidden><option>h</select>text":                                "text",
		"<select hidden><option>h<input>text":                                  "text",
		"<select hidden><option>h<select>text":                                 "text",
		"<button>a<button>b</button>text":                                      "text",
		"<div><button>a</div>text":                                             "text",
		"<div><button><div>a</div>b</div>text":                                 "text",
		"<section><button><div>a</div></button>b</section>text":                "b\n\ntext",
		"<button hidden>a<div>b</div></button>text":                            "text",
	} {
		if got, err := markdown(t.Context(), in, "https://page.example/a/b"); got != want || err != nil {
			t.Errorf("%q:\n got %q, %v\nwant %q", in, got, err, want)
		}
	}
}

// bombs are pages whose conversion once took quadratic time or multiplied their size, with a tree
// or with regular expressions. Each function returns a page of a length.
var bombs = map[string]func(n int) string{
	"open brackets":               func(n int) string { return "<p>" + strings.Repeat("[", n) + "</p>" },
	"closing brackets":            func(n int) string { return strings.Repeat("]", n) },
	"brackets in pairs":           func(n int) string { return strings.Repeat("[]", n/2) },
	"signs of emphasis":           func(n int) string { return strings.Repeat("*_", n/2) },
	"back quotes":                 func(n int) string { return strings.Repeat("`", n) },
	"back quotes in code":         func(n int) string { return "<code>" + strings.Repeat("` ", n/2) + "</code>" },
	"back slashes":                func(n int) string { return strings.Repeat(`\`, n) },
	"less than":                   func(n int) string { return strings.Repeat("<", n) },
	"ampersands":                  func(n int) string { return strings.Repeat("&", n) },
	"references":                  func(n int) string { return strings.Repeat("&amp;", n/5) },
	"numbers with dots":           func(n int) string { return strings.Repeat("1. ", n/3) },
	"140 nested quotations":       func(n int) string { return strings.Repeat("<blockquote>", 140) + strings.Repeat("a<br>", n/5) },
	"140 nested lists":            func(n int) string { return strings.Repeat("<ul><li>", 140) + strings.Repeat("a<br>", n/5) },
	"numbered lists, nested":      func(n int) string { return strings.Repeat("<ol><li>", 500) + strings.Repeat("a<br>", n/5) },
	"open quotations":             func(n int) string { return strings.Repeat("<blockquote>a", n/13) },
	"open lists":                  func(n int) string { return strings.Repeat("<ul><li>", n/8) },
	"lists, closed as others":     func(n int) string { return strings.Repeat("<ul>", n/8) + strings.Repeat("</ol>", n/10) },
	"open divisions":              func(n int) string { return strings.Repeat("<div>", n/5) },
	"open emphasis":               func(n int) string { return strings.Repeat("<b><i>a", n/7) },
	"formatting, misnested":       func(n int) string { return strings.Repeat("<b><p></b><i>", n/13) },
	"open links":                  func(n int) string { return strings.Repeat("<a href=/x>", n/11) },
	"links in links":              func(n int) string { return strings.Repeat("<a href=/x>a<table><a href=/y>b", n/31) },
	"attributes":                  func(n int) string { return "<p " + strings.Repeat("a=b ", n/4) + ">x" },
	"one attribute":               func(n int) string { return "<a href='" + strings.Repeat("(", n) + "'>x</a>" },
	"cells":                       func(n int) string { return "<table><tr>" + strings.Repeat("<td>", n/4) },
	"rows":                        func(n int) string { return "<table>" + strings.Repeat("<tr><td>a", n/9) },
	"tables in tables":            func(n int) string { return strings.Repeat("<table><tr><td>", n/15) },
	"headings":                    func(n int) string { return strings.Repeat("<h6>", n/4) },
	"comments":                    func(n int) string { return strings.Repeat("<!-->", n/5) },
	"open comments":               func(n int) string { return strings.Repeat("<!--", n/4) },
	"open tags":                   func(n int) string { return strings.Repeat("<a ", n/3) },
	"scripts in scripts":          func(n int) string { return strings.Repeat("<script><!--<script>", n/20) },
	"svg in svg":                  func(n int) string { return strings.Repeat("<svg>", n/5) },
	"code blocks":                 func(n int) string { return strings.Repeat("<pre>`</pre>", n/12) },
	"lines of code in quotations": func(n int) string { return strings.Repeat("<blockquote>", 30) + "<pre>" + strings.Repeat("\n.", n/2) },
	"selects":                     func(n int) string { return strings.Repeat("<select><option>", n/16) },
	"title of the page":           func(n int) string { return "<title>" + strings.Repeat("[", n) },
	"a long word":                 func(n int) string { return strings.Repeat("a", n) },
	"a name of a tag":             func(n int) string { return "<" + strings.Repeat("a", n) + ">x" },
	"white space":                 func(n int) string { return strings.Repeat("\n ", n/2) },
	"hidden items":                func(n int) string { return strings.Repeat("<li hidden><ul>", n/15) },
	"wide cells":                  func(n int) string { return "<table>" + strings.Repeat("<tr><td colspan=999>a", n/20) },
	"character references, open":  func(n int) string { return strings.Repeat("&amp;a", n/6) },
	"bases": func(n int) string {
		return "<base href=//a/" + strings.Repeat("b", 3000) + "/>" + strings.Repeat("<a href=x>y</a>", n/15)
	},
	"forms": func(n int) string { return strings.Repeat("<form><input>", n/13) },
}

// steps returns the number of clock checks of a conversion, and the length of its result.
func steps(t *testing.T, page string) (looks, bytes int) {
	t.Helper()
	c := newConverter(t.Context(), page)
	text, err := c.markdown()
	if err != nil {
		t.Fatal(err)
	}
	return c.yields, len(text)
}

// The work of a conversion is linear. It is counted, not timed: twice the length is twice the
// steps, and each step is at most 16 KiB of the page.
func TestAttackPagesAreConvertedInTheirLength(t *testing.T) {
	a := attack.Start(t, "06")
	n := 512 << 10
	if testing.Short() {
		n = 128 << 10
	}
	for name, page := range bombs {
		looks, size := steps(t, page(n))
		twice, _ := steps(t, page(2*n))
		a.Try(name, twice > 3*looks+40 || size > maxMarkdown+maxPre*2 || looks > n/64 || looks < n/2/stretch)
		// The control is only the size. The converter with quadratic work was removed, together
		// with its switch.
		if name == "bases" || name == "wide cells" {
			c := newConverter(t.Context(), page(n))
			c.most = math.MaxInt
			text, err := c.markdown()
			a.Off(name, err == nil && len(text) > maxMarkdown+maxPre*2)
		}
	}
}

// A long word is escaped in pieces, and reads as if it were escaped at once.
func TestLongWordsAreEscapedInPieces(t *testing.T) {
	for _, unit := range []string{"[", "_", "a_b", "&amp;", "1.", "ä_", "😀_é", "-", "x_&#1;_"} {
		for shift := range 12 {
			word := strings.Repeat("a", shift) + strings.Repeat(unit, 2*stretch/len(unit)+9)
			var b strings.Builder
			last := rune(0)
			for rest := word; rest != ""; {
				n := wholeRunes(rest, stretch)
				if n > stretch {
					t.Fatalf("%s: a piece of %d bytes", unit, n)
				}
				b.WriteString(escape(rest, n, last))
				last, _ = utf8.DecodeLastRuneInString(rest[:n])
				rest = rest[n:]
			}
			if b.String() != escape(word, len(word), 0) {
				t.Errorf("%s after %d letters", unit, shift)
			}
		}
	}
}

// A conversion ends with its context, in the middle of a page.
func TestMarkdownEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, page := range bombs {
			ctx, cancel := context.WithCancel(t.Context())
			c := newConverter(ctx, page(1<<20))
			cancel()
			if _, err := c.markdown(); !errors.Is(err, context.Canceled) || c.yields > 2 {
				t.Errorf("%s: %v after %d steps", name, err, c.yields)
			}
		}
	})
}

// The length of the result is limited: below, at and above.
func TestMarkdownIsBounded(t *testing.T) {
	line := "<br>" + strings.Repeat("a", 1020)
	for n, cut := range map[int]bool{100: false, 8*1024 + 600: true} {
		got, err := markdown(t.Context(), strings.Repeat(line, n), "")
		if err != nil || strings.HasSuffix(got, leftOut) != cut || len(got) > maxMarkdown+64<<10 {
			t.Errorf("%d lines: %d bytes, %v", n, len(got), err)
		}
	}
	for n, cut := range map[int]bool{maxToken - 64: false, maxToken + 64: true} {
		got, err := markdown(t.Context(), "<p>before</p><!--"+strings.Repeat("a", n)+"--><p>after", "")
		if err != nil || strings.HasSuffix(got, leftOut) != cut || !strings.HasPrefix(got, "before") {
			t.Errorf("a comment of %d bytes: %q, %v", n, got, err)
		}
	}
	if got, err := markdown(t.Context(), strings.Repeat("<blockquote>", 5000)+"<br>deep", ""); err != nil || !strings.HasSuffix(got, "deep") || len(got) > 100 {
		t.Errorf("%q %v", got, err)
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, page := range bombs {
		f.Add(page(300))
	}
	f.Add("<table><tr><td><ul><li>a<pre>b</table>c</pre><h1>d")
	f.Fuzz(func(t *testing.T, page string) {
		got, err := markdown(t.Context(), page, "")
		if err != nil || len(got) > 150*len(page)+1000 {
			t.Fatalf("%d bytes become %d: %v", len(page), len(got), err)
		}
	})
}
