// Package btcp reads messages. Only its test writes one.
package btcp

// Decode is called by read.
func Decode() {}

// Encode is called by a test alone.
func Encode() {}

func read() { Decode() }
