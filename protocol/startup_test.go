package protocol_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/protocol"
)

// Each row of the list holds, in each spelling that some file system takes for the name.
func TestStartupFiles(t *testing.T) {
	p, seen, consent := everything(t), map[string]bool{}, false
	for _, f := range protocol.StartupFiles() {
		name, ok := strings.CutPrefix(f.Pattern, "**/")
		switch {
		case !ok || name == "" || strings.Count(name, "*") > 1 || strings.Contains(strings.TrimSuffix(name, "/"+name[strings.LastIndexByte(name, '/')+1:]), "*/"):
			t.Errorf("%s: not of the form the list has", f.Pattern)
		case seen[strings.ToLower(name)]:
			t.Errorf("%s is there twice", f.Pattern)
		case !strings.Contains(f.Source, "://") && !strings.Contains(f.Source, "sandbox-runtime, src/"):
			t.Errorf("%s: %q is no source", f.Pattern, f.Source)
		case f.Refused && consent:
			t.Errorf("%s: the refused rows come first", f.Pattern)
		}
		seen[strings.ToLower(name)] = true
		consent = consent || !f.Refused
		name = strings.ReplaceAll(name, "*", "")
		for _, path := range []string{name, "a/" + name, "a/b/c/d/e/f/" + name, strings.ToUpper(name), name + ".", name + " ", name + "::$DATA", "a./" + name} {
			got, ok := protocol.StartupFileOf(path)
			if !ok || got.Refused != f.Refused {
				t.Errorf("%s: %q is taken for %+v, %t", f.Pattern, path, got, ok)
			}
			err := p.Check(protocol.OpWrite, path)
			if f.Refused != errors.Is(err, protocol.ReasonProtected) {
				t.Errorf("%s: writing %q: %v", f.Pattern, path, err)
			}
		}
	}
	if len(seen) < 100 {
		t.Errorf("only %d rows", len(seen))
	}
	for path, want := range map[string]string{
		"ENVRC~1": ".envrc", "DEVCON~1/devcontainer.json": ".devcontainer", "GITHUB~1/WORKFL~1/x.yml": ".github/workflows", "YARNRC~1.YML": ".yarnrc*",
		"ssh~1/config": ".ssh", ".config/AUTOST~1/x.desktop": ".config/autostart", "PRE-CO~1.YAM": ".pre-commit-config.yaml", "DI1A2B~1.EL": ".dir-locals.el", "CONFTE~1.PY": "",
		"x.TERMINAL": "*.terminal", "sub/x.pyw": "*.pyw", "FOO~1.TER": "*.terminal", "library/launchagents/x.plist": "Library/LaunchAgents",
	} {
		f, ok := protocol.StartupFileOf(path)
		if got := strings.TrimPrefix(f.Pattern, "**/"); got != want && !(ok && want == "" && got == "conftest.py") {
			t.Errorf("%q is taken for %q, not %q", path, got, want)
		}
	}
	for _, path := range []string{"Makefile", "package.json", "README.md", "src/main.go", "notes.txt", "workflows/x.yml", ".github/ISSUE_TEMPLATE.md", "envrc", "a.sshrc", "terminal", ".gitignore", ".gitattributes",
		"a~1.txt", "setup.py", "build.gradle", ".editorconfig", ".env", "config/fish", ".config/other"} {
		if f, ok := protocol.StartupFileOf(path); ok {
			t.Errorf("%q is taken for %s", path, f.Pattern)
		}
	}
}
