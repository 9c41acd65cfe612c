//go:build !js

package bailey_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
)

// What govulncheck finds fails make lint, whatever words its report has. A program of
// the test's own stands for govulncheck, so no network is needed.
func TestAttackLintPasses(t *testing.T) {
	recipe, err := os.ReadFile("Makefile")
	if err != nil || !strings.Contains(string(recipe), "internal/tools/vulncheck.sh $(BIN)/govulncheck ./...\n") {
		t.Fatalf("make lint does not run internal/tools/vulncheck.sh, %v", err)
	}
	report := func(title string) string {
		return "=== Symbol Results ===\n\nVulnerability #1: GO-2025-3503\n    " + title + "\n  Module: golang.org/x/net\nYour code is affected by 1 vulnerability from 1 module.\n"
	}
	count := attack.Start(t, "21")
	// The recipe of before took any of these words for a machine without a network.
	before := regexp.MustCompile(`(?i)dial|lookup|proxy|fetch|refused|forbidden|status`)
	for _, c := range []struct {
		name, prints string
		status       int
		passes       bool
	}{
		{"nothing found", "No vulnerabilities found.\n", 0, true},
		{"found", report("Excessive allocation in x"), 3, false},
		{"found, about a proxy", report("HTTP Proxy bypass using IPv6 Zone IDs in golang.org/x/net"), 3, false},
		{"found, about a dial", report("dial tcp: no such host; connection refused"), 3, false},
		{"found, about fetching", report("govulncheck: fetching vulnerabilities: forbidden") + "govulncheck: fetching vulnerabilities: https://vuln.go.dev 403\n", 3, false},
		{"found, about a lookup's status", report("Wrong status of a lookup"), 3, false},
		{"no network", "govulncheck: fetching vulnerabilities: Get \"https://vuln.go.dev/index/modules.json.gz\": dial tcp: lookup vuln.go.dev: no such host\n", 1, true},
		{"it does not build", "govulncheck: loading packages: there are errors with the provided package patterns: proxy.go:3: status undefined\n", 1, false},
		{"killed", "", 137, false},
		{"wrong use", "flag provided but not defined: -fetch\n", 2, false},
	} {
		fake := filepath.Join(t.TempDir(), "govulncheck")
		script := "#!/bin/bash\ncat <<'OUT'\n" + c.prints + "OUT\nexit " + strconv.Itoa(c.status) + "\n"
		if err := os.WriteFile(fake, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("internal/tools/vulncheck.sh", fake, "./...").CombinedOutput()
		var failed *exec.ExitError
		if !c.passes {
			count.Try(c.name, err == nil)
			count.Off(c.name, before.MatchString(c.prints))
		}
		if (err == nil) != c.passes || err != nil && !errors.As(err, &failed) {
			t.Errorf("%s: %v\n%s", c.name, err, out)
		}
		if c.passes && c.status != 0 && !strings.Contains(string(out), "NOT CHECKED") {
			t.Errorf("%s: passes in silence: %s", c.name, out)
		}
	}
}
