// Package dom is what the examples need of a page: elements, texts, events, dialogues' answers and
// fetched files. It holds no state. It runs only in a page, so natively the package is empty.
package dom
