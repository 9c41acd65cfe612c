// Package guests draws code, formulas and diagrams for package markdown with JavaScript libraries: highlight.js colours 59
// languages, Temml writes formulas as MathML, and beautiful-mermaid draws the flowcharts, sequence, class, state and
// entity diagrams of Mermaid.
//
//	renderer, err := markdown.New(markdown.Options{}.Draw(guests.Draw(ctx, "guests/")))
//	document, err := iframe.NewDocument(ctx, parent, iframe.DocumentOptions{Renderer: renderer})
//
// The libraries are guests. They run in an [iframe.Enclave], which has no network, no page and a time limit, and package
// markdown checks what they return. They are not part of the program: the command wasm_exec build copies them into
// guests/ of the page, with their licences, and a page loads one when a text first needs it. In brotli colours are 38 KB,
// formulas 42 KB and diagrams 37 KB. A library that cannot be loaded costs nothing but its drawings: all is shown as it
// was written, and so are the diagrams that the library does not know.
package guests
