// Package markdown turns the Markdown of a stranger, such as a language model,
// into [HTML] that is safe to show: at once, or as it streams in.
//
//	r, err := markdown.New(markdown.Options{})
//	html, report, err := r.Render(text)
//
//	s := r.NewStream()
//	io.Copy(s, model)                 // or Write, token by token
//	for _, p := range s.Patches() { … } // at most once an animation frame
//
// It trusts goldmark to parse, the app's options, and nothing in the text. It
// never lets through what loads, runs, navigates, or reaches out of the block it
// stands in. Links keep their target in data-href and have no href; links into the
// text have data-fragment; images are data: URLs of raster images, or name what
// the host is asked for in data-image. Whoever shows the HTML handles those: package
// iframe does.
//
// # How a text becomes HTML
//
//   - The intake (intake.go) makes one kind of text of what comes in, in any pieces.
//   - The scanner (scan.go) cuts it into segments, by the text alone, and checks the
//     limits before any parser that recurses.
//   - goldmark parses each segment by itself; references reach over the whole text
//     (parse.go, gfm.go, notes.go, engine.go). The app's extensions come in by package
//     extend.
//   - Our own rendering writes the tree (nodes.go, nodelink.go). Raw HTML, and what an
//     extension renders, is filtered tag by tag (rawhtml.go).
//   - bluemonday goes over everything that has such tags (policy.go).
//   - The balancer closes what is open and puts every element where a parser of HTML
//     leaves it (group.go, balance.go).
//   - The last check reads the result and accepts one form only (verify.go). A block
//     that it refuses is shown as plain text.
//
// A stream renders its open end as it will probably be (tail.go, complete.go); the
// end result never depends on how a text was split.
//
// # Limits
//
// What is over one of [Limits] is shown as plain text with a note, never dropped. The
// [Report] says what was stopped, so that an app can show it.
package markdown
