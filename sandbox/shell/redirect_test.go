package shell_test

import (
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
	"github.com/bailey-go/bailey/sandbox/shell"
)

// A redirect loses only the content that the user agreed to lose, and no content that the user
// saved while the script was running.
func TestAttackRedirectThatIsOpenForLong(t *testing.T) {
	count := attack.Start(t, "04")
	const asks = `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["*"]}, "rules": [{"permission": "*", "action": "ask"}]}`
	for name, script := range map[string]string{
		"a group":            "{ echo x; cat old.txt; } > thesis.tex",
		"a loop":             "for f in old.txt; do cat $f; done > thesis.tex",
		"a subshell":         "( cat old.txt ) > thesis.tex",
		"a function":         "f() { cat old.txt; }; f > thesis.tex",
		"an open descriptor": "exec > thesis.tex; cat old.txt",
	} {
		attempt := func(bash sandbox.Tool) bool {
			saved := false
			var save func()
			asker := &sandboxtest.Asker{Reply: func(r sandbox.Request) sandbox.Reply {
				if strings.Contains(r.Title, "read old.txt") {
					saved = true
					save()
				}
				return sandbox.Reply{Answer: policy.AnswerOnce}
			}}
			b, mem, journal := buildWith(t, asks, asker, bash)
			must(t, mem.WriteFile("thesis.tex", []byte("years of work\n"), 0o644))
			must(t, mem.WriteFile("old.txt", []byte("old\n"), 0o644))
			save = func() { must(t, journal.WriteFile("thesis.tex", []byte("a new chapter\n"), 0o644)) }
			_, _, _ = run(t, b, script)
			if !saved {
				t.Errorf("%s: the file was not saved in between", name)
			}
			now, err := mem.ReadFile("thesis.tex")
			must(t, err)
			return string(now) != "a new chapter\n"
		}
		count.Try(name, attempt(shell.Bash(shell.Options{})))
		count.Off(name, attempt(shell.BashWithout("compare", shell.Options{})))
	}
}
