package policy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// Explain lists the paths that are outside of the folder, and says nothing about others.
func TestPathsOutsideAreNotApplicable(t *testing.T) {
	work := policy.Options{Mount: "/home/me/work"}
	home := policy.Options{Mount: "/home/me/work", Vars: map[string]string{"HOME": "/home/me/"}}
	for _, c := range []struct {
		list, path string
		o          policy.Options
		want       string // what the entry matches in the folder, "" for nothing
		note       string
	}{
		{"denyRead", "~/.ssh", policy.Options{}, ".ssh", " is outside the folder; what has this path in the folder is denied"},
		{"denyRead", "/etc/passwd", policy.Options{}, "etc/passwd", " is outside the folder; what has this path in the folder is denied"},
		{"denyRead", "/", policy.Options{}, "x", ""},
		{"denyRead", "~", policy.Options{}, "x", ""},
		{"denyRead", "~/.ssh", work, ".ssh/id", " is outside the folder; what has this path in the folder is denied"},
		{"denyRead", "~/.ssh", home, "", " is outside the folder"},
		{"denyRead", "~/work/a", home, "a/x", ""},
		{"denyRead", "~/WORK/a", home, "a/x", ""},
		{"denyRead", "~", home, "x", ""},
		{"denyRead", "/home", work, "x", ""},
		{"denyRead", "/home/me/work/", work, "x", ""},
		{"denyRead", "/home/me/work/a/**", work, "a/x", ""},
		{"denyRead", "/home/me/works", work, "", " is outside the folder"},
		{"denyRead", "/**/*.pem", work, "a/k.pem", ""},
		{"denyRead", "/home/**", work, "a", ""},
		{"denyRead", "/**/work", work, "a", ""},
		{"denyRead", "/**/w*", work, "a", ""},
		{"denyRead", "/home/**/**/x", work, "a/x", ""},
		{"denyRead", "/etc/*", work, "", " is outside the folder"},
		{"denyRead", "/a", policy.Options{Mount: "/"}, "a", ""},
		{"denyWrite", "/home/me/work/a", work, "a", ""},
		{"allowWrite", "/tmp", policy.Options{}, "", " is outside the folder"},
		{"allowWrite", "~", policy.Options{}, "", " is outside the folder"},
		{"allowWrite", "/home/me/work/a", work, "a", ""},
		{"allowWrite", "/home/me/work", work, "x", ""},
		{"allowWrite", "/home/me/WORK/a", work, "", " is outside the folder"},
		{"allowWrite", "/home", work, "", " is above the folder; write . for all of it"},
		{"allowWrite", "/home/*/work/a", work, "", " has a wildcard above the folder"},
	} {
		p, err := policy.Parse(`{"filesystem": {"`+c.list+`": ["`+c.path+`"]}}`, c.o)
		if err != nil {
			t.Errorf("%s %s: %v", c.list, c.path, err)
			continue
		}
		want := []string(nil)
		if c.note != "" {
			want = []string{`filesystem.` + c.list + ` "` + c.path + `"` + c.note}
		}
		op := protocol.OpRead
		if c.list != "denyRead" {
			op = protocol.OpWrite
		}
		e, err := policy.Explain(p, policy.Call{Tool: "read", Needs: []policy.Need{{Capability: protocol.FSRead, Subject: "q"}}})
		if err != nil || !slices.Equal(e.Inapplicable, want) || strings.Contains(e.String(), "not applicable: "+strings.Join(want, "")) != (c.note != "") {
			t.Errorf("%s %s: %v, %q, want %q", c.list, c.path, err, e.Inapplicable, want)
		}
		denies := strings.HasPrefix(c.list, "deny")
		if c.want != "" && (p.FS.Check(op, c.want) != nil) != denies {
			t.Errorf("%s %s: %s is decided as %v", c.list, c.path, c.want, p.FS.Check(op, c.want))
		}
		if lists := len(p.FS.DenyRead) + len(p.FS.DenyWrite) + len(p.FS.AllowWrite); lists != min(1, len(c.want)) {
			t.Errorf("%s %s: %d entries are left", c.list, c.path, lists)
		}
	}
}

// A path of a denial that could be one of the folder's is denied in each spelling of its place. Off
// is a reader that leaves out absolute paths as being outside.
func TestAttackDenialsThatSeemOutside(t *testing.T) {
	a := attack.Start(t, "srt")
	o := policy.Options{Mount: "/home/me/work", Vars: map[string]string{"HOME": "/home/me"}}
	for _, text := range []string{"/home/me/work/secret", "/home/me/work/secret/", "/home/me/work/secret/**", "/home/me/work/s*", "/home/me/work/**/secret", "/home/me/work", "/home/me", "/home", "/", "/**",
		"/**/secret", "/home/**", "/home/**/secret", "/home/**/work/secret", "/**/work/secret", "/**/me/**/secret", "/**/**/work/secret", "/**/w?rk/secret", "/**/WORK/secret", "/**/work", "/**/[m]e", "/HOME/me/Work/secret", "//home/me/work/secret", "~/work/secret", "~/WORK/secret", "~", "~/", "~/work", "$HOME/work/secret", "/home/me/work/./secret", "/home/me/work/../work/secret",
		"/etc/../home/me/work/secret", "/./home/me/work/secret", "~/./work/secret", "~/../me/work/secret", "/home/m?/work/secret", "/home/[m]e/work/secret", "/*/me/work/secret", "/home/me/wor*/secret"} {
		for _, kind := range []string{`{"filesystem": {"denyRead": ["` + text + `"]}}`, `{"filesystem": {"denyRead": []}, "credentials": {"files": [{"path": "` + text + `", "mode": "deny"}]}}`} {
			p, err := policy.Parse(kind, o)
			succeeded := err == nil && p.FS.Check(protocol.OpRead, "secret/key") == nil
			if succeeded {
				t.Errorf("%s: the file can be read", kind)
			}
			a.Try(text, succeeded)
		}
		open, err := policy.Parse(`{"filesystem": {"denyRead": []}}`, o)
		if err != nil {
			t.Fatal(err)
		}
		a.Off(text, open.FS.Check(protocol.OpRead, "secret/key") == nil)
	}
}
