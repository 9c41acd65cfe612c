// Package dom reads and changes elements of a page for the packages of Bailey that build a part of it.
//
// An exception, as of a getter that a script of the page replaced, reads as undefined, and undefined
// as an empty text, as no number and as false. A caller that decides something by a value must
// therefore decide for the safe side if the value is missing.
//
// The package runs only in a page, so natively it is empty.
package dom
