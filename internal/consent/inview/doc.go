// Package inview shows texts and diffs line by line in a page, and records which of the lines have been
// in view. Each line is an element with the class "line" and its kind ("add", "del", "at", "mark"), and a
// number that stands for omitted text has the class "skip". The styles are the page's.
//
// The package runs only in a page, so natively it is empty.
package inview
