package answers

import (
	"embed"
	"iter"
)

//go:embed *.md
var files embed.FS

// Answer is one model answer.
type Answer struct {
	Name  string // short, unique, fit for an id
	Title string // one line
	Text  string // Markdown, as the model wrote it
}

var titles = [...][2]string{
	{"folder", "Sorting a Downloads folder"},
	{"go-function", "Explaining a Go function"},
	{"travel", "Five days by train"},
	{"languages", "Notes in Arabic, Hebrew, Chinese and English"},
	{"science", "Why the sky is blue"},
	{"hostile", "Friendly words, hostile answer"},
	{"bench20k", "Moving a wiki into plain files (20 KB)"},
}

// All yields the answers in the order in which to offer them.
func All() iter.Seq[Answer] {
	return func(yield func(Answer) bool) {
		for _, t := range titles {
			data, err := files.ReadFile(t[0] + ".md")
			if err != nil {
				panic(err) // an embedded file; the test reads them all
			}
			if !yield(Answer{Name: t[0], Title: t[1], Text: string(data)}) {
				return
			}
		}
	}
}

// ByName returns the answer of that name.
func ByName(name string) (Answer, bool) {
	for a := range All() {
		if a.Name == name {
			return a, true
		}
	}
	return Answer{}, false
}
