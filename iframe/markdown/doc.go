// Package markdown converts untrusted Markdown, such as the output of a language model, to
// [HTML] that is safe to show. It works on a whole text or on a stream:
//
//	r, err := markdown.New(markdown.Options{})
//	html, report, err := r.Render(text)
//
//	s := r.NewStream()
//	io.Copy(s, model)                 // or Write, token by token
//	for _, p := range s.Patches() { … } // at most once an animation frame
//
// The package trusts goldmark to parse, and the app's options. It trusts nothing in the text.
// The HTML loads nothing, runs nothing, navigates nowhere and never closes an element outside
// its own block. A link has no href: its target is in data-href, in data-path for a link to a
// file, or in data-fragment for a link within the text. An image is a data: URL of a raster format, or has the name of the image in
// data-image. The program that shows the HTML handles these attributes, as package iframe does.
//
// # How a text becomes HTML
//
//   - The intake (intake.go) normalises the input, which may arrive in pieces of any size.
//   - The scanner (scan.go) cuts the text into segments and checks the limits before any recursive parser. Only the text
//     decides where segments begin.
//   - goldmark parses each segment separately. References apply to the whole text (parse.go, gfm.go, notes.go, engine.go).
//     The app can add goldmark extensions with package extend.
//   - Formulas between $ and $, $$ and $$, \( and \), \[ and \] are kept as TeX, to the character (math.go). Money such as $5
//     stays text.
//   - Our own renderer writes the tree (nodes.go, nodelink.go). Raw HTML, and the output of extensions, is filtered tag by
//     tag (rawhtml.go).
//   - bluemonday sanitises everything with such tags again (policy.go).
//   - The balancer closes open elements and puts every element where an HTML parser leaves it (group.go, balance.go).
//   - The last check reads the result and accepts a single form only (verify.go). A block that fails the check is shown as
//     plain text.
//
// A stream renders its open end as it will probably be (tail.go, complete.go). The final result
// never depends on how the text was split.
//
// # Limits
//
// A text above one of the [Limits] is shown as plain text with a note. Nothing of it is
// dropped. The [Report] lists the stopped content, so that an app can show it.
package markdown
