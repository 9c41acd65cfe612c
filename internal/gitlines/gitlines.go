// Package gitlines has repositories and command lines of git, to compare the git of the starter tools with the machine's. It is for
// tests.
package gitlines

import (
	"archive/zip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Env is the environment of both gits.
var Env = []string{"LC_ALL=C.UTF-8", "TZ=UTC", "HOME=/nowhere", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_OPTIONAL_LOCKS=0", "COLUMNS=80"}

// Words splits a command line at spaces outside of single quotes.
func Words(line string) (out []string) {
	var b strings.Builder
	quoted, word := false, false
	for _, r := range line {
		switch {
		case r == '\'':
			quoted, word = !quoted, true
		case r == ' ' && !quoted:
			if word {
				out = append(out, b.String())
			}
			word = false
			b.Reset()
		default:
			word = true
			b.WriteRune(r)
		}
	}
	if word {
		out = append(out, b.String())
	}
	return out
}

// A Line is a command line of git with the folder in which it runs.
type Line struct{ text string }

func (l Line) String() string { return l.text }

// Split returns the folder and the arguments.
func (l Line) Split() (dir string, args []string) {
	dir, rest, _ := strings.Cut(l.text, " ")
	return dir, Words(rest)
}

// Read returns the command lines of lines.txt and those of differs.txt with the reason for each difference. In differs.txt a reason
// is a line that begins with #, and counts for all lines below it.
func Read(t testing.TB, dir string) (list []Line, differs map[string]string) {
	t.Helper()
	read := func(name string) []string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	}
	for _, line := range read("lines.txt") {
		if line != "" && line[0] != '#' {
			list = append(list, Line{line})
		}
	}
	differs = map[string]string{}
	reason := ""
	for _, line := range read("differs.txt") {
		if strings.HasPrefix(line, "#") {
			reason = strings.TrimSpace(line[1:])
		} else if line != "" {
			differs[line] = reason
		}
	}
	return list, differs
}

// A Want is a command line of the sample and the answer of the machine's git.
type Want struct {
	Line string `json:"line"`
	Out  string `json:"out"` // for each byte one rune, as not all answers are texts
	Code int    `json:"code"`
}

// Output returns the bytes of the answer.
func (w Want) Output() string {
	b := make([]byte, 0, len(w.Out))
	for _, r := range w.Out {
		b = append(b, byte(r))
	}
	return string(b)
}

// Runes returns a text with a rune for each byte.
func Runes(text string) string {
	r := make([]rune, len(text))
	for i := range len(text) {
		r[i] = rune(text[i])
	}
	return string(r)
}

// Sample returns the files of the repository r of sample.zip, and the command lines of sample.json. They are for browsers, in which
// no other git makes a repository. TestGitSample of the package native compares them with the machine's git.
func Sample(t testing.TB, dir string) (files map[string]string, wants []Want) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "sample.json"))
	if err == nil {
		err = json.Unmarshal(text, &wants)
	}
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "sample.zip"))
	if err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(strings.NewReader(string(data)), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	files = map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = string(data)
	}
	return files, wants
}
