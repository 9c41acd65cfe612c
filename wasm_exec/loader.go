package main

import (
	"embed"
	"regexp"
	"strconv"
	"strings"
)

//go:embed loader/*.js loader/bailey.mjs loader/*.css
var loaderFiles embed.FS

// loaderParts returns the loader's files in the order in which they depend on each other.
func loaderParts() []string { return []string{"messages.js", "panel.js", "program.js", "start.js"} }

// loaderJS returns the loader's parts joined into one classic script, in a scope of its own.
func loaderJS() []byte {
	var b strings.Builder
	b.WriteString("// Bailey's loader for Go programs. Apache-2.0.\n(() => {\n\"use strict\";\n")
	for _, name := range loaderParts() {
		b.WriteString(strings.Replace(bare(mustRead(name)), `"{{panel.css}}"`, strconv.Quote(bareCSS(mustRead("panel.css"))), 1))
	}
	b.WriteString("})();\n")
	return []byte(b.String())
}

func loaderModule() []byte { return []byte(bare(mustRead("bailey.mjs"))) }

func mustRead(name string) string {
	data, err := loaderFiles.ReadFile("loader/" + name)
	if err != nil {
		panic("wasm_exec: " + err.Error()) // the files are embedded, so this is a bug
	}
	return string(data)
}

// bare returns src without indentation and comments. It does not parse the source, so the
// sources follow a rule: no string contains "/*", or "//" after a space, and no string spans
// lines.
func bare(src string) string {
	src = regexp.MustCompile(`(?s)/\*.*?\*/ ?`).ReplaceAllString(src, "")
	src = regexp.MustCompile(`(?m)(^|\s+)// .*$`).ReplaceAllString(src, "")
	var b strings.Builder
	for _, line := range strings.Split(src, "\n") {
		if line = strings.TrimSpace(line); line != "" && line != `"use strict";` {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// bareCSS returns src without comments and without meaningless white space. Spaces between
// words stay, because they are operators in CSS.
func bareCSS(src string) string {
	src = regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAllString(src, "")
	src = regexp.MustCompile(`\s+`).ReplaceAllString(src, " ")
	src = regexp.MustCompile(`\s*([{};,])\s*`).ReplaceAllString(src, "$1")
	return strings.TrimSpace(regexp.MustCompile(`: `).ReplaceAllString(src, ":"))
}
