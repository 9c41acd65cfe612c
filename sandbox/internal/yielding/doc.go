// Package yielding encodes JSON and replaces text in pieces. Between the pieces it yields to the page
// and checks the context, so that a long value or text of a tool, a model or a server does not block
// the page. The size of the work is linear in the size of the input, for any content.
package yielding
