package markdown_test

import (
	"strings"
	"testing"

	"github.com/bailey-go/bailey/iframe/markdown"
	"github.com/bailey-go/bailey/internal/native"
)

// Texts of links that were written after the rules, by an author who had not seen the corpora.
// Each link leads to evil.test, and a reader may take it for another host.
var heldOutDeceptive = []string{
	"bank[.]com", "bank dot com", "bank (dot) com", "bank. com", "bank .com", "www. bank .com", "bank&#46;com", "ba&shy;nk.c&shy;om", "http:bank.com", "bank.com.",
	"pay**pal**.com", "`bank.com`", "pay<b>pal</b>.com", "bank<sub>.</sub>com", "bank<br>.com", "bank<wbr>.com", "<kbd>bank</kbd>.com", "<ruby>bank<rt>.com</rt></ruby>",
	"bank\ua78fcom", "bank\u119ecom", "bank\u2b1dcom", "bank\u25aacom", "bank\U0001f784com", "bank\u2218com", "bank\u22c6com", "bank\u26accom", "bank\u2b29com", "bank\u25fecom", "bank\u2299com",
	"b\u0430nk.com", "bank.\u0441om", "\u0299\u1d00\u0274\u1d0b.\u1d04\u1d0f\u1d0d", "\U0001d5ef\U0001d5ee\U0001d5fb\U0001d5f8.\U0001d5f0\U0001d5fc\U0001d5fa", "bank\u3002com", "bank\u0323com", "\u94f6\u884c.\u4e2d\u56fd",
	"evil.test.bank.com", "bank.com/evil.test", "evil.test@bank.com", "https://evil.test@bank.com/", "bank.com?x=evil.test", "evil.test:443@bank.com", "evil.test.bank.co.uk/x",
	"//bank.com", "https://bank", "Sign in to bank.com now", "(bank.com)", "bank.com's page", "\u2192bank.com\u2190", "bank.com\u2026", "BANK.COM", "Bank.Com", "t.co", "gov.uk",
	"192.0.2.7", "http://0x7f.1/", "https://2130706433", "https://[::1]/", "help@bank.com", "![bank.com](a.png)", "bank,com", "bank\u201acom", "bank.com:443", "ftp.bank.com", "bank\u2e31com", "bank\u30fbcom",
	"\u24d1\u24d0\u24dd\u24da.\u24d2\u24de\u24dc", "\u1d47\u1d43\u207f\u1d4f.\u1d9c\u1d52\u1d50", "\U0001f171ank.com", "bank\u25cfcom", "https:\U0001d5ef.com", "my bank (.) com", "bank{dot}de", "bank\u00b7 com", "![a](x.png \"https://bank.com\")",
}

// Texts with more Markdown around the link, and its target.
var heldOutAround = []string{
	"[bank](https://evil.test/)[.com](https://evil.test/)", "[bank.](https://evil.test/)[com](https://evil.test/)", "[bank](https://evil.test/).com", "bank.[com](https://evil.test/)", "https://[bank](https://evil.test/).com",
	"www.[bank](https://evil.test/).com", "[bank](https://evil.test/)**.com**", "**bank.**[com](https://evil.test/login)", "<b>bank</b><a href=https://evil.test/>.com</a>", "[www](https://evil.test/).bank.com",
	"[https://www](https://evil.test/).bank.com", "[bank](https://evil.test/)&#46;com", "[bank](https://evil.test/)<wbr>.com",
	"[click here](https://evil.test/ \"https://bank.com/login\")", "<a href=https://evil.test/ title=www.bank.com>click</a>", "- [bank](https://evil.test/).com", "> **[bank](https://evil.test/)**.com", "|a|\n|-|\n|[bank](https://evil.test/).com|", "# [bank](https://evil.test/).com",
	"<div>[bank](https://evil.test/).com</div>", "a[^1]\n\n[^1]: [bank](https://evil.test/).com",
	"<a href=https://evil.test/>bank</a><a href=https://evil.test/>.</a><a href=https://evil.test/>com</a>", "[b](https://evil.test/)[a](https://evil.test/)[n](https://evil.test/)[k](https://evil.test/)[.](https://evil.test/)[com](https://evil.test/)",
}

// The text, and where it leads: honest.
var heldOutHonest = [][2]string{
	{"Node.js", "nodejs.org"}, {"Vue.js 3.4 release", "blog.vuejs.org"}, {"package.json", "docs.npmjs.com"}, {"README.md", "github.com"}, {"main.go:42", "github.com"}, {"v1.2.3", "github.com"}, {"`fmt.Println`", "pkg.go.dev"},
	{"e.g. this page", "a.example"}, {"the U.S. Army", "army.mil"}, {"J.R.R. Tolkien", "en.wikipedia.org"}, {"Ph.D. program", "mit.edu"}, {"ASP.NET Core", "learn.microsoft.com"}, {"Socket.IO", "socket.io"}, {"docs.rs", "docs.rs"}, {"crates.io", "crates.io"},
	{"npmjs.com", "www.npmjs.com"}, {"www.npmjs.com", "npmjs.com"}, {"https://example.com/a.b/c.com", "example.com"}, {"3.5 million", "a.example"}, {"10:30 a.m.", "a.example"}, {"and/or", "a.example"}, {`C:\\Users\\x`, "a.example"},
	{"user/repo#12", "github.com"}, {"@user", "github.com"}, {"`numpy.array`", "numpy.org"}, {"torch.nn.Linear", "pytorch.org"}, {"`System.out.println`", "docs.oracle.com"}, {"p. 12", "a.example"}, {"No. 5", "a.example"}, {"St. Mary's", "a.example"},
	{"file.tar.gz", "a.example"}, {"AC/DC", "acdc.com"}, {"24/7", "a.example"}, {"TCP/IP", "a.example"}, {"std::vector", "cppreference.com"}, {"HTTP/1.1", "rfc-editor.org"}, {"RFC 9110 \u00a74.2", "rfc-editor.org"}, {"C++/CLI", "a.example"}, {"x86-64", "a.example"},
	{"\u8a73\u7d30\u306f\u3053\u3061\u3089\u3002\u516c\u5f0f\u30b5\u30a4\u30c8", "a.example"}, {"\u4f60\u597d\u3002\u4e16\u754c", "a.example"}, {"\u3053\u308c\u3002", "a.example"}, {"\u7b2c3.2\u7ae0", "a.example"}, {"\u092a\u0922\u093c\u0947\u0902\u0964 \u0914\u0930", "a.example"},
	{"\u0627\u0642\u0631\u0623 \u0627\u0644\u0645\u0632\u064a\u062f", "a.example"}, {"\u05e7\u05e8\u05d0 \u05e2\u05d5\u05d3", "a.example"}, {"\u0e2d\u0e48\u0e32\u0e19\u0e40\u0e1e\u0e34\u0e48\u0e21\u0e40\u0e15\u0e34\u0e21", "a.example"}, {"Vi\u1ec7t Nam", "a.example"}, {"Vie\u0323\u0302t Nam", "a.example"},
	{"na\u00efve caf\u00e9", "a.example"}, {"M\u00fcller & S\u00f6hne", "a.example"}, {"\u00bfQu\u00e9?", "a.example"}, {"5 \u00b0C", "a.example"}, {"100\u00a0%", "a.example"}, {"File\u2192Save", "a.example"}, {"10\u00d720", "a.example"}, {"50\u20ac", "a.example"}, {"\u25cf Active", "a.example"},
	{"Home \u25b8 Docs", "a.example"}, {"\u2605\u2605\u2605\u2606\u2606", "a.example"}, {"first\u00b7second", "a.example"}, {"\u0412\u0438\u043a\u0438\u043f\u0435\u0434\u0438\u044f. \u0421\u0442\u0430\u0442\u044c\u044f", "ru.wikipedia.org"}, {"\u0441\u0442\u0440. 5", "a.example"}, {"\u043c. \u041a\u0438\u0457\u0432", "a.example"},
	{"\uc790\uc138\ud788 \ubcf4\uae30.", "a.example"}, {"click here (PDF, 2.4 MB)", "a.example"}, {"Issue #17: Walls", "github.com"}, {"don't.", "a.example"}, {"Mr.Robot", "imdb.com"}, {"The end.Then more", "a.example"}, {"1.5.2024", "a.example"}, {"2026-11-22", "a.example"},
	{"Fig. 3.a", "a.example"}, {"`os.path.join`", "docs.python.org"}, {"`time.Now`", "pkg.go.dev"}, {"`app.use`", "expressjs.com"}, {"`process.env`", "nodejs.org"}, {"`window.location.host`", "developer.mozilla.org"}, {"index.html", "a.example"}, {"Makefile.am", "a.example"},
	{"wikipedia.org", "en.wikipedia.org"}, {"mail me", "a.example"}, {"Inc. magazine", "inc.com"}, {"a.k.a. the rest", "a.example"}, {"**bold** and *it*", "a.example"}, {"\u00abcitation\u00bb", "a.example"}, {"\u201cquote.\u201d More", "a.example"}, {"co-operate", "a.example"},
}

// In the first test with these texts, 36 of 82 deceptive ones passed, 15 of them because of the
// text around the link. 4 of 88 honest ones were reported as deceptive.
func TestHeldOutLabels(t *testing.T) {
	native.Only(t)
	r := newRenderer(t, markdown.Options{})
	passed, total := 0, 0
	try := func(text string) {
		total++
		out, report := render(t, r, text)
		checkOutput(t, r, text, out, report)
		if strings.Contains(out, "data-href") && !strings.Contains(out, beside+"evil.test)</span>") {
			passed++
			t.Errorf("nothing says where it leads: %q\n%s", text, out)
		}
	}
	for _, label := range heldOutDeceptive {
		try("[" + label + "](https://evil.test/)")
	}
	inside := passed
	for _, text := range heldOutAround {
		try(text)
	}
	accused, noted := 0, 0
	for _, row := range heldOutHonest {
		text := "[" + row[0] + "](https://" + row[1] + "/x)"
		out, report := render(t, r, text)
		checkOutput(t, r, text, out, report)
		if strings.Contains(out, "data-warning") {
			accused++
			t.Errorf("accused: %q\n%s", row, out)
		} else if strings.Contains(out, beside) {
			noted++
			t.Logf("its host stands beside: %q", row)
		}
	}
	t.Logf("%d of %d deceptive pass (%d inside of the link, %d by what is around it); of %d honest %d accused, %d with the host beside them", passed, total, inside, passed-inside, len(heldOutHonest), accused, noted)
}
