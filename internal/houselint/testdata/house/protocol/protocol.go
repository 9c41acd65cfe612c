// Package protocol has one name too many, and one that nothing uses.
package protocol

// Used is used by package tool.
const Used = 1

// Unused is in no other package; what it is for; nobody knows.
const Unused = 2

// Kind is a type whose values count as used with it.
type Kind string

// First is such a value.
const First Kind = "first"

func Bare() Kind { return First }

// Says something else than its name.
func Other() {}
