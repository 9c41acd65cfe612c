package publicset_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/sandbox/secrets"
)

const upstream = "github.com/zricethezav/gitleaks/v8"

type example struct{ Path, Text string }

// rule is a rule of gitleaks with its examples: true and false positives.
type rule struct {
	Rule, Regex string
	Group       int
	Found, Left []example
}

// secret returns the secret in an example, by the rule's own expression.
func (r *rule) secret(text string) string {
	m := regexp.MustCompile(r.Regex).FindStringSubmatch(text)
	if len(m) == 0 {
		return ""
	}
	if r.Group > 0 {
		return m[r.Group]
	}
	for _, g := range m[1:] {
		if g != "" {
			return g
		}
	}
	return m[0]
}

func run(t *testing.T, dir string, env []string, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, stderr.Bytes())
	}
	return out
}

// examples builds gitleaks' generator with two of its files replaced by ours, and runs it.
func examples(t *testing.T) (out []rule) {
	t.Helper()
	source := strings.TrimSpace(string(run(t, "", nil, "go", "list", "-m", "-f", "{{.Dir}}", upstream)))
	if source == "" {
		run(t, "", nil, "go", "mod", "download", upstream)
		source = strings.TrimSpace(string(run(t, "", nil, "go", "list", "-m", "-f", "{{.Dir}}", upstream)))
	}
	tmp := t.TempDir()
	copied, generator := filepath.Join(tmp, "src"), filepath.Join("cmd", "generate", "config")
	must(t, os.CopyFS(copied, os.DirFS(source)))
	for to, from := range map[string]string{filepath.Join(generator, "utils", "validate.go"): "validate.go.txt", filepath.Join("cmd", "generate", "secrets", "regen.go"): "regen.go.txt"} {
		data, err := os.ReadFile(filepath.Join("testdata", from))
		must(t, err)
		to = filepath.Join(copied, to)
		must(t, os.Remove(to)) // it must exist, and it is read-only
		must(t, os.WriteFile(to, data, 0o600))
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(name)
		must(t, err)
		must(t, os.WriteFile(filepath.Join(tmp, name), data, 0o600))
	}
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	must(t, err)
	mod, program, rows := filepath.Join(tmp, "go.mod"), filepath.Join(tmp, "generator"), filepath.Join(tmp, "rows")
	run(t, "", nil, "go", "mod", "edit", "-replace", upstream+"="+copied, "-replace", "github.com/bailey-go/bailey="+root, mod)
	run(t, "", nil, "go", "build", "-modfile", mod, "-o", program, upstream+"/cmd/generate/config")
	run(t, filepath.Join(copied, generator), []string{"PUBLICSET_OUT=" + rows}, program, os.DevNull)
	data, err := os.ReadFile(rows)
	must(t, err)
	for in := bufio.NewReader(bytes.NewReader(data)); ; {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return out
		}
		var r rule
		must(t, json.Unmarshal(line, &r))
		out = append(out, r)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestPublicSet counts an example as found if Redact removes the text that the rule's own
// expression takes for the secret. It measures every rule with an expression, including rules that
// gitleaks applies only to files of certain names, although there are no names here. The only rule
// without an expression, a PKCS #12 file known by its name, is not measured.
//
// The other examples are texts that the same rule must not match. Many of them are secrets of
// another rule, have a wrong length, or were once real and are now in the documentation. The number
// of them that Redact removes therefore says little about ordinary text, which the tests of package
// secrets cover. The test limits it so that it can't grow unnoticed.
func TestPublicSet(t *testing.T) {
	var all, found, left, wrong, measured int
	var mean float64
	for _, r := range examples(t) {
		if r.Regex == "" {
			t.Logf("not measured: %s has no expression", r.Rule)
			continue
		}
		for _, e := range r.Left {
			left++
			if _, kinds := secrets.Redact(context.Background(), e.Text); len(kinds) > 0 {
				wrong++
			}
		}
		if len(r.Found) == 0 {
			continue
		}
		hit := 0
		for _, e := range r.Found {
			secret := r.secret(e.Text)
			if secret == "" {
				t.Errorf("%s: its own expression does not find %q", r.Rule, e.Text)
			}
			if out, _ := secrets.Redact(context.Background(), e.Text); !strings.Contains(out, secret) {
				hit++
			} else if testing.Verbose() {
				t.Logf("missed %s: %.200q", r.Rule, e.Text)
			}
		}
		measured, all, found = measured+1, all+len(r.Found), found+hit
		mean += float64(hit) / float64(len(r.Found))
	}
	t.Logf("%d of %d examples (%.2f %%) of %d rules, %.2f %% of a rule's on average; %d of %d that a rule must leave (%.1f %%)",
		found, all, percent(found, all), measured, 100*mean/float64(measured), wrong, left, percent(wrong, left))
	if measured < 200 || all < 6000 || left < 300 {
		t.Error("the set is not whole")
	}
	if percent(found, all) < 95 || mean < 0.95*float64(measured) {
		t.Error("fewer than 95 % are found")
	}
	if percent(wrong, left) > 25 {
		t.Error("more of what rules must leave is removed")
	}
}

func percent(n, of int) float64 { return 100 * float64(n) / float64(of) }
