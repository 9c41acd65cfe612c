package bailey_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var docLink = regexp.MustCompile(`\]\(([^)#:\s]+)(?:#[^)]*)?\)`)

// missingLinks returns the links of a Markdown text in dir that lead to no file.
func missingLinks(dir, text string) (missing []string) {
	for _, m := range docLink.FindAllStringSubmatch(text, -1) {
		if _, err := os.Stat(filepath.Join(dir, m[1])); err != nil {
			missing = append(missing, m[1])
		}
	}
	return missing
}

// Every link of the papers to a file of the repository leads to one.
func TestDocsLinks(t *testing.T) {
	if got := missingLinks("docs", "[a](../README.md) [b](nothing.md) [c](https://example.org) [d](#e)"); len(got) != 1 || got[0] != "nothing.md" {
		t.Fatalf("the check finds %q, want nothing.md alone", got)
	}
	papers := []string{"README.md", "CONTRIBUTING.md", "SECURITY.md"}
	err := filepath.WalkDir("docs", func(name string, _ fs.DirEntry, err error) error {
		if filepath.Ext(name) == ".md" {
			papers = append(papers, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range papers {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range missingLinks(filepath.Dir(name), string(text)) {
			t.Errorf("%s links to %s, which does not exist", name, link)
		}
	}
}

// hopFault returns the fault of a line of docs/architecture.md that is a hop, "" if it has none. A hop links one file
// and names a symbol that stands in it.
func hopFault(line string) string {
	m := regexp.MustCompile(`^\d+\. \[([^\]]+)\]\(\.\./([^)]+)\)(.*)$`).FindStringSubmatch(line)
	if m == nil || m[1] != m[2] {
		return "it links no file by its name"
	}
	text, err := os.ReadFile(m[2])
	if err != nil {
		return err.Error()
	}
	symbols := regexp.MustCompile("`([A-Za-z_.]+)`").FindAllStringSubmatch(m[3], -1)
	for _, s := range symbols {
		last := s[1][strings.LastIndexByte(s[1], '.')+1:]
		if regexp.MustCompile(`\b` + last + `\b`).Match(text) {
			return ""
		}
	}
	return "it names no symbol of the file"
}

// Each way of docs/architecture.md is short enough to be read: at most 18 files. Each hop names a symbol of its file.
func TestArchitectureWays(t *testing.T) {
	text, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	ways := strings.Split(string(text), "\n## ")[1:]
	if len(ways) != 4 {
		t.Errorf("%d ways, want 4", len(ways))
	}
	for line, want := range map[string]string{
		"1. [docs_test.go](../docs_test.go): `x.hopFault` finds it.":              "",
		"1. [docs_test.go](../docs_test.go): finds it.":                           "it names no symbol of the file",
		"1. [docs_test.go](../docs_test.go): `" + "else" + "Where` is not there.": "it names no symbol of the file",
		"1. [docs_test.go](../doc.go): `hopFault` stands elsewhere.":              "it links no file by its name",
	} {
		if got := hopFault(line); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	hop := regexp.MustCompile(`(?m)^\d+\. .*$`)
	for _, way := range ways {
		title, _, _ := strings.Cut(way, "\n")
		hops := hop.FindAllString(way, -1)
		if n := len(hops); n < 5 || n > 18 {
			t.Errorf("%s: %d files, want 5 to 18", title, n)
		}
		for _, h := range hops {
			if fault := hopFault(h); fault != "" {
				t.Errorf("%s: %s: %s", title, h, fault)
			}
		}
	}
}

// README.md has at most 900 words, counted as wc -w does.
func TestREADMEIsShort(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]bool{900: true, 901: false} {
		if got := short(strings.Repeat("word\n", n)); got != want {
			t.Errorf("%d words are short enough: %v", n, got)
		}
	}
	if !short(string(text)) {
		t.Errorf("README.md has %d words, want at most %d: move some to docs", len(strings.Fields(string(text))), mostWords)
	}
}

// mostWords is the limit for README.md.
const mostWords = 900

func short(text string) bool { return len(strings.Fields(text)) <= mostWords }
