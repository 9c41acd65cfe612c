// Package xss is a collection of attacks for tests. Each row of JSON is a text that tries to
// run, load, navigate, take over a name or deceive. Anyone can add a row: see README.md. A page
// script does everything to the inserted HTML that a user could do.
//
// The package is never part of a program. It contains no defence: a page that shows its texts
// without a sanitiser runs the attacks.
package xss
