// Package frontmatter reads the YAML front matter of a Markdown file, such as a skill's SKILL.md. The
// file comes from a stranger.
//
// The package reads a subset of YAML 1.2: maps and lists in block and flow notation, plain, quoted,
// literal and folded texts, and comments. It reads every scalar as a text and guesses no type. All else
// is an [*Error] with the number of the line: duplicate keys, anchors, aliases, tags, tabs in
// indentation, directives, keys of more than one line, control characters, and text that YAML parsers
// read in different ways. Every text that the package reads as [ParseYAML] has the same meaning in
// go.yaml.in/yaml, see browsertest/frontmatter. RATIONALE.md has the reason for a reader of our own.
//
// Limits: 16 KiB of front matter, 8 levels of maps and lists, 1,000 values, and 64 bytes for a key. They are
// checked before or during one pass over the text. The package never reads the Markdown text.
package frontmatter
