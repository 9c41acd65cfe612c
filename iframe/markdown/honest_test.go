package markdown_test

import (
	"strings"
	"testing"

	"github.com/bailey-go/bailey/iframe/markdown"
	"github.com/bailey-go/bailey/internal/native"
)

// Long documents in many languages are shown whole and without a warning. Only a line above its
// limit is shown as plain text, and its pieces do not split a letter.
func TestLongHonestDocumentsAreShownWhole(t *testing.T) {
	native.Only(t)
	r := newRenderer(t, markdown.Options{})
	rep := strings.Repeat
	row := func(n int, cell string) string { return "|" + rep(" "+cell+" |", n) + "\n" }
	for name, c := range map[string][2]string{
		"table 300x8":                 {row(8, "head") + row(8, "---") + rep(row(8, "cell"), 300), "cell"},
		"list 2000":                   {rep("- item with *words*\n", 2000), "item"},
		"numbered 2000":               {rep("1. item\n", 2000), "item"},
		"task list 2000":              {rep("- [x] item\n", 2000), "item"},
		"nested list":                 {rep("- a\n  - item\n    - c\n", 700), "item"},
		"loose list":                  {rep("- item\n\n  more\n\n", 1200), "item"},
		"definition html":             {"<dl>" + rep("<dt>item<dd>x", 2000) + "</dl>", "item"},
		"html list 2000":              {"<ul>" + rep("<li>item <b>x</b></li>", 2000) + "</ul>", "item"},
		"html table":                  {"<table>" + rep("<tr>"+rep("<td>cell</td>", 8)+"</tr>\n", 300) + "</table>", "cell"},
		"html table b":                {"<table>" + rep("<tr>"+rep("<td><b>cell</b></td>", 8)+"</tr>\n", 1000) + "</table>", "cell"},
		"Chinese":                     {rep("\u6c49\u5b57\u6d4b\u8bd5\u3002", 4000), "\u6c49\u5b57"},
		"Arabic":                      {rep("\u0627\u0644\u0639\u0631\u0628\u064a\u0629 \u0646\u0635 ", 2000), "\u0646\u0635"},
		"Arabic vowels":               {rep("\u0628\u0650\u0633\u0652\u0645\u0650 \u0627\u0644\u0644\u0651\u064e\u0647\u0650 ", 2000), "\u0650"},
		"Arabic mixed English":        {rep("\u0627\u0644\u0639\u0631\u0628\u064a\u0629 with Go code ", 300), "Go"},
		"Hebrew mixed long paragraph": {rep("\u05e2\u05d1\u05e8\u05d9\u05ea HTTP 2.0 ", 450), "HTTP"},
		"Hebrew mixed list":           {rep("- \u05e2\u05d1\u05e8\u05d9\u05ea HTTP\n", 600), "HTTP"},
		"Hebrew table":                {row(8, "\u05e2") + row(8, "---") + rep(row(8, "\u05e2\u05d1 A"), 100), "A"},
		"Arabic numbers table":        {row(4, "\u0628") + row(4, "---") + rep(row(4, "\u0628 12"), 300), "12"},
		"Thai":                        {rep("\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22\u0e01\u0e33\u0e25\u0e31\u0e07", 3000), "\u0e44\u0e17\u0e22"},
		"Thai stacked":                {rep("\u0e17\u0e35\u0e48\u0e19\u0e35\u0e49\u0e19\u0e49\u0e33", 2000), "\u0e49"},
		"Hindi":                       {rep("\u0939\u093f\u0928\u094d\u0926\u0940 \u0915\u094d\u0937\u0924\u094d\u0930\u093f\u092f ", 2000), "\u0915\u094d\u0937"},
		"Sanskrit":                    {rep("\u0915\u093e\u0930\u094d\u0924\u094d\u0938\u094d\u0928\u094d\u092f ", 1000), "\u0924\u094d\u0938"},
		"Malayalam":                   {rep("\u0d2e\u0d32\u0d2f\u0d3e\u0d33\u0d02 \u0d15\u0d4d\u0d37\u0d4d\u0d2e ", 1000), "\u0d37"},
		"Vietnamese NFD":              {rep("Tie\u0302\u0301ng Vie\u0323\u0302t ", 3000), "e\u0302\u0301"},
		"Tibetan":                     {rep("\u0f56\u0f66\u0f92\u0fb2\u0f74\u0f56\u0f66\u0f0b", 2000), "\u0f92\u0fb2"},
		"Khmer":                       {rep("\u1797\u17b6\u179f\u17b6\u1781\u17d2\u1798\u17c2\u179a \u179f\u17d2\u178f\u17d2\u179a\u17b8 ", 1000), "\u17d2\u179a"},
		"Burmese":                     {rep("\u1019\u103c\u1014\u103a\u1019\u102c\u1018\u102c\u101e\u102c \u1000\u1039\u1000\u103b\u103d\u1014\u103a\u102f\u1015\u103a ", 1000), "\u1019\u103c"},
		"Korean NFD":                  {rep("\u1112\u1161\u11ab\u1100\u1173\u11af ", 3000), "\u1100\u1173"},
		"old Hangul":                  {rep("\u1102\u119e\u1105\u1161 ", 1000), "\u119e"},
		"emoji":                       {rep("\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466\U0001f44d\U0001f3fd\u2764\ufe0f\U0001f1e9\U0001f1ea ", 1500), "\u200d"},
		"flags of England":            {rep("\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f ", 50), "\U000e007f"},
		"emoji run no spaces":         {rep("\U0001f44d\U0001f3fd", 200), "\U0001f3fd"},
		"kiss skin":                   {rep("\U0001f469\U0001f3fd\u200d\u2764\ufe0f\u200d\U0001f48b\u200d\U0001f468\U0001f3fb", 60), "\U0001f48b"},
		"IPA":                         {rep("[k\u02b0\u0250\u0303\u02d0t\u0361\u0283] ", 500), "\u0361"},
		"math":                        {rep("x\u0305\u0302 \u2211 \u20d7a ", 500), "\u2211"},
		"Hebrew points":               {rep("\u05d1\u05bc\u05b0\u05e8\u05b5\u05d0\u05e9\u05c1\u05b4\u0596\u05d9\u05ea ", 1000), "\u05b0"},
		"Mongolian":                   {rep("\u182e\u1823\u1829\u182d\u1823\u182f ", 1000), "\u182e"},
		"N'Ko":                        {rep("\u07d2\u07de\u07cf ", 1000), "\u07d2"},
		"Persian ZWNJ":                {rep("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 ", 1000), "\u200c"},
		"Devanagari ZWJ":              {rep("\u0930\u094d\u200d\u092f \u0915\u094d\u200d\u0937 ", 500), "\u200d"},
		"kana voiced":                 {rep("\u304b\u3099\u306f\u309a", 1000), "\u3099"},
		"Tamil":                       {rep("\u0ba4\u0bae\u0bbf\u0bb4\u0bcd \u0ba8\u0bc0\u0b99\u0bcd\u0b95\u0bb3\u0bcd ", 1000), "\u0bcd"},
		"Javanese":                    {rep("\ua9b2\ua9a4\ua9c0\ua9a4\ua995 ", 500), "\ua9c0"},
		"code 5000 lines":             {"```go\n" + rep("if x { return y } // \u00fc\n", 5000) + "```\n", "return y"},
		"many short paragraphs":       {rep("para\n\n", 3000), "para"},
		"long line":                   {rep("word ", 30000), "word"},
		"many links":                  {rep("[docs](https://a.example/x)\n", 500), ">docs<"},
		"footnotes":                   {rep("a[^1] ", 200) + "\n\n[^1]: nota\n", "nota"},
		"html hr":                     {"<div>" + rep("x<br>", 4000) + "</div>", "x"},
	} {
		s := r.NewStream()
		_, _ = s.Write([]byte(c[0]))
		s.Close()
		var out strings.Builder
		for _, p := range s.Patches() {
			out.WriteString(p.HTML.String())
		}
		count := func(s string) int {
			return strings.Count(strings.ReplaceAll(s, "</pre>\n<pre class=\"bailey-plain\">", ""), c[1])
		}
		want, got, report := count(c[0]), count(out.String()), s.Report()
		long := strings.Contains(report.String(), "LineBytes")
		if got < want || report.Count(markdown.Deception)+report.Count(markdown.Broken) > 0 || report.Count(markdown.Limit) > 0 && !long {
			t.Errorf("%s: %d of %d: %s", name, got, want, report)
		}
		if long && len(c[0]) <= markdown.LineBytes {
			t.Errorf("%s: %s", name, report)
		}
	}
}
