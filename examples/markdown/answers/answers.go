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
	Name  string // short, unique, fit for an id
	Title string // one line
	Text  string // Markdown, as the model wrote it
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

// Bench20k is the answer of exactly 20 KiB that the benches render. It is not
// among All, so a program that shows those does not carry it.
func Bench20k() Answer {
	return Answer{"bench20k", "Moving a wiki into plain files (20 KB)", bench20k}
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
