package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"path"
	"reflect"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

func skillMD(lines ...string) string {
	return "---\n" + strings.Join(lines, "\n") + "\n---\nDo it.\n"
}

func skillFolder(t testing.TB, files map[string]string) fsaccess.FS {
	t.Helper()
	mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	for name, text := range files {
		must(t, mem.MkdirAll(path.Dir(name), 0o755))
		must(t, mem.WriteFile(name, []byte(text), 0o644))
	}
	return mem
}

func TestFolderSkills(t *testing.T) {
	head := "---\nname: NAME\ndescription: \"does things\"\n---\n"
	fill := func(name string, n int) string {
		h := strings.ReplaceAll(head, "NAME", name)
		return h + strings.Repeat("x", n-len(h))
	}
	files := map[string]string{
		"skills/good/SKILL.md": fill("good", 100), "skills/plain/SKILL.md": "no head", "skills/open/SKILL.md": "---\ndescription: never ends\n",
		"skills/below/SKILL.md": fill("below", 64<<10-1), "skills/at/SKILL.md": fill("at", 64<<10), "skills/above/SKILL.md": fill("above", 64<<10+1),
		"skills/binary/SKILL.md": "\xff\xfe", "skills/bad name/SKILL.md": skillMD("description: x"), "skills/constructor/SKILL.md": skillMD("description: x"),
		"skills/windows/SKILL.md": "\ufeff---\r\ndescription: >\r\n  one\r\n  two\r\n---\r\nDo it.\r\n",
		"skills/SKILL.md":         skillMD("description: x"), "skills/good/deep/SKILL.md": skillMD("description: x"), "skills/other/README.md": "x", "SKILL.md": "x", "good/SKILL.md": "x",
		"skills/folder/SKILL.md/x": "x", "skills/good/references/more.md": "x",
	}
	list, refused, err := sandbox.FolderSkills(context.Background(), skillFolder(t, files), "skills")
	must(t, err)
	got := map[string]string{}
	for _, s := range list {
		if s.Trusted || s.Source != "skills/"+s.Name+"/SKILL.md" {
			t.Errorf("%+v", s)
		}
		if s.Name == "windows" && s.Content != "---\ndescription: >\n  one\n  two\n---\nDo it.\n" {
			t.Errorf("%q", s.Content)
		}
		got[s.Name] = s.Description
	}
	if want := "map[at:does things below:does things good:does things windows:one two]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
	why := map[string]string{}
	for _, r := range refused {
		why[r.Path] = r.Err.Error()
	}
	for name, part := range map[string]string{
		"plain": "line 1: there is no front matter", "open": "line 1: the front matter has no end", "above": "longer than 65536 bytes", "binary": "not UTF-8",
		"bad name": "the name of the folder must be", "constructor": "the name of the folder must be",
	} {
		if !strings.Contains(why["skills/"+name+"/SKILL.md"], part) {
			t.Errorf("%s: %q", name, why["skills/"+name+"/SKILL.md"])
		}
	}
	if len(refused) != 6 {
		t.Errorf("%d files were refused: %v", len(refused), why)
	}
}

// Without names, FolderSkills looks into the folders that clients share. The first skill of a name counts.
func TestFolderSkillsWhere(t *testing.T) {
	mem := skillFolder(t, map[string]string{
		".agents/skills/a/SKILL.md": skillMD("description: first"), ".claude/skills/a/SKILL.md": skillMD("description: second"),
		".claude/skills/b/SKILL.md": skillMD("description: b"), ".skills/c/SKILL.md": skillMD("description: c"), "skills/d/SKILL.md": skillMD("description: d"),
	})
	list, refused, err := sandbox.FolderSkills(t.Context(), mem)
	must(t, err)
	got := ""
	for _, s := range list {
		got += s.Source + " " + s.Description + "\n"
	}
	if got != ".agents/skills/a/SKILL.md first\n.claude/skills/b/SKILL.md b\n.skills/c/SKILL.md c\n" {
		t.Error(got)
	}
	if len(refused) != 1 || !strings.Contains(refused[0].Error(), ".claude/skills/a/SKILL.md: the skill .agents/skills/a/SKILL.md has the same name") {
		t.Error(refused)
	}
	// A folder that can't be listed keeps no other from being read.
	list, refused, err = sandbox.FolderSkills(t.Context(), skillFolder(t, map[string]string{".agents/skills": "a file", ".skills/c/SKILL.md": skillMD("description: c")}))
	if len(list) != 1 || len(refused) != 1 || refused[0].Path != ".agents/skills" || err != nil {
		t.Error(list, refused, err)
	}
	list, refused, err = sandbox.FolderSkills(t.Context(), skillFolder(t, nil))
	if len(list)+len(refused) > 0 || err != nil {
		t.Error(list, refused, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := sandbox.FolderSkills(ctx, mem); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// The layers over a folder list its skills too.
func TestFolderSkillsBelowLayers(t *testing.T) {
	h := build(t, policy.AskBeforeChanges(), nil, map[string]string{".skills/c/SKILL.md": skillMD("description: c")})
	plan, err := h.Plan(t.Context())
	must(t, err)
	for name, fsys := range map[string]fsaccess.FS{"journal": h.journal, "dry run": plan.Copy(), "memory": h.mem} {
		if list, refused, err := sandbox.FolderSkills(t.Context(), fsys); len(list) != 1 || len(refused) != 0 || err != nil {
			t.Errorf("%s: %v, %v, %v", name, list, refused, err)
		}
	}
}

func TestFolderSkillsNumbers(t *testing.T) {
	for n, ok := range map[int]bool{199: true, 200: true, 201: false} {
		files := map[string]string{}
		for i := range n {
			files[fmt.Sprintf("skills/s%d/SKILL.md", i)] = skillMD("description: x")
		}
		list, refused, err := sandbox.FolderSkills(t.Context(), skillFolder(t, files), "skills")
		must(t, err)
		if len(list) != min(n, 200) || (len(refused) == 0) != ok {
			t.Errorf("of %d skills there are %d, %v", n, len(list), refused)
		}
	}
	for n, ok := range map[int]bool{1999: true, 2000: true, 2001: false} {
		mem := skillFolder(t, nil)
		must(t, mem.Mkdir("skills", 0o755))
		for i := range n {
			must(t, mem.Mkdir(fmt.Sprintf("skills/s%d", i), 0o755))
		}
		_, refused, err := sandbox.FolderSkills(t.Context(), mem, "skills")
		must(t, err)
		if (len(refused) == 0) != ok {
			t.Errorf("of %d entries: %v", n, refused)
		}
	}
}

// After 200 refused files nothing more is read, whichever folder they are in.
func TestFolderSkillsRefused(t *testing.T) {
	for n, ok := range map[int]bool{199: true, 200: true, 201: false, 500: false} {
		files := map[string]string{"b/z/SKILL.md": skillMD("description: x")}
		for i := range n {
			files[fmt.Sprintf("%s/s%d/SKILL.md", []string{"a", "b"}[i%2], i)] = "no head"
		}
		list, refused, err := sandbox.FolderSkills(t.Context(), skillFolder(t, files), "a", "b")
		must(t, err)
		if len(refused) != min(n, 201) || (len(list) == 1) != ok {
			t.Errorf("of %d files that can't be used %d are refused, with %d skills", n, len(refused), len(list))
			continue
		}
		last := refused[len(refused)-1]
		if said := strings.Contains(last.Error(), "more than 200 files can't be used, and the rest is left out"); said == ok {
			t.Errorf("of %d files: the last one says %v", n, last)
		}
	}
}

func TestParseSkill(t *testing.T) {
	all := skillMD("name: pdf", "description: >-", "  Reads PDFs.", "  Use it for forms.", "license: Apache-2.0", "compatibility: Requires Python 3.14+", "metadata:", "  author: example-org", `  version: "1.0"`,
		"  openclaw:", "    bins: [gws]", "allowed-tools: Bash(git diff *), Read Grep", "argument-hint: [file] [format]", "disable-model-invocation: true", "user-invocable: False", "hooks:", "  - a: b", "model: x")
	s, err := sandbox.ParseSkill("pdf", all)
	want := sandbox.Skill{Name: "pdf", Description: "Reads PDFs. Use it for forms.", Content: all, License: "Apache-2.0", Compatibility: "Requires Python 3.14+", Metadata: map[string]string{"author": "example-org", "version": "1.0"},
		AllowedTools: []string{"Bash(git diff *)", "Read", "Grep"}, ArgumentHint: "[file] [format]", UserOnly: true, ModelOnly: true}
	if err != nil || !reflect.DeepEqual(s, want) {
		t.Errorf("%+v, %v\nwant %+v", s, err, want)
	}
	if s, err := sandbox.ParseSkill("a", skillMD("description: x", "allowed-tools:", "- Bash(git:*)", "- Read", "user-invocable: true", "metadata:")); err != nil || fmt.Sprint(s.AllowedTools) != "[Bash(git:*) Read]" || s.UserOnly || s.ModelOnly {
		t.Errorf("%+v, %v", s, err)
	}
	x := func(n int) string { return strings.Repeat("ü", n) }
	for _, c := range []struct{ name, lines, err string }{
		{"a", "description: x", ""},
		{"a", "name: b\ndescription: x", "line 2: name must be the name of the folder, a"},
		{"a", "name: [a]\ndescription: x", "line 2: name must be"},
		{"a", "name: a", "line 1: the front matter has no description"},
		{"a", "description:", "line 2: description is empty"},
		{"a", "description: ' '", "line 2: description is empty"},
		{"a", "description: [x]", "line 2: description must be a text"},
		{"a", "description: " + x(1023), ""},
		{"a", "description: " + x(1024), ""},
		{"a", "description: " + x(1025), "line 2: description is longer than 1024 characters"},
		{"a", "description: x\ncompatibility: " + x(499), ""},
		{"a", "description: x\ncompatibility: " + x(500), ""},
		{"a", "description: x\ncompatibility: " + x(501), "line 3: compatibility is longer than 500 characters"},
		{"a", "description: x\nargument-hint: " + x(199), ""},
		{"a", "description: x\nargument-hint: " + x(200), ""},
		{"a", "description: x\nargument-hint: " + x(201), "line 3: argument-hint is longer than 200 characters"},
		{"a", "description: x\nmetadata: y", "line 3: metadata must be a map"},
		{"a", "description: x\nallowed-tools: {a: b}", "line 3: allowed-tools must be a text or a list"},
		{"a", "description: x\nallowed-tools:\n- [a]", "line 4: allowed-tools must be a text or a list"},
		{"a", "description: x\nallowed-tools: " + strings.Repeat("a,", 99), ""},
		{"a", "description: x\nallowed-tools: " + strings.Repeat("a,", 100), ""},
		{"a", "description: x\nallowed-tools: " + strings.Repeat("a,", 101), "line 3: allowed-tools has more than 100 tools"},
		{"a", "description: x\nallowed-tools: " + strings.Repeat("a", 199), ""},
		{"a", "description: x\nallowed-tools: " + strings.Repeat("a", 200), ""},
		{"a", "description: x\nallowed-tools: " + strings.Repeat("a", 201), "line 3: allowed-tools has a tool of more than 200 bytes"},
		{"a", "description: x\ndisable-model-invocation: yes", "line 3: disable-model-invocation must be true or false"},
		{"a", "description: x\nuser-invocable: [true]", "line 3: user-invocable must be true or false"},
		{"a", "description: x\nb: &c d", "line 3: anchors and aliases"},
		{"a-b-3", "description: x", ""},
		{"3d", "description: x", ""},
		{strings.Repeat("a", 63), "description: x", ""},
		{strings.Repeat("a", 64), "description: x", ""},
		{strings.Repeat("a", 65), "description: x", "the name of the folder must be"},
		{"", "description: x", "the name of the folder must be"},
		{"-a", "description: x", "the name of the folder must be"},
		{"a-", "description: x", "the name of the folder must be"},
		{"a--b", "description: x", "the name of the folder must be"},
		{"A", "description: x", "the name of the folder must be"},
		{"ä", "description: x", "the name of the folder must be"},
		{"a_b", "description: x", "the name of the folder must be"},
		{"a/b", "description: x", "the name of the folder must be"},
		{"prototype", "description: x", "the name of the folder must be"},
	} {
		_, err := sandbox.ParseSkill(c.name, skillMD(c.lines))
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.HasPrefix(err.Error(), c.err)) {
			t.Errorf("%s, %.60q: %v, want %q", c.name, c.lines, err, c.err)
		}
	}
}

func TestFill(t *testing.T) {
	for _, c := range []struct{ text, arguments, want string }{
		{"Do it.", "", "Do it."},
		{"Do it.", "a b", "Do it.\n\nARGUMENTS: a b"},
		{"Fix $ARGUMENTS now", `12 "x y"`, `Fix 12 "x y" now`},
		{"Fix $ARGUMENTS now", "", "Fix  now"},
		{"$0 to $1, not $2 or $ARGUMENTS[2]", `"a b" 'c'`, "a b to c, not $2 or $ARGUMENTS[2]"},
		{"$ARGUMENTS[1]$ARGUMENTS[0]", "a b", "ba"},
		{"$ARGUMENTSX $ARGUMENTS_ $0x $01 $001 $ $$0 $x", "a", "$ARGUMENTSX $ARGUMENTS_ $0x $01 $001 $ $a $x"},
		{"costs $100", "a", "costs $100\n\nARGUMENTS: a"},
		{"$0 $1", "$1 $ARGUMENTS", "$1 $ARGUMENTS"},
		{"$0|$1|$2", "\"\" 'it is' \"open end", "|it is|open end"},
		{"$0.", "é\u00a0ü", "é."},
		{"$ARGUMENTS[x] $ARGUMENTS.", "a", "a[x] a."},
		{skillMD("description: $ARGUMENTS $0") + "$0", "a", skillMD("description: $ARGUMENTS $0") + "a"},
		{"---\nno end $0", "a", "---\nno end a"},
	} {
		if got, err := (sandbox.Skill{Content: c.text}).Fill(c.arguments); err != nil || got != c.want {
			t.Errorf("%q with %q: %q, %v", c.text, c.arguments, got, err)
		}
	}
	for n, ok := range map[int]bool{4<<10 - 1: true, 4 << 10: true, 4<<10 + 1: false} {
		if _, err := (sandbox.Skill{Content: "x"}).Fill(strings.Repeat("a", n)); (err == nil) != ok || !ok && !errors.Is(err, protocol.ErrInvalidParams) {
			t.Errorf("%d bytes of arguments: %v", n, err)
		}
	}
	// The text may become 128 KiB long.
	for n, ok := range map[int]bool{31: true, 32: true, 33: false} {
		if _, err := (sandbox.Skill{Content: strings.Repeat("$0", n)}).Fill(strings.Repeat("a", 4<<10)); (err == nil) != ok || !ok && !errors.Is(err, protocol.ErrResourceLimit) {
			t.Errorf("%d times 4 KiB: %v", n, err)
		}
	}
	// Content that no argument is put into counts too, and the end counts, not the way to it.
	for n, ok := range map[int]bool{128<<10 - 1: true, 128 << 10: true, 128<<10 + 1: false} {
		for name, c := range map[string]struct{ content, arguments string }{
			"content alone":             {strings.Repeat("x", n), ""},
			"arguments in the end":      {strings.Repeat("x", n-len("\n\nARGUMENTS: a")), "a"},
			"text behind a placeholder": {"$0 " + strings.Repeat("x", n-2), "a"},
			"a text that shrinks":       {strings.Repeat("x", n-100) + strings.Repeat("$ARGUMENTS[0]", 100), "a"},
		} {
			text, err := (sandbox.Skill{Content: c.content}).Fill(c.arguments)
			if (err == nil) != ok || ok && len(text) != n || !ok && !errors.Is(err, protocol.ErrResourceLimit) {
				t.Errorf("%s of %d bytes: %d bytes, %v", name, n, len(text), err)
			}
		}
	}
}

// The model gets the text with its arguments and its folder, and no skill that is for the user alone.
func TestSkillTool(t *testing.T) {
	h := build(t, policy.AskBeforeChanges(), sandboxtest.Always(policy.AnswerOnce), nil, func(o *sandbox.Options) {
		o.Skills = []sandbox.Skill{{Name: "helper", Content: "Help $0.", Source: ".skills/helper/SKILL.md", AllowedTools: []string{"Bash(*)"}}, {Name: "own", Description: "my\n\n- forged: line", Content: "mine", Trusted: true},
			{Name: "hidden", Description: "for the user", Content: "x", Trusted: true, UserOnly: true}}
	})
	if m := h.ok(t, "skill", args{"name": "helper", "arguments": "me"}); m["content"] != "Help me." || m["folder"] != ".skills/helper" {
		t.Error(m)
	}
	if q := fmt.Sprint(h.asker.Requests()[0]); !strings.Contains(q, "the tools in its line allowed-tools get no permission by that") || !strings.Contains(q, "Help $0.") {
		t.Error(q)
	}
	if m := h.ok(t, "skill", args{"name": "own"}); m["content"] != "mine" || m["folder"] != nil {
		t.Error(m)
	}
	if r := h.Call(t.Context(), "skill", args{"name": "hidden"}); !errors.Is(r.Err(), protocol.ReasonNotFound) {
		t.Error(r.Err())
	}
	if r := h.Call(t.Context(), "skill", args{"name": "own", "arguments": strings.Repeat("ü", 2049)}); !errors.Is(r.Err(), protocol.ErrInvalidParams) {
		t.Error(r.Err())
	}
	m := &sandboxtest.Model{Turns: []sandboxtest.Turn{sandboxtest.Say("yes")}}
	_, err := h.talk(t, h.session(t), m, "hello")
	must(t, err)
	if system := m.Requests()[0].System; !strings.HasSuffix(system, "\n- own: my - forged: line") || strings.Contains(system, "for the user") {
		t.Error(system)
	}
}
