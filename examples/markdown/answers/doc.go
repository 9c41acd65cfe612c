// Package answers holds answers as a model might give them, for the example to
// stream and for the benches to time: everyday ones, one in four languages, one
// with notes and references that come late, and one that is hostile.
//
// The texts are data of the example. They are never trusted: they go the way
// that a model's own words would go.
package answers
