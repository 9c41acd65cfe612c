package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/frontmatter"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/internal/gate"
)

// Skill is a text of instructions for the model, which the tool skill returns by name. Its fields are those of
// the open standard Agent Skills (https://agentskills.io/specification), and three that vendors add
// (https://code.claude.com/docs/en/skills).
type Skill struct {
	Name        string // 1 to 64 characters of a-z, 0-9 and single hyphens within
	Description string // at most 1,024 characters
	Content     string // the whole SKILL.md, or for a skill of the app's own any text of at most 128 KiB, see Fill
	// Trusted marks a skill of the app's own. Any other skill, such as one from the user's folder,
	// is shown to the user and must be accepted before the model receives it.
	Trusted bool
	Source  string // origin of the skill, such as a path, for display

	License       string
	Compatibility string            // what the skill needs, at most 500 characters
	Metadata      map[string]string // the members of metadata that are texts
	// AllowedTools are the tools that the skill's author wants to be used without a question, such
	// as "Bash(git:*)", at most 100 of at most 200 bytes. They are for display, and never a
	// permission: the policy decides about every call as without the skill.
	AllowedTools []string
	ArgumentHint string // the arguments in a word, such as "[file]", at most 200 characters
	UserOnly     bool   // disable-model-invocation: the tool skill does not return it
	ModelOnly    bool   // user-invocable is false: an app should not offer it as a command
}

// Limits of skills, in bytes.
const (
	maxSkill     = 64 << 10 // a SKILL.md
	maxArguments = 4 << 10
	maxFilled    = 128 << 10 // a text with its arguments

	maxSkills       = 200   // of a folder
	maxRefused      = 200   // files and folders that are reported as refused
	maxSkillFolders = 2_000 // entries of a folder with skills
)

// FolderSkills returns the skills in folders, the files DIR/NAME/SKILL.md, as untrusted skills. Without
// dirs the folders are .agents/skills, .claude/skills and .skills. A folder that does not exist has no
// skills. Other files of a skill, such as those in scripts, references and assets, are not read: the
// model reads them with the tool read.
//
// A SKILL.md has at most 64 KiB of UTF-8, and begins with a front matter of at most 16 KiB: lines of YAML
// between two lines "---". The key description is required. A key name must be the name of the
// folder, and may be missing. metadata is a map. allowed-tools is a text with spaces or commas between the
// tools, or a list. disable-model-invocation and user-invocable are true or false. The other keys that are
// fields of [Skill] are texts. Any further key may have any value. Content is text without a byte order
// mark, and with "\n" as line ends.
//
// The YAML may contain maps, lists, comments, and plain, quoted, literal and folded texts, nested to a
// depth of 8. Anchors, aliases, tags, keys that are there twice, tabs as indentation and control
// characters are errors. An error about the front matter contains the number of the line.
//
// Files that are not of this form are in refused, with the reason. So are files and folders that can't be read,
// a skill whose name an earlier one has, skills after the 200th, and a folder of more than 2,000
// entries. After 200 of them, the next one is replaced by an error that says so, and nothing more is read.
// A reason may quote the file, so it is for the user and not for a model. FolderSkills returns an error if
// ctx ends.
func FolderSkills(ctx context.Context, fsys fsaccess.FS, dirs ...string) (skills []Skill, refused []*fs.PathError, err error) {
	if len(dirs) == 0 {
		dirs = []string{".agents/skills", ".claude/skills", ".skills"}
	}
	f := fsaccess.WithContext(ctx, fsys)
	seen := map[string]string{}
	for _, dir := range dirs {
		names, more, err := skillNames(f, dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		// refuse reports whether FolderSkills goes on.
		refuse := func(name string, err error) bool {
			full := len(refused) == maxRefused
			if full {
				name, err = dir, fmt.Errorf("more than %d files can't be used, and the rest is left out", maxRefused)
			}
			refused = append(refused, &fs.PathError{Op: "read skill", Path: name, Err: err})
			return !full
		}
		if err != nil && !refuse(dir, err) {
			return skills, refused, nil
		}
		if more && !refuse(dir, fmt.Errorf("the folder has more than %d entries, and the rest is left out", maxSkillFolders)) {
			return skills, refused, nil
		}
		for _, name := range names {
			if err := context.Cause(ctx); err != nil {
				return skills, refused, err
			}
			file := path.Join(dir, name, "SKILL.md")
			data, err := readSkill(f, file)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err == nil && len(skills) == maxSkills {
				refuse(dir, fmt.Errorf("there are more than %d skills, and the rest is left out", maxSkills))
				return skills, refused, nil
			}
			if err == nil && seen[name] != "" {
				err = errors.New("the skill " + seen[name] + " has the same name")
			}
			var s Skill
			if err == nil {
				s, err = parseSkill(name, data)
			}
			if err != nil {
				if !refuse(file, err) {
					return skills, refused, nil
				}
				continue
			}
			s.Source, seen[name] = file, file
			skills = append(skills, s)
		}
	}
	return skills, refused, context.Cause(ctx)
}

// skillNames returns the names of the folders in dir, sorted. more reports that dir has more entries than are
// looked at.
func skillNames(f *fsaccess.Folder, dir string) (names []string, more bool, err error) {
	d, err := f.Open(dir)
	if err != nil {
		return nil, false, err
	}
	defer d.Close()
	list, ok := d.(fs.ReadDirFile)
	if !ok {
		return nil, false, &fs.PathError{Op: "list", Path: dir, Err: fs.ErrInvalid}
	}
	for n := 0; ; {
		entries, err := list.ReadDir(100)
		for _, e := range entries {
			if n++; n > maxSkillFolders {
				slices.Sort(names)
				return names, true, nil
			}
			if e.IsDir() {
				names = append(names, e.Name())
			}
		}
		if err != nil || len(entries) == 0 {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			slices.Sort(names)
			return names, false, err
		}
	}
}

var errLongSkill = fmt.Errorf("the file is longer than %d bytes", maxSkill)

func readSkill(f *fsaccess.Folder, file string) (string, error) {
	info, err := f.Stat(file)
	switch {
	case err != nil:
		return "", err
	case info.IsDir():
		return "", fs.ErrNotExist
	case info.Size() > maxSkill:
		return "", errLongSkill
	}
	data, err := f.ReadFile(file)
	return string(data), err
}

// parseSkill returns the skill in a SKILL.md, see FolderSkills. name is that of its folder. The skill is not trusted,
// and has no Source.
func parseSkill(name, text string) (Skill, error) {
	switch {
	case !validSkillName(name):
		return Skill{}, errors.New("the name of the folder must be 1 to 64 characters of a-z, 0-9 and single hyphens within")
	case len(text) > maxSkill:
		return Skill{}, errLongSkill
	case !utf8.ValidString(text):
		return Skill{}, errors.New("the file is not UTF-8")
	}
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	head, _, ok, err := frontmatter.Split(text)
	if err != nil {
		return Skill{}, err
	}
	if !ok {
		return Skill{}, errors.New(`line 1: there is no front matter: the file must begin with a line "---"`)
	}
	m, err := frontmatter.Parse(head, "argument-hint")
	if err != nil {
		return Skill{}, err
	}
	s := Skill{Name: name, Content: text}
	for i, key := range m.Keys {
		if err := s.set(key, m.Items[i]); err != nil {
			return Skill{}, err
		}
	}
	if s.Description == "" {
		return Skill{}, errors.New("line 1: the front matter has no description")
	}
	return s, nil
}

// validSkillName reports whether a name is one of the standard.
func validSkillName(name string) bool {
	for i := range len(name) {
		if c := name[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && (c != '-' || i == 0 || i+1 == len(name) || name[i-1] == '-') {
			return false
		}
	}
	// A name that reaches a prototype in JavaScript is no tool's name either.
	return name != "" && len(name) <= 64 && (name[0] <= '9' || protocol.ValidToolName(name) == nil)
}

// set sets the field of a key.
func (s *Skill) set(key string, v *frontmatter.Value) error {
	fail := func(v *frontmatter.Value, why string) error {
		return &frontmatter.Error{Line: v.Line, Why: key + " " + why}
	}
	text := func(to *string, most int) error {
		if v.Kind != frontmatter.Text {
			return fail(v, "must be a text")
		}
		if *to = strings.TrimSpace(v.Text); most > 0 && utf8.RuneCountInString(*to) > most {
			return fail(v, "is longer than "+strconv.Itoa(most)+" characters")
		}
		return nil
	}
	flag := func(to *bool, when bool) error {
		is := strings.EqualFold(v.Text, "true")
		if v.Kind != frontmatter.Text || !is && !strings.EqualFold(v.Text, "false") {
			return fail(v, "must be true or false")
		}
		*to = is == when
		return nil
	}
	switch key {
	case "name":
		if v.Kind != frontmatter.Text || v.Text != s.Name {
			return fail(v, "must be the name of the folder, "+s.Name)
		}
	case "description":
		if err := text(&s.Description, 1024); err != nil || s.Description != "" {
			return err
		}
		return fail(v, "is empty")
	case "license":
		return text(&s.License, 0)
	case "compatibility":
		return text(&s.Compatibility, 500)
	case "argument-hint":
		return text(&s.ArgumentHint, 200)
	case "disable-model-invocation":
		return flag(&s.UserOnly, true)
	case "user-invocable":
		return flag(&s.ModelOnly, false)
	case "metadata":
		if v.Kind != frontmatter.Map && (v.Kind != frontmatter.Text || v.Text != "") {
			return fail(v, "must be a map")
		}
		for i, k := range v.Keys {
			if item := v.Items[i]; item.Kind == frontmatter.Text {
				if s.Metadata == nil {
					s.Metadata = map[string]string{}
				}
				s.Metadata[k] = item.Text
			}
		}
	case "allowed-tools":
		switch v.Kind {
		case frontmatter.Text:
			s.AllowedTools = skillTools(v.Text)
		case frontmatter.List:
			for _, item := range v.Items {
				if item.Kind != frontmatter.Text {
					return fail(item, "must be a text or a list of texts")
				}
				s.AllowedTools = append(s.AllowedTools, item.Text)
			}
		default:
			return fail(v, "must be a text or a list of texts")
		}
		for _, tool := range s.AllowedTools {
			if len(tool) > 200 {
				return fail(v, "has a tool of more than 200 bytes")
			}
		}
		if len(s.AllowedTools) > 100 {
			return fail(v, "has more than 100 tools")
		}
	}
	return nil
}

// skillTools splits a text at the spaces and commas outside of brackets.
func skillTools(text string) []string {
	depth := 0
	return strings.FieldsFunc(text, func(c rune) bool {
		switch c {
		case '(':
			depth++
		case ')':
			depth = max(depth-1, 0)
		}
		return depth == 0 && (c == ',' || c == ' ' || c == '\n' || c == '\t')
	})
}

// Fill returns Content with the arguments put into the text behind the front matter, for a user who called the
// skill as a command. $ARGUMENTS becomes all arguments as they are. $ARGUMENTS[0] and $0 become the first of them,
// $ARGUMENTS[1] and $1 the second, and so on. White space separates arguments, except between single or
// double quotation marks, which are left out. A number without an argument stays as it is. If nothing was
// replaced, the arguments are added as the last line, "ARGUMENTS: …".
//
// The arguments are data: they are not searched for placeholders, and the front matter stays as it is. Nothing in
// a skill is run, and no other placeholder is replaced. Arguments of more than 4 KiB are a
// [protocol.ErrInvalidParams], and a text that would be longer than 128 KiB is a [protocol.ErrResourceLimit].
func (s Skill) Fill(arguments string) (string, error) { return s.fill(arguments, maxFilled) }

func (s Skill) fill(arguments string, most int) (string, error) {
	if len(arguments) > maxArguments {
		return "", protocol.Errorf(protocol.ErrInvalidParams, "skill", "arguments", "they have more than %d bytes", maxArguments)
	}
	_, body, _, err := frontmatter.Split(s.Content)
	if err != nil { // a text of the app's own that begins with a line
		body = s.Content
	}
	list := splitArguments(arguments)
	var parts []string
	size := 0 // of the parts
	add := func(text ...string) error {
		for _, t := range text {
			size += len(t)
		}
		if size > most {
			return protocol.Errorf(protocol.ErrResourceLimit, "skill", s.Name, "its text would have more than %d bytes with these arguments", most)
		}
		parts = append(parts, text...)
		return nil
	}
	if err := add(s.Content[:len(s.Content)-len(body)]); err != nil {
		return "", err
	}
	for found := false; ; {
		before, rest, ok := strings.Cut(body, "$")
		if err := add(before); err != nil {
			return "", err
		}
		if !ok {
			if !found && arguments != "" {
				if err := add("\n\nARGUMENTS: ", arguments); err != nil {
					return "", err
				}
			}
			return strings.Join(parts, ""), nil
		}
		value, length := "$", 0 // length is that of the placeholder behind the $
		if after, ok := strings.CutPrefix(rest, "ARGUMENTS"); ok {
			if n := argumentNumber(after, '[', ']'); n >= 0 && n < len(list) {
				value, length = list[n], len("ARGUMENTS[]")+len(strconv.Itoa(n))
			} else if n < 0 && !wordFollows(after) {
				value, length = arguments, len("ARGUMENTS")
			}
		} else if n := argumentNumber(rest, 0, 0); n >= 0 && n < len(list) {
			value, length = list[n], len(strconv.Itoa(n))
		}
		if err := add(value); err != nil {
			return "", err
		}
		found = found || length > 0
		body = rest[length:]
	}
}

// argumentNumber returns the number at the beginning of text, between the signs open and end if they are not 0,
// or -1. It is at most 99 and has no zero in front.
func argumentNumber(text string, open, end byte) int {
	if open != 0 {
		if text == "" || text[0] != open {
			return -1
		}
		text = text[1:]
	}
	n := 0
	for n < min(len(text), 3) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	if n == 0 || n > 2 || n == 2 && text[0] == '0' || end != 0 && (n == len(text) || text[n] != end) || end == 0 && wordFollows(text[n:]) {
		return -1
	}
	number, _ := strconv.Atoi(text[:n])
	return number
}

// wordFollows reports whether a name goes on with text.
func wordFollows(text string) bool {
	c, _ := utf8.DecodeRuneInString(text)
	return c == '_' || text != "" && (unicode.IsLetter(c) || unicode.IsDigit(c))
}

// splitArguments splits at white space outside of quotation marks.
func splitArguments(text string) (list []string) {
	var word []rune
	quote, open := rune(0), false
	for _, c := range text {
		switch {
		case quote == 0 && unicode.IsSpace(c):
			if open {
				list, word, open = append(list, string(word)), word[:0], false
			}
		case quote == 0 && (c == '"' || c == '\''):
			quote, open = c, true
		case quote != 0 && c == quote:
			quote = 0
		default:
			word, open = append(word, c), true
		}
	}
	if open {
		list = append(list, string(word))
	}
	return list
}

func skillTool() Tool {
	return Tool{
		Tool: protocol.Tool{ID: "skill", Description: "Gives the instructions of a skill by its name. Paths in them are relative to the skill's folder.",
			Parameters: `{"type":"object","properties":{"name":{"type":"string","minLength":1},"arguments":{"type":"string","maxLength":4096}},"required":["name"],"additionalProperties":false}`},
		Run: runSkill, Text: "content",
	}
}

func runSkill(ctx context.Context, c *Call) (any, error) {
	for _, s := range c.box.o.Skills {
		if s.Name != c.text("name") || s.UserOnly {
			continue
		}
		if err := acceptSkill(ctx, c, s); err != nil {
			return nil, err
		}
		most := maxFilled
		if c.box.o.off.sizes {
			most = math.MaxInt
		}
		text, err := s.fill(c.text("arguments"), most)
		if err != nil {
			return nil, err
		}
		out := map[string]any{"content": text}
		if path.Base(s.Source) == "SKILL.md" {
			out["folder"] = path.Dir(s.Source)
		}
		return out, nil
	}
	return nil, protocol.Errorf(protocol.ErrExecution, "skill", c.text("name"), "there is no skill of that name").WithReason(protocol.ReasonNotFound)
}

// acceptSkill asks the user about an untrusted skill, once for each content.
func acceptSkill(ctx context.Context, c *Call, s Skill) error {
	if s.Trusted {
		return nil
	}
	sum := sha256.Sum256([]byte(s.Name + "\x00" + s.Content))
	key := hex.EncodeToString(sum[:])
	title := "let the model follow the instructions in " + gate.Spelled(s.Source) + " (" + key[:12] + ")"
	effects := []gate.Effect{{Text: title, Risk: protocol.RiskHigh}}
	if len(s.AllowedTools) > 0 {
		effects = append(effects, gate.Effect{Text: "the tools in its line allowed-tools get no permission by that", Risk: protocol.RiskLow})
	}
	reason := "these instructions come with the folder, and not from you"
	if path.Base(s.Source) != "SKILL.md" {
		reason = "these instructions are not your own"
	}
	return c.acceptOnce(ctx, key, gate.Request{Call: c.ID, Tool: "skill", Title: title, Effects: effects, Args: c.Args, Risk: protocol.RiskHigh,
		Untrusted: true, Reason: reason, Diff: s.Content, Session: c.Session(), Agent: c.scope.agent})
}
