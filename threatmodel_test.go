//go:build !js

package bailey_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
)

// citation is a test that THREATMODEL.md names, and the package that its section is about.
type citation struct {
	section string // the package, below the module
	test    string
	line    int
}

// citations reads a threat model. A section's heading names its package: "## … (package x)".
// A test of another package stands behind its name: "`mcp`: `TestX`".
func citations(text string) []citation {
	heading := regexp.MustCompile(`^## .*\(package ([a-z_/]+)`)
	named := regexp.MustCompile("`((?:Test|Fuzz|Benchmark|Example)[A-Za-z0-9_]+)")
	elsewhere := regexp.MustCompile("`([a-z_/]+)`: ")
	var out []citation
	section := ""
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "## ") {
			section = ""
			if m := heading.FindStringSubmatch(line); m != nil {
				section = m[1]
			}
		}
		for _, m := range named.FindAllStringSubmatchIndex(line, -1) {
			before := line[:m[0]]
			before = before[strings.LastIndexAny(before, ";|")+1:]
			about := section
			if other := elsewhere.FindStringSubmatch(before); other != nil {
				about = other[1]
			}
			out = append(out, citation{about, line[m[2]:m[3]], i + 1})
		}
	}
	return out
}

// homes finds the folder of each test in the tree, nested modules among them.
func homes(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.Command("git", "grep", "--untracked", "-oE", `^func (Test|Fuzz|Benchmark|Example)[A-Za-z0-9_]+`, "--", "*_test.go").Output()
	if err != nil {
		t.Fatalf("git grep: %v", err)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		file, decl, _ := strings.Cut(strings.TrimSpace(line), ":")
		name := strings.TrimPrefix(decl, "func ")
		if dir := path.Dir(file); !slices.Contains(all[name], dir) {
			all[name] = append(all[name], dir)
		}
	}
	return all
}

// linked says, for each folder with tests, which of our packages are linked into them.
func linked(t *testing.T) map[string]map[string]bool {
	t.Helper()
	all := map[string]map[string]bool{}
	read := func(dir, base string, env ...string) {
		cmd := exec.Command("go", "list", "-e", "-test", "-f", `{{if .ForTest}}{{else}}{{.ImportPath}}{{range .Deps}} {{.}}{{end}}{{end}}`, "./...")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list in %s: %v\n%s", dir, err, stderr.Bytes())
		}
		for line := range strings.Lines(string(out)) {
			fields := strings.Fields(line)
			if len(fields) == 0 || !strings.HasSuffix(fields[0], ".test") {
				continue
			}
			home := strings.TrimPrefix(strings.TrimSuffix(fields[0], ".test"), base)
			if home == "" {
				home = "."
			}
			if all[home] == nil {
				all[home] = map[string]bool{}
			}
			for _, dep := range fields[1:] {
				if rel, ok := relative(dep); ok {
					all[home][rel] = true
				}
			}
		}
	}
	read(".", module+"/", "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	read(".", module+"/", "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	for _, nested := range []string{"browsertest", "mcp", "sandbox/secrets/publicset", "worker/tools", "sandbox/command/native", "fsaccess/conformance", "environment"} {
		if _, err := os.Stat(path.Join(nested, "go.mod")); err == nil {
			read(nested, module+"/")
		}
	}
	// The end-to-end tests drive the examples, so what the examples link is what they show.
	for _, p := range list(t, "js", "wasm", "./examples/...", "./wasm_exec/...") {
		for _, dep := range append(p.Deps, p.ImportPath) {
			if rel, ok := relative(dep); ok {
				for _, home := range []string{"browsertest/examples", "browsertest/internal/e2e", "browsertest/loadertest"} {
					if all[home] != nil {
						all[home][rel] = true
					}
				}
			}
		}
	}
	return all
}

// uncited says what is wrong with a threat model's citations.
//
// A test shows something about a package if it links it, or if it stands in a layer that the
// package itself links. The tests at the root read the source of every package.
func uncited(text string, homes map[string][]string, linked, layers map[string]map[string]bool) (wrong []string, read int) {
	for _, c := range citations(text) {
		read++
		where := homes[c.test]
		if len(where) == 0 {
			wrong = append(wrong, fmt.Sprintf("line %d: there is no %s", c.line, c.test))
			continue
		}
		if c.section == "" {
			continue
		}
		links := func(home string) bool {
			for dep := range linked[home] {
				if inside(dep, c.section) {
					return true
				}
			}
			return home == "." || inside(home, c.section) || layers[c.section][home]
		}
		if !slices.ContainsFunc(where, links) {
			wrong = append(wrong, fmt.Sprintf("line %d: %s stands in %s, which does not link package %s", c.line, c.test, strings.Join(where, ", "), c.section))
		}
	}
	return wrong, read
}

// TestThreatModelCitesWhatRuns checks that each test that THREATMODEL.md names exists, and
// that its package links the layer that the section is about: internal/wasifs was
// cited for WASI's paths, and linked into nothing.
func TestThreatModelCitesWhatRuns(t *testing.T) {
	text, err := os.ReadFile("THREATMODEL.md")
	if err != nil {
		t.Fatal(err)
	}
	homes, linked := homes(t), linked(t)
	layers := map[string]map[string]bool{}
	for _, p := range list(t, "js", "wasm", "./...") {
		if rel, ok := relative(p.ImportPath); ok {
			layers[rel] = map[string]bool{}
			for _, dep := range p.Deps {
				if below, ok := relative(dep); ok {
					layers[rel][below] = true
				}
			}
		}
	}
	wrong, read := uncited(string(text), homes, linked, layers)
	for _, w := range wrong {
		t.Error(w)
	}
	if read < 150 {
		t.Errorf("only %d citations were read", read)
	}
	// The check itself: rows that must be found wrong, and one that is right.
	for row, want := range map[string]string{
		"## A program (package worker)\n| x | `TestAttackGitRunsCommands` |":  "which does not link package worker",
		"## A program (package worker)\n| x | `TestThatNobodyWrote` |":        "there is no TestThatNobodyWrote",
		"## A folder (package fsaccess)\n| x | `TestSrcdoc` |":                "which does not link package fsaccess",
		"## A program (package internal/wasifs)\n| x | `TestConformance` |":   "which does not link package internal/wasifs",
		"## A folder (package fsaccess)\n| x | `TestAttackGitRunsCommands` |": "",
	} {
		wrong, _ := uncited(row, homes, linked, layers)
		if got := strings.Join(wrong, "; "); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", row, got, want)
		}
	}
}

// findingFaults returns the faults of the table of findings: a finding of a review that has no row, or two, and a row
// none of whose tests starts its suite. starts has the suites of each test.
func findingFaults(text string, starts map[string][]string) (faults []string) {
	row := regexp.MustCompile(`(?m)^\| (\d\d|B\d) \| [^|]+ \| (.*) \|$`)
	named := regexp.MustCompile("`([A-Za-z0-9_]+)`")
	rows := map[string]int{}
	for _, m := range row.FindAllStringSubmatch(text, -1) {
		rows[m[1]]++
		counts := false
		for _, test := range named.FindAllStringSubmatch(m[2], -1) {
			if starts[test[1]] == nil {
				faults = append(faults, m[1]+": there is no "+test[1])
			}
			counts = counts || slices.Contains(starts[test[1]], m[1])
		}
		if !counts {
			faults = append(faults, m[1]+": none of its tests counts for its suite")
		}
	}
	for _, s := range attack.Suites() {
		if regexp.MustCompile(`^(\d\d|B\d)$`).MatchString(s.Name) && rows[s.Name] != 1 {
			faults = append(faults, fmt.Sprintf("%s has %d rows", s.Name, rows[s.Name]))
		}
	}
	return faults
}

// TestFindingsHaveTests checks the last section of THREATMODEL.md: each finding of the reviews has a row, with tests.
func TestFindingsHaveTests(t *testing.T) {
	out, err := exec.Command("git", "grep", "--untracked", "-hE", `^func Test[A-Za-z0-9_]+|attack\.Start\(t, "`, "--", "*_test.go").Output()
	if err != nil {
		t.Fatalf("git grep: %v", err)
	}
	starts, test := map[string][]string{}, ""
	for line := range strings.Lines(string(out)) {
		if m := regexp.MustCompile(`^func (Test\w+)`).FindStringSubmatch(line); m != nil {
			if test = m[1]; starts[test] == nil {
				starts[test] = []string{}
			}
		}
		for _, m := range regexp.MustCompile(`attack\.Start\(t, "(\w+)"\)`).FindAllStringSubmatch(line, -1) {
			starts[test] = append(starts[test], m[1])
		}
	}
	text, err := os.ReadFile("THREATMODEL.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range findingFaults(string(text), starts) {
		t.Error(fault)
	}
	for change, want := range map[[2]string]string{
		{"`TestAttackShortNames` |\n| 18", "`TestThatNobodyWrote` |\n| 18"}: "17: there is no TestThatNobodyWrote\n17: none of its tests counts for its suite",
		{"\n| B9 | ", "\n| b9 | "}: "B9 has 0 rows",
		{"\n| 12 | ", "\n| 11 | "}: "11: none of its tests counts for its suite\n11 has 2 rows\n12 has 0 rows",
	} {
		broken := strings.Replace(string(text), change[0], change[1], 1)
		if got := strings.Join(findingFaults(broken, starts), "\n"); got != want {
			t.Errorf("%q: %q, want %q", change[1], got, want)
		}
	}
}
