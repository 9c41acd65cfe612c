package answers

import (
	_ "embed" // for the texts below
	"iter"
)

var (
	//go:embed folder.md
	folder string
	//go:embed go-function.md
	goFunction string
	//go:embed travel.md
	travel string
	//go:embed languages.md
	languages string
	//go:embed science.md
	science string
	//go:embed hostile.md
	hostile string
	//go:embed bench20k.md
	bench20k string
)

// Answer is one model answer.
type Answer struct {
	Name  string // short, unique, valid as an id
	Title string // one line
	Text  string // Markdown as a model would write it
}

// All yields the answers in the order in which to offer them.
func All() iter.Seq[Answer] {
	return func(yield func(Answer) bool) {
		for _, a := range [...]Answer{
			{"folder", "Sorting a Downloads folder", folder},
			{"go-function", "Explaining a Go function", goFunction},
			{"travel", "Five days by train", travel},
			{"languages", "Notes in Arabic, Hebrew, Chinese and English", languages},
			{"science", "Why the sky is blue", science},
			{"hostile", "Friendly words, hostile answer", hostile},
		} {
			if !yield(a) {
				return
			}
		}
	}
}

// Bench20k returns the answer of exactly 20 KiB that the benches render. All does not yield it, so
// a program that uses only All does not contain it.
func Bench20k() Answer {
	return Answer{"bench20k", "Moving a wiki into plain files (20 KB)", bench20k}
}

// ByName returns the answer with the name, and reports whether All yields one.
func ByName(name string) (Answer, bool) {
	for a := range All() {
		if a.Name == name {
			return a, true
		}
	}
	return Answer{}, false
}
