// Package xss is a collection of attacks for tests: what text may try so as to
// run, load, navigate, take over a name or deceive, as rows of JSON that anyone
// can add to (README.md says how), and a page script that does to inserted HTML
// all that a person could do.
//
// It is never part of a program. It trusts nothing and defends nothing: who
// renders its texts without a sanitiser gets what they say.
package xss
