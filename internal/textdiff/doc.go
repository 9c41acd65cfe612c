// Package textdiff writes the differences of two contents, within limits of time and memory
// for any content.
package textdiff
