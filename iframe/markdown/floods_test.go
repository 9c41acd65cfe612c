package markdown_test

import (
	"strings"
)

// floods are texts that grow where parsers are weak. Each is about n bytes.
func floods(n int) map[string]string {
	rep := func(s string) string { return strings.Repeat(s, n/len(s)+1) }
	var ladder strings.Builder
	for i := 1; ladder.Len() < n; i++ {
		ladder.WriteString(strings.Repeat("`", i%500+1) + "a ")
	}
	var deep strings.Builder
	for i := 0; deep.Len() < n; i++ {
		deep.WriteString(strings.Repeat("  ", i) + "- a\n")
	}
	var chain strings.Builder
	for i := 0; chain.Len() < n; i++ {
		chain.WriteString("[a" + num(i) + "]: /u" + num(i) + "\n\n")
	}
	var uses strings.Builder
	for i := 0; uses.Len() < n/2; i++ {
		uses.WriteString("[a" + num(i) + "] ")
	}
	uses.WriteString("\n\n")
	for i := 0; uses.Len() < n; i++ {
		uses.WriteString("[a" + num(i) + "]: /u\n\n")
	}
	var notes strings.Builder
	for i := 0; notes.Len() < n; i++ {
		notes.WriteString("[^" + num(i) + "]: see [^" + num(i+1) + "]\n")
	}
	return map[string]string{
		"quotes":          rep("> "),
		"quotes no space": rep(">"),
		"quote lines":     rep("> > > > > > > > > > > > > > > > a\n"),
		"lists":           rep("- "),
		"ordered":         rep("1. "),
		"mixed":           rep("> - "),
		"deep list":       deep.String(),
		"items":           rep("- a\n"),
		"brackets":        rep("["),
		"closed brackets": rep("[") + rep("]"),
		"pairs":           rep("[]"),
		"links":           rep("[a]("),
		"nested links":    rep("[a](b "),
		"images":          rep("!["),
		"nested images":   strings.Repeat("![", n/8) + "x" + strings.Repeat("](a)", n/8),
		"stars":           rep("*"),
		"stars a":         rep("*a "),
		"star pairs":      rep("*a**b "),
		"strong a":        rep("**a"),
		"mixed emphasis":  rep("*a_b"),
		"a** a":           rep("a**b"),
		"x*":              strings.Repeat("*x ", n/6) + strings.Repeat("x* ", n/6),
		"tildes":          rep("~~a"),
		"tilde":           rep("~"),
		"underscores":     rep("_a_ b_"),
		"ticks":           rep("`"),
		"tick a":          rep("`a``b"),
		"ladder":          ladder.String(),
		"divs":            rep("<div>"),
		"div lines":       rep("<div>\n\n"),
		"details":         rep("<details>\n\nx\n\n"),
		"div pairs":       strings.Repeat("<div>\n\n", n/16) + strings.Repeat("</div>\n\n", n/16),
		"bs":              rep("<b>"),
		"b text":          rep("a <b>"),
		"tables html":     rep("<table><tr><td>"),
		"less":            rep("<"),
		"less a":          rep("a <b "),
		"comments":        rep("<!--"),
		"comment lines":   rep("<!--\n\n"),
		"a comments":      rep("a <!-- "),
		"instructions":    rep("a <? "),
		"cdata":           rep("a <![CDATA[ "),
		"declarations":    rep("a <!A "),
		"script lines":    rep("<script>\n\n"),
		"pre lines":       rep("<pre>\n\n"),
		"attributes":      "<a " + rep("x=y "),
		"attribute lines": rep("<a b\n"),
		"entities":        rep("&amp;"),
		"entity":          rep("&"),
		"numbers":         rep("&#x41;"),
		"long entity":     "&" + rep("a"),
		"backslashes":     rep(`\`),
		"pipes":           "a" + rep("|") + "\n" + strings.Repeat("-|", n/4) + "\n",
		"table":           "|a|b|\n|-|-|\n" + rep("|1|2|\n"),
		"wide table":      rep("|a")[:n/4] + "\n" + rep("|-")[:n/4] + "\n" + rep("1\n"),
		"delimiter rows":  rep("|-|\n"),
		"headers":         rep("a|b\n"),
		"fences":          rep("```\n"),
		"tilde fences":    rep("~~~"),
		"open fence":      "```\n" + rep("a\n"),
		"setext":          rep("a\n-\n"),
		"equals":          rep("[a]: b\n==="),
		"equal lines":     rep("[a]: b\n===\n"),
		"definitions":     chain.String(),
		"late":            uses.String(),
		"same definition": rep("[a]: b\n\n"),
		"half definition": rep("[a]: <b\n"),
		"references":      rep("[a]") + "\n\n[a]: /b\n",
		"notes":           notes.String(),
		"same note":       rep("[^a] ") + "\n\n[^a]: x\n",
		"note in note":    rep("[^a]: "),
		"headings":        rep("# a\n"),
		"hashes":          rep("#"),
		"breaks":          rep("***\n"),
		"spaces":          rep(" ") + "a",
		"tabs":            rep("\t") + "a",
		"space lines":     rep("a  \n"),
		"lines":           rep("\n"),
		"words":           rep("word "),
		"one word":        rep("a"),
		"urls":            rep("https://a.example/ "),
		"one url":         "https://a.example/" + rep("a"),
		"url parens":      "https://a.example/" + rep(")") + rep("("),
		"url semicolons":  "https://a.example/" + rep("&a;"),
		"www":             rep("www."),
		"mails":           rep("a@b.c "),
		"ats":             rep("a@"),
		"dots":            rep("a."),
		"colons":          rep("http:"),
		"task":            rep("- [ ] a\n"),
		"bidi":            rep("\u202e"),
		"nul":             rep("\x00"),
		"invalid":         rep("\xff\xc0"),
		"emoji":           rep("🙂"),
		"big number":      rep("1") + ". a",
		"data":            "![a](data:image/png;base64," + rep("A") + ")",
		"title":           "[a](b \"" + rep("x") + "\")",
		"titles":          rep("[a](b \""),
		"anglelinks":      rep("[a](<b"),
		"parens":          "[a](" + rep("(") + ")",
		"label":           "[" + rep("a") + "]",
		"labels":          rep("[a][b"),
		"html attrs":      "<div " + rep("a") + ">",
		"quotes html":     rep("<a href=\""),
		"ends":            rep("</div>"),
		"end lines":       rep("</div>\n\n"),
	}
}

func num(i int) string {
	const digits = "0123456789"
	if i < 10 {
		return digits[i : i+1]
	}
	return num(i/10) + digits[i%10:i%10+1]
}
