package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// buildError is an error of the compiler, with the lines of source around it.
type buildError struct {
	File   string       `json:"file"` // relative to the current folder where it is below
	Line   int          `json:"line"`
	Column int          `json:"column,omitempty"` // in bytes from 1, or 0 if unknown
	Text   string       `json:"text"`
	Source []sourceLine `json:"source,omitempty"`
}

type sourceLine struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

const (
	maxErrors     = 20  // the compiler itself stops at 10 for each package
	maxSourceLine = 240 // characters
	sourceAround  = 2   // lines before and after the error
)

var errorLine = regexp.MustCompile(`^(\S.*?\.[A-Za-z]+):(\d+)(?::(\d+))?: (.*)$`)

// buildErrors returns the errors in the output of go build for pkg.
func buildErrors(output, pkg string) []buildError {
	dir := ""
	if st, err := os.Stat(pkg); err == nil && st.IsDir() {
		dir = pkg // the go command ran there
	}
	var list []buildError
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		if rest, ok := strings.CutPrefix(line, "\t"); ok && len(list) > 0 {
			list[len(list)-1].Text += "\n" + rest
			continue
		}
		m := errorLine.FindStringSubmatch(line)
		if m == nil || len(list) == maxErrors {
			continue
		}
		name := filepath.FromSlash(m[1])
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		e := buildError{File: shortName(name), Text: m[4]}
		e.Line, _ = strconv.Atoi(m[2])
		e.Column, _ = strconv.Atoi(m[3])
		e.Source = sourceLines(name, e.Line)
		list = append(list, e)
	}
	return list
}

// shortName returns name relative to the current folder if it is below.
func shortName(name string) string {
	abs, err := filepath.Abs(name)
	if err != nil {
		return name
	}
	here, err := os.Getwd()
	if err != nil {
		return abs
	}
	if rel, err := filepath.Rel(here, abs); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return abs
}

func sourceLines(name string, at int) []sourceLine {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil // such as an error of a file that was removed in between
	}
	var list []sourceLine
	n := 0
	for text := range strings.Lines(string(data)) {
		n++
		if n < at-sourceAround {
			continue
		}
		if n > at+sourceAround {
			break
		}
		text = strings.ReplaceAll(strings.TrimRight(text, "\r\n"), "\t", "    ")
		if r := []rune(text); len(r) > maxSourceLine {
			text = string(r[:maxSourceLine]) + "…"
		}
		list = append(list, sourceLine{n, text})
	}
	return list
}
