// Package policy reads, prints and explains policies: one value that says what a
// [sandbox.Box] may do with files, network, code and display, and from which the
// page's headers and the limits of its enclaves are made too, so that they cannot
// disagree.
//
// A policy has two vocabularies, for two steps. Lists and capabilities (srt's
// filesystem and network sections, and Bailey's capabilities) say what is possible
// at all: nobody is asked about what they leave out. Rules say whether what is
// possible happens at once, after a question, or never. [Explain] runs both steps
// and says which line decided.
//
// The zero policy denies everything. The package trusts whoever wrote the policy's
// text to mean it, and nobody to have spelled it right: what it does not understand
// is an error.
//
// [sandbox.Box]: https://pkg.go.dev/github.com/bailey-go/bailey/sandbox#Box
package policy
