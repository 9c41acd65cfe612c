package main

import (
	"embed"
	"regexp"
	"strconv"
	"strings"
)

//go:embed loader/*.js loader/bailey.mjs loader/panel.css
var loaderFiles embed.FS

// loaderParts stand in the order in which they use each other.
func loaderParts() []string { return []string{"messages.js", "panel.js", "program.js", "start.js"} }

// loaderJS joins the loader's parts into one classic script whose names stay
// its own.
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
		panic("wasm_exec: " + err.Error()) // embedded, so it is there
	}
	return string(data)
}

// bare leaves out indentation and comments. The sources keep to forms that need
// no parsing: no string holds "/*", or "//" after a space, and none spans lines.
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

// bareCSS leaves out comments and the white space that means nothing: spaces
// between words stay, because in CSS they are operators.
func bareCSS(src string) string {
	src = regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAllString(src, "")
	src = regexp.MustCompile(`\s+`).ReplaceAllString(src, " ")
	src = regexp.MustCompile(`\s*([{};,])\s*`).ReplaceAllString(src, "$1")
	return strings.TrimSpace(regexp.MustCompile(`: `).ReplaceAllString(src, ":"))
}
