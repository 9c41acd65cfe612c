// Package policy parses, prints and explains policies. A policy limits the access of a
// [sandbox.Box] to files, network, code and display. The page's headers and the limits of its
// enclaves are derived from the same policy, so they can't contradict it.
//
// A policy has two parts, for two steps. Lists and capabilities are the first part: the filesystem
// and network sections of srt (sandbox-runtime), and Bailey's own capabilities. They limit the
// possible effects. An effect outside of them is denied without a question. Rules are the second
// part. They decide whether a possible effect happens at once, after a question, or never.
// [Explain] runs both steps and returns the deciding line.
//
// The zero policy denies everything. The package trusts the intention of the policy's author, but
// not their spelling: a text that it does not understand is an error.
//
// [sandbox.Box]: https://pkg.go.dev/github.com/bailey-go/bailey/sandbox#Box
package policy
