// Package labels contains the texts of links, for tests of packages markdown and iframe. Some
// texts show another host than the target of the link, and some do not.
package labels

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Target is the target of the deceptive links.
const Target = "https://evil.test/x"

// Row is one link.
type Row struct {
	Name     string
	Markdown string // of the paragraph, or block, with the link
}

// Deceptive returns links to Target whose text a reader may take for bank.com or another host.
func Deceptive() []Row {
	var rows []Row
	add := func(name, label string) {
		rows = append(rows, Row{name, "[" + label + "](" + Target + ")"})
	}
	raw := func(name, markdown string) {
		rows = append(rows, Row{name, strings.ReplaceAll(markdown, "TARGET", Target)})
	}
	char := func(r rune) string { return fmt.Sprintf("&#x%X;", r) }

	for _, label := range []string{"bank.com", "www.bank.com", "https://bank.com", "http://bank.com/login", "HTTPS://BANK.COM", "Bank.Com", "ftp://bank.com", "https:bank.com",
		"https:/bank.com", `https:\\\\bank.com`, "//bank.com", "bank.com:443", "bank.com/login?x=y", "help@bank.com", "https://user@bank.com", "https://bank.com@evil.test",
		"https://bank.com:x@evil.test/", "see bank.com now", "(bank.com)", "“bank.com”", "«bank.com»", "bank.com.", "bank.com!", "bank.com…", "**bank.com**", "*bank*.com",
		"ba**nk.c**om", "`bank.com`", "`https://bank.com`", "~~x~~ bank.com", "ba\\nk.com bank\\.com", "bank&#46;com", "bank&period;com", "https&colon;&sol;&sol;bank&period;com",
		"bank.co.uk", "bank.de", "bank.fr", "bank.io", "bank.ai", "bank.me", "bank.app", "bank.dev", "accounts.google", "bank.travel", "bank.bank", "bank.zip", "bank.mov", "bank.md",
		"bank.sh", "bank.py", "bank.rs", "bank.cc", "bank.ws", "bank.vip", "bank.museum", "bank.photography", "bank.international", "bank.xn--p1ai", "bank.онлайн", "банк.рф", "bank.中国",
		"bank.онион", "http://localhost:8080", "http://127.0.0.1", "127.0.0.1", "http://2130706433", "https://[::1]/", "http://intranet/", "https://bank.com%", "https://bank.com$",
		"https://bank.com^", "https://bank.com→", "www.bank.com·", "https://www.bank.com¨/login", "#https://www.bank.com", "1https://bank.com", "xhttps://bank.com", "•www.bank.com",
		"→https://www.bank.com/login", "🔒https://www.bank.com", "🔒 https:⁄⁄bank․com", "✅bank.com", "1️⃣bank.com", "bank.com✅", "bank.com|x", "x|bank.com", "x=bank.com", "x,bank.com",
		"x;bank.com", "x+bank.com", "x~bank.com", "x!bank.com", "bank.com.evil.example", "bank.com-login.example", "log in at bank.com, please", "ｂａｎｋ．ｃｏｍ", "ｂank.com", "bank。com", "bank．com",
		"bank｡com", "b\u0430nk.com", "\u0432ank.com", "bank.c\u043em", "ban\u03ba.com", "bank.com/../..", "https://bank.com?u=evil.test", "https://bank.com#evil.test", "https://bank.com\\\\@evil.test"} {
		add("label "+label, label)
	}
	for _, r := range []rune{0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x180b, 0x180e, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2060, 0x2061, 0x2062, 0x2063, 0x2064, 0x206a, 0x206f,
		0x3164, 0xfe00, 0xfe0f, 0xfeff, 0xffa0, 0xfff9, 0xfffa, 0xfffb, 0x1d173, 0xe0100, 0x2009, 0x200a, 0x2006, 0x202f} {
		add(fmt.Sprintf("unseen %04X inside", r), "ba"+char(r)+"nk.com")
		add(fmt.Sprintf("unseen %04X behind the dot", r), "https://bank."+char(r)+"com")
		add(fmt.Sprintf("unseen %04X behind a scheme", r), "https:"+char(r)+"//bank.com")
	}
	for _, r := range "\u00b7\u02d9\u0387\u0701\u0702\u0660\u06f0\u16eb\u2024\u2027\u2219\u22c5\u2e31\u2e33\u30fb\ua4f8\ua60e\ufe52\uff65\uff0e\u3002\uff61\u2022\u25e6\u00b0\u02da\u0307" {
		add(fmt.Sprintf("dot %04X", r), "bank"+char(r)+"com")
		add(fmt.Sprintf("dot %04X with a scheme", r), "https://www"+char(r)+"bank"+char(r)+"com/login")
	}
	for _, r := range "\u2044\u2215\u29f8\uff0f\u2571\u30ce\u4e3f\u27cb\u3033\u2cc6" {
		add(fmt.Sprintf("slash %04X", r), "https:"+char(r)+char(r)+"bank.com")
		add(fmt.Sprintf("slash %04X behind the host", r), "bank.com"+char(r)+"evil.test")
		add(fmt.Sprintf("slash %04X behind a dotted host", r), "https://bank.com"+char(r)+".evil.test")
	}
	for _, r := range "\uff1a\u2236\ua789\u02d0\u02f8\u0589\u05c3\u205a\ufe55" {
		add(fmt.Sprintf("colon %04X", r), "https"+char(r)+"//bank.com")
		add(fmt.Sprintf("colon %04X before a port", r), "bank.com"+char(r)+"443")
	}
	for _, r := range "\u2010\u2011\u2012\u2013\u2014\u2212\ufe63\u02d7" {
		add(fmt.Sprintf("hyphen %04X", r), "my"+char(r)+"bank.com")
	}
	for _, r := range "\u0301\u0308\u0323\u0338\u20dd\u0489" {
		add(fmt.Sprintf("mark %04X", r), "ba"+char(r)+"nk.com")
		add(fmt.Sprintf("mark %04X on the dot", r), "bank."+char(r)+"com")
	}
	for _, tag := range []string{"b", "i", "u", "s", "span", "kbd", "samp", "mark", "small", "big", "sub", "sup", "q", "cite", "bdi", "abbr", "tt", "font", "del", "var"} {
		raw("element "+tag, "[ba<"+tag+">nk.c</"+tag+">om](TARGET)")
		raw("element "+tag+" in a link of HTML", `<a href="TARGET">ba<`+tag+`>nk.</`+tag+`>com</a>`)
	}
	for name, text := range map[string]string{
		"ruby that is not shown":      "[<ruby>https://bank.com<rp>@evil.test/</rp></ruby>](TARGET)",
		"ruby above":                  "[<ruby>evil.test<rt>bank.com</rt></ruby>](TARGET)",
		"ruby in parts":               "[<ruby>bank<rp>.evil</rp></ruby>.com](TARGET)",
		"pieces turned round":         `[<span dir="rtl"><span dir="ltr">.com/login</span><span dir="ltr">https://bank</span></span>](TARGET)`,
		"pieces turned round by mark": `[<span dir="rtl">com&rlm;.&rlm;bank</span>](TARGET)`,
		"pieces turned by bdi":        `<a href="TARGET" dir="rtl"><bdi>.com</bdi><bdi>bank</bdi></a>`,
		"turned by the paragraph":     `<p dir="rtl"><a href="TARGET">com&rlm;.&rlm;bank</a></p>`,
		"turned by Hebrew":            `<p dir="rtl"><a href="TARGET">com.` + "\u05d0" + `.bank</a></p>`,
		"title before alt":            `[<img title="x alt=" alt="https://bank.com">](TARGET)`,
		"words of an image":           "[![bank.com](y.png)](TARGET)",
		"words of images":             "[![https](a.png)![://bank.com](b.png)](TARGET)",
		"numbers of a list":           `<a href="TARGET"><ol><li>bank.com</li></ol></a>`,
		"a closed details":            `<a href="TARGET"><details><summary>bank.com</summary>.evil.test</details></a>`,
		"tiny rest":                   "[bank.com" + strings.Repeat("<small>", 20) + ".evil.test" + strings.Repeat("</small>", 20) + "](TARGET)",
		"tiny user name":              "[https://bank.com" + strings.Repeat("<sub>", 10) + "@evil.test" + strings.Repeat("</sub>", 10) + "](TARGET)",
		"a table":                     `<a href="TARGET"><table><tr><td>bank.<td>com</table></a>`,
		"a link of HTML":              `<a href="TARGET">https://bank.com</a>`,
		"a link across elements":      `<a href="TARGET"><b>https://</b><i>bank</i>.<u>com</u></a>`,
		"code of HTML":                `<a href="TARGET"><code>bank.com</code></a>`,
		"broken over lines":           `<a href="TARGET">bank.<wbr>com</a>`,
		"a comment":                   "[bank<!-- x -->.com](TARGET)",
		"pushed out of code":          `<pre><a href="TARGET">https://bank.com` + strings.Repeat("&nbsp;", 300) + `</a></pre>`,
		"pushed out of code blocks":   `<pre><code><a href="TARGET">https://bank.com` + strings.Repeat("&nbsp;", 300) + `</a></code></pre>`,
		"pushed out of a table":       `<table><tr><td><a href="TARGET">https://bank.com` + strings.Repeat("&nbsp;", 300) + `</a></table>`,
		"pushed out of a caption":     `<table><caption><a href="TARGET">https://bank.com` + strings.Repeat("&nbsp;", 300) + `</a></caption><tr><td>a</table>`,
		"reference":                   "[bank.com][a]\n\n[a]: TARGET",
		"reference by itself":         "[bank.com]\n\n[bank.com]: TARGET",
		"in a heading":                "# [bank.com](TARGET)",
		"in a list":                   "- [bank.com](TARGET)",
		"in a table of Markdown":      "|a|\n|-|\n|[bank.com](TARGET)|",
		"in a quotation":              "> [bank.com](TARGET)",
		"in small print":              strings.Repeat("<small>", 25) + "[bank.com](TARGET)" + strings.Repeat("</small>", 25),
		"in a footnote":               "a[^1]\n\n[^1]: [bank.com](TARGET)",
	} {
		raw(name, text)
	}
	return rows
}

// Honest returns links whose text shows no other host than the target's.
func Honest() []Row {
	var rows []Row
	add := func(label, url string) { rows = append(rows, Row{label, "[" + label + "](" + url + ")"}) }
	for _, id := range strings.Fields(`cmp.Or errors.Is errors.As time.Now time.Date time.Zone os.Open os.Exit os.File fmt.Println fmt.Print strings.Map strings.Cut slices.Sort slices.Index
		maps.Keys iter.Seq io.Reader io.EOF net.Dial net.IP http.Get http.Host url.Host path.Join sync.Pool sync.Map sort.By json.Data user.Name user.Email list.At node.Id x.To x.At x.No
		context.Context console.log Array.from Array.at Object.is Promise.all Math.max JSON.parse document.body window.name element.style React.memo app.Run app.use router.get np.array
		pd.read_csv torch.no_grad plt.show self.name str.join dict.get sys.exit System.out String.format List.of std::io std.fs a.b.c foo.bar x.y`) {
		add("`"+id+"`", "https://docs.example/"+id)
	}
	for _, file := range strings.Fields(`README.md CHANGELOG.md main.go main.py index.html package.json go.mod go.sum style.css app.js data.csv notes.txt thesis.tex plan.pdf photo.jpg image.png
		config.yaml setup.py lib.rs install.sh Makefile Dockerfile node.js Node.js Vue.js next.js main.c main.cpp a.h query.sql archive.tar.gz table.xlsx letter.docx index.tsx src/main.py
		docs/guide.md internal/frame/document.js test.log module.wasm script.js Chapter1.ipynb`) {
		add(file, "https://github.com/a/b/blob/main/"+file)
	}
	for _, text := range []string{"here", "this page", "Read more", "Read more.", "documentation", "the Go blog", "issue #12", "#12", "PR 1234", "v1.2.3", "version 1.26", "Go 1.26.1", "RFC 9110",
		"ISO 8601:2019", "section 3.2.1", "3.14", "1,000.50", "12.5 %", "€ 9.99", "12/05/2024", "2024-05-12", "10:30", "a/b", "and/or", "24/7", "e.g. this", "i.e. that", "a.k.a. me", "U.S. law",
		"J. R. R. Tolkien", "Dr. Who", "St. Gallen", "No. 5", "vs. them", "etc.", "C++", "C#", "F#", ".NET", "ASP.NET Core", "Tom’s page", "“quoted”", "«cité»", "a — b", "a – b", "left → right", "x² + y²", "50°",
		"100 %", "A & B", "A+B", "★★★★☆", "❤️ sponsor", "🚀 launch", "👩‍👩‍👧 family", "🇩🇪 German", "1️⃣ first", "naïve", "café", "Zürich", "Łódź", "straße", "señor", "İstanbul", "Привет", "Читать дальше", "Ελληνικά",
		"日本語", "使用React构建", "Go言語", "한국어 문서", "中文文档", "ไทย", "हिन्दी", "বাংলা", "தமிழ்", "עברית", "اقرأ المزيد", "فارسی", "ქართული", "Հայերեն", "አማርኛ", "*emphasis*", "**strong**", "`code`", "`go test ./...`",
		"`git push`", "`--flag`", "`/etc/hosts`", "`a[0]`", "`x := y`", "[1]", "Fig. 2", "p. 12", "pp. 3–5", "§ 5", "†", "© 2026", "™", "Q&A", "R&D", "TCP/IP", "I/O", "n/a", "what?", "yes!", "wait…", "a, b; c", "(see this)",
		"user guide (PDF, 2.3 MB)", "Download", "sign in", "contact us", "St. John's", "co-operate", "Wi-Fi", "2nd ed.", "1.", "A."} {
		add(text, "https://docs.example/x")
	}
	for label, url := range map[string]string{"example.com": "https://example.com", "www.example.com": "https://example.com/x", "https://example.com/a/b": "https://example.com/a/b", "Example.com": "https://www.example.com",
		"docs.example.com": "https://docs.example.com", "example.com/readme.md": "https://example.com/readme.md", "https://example.com:8080/x": "https://example.com:8080/x", "pkg.go.dev": "https://pkg.go.dev/cmp",
		"pkg.go.dev/cmp#Or": "https://pkg.go.dev/cmp#Or", "help@example.com": "mailto:help@example.com", "mail help@example.com": "mailto:help@example.com?subject=a.b", "+49 30 123456": "tel:+4930123456",
		"030 123456": "tel:+4930123456", "call us": "tel:+4930123456", "write to us": "mailto:john.doe@example.com", "john.doe@example.com": "mailto:john.doe@example.com", "http://localhost:8080": "http://localhost:8080",
		"127.0.0.1": "http://127.0.0.1", "github.com/a/b": "https://github.com/a/b", "GitHub": "https://github.com", "example.com (official)": "https://example.com"} {
		rows = append(rows, Row{label, "[" + label + "](" + url + ")"})
	}
	for _, text := range []string{"https://example.com/a?b=c", "<https://example.com>", "www.example.com", "a@example.com", "<a@example.com>"} {
		rows = append(rows, Row{text, text})
	}
	return rows
}

// Shuffled returns n links to Target whose texts are pieces of a host in random order, in
// elements with directions and with marks between them. Only a browser can determine whether
// such a text shows bank.com. Equal seeds return equal links.
func Shuffled(n int, seed uint64) []Row {
	r := rand.New(rand.NewPCG(seed, 17))
	pieces := []string{"bank", ".com", "com", ".", "/", "https://", "bank.", "evil.test", "@", "1.2", "&rlm;", "&lrm;", "&#x61c;", "\u05d0", "\u0628", " ", "-"}
	opens := [][2]string{{`<span dir="rtl">`, "</span>"}, {`<span dir="ltr">`, "</span>"}, {"<bdi>", "</bdi>"}, {`<b dir="auto">`, "</b>"}, {"", ""}, {"", ""}, {"", ""}}
	var rows []Row
	for i := range n {
		var b strings.Builder
		outer := opens[r.IntN(len(opens))]
		b.WriteString(outer[0])
		for range 2 + r.IntN(4) {
			in := opens[r.IntN(len(opens))]
			b.WriteString(in[0] + pieces[r.IntN(len(pieces))] + in[1])
		}
		b.WriteString(outer[1])
		link := `<a href="` + Target + `">` + b.String() + "</a>"
		if r.IntN(2) == 0 {
			link = `<p dir="rtl">` + link + "</p>"
		} else {
			link = "<p>" + link + "</p>"
		}
		rows = append(rows, Row{fmt.Sprintf("shuffled %d: %s", i, b.String()), link})
	}
	return rows
}
