package main

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
)

// Limits are the greatest allowed figures, and for Returns the least.
type Limits struct {
	Protocol, Public                                int // exported top-level names
	Aliases, Unused, Undocumented, Scattered, Files int // Files: the number of files with methods of one type
	Uncalled                                        int // functions of codecs
	What, Semicolons, Returns                       float64
	PaperWhat, PaperSemicolons                      float64 // in each paper
	TextWhat, TextSemicolons                        float64 // in the texts of errors. A semicolon divides the fault from the way out.
}

var limits = Limits{
	Protocol: 150, Public: 560,
	Files: 4,
	What:  2, Semicolons: 2, Returns: 6,
	PaperWhat: 2, PaperSemicolons: 2,
	TextWhat: 2, TextSemicolons: 10,
}

func main() {
	list := flag.Bool("list", false, "print every package and every place, also within the limits")
	flag.Parse()
	s, err := read(".")
	if err == nil {
		s.papers, err = papers(".")
	}
	if err == nil && !s.check(os.Stdout, limits, *list) {
		os.Exit(1)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

// check prints the figures, and reports whether all are within their limits. If list is true, it
// prints every package and place.
func (s *Source) check(w io.Writer, l Limits, list bool) bool {
	good := true
	say := func(ok bool, format string, args ...any) {
		mark := "ok  "
		if !ok {
			mark, good = "OVER", false
		}
		fmt.Fprintf(w, mark+" "+format+"\n", args...)
	}
	places := func(text string, most int, at []string) {
		ok := len(at) <= most
		say(ok, "%-58s %5d, at most %d", text, len(at), most)
		if !ok || list {
			for _, a := range at {
				fmt.Fprintln(w, "      "+a)
			}
		}
	}

	names, all := s.names(), 0
	for _, n := range names {
		all += n
	}
	say(names["protocol"] <= l.Protocol, "%-58s %5d, at most %d", "exported names of protocol", names["protocol"], l.Protocol)
	say(all <= l.Public, "%-58s %5d, at most %d", "exported names of all public packages", all, l.Public)
	if all > l.Public || list {
		for _, dir := range slices.Sorted(maps.Keys(names)) {
			fmt.Fprintf(w, "      %-54s %5d\n", dir, names[dir])
		}
	}
	places("public types that are aliases of internal ones", l.Aliases, s.aliases())
	places("exported names that nothing else uses", l.Unused, s.unused())
	places("functions of other systems' codecs that only tests call", l.Uncalled, s.uncalled())
	places("exported names without a comment that begins with them", l.Undocumented, s.undocumented())
	places(fmt.Sprintf("types with methods in more than %d files", l.Files), l.Scattered, s.scattered(l.Files))

	words := s.words()
	var total Words
	for _, n := range words {
		total.add(n)
	}
	say(total.per(total.What) <= l.What, "%-58s %5.1f, at most %g", "what, per 1,000 words of comments", total.per(total.What), l.What)
	say(total.per(total.Semicolons) <= l.Semicolons, "%-58s %5.1f, at most %g", "semicolons", total.per(total.Semicolons), l.Semicolons)
	say(total.per(total.Returns) >= l.Returns, "%-58s %5.1f, at least %g", "returns, reports", total.per(total.Returns), l.Returns)
	if list {
		for _, dir := range slices.Sorted(maps.Keys(words)) {
			n := words[dir]
			fmt.Fprintf(w, "      %-40s %6d words, what %5.1f, semicolons %5.1f, returns %5.1f\n", dir, n.All, n.per(n.What), n.per(n.Semicolons), n.per(n.Returns))
		}
	}

	for _, c := range []struct {
		name string
		most float64
		n    func(Words) int
	}{
		{"what", l.PaperWhat, func(w Words) int { return w.What }},
		{"semicolons", l.PaperSemicolons, func(w Words) int { return w.Semicolons }},
	} {
		var over []string
		for _, p := range s.papers {
			if p.words.over(c.n(p.words), c.most) {
				over = append(over, fmt.Sprintf("%s: %d in %d words", p.name, c.n(p.words), p.words.All))
			}
		}
		places(fmt.Sprintf("papers of %d with more than %g %s per 1,000 words", len(s.papers), c.most, c.name), 0, over)
	}
	texts := s.texts()
	say(texts.per(texts.What) <= l.TextWhat, "%-58s %5.1f, at most %g", fmt.Sprintf("what, per 1,000 of %d words of errors", texts.All), texts.per(texts.What), l.TextWhat)
	say(texts.per(texts.Semicolons) <= l.TextSemicolons, "%-58s %5.1f, at most %g", "semicolons", texts.per(texts.Semicolons), l.TextSemicolons)
	return good
}
