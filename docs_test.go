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

// Each way of docs/architecture.md is short enough to be read: at most 18 files.
func TestArchitectureWays(t *testing.T) {
	text, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	ways := strings.Split(string(text), "\n## ")[1:]
	if len(ways) != 4 {
		t.Errorf("%d ways, want 4", len(ways))
	}
	hop := regexp.MustCompile(`(?m)^\d+\. \[`)
	for _, way := range ways {
		title, _, _ := strings.Cut(way, "\n")
		if n := len(hop.FindAllString(way, -1)); n < 5 || n > 18 {
			t.Errorf("%s: %d files, want 5 to 18", title, n)
		}
	}
}
