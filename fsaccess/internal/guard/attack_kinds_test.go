package guard

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
)

// Active content in forms that browsers read and a plain search does not find.
func TestAttackActiveContent(t *testing.T) {
	count := attack.Start(t, "15")
	const script = "<script>alert(1)</script>"
	spaces := func(n int) string { return strings.Repeat(" ", n) }
	words := strings.Repeat("word ", markupWindow/5)
	svg := func(s string) string { return "<svg xmlns='http://www.w3.org/2000/svg'>" + s + "</svg>" }
	wide := func(s string) string {
		b := []byte{0xff, 0xfe}
		for _, c := range []byte(s) {
			b = append(b, c, 0)
		}
		return string(b)
	}
	for _, c := range []struct{ what, name, text string }{
		{"behind 2 MiB", "page.html", "<!doctype html><p>hello</p>" + spaces(2<<20) + script},
		{"behind 2 MiB of text", "page.html", "<!doctype html>" + strings.Repeat(words, 9) + script},
		{"an SVG behind 2 MiB", "pic.svg", svg(spaces(2<<20) + script)},
		{"behind 15 MiB", "page.html", "<p>" + spaces(15<<20) + script},
		{"in UTF-16 behind 2 MiB", "page.html", wide("<p>" + spaces(1<<20) + script)},
		{"over a window's end", "page.html", "<p>" + strings.Repeat("x", markupWindow-6) + script},
		{"over a window's end, by one", "page.html", "<p>" + strings.Repeat("x", markupWindow-4) + script},
		{"a handler with 1 MiB of spaces", "a.html", "<p onclick" + spaces(1<<20) + "= 'x'>"},
		{"a handler with 1 MiB of tabs", "a.html", "<p onclick" + strings.Repeat("\t", 1<<20) + "= 'x'>"},
		{"a charset with 1 MiB of spaces", "a.html", "<meta charset" + spaces(1<<20) + "=iso-2022-jp>"},
		{"tab in the scheme", "a.html", "<a href=\"java\tscript:alert(1)\">x</a>"},
		{"line feed in the scheme", "a.html", "<a href=\"java\nscript:alert(1)\">x</a>"},
		{"carriage return in the scheme", "a.html", "<a href=\"javascript\r:alert(1)\">x</a>"},
		{"1 MiB of line feeds in the scheme", "a.html", "<a href=\"java" + strings.Repeat("\n", 1<<20) + "script:alert(1)\">x</a>"},
		{"all three in vbscript", "a.html", "<a href=\"v\tb\ns\rcript:x\">x</a>"},
		{"control before the scheme", "a.html", "<a href='\x01javascript:alert(1)'>x</a>"},
		{"a NUL in the tag", "a.html", "<scr\x00ipt>alert(1)</script>"},
		{"&colon;", "a.html", "<a href=\"javascript&colon;alert(1)\">x</a>"},
		{"&Tab;", "a.html", "<a href=\"java&Tab;script:alert(1)\">x</a>"},
		{"&NewLine;", "a.html", "<a href=\"javascript&NewLine;:alert(1)\">x</a>"},
		{"both", "a.html", "<a href=\"java&NewLine;scr&Tab;ipt&colon;alert(1)\">x</a>"},
		{"a number without an end", "a.html", "<a href=\"java&#115cript:alert(1)\">x</a>"},
		{"ISO-2022-JP", "a.html", "<!doctype html><meta charset=iso-2022-jp><scr\x1b(Bipt>alert(1)</scr\x1b(Bipt>"},
		{"ISO-2022-JP, not declared", "a.html", "<p>\x1b$B%9\x1b(B<scr\x1b(Bipt>"},
		{"a charset in quotes", "a.html", "<meta charset = \"ISO-2022-JP\">x"},
		{"a charset of another case", "a.html", "<META CHARSET='CsISO2022jp'>x"},
		{"UTF-7", "a.html", "<meta charset=utf-7>+ADw-script+AD4-"},
		{"HZ", "a.html", "<meta charset=hz-gb-2312>~{"},
		{"XML in UTF-16 by name", "a.xml", "<?xml version='1.0' encoding='utf-16'?><x/>"},
		{"XML in EBCDIC", "a.svg", "<?xml version='1.0' encoding = \"ebcdic-cp-us\"?><x/>"},
		{"svgz", "a.svgz", string(gz([]byte(svg(script))))},
		{"svgz, harmless for 3 MiB", "a.svgz", string(gz([]byte(svg(spaces(3<<20) + script))))},
		{"svgz, cut off", "a.svgz", string(gz([]byte(svg("<circle/>")))[:30])},
		{"svgz that is none", "a.svgz", svg(script)},
		{"svgz in UTF-16", "a.svgz", string(gz([]byte(wide(svg(script)))))},
		{"svgz of another case", "A.SVGZ", string(gz([]byte(svg(script))))},
		{"<set⏎", "a.svg", svg("<a><set\nattributeName='href' to='java&Tab;script&colon;alert(1)'/></a>")},
		{"<set/", "a.svg", svg("<a><set/attributeName='href' to='x'/></a>")},
		{"<set⇥", "a.svg", svg("<set\tattributeName='onload' to='x'/>")},
		{"<set> of a name space", "a.svg", "<s:svg xmlns:s='http://www.w3.org/2000/svg'><s:set attributeName='href'/></s:svg>"},
		{"<animate of a name space", "a.svg", "<s:svg xmlns:s='http://www.w3.org/2000/svg'><s:animate attributeName='href'/></s:svg>"},
		{"<use of a name space", "a.svg", "<s:svg xmlns:s='http://www.w3.org/2000/svg'><s:use href='x'/></s:svg>"},
		{"<foreignObject of a name space", "a.svg", "<s:svg xmlns:s='http://www.w3.org/2000/svg'><s:foreignObject/></s:svg>"},
		{"script of a name space", "a.xhtml", "<html xmlns:s='http://www.w3.org/1999/xhtml'><s:script>alert(1)</s:script></html>"},
		{"discard", "a.svg", svg("<discard begin='1s'/>")},
		{"a transformation", "a.xml", "<xsl:stylesheet version='1.0'/>"},
		{"a handler behind a grave accent", "a.html", "<img src=x `onerror=alert(1)>"},
		{"a handler behind a quote", "a.html", "<img src='x'onerror=alert(1)>"},
		{"a handler behind a form feed", "a.html", "<img src=x\fonerror=alert(1)>"},
		{"a handler with a vertical tab", "a.html", "<img src=x onerror\x0b=alert(1)>"},
		{"a handler with a NUL", "a.html", "<img src=x onerror\x00=alert(1)>"},
		{"data: of XML", "a.html", "<a href='data:text/xml,x'>x</a>"},
		{"data: of SVG", "a.html", "<img src='data:image/svg+xml,x'>"},
		{"another extension", "a.xhtm", "x" + script},
		{"yet another", "a.ehtml", "x" + script},
		{"a feed", "a.rss", "<rss>" + script},
	} {
		count.Try(c.what, !slices.Contains(Classify(c.name, []byte(c.text)), kindActive))
		count.Off(c.what, !plainSearch([]byte(c.text)))
	}
}

// plainSearch is the filter of an earlier version: it searches for bytes in the first 2
// MiB.
func plainSearch(text []byte) bool {
	low := bytes.ToLower(text[:min(len(text), 2<<20)])
	return bytes.Contains(low, []byte("<script")) || bytes.Contains(low, []byte("javascript:")) || hasHandler(low)
}

// Harmless content has no kind.
func TestInactiveMarkup(t *testing.T) {
	for name, text := range map[string]string{
		"page.html":   "<!doctype html><html lang=en><meta charset=\"utf-8\"><title>A & B</title><p>Once &amp; again, on time = money? No: 5 &lt; 6.",
		"old.html":    "<html><meta charset=windows-1252><p>caf\xe9",
		"latin.html":  "<html><meta charset=ISO-8859-15><p>x",
		"config.xml":  "<?xml version=\"1.0\" encoding=\"UTF-8\"?><settings><setting name=\"a\">b</setting><user>c</user></settings>",
		"setting.xml": "<config:settings/><a:user/><b:objects/><c:format/>",
		"pic.svg":     "<?xml version='1.0' encoding='ascii'?><svg xmlns='http://www.w3.org/2000/svg'><circle r='4'/></svg>",
		"pic.svgz":    string(gz([]byte("<svg xmlns='http://www.w3.org/2000/svg'><circle r='4'/></svg>"))),
		"notes.txt":   "write <set x> and java\tscript: and charset=iso-2022-jp \x1b[1m",
		"long.html":   "<p>" + strings.Repeat("a long text with no end of words. ", 100_000),
	} {
		if k := Classify(name, []byte(text)); len(k) > 0 {
			t.Errorf("%s: %v", name, k)
		}
	}
}

// An archive that two readers read differently has a kind. See internal/zipform for the
// table.
func TestAttackArchiveOfTwoReaders(t *testing.T) {
	count := attack.Start(t, "18")
	stored := func(name string) []byte { return zipOf(t, name, "x", "second", "y") }
	for what, local := range map[string]string{
		"a local name that leads out":     "../../../.bashrc",
		"a local name of git":             ".git/hooks/postx",
		"another harmless name":           "notes/readme.tXt",
		"a local name with a separator":   `notes\readme.txt`,
		"a local name that is a device":   "CON",
		"a local name that is absolute":   "/etc/cron.d/evil",
		"a local name with a NUL":         "a\x00",
		"a local name with another drive": "C:/evil",
	} {
		data := stored("notes/readme.txt")
		copy(data[bytes.Index(data, []byte("notes/readme.txt")):], local)
		count.Try(what, !slices.Contains(Classify("a.zip", data), kindArchive))
		_, bad := (&inspection{ctx: t.Context()}).zip(data, func([]byte, func(int) error) error { return nil })
		count.Off(what, !bad)
	}
	if k := Classify("a.zip", stored("notes/readme.txt")); len(k) > 0 {
		t.Errorf("the control: %v", k)
	}
}
