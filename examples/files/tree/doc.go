// Package tree shows a folder of any size as a tree of rows, of which the page has only those in
// view.
package tree
