// Package sheet shows the questions of a box in a page, and waits for the user's answer. Its Sheet is a
// [sandbox.Asker].
//
// An answer that allows something, or that is kept as a rule, counts only if the whole question was in
// view, and if no key or click that was meant for something else can have given it. The page has an empty element with the
// id "ask", and this package makes its content and its style. The colours are the custom properties
// of the page: --panel, --ground, --text, --muted, --line, --accent, --accent-ground, --stop and
// --stop-ground.
//
// The package runs only in a page, so natively it is empty. Package consent has the words.
package sheet
