// Package btcp reads messages. Only its test writes one.
package btcp

// Decode is called by init.
func Decode() {}

// Encode is called by a test alone.
func Encode() {}

func init() { Decode() }
