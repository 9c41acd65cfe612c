package main

import (
	"embed"
	"strings"
)

//go:embed loader/*.js loader/bailey.mjs
var loaderFiles embed.FS

// loaderParts stand in the order in which they use each other.
func loaderParts() []string { return []string{"messages.js", "panel.js", "program.js", "start.js"} }

// loaderJS joins the loader's parts into one classic script whose names stay
// its own.
func loaderJS() []byte {
	var b strings.Builder
	b.WriteString("// Bailey's loader for Go programs. Apache-2.0.\n(() => {\n\"use strict\";\n")
	for _, name := range loaderParts() {
		b.WriteString(bare(mustRead(name)))
	}
	b.WriteString("})();\n")
	return []byte(b.String())
}

func loaderModule() []byte { return []byte(bare(mustRead("bailey.mjs"))) }

func mustRead(name string) string {
	data, err := loaderFiles.ReadFile("loader/" + name)
	if err != nil {
		panic("wasm_exec: " + err.Error()) // embedded, so it is there
	}
	return string(data)
}

// bare leaves out comments that have lines of their own, and indentation; the
// sources keep to that form, so nothing needs to be parsed. Template strings
// must not span lines.
func bare(src string) string {
	var b strings.Builder
	inside := false
	for _, line := range strings.Split(src, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case inside:
			inside = !strings.HasSuffix(line, "*/")
		case line == "", strings.HasPrefix(line, "//"), line == `"use strict";`:
		case strings.HasPrefix(line, "/*"):
			// A cast such as /** @type {X} */ (y) goes on after its comment.
			if end := strings.Index(line, "*/"); end < 0 {
				inside = true
			} else if rest := strings.TrimSpace(line[end+2:]); rest != "" {
				b.WriteString(rest + "\n")
			}
		default:
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}
