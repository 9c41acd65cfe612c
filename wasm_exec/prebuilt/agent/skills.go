//go:build js && wasm

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/frontmatter"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/wasm_exec/prebuilt/internal/page"
)

const (
	maxSkillText  = 64 << 10 // UTF-16 units of a SKILL.md, as of package sandbox
	maxSkillLists = 200      // texts and folders of the option skills
)

// skillSource is a SkillSource of agent.d.mts: a text, or a folder.
type skillSource struct {
	text, name, source string
	folder             fsaccess.FS // nil for a text
	paths              []string
	trusted            bool
}

// skillSet are the skills of a box, with the files of folders that are none.
type skillSet struct {
	list    []sandbox.Skill
	refused []refusedSkill
}

type refusedSkill struct{ path, reason string }

// skillSources reads the option skills.
func (b opener) skillSources(v jsx.Value) ([]skillSource, error) {
	n, err := jsx.Length(v)
	if err != nil || !jsx.IsArray(v) {
		return nil, errors.New("must be a list of texts and folders")
	}
	if n > maxSkillLists {
		return nil, fmt.Errorf("%d are more than %d", n, maxSkillLists)
	}
	out := make([]skillSource, n)
	for i := range n {
		item, err := jsx.Index(v, i)
		if err == nil {
			out[i], err = b.skillSource(item)
		}
		if err != nil {
			return nil, fmt.Errorf("%d: %w", i, err)
		}
	}
	return out, nil
}

func (b opener) skillSource(v jsx.Value) (s skillSource, err error) {
	if jsx.TypeOf(v) == "string" {
		s.text, err = jsx.String(v, maxSkillText)
		return s, err
	}
	if s.folder, _, err = b.api.Folder(v); err == nil {
		return s, nil
	}
	texts := false
	err = page.Each(v, "", func(key string, value jsx.Value) (err error) {
		switch key {
		case "text":
			texts = true
			s.text, err = jsx.String(value, maxSkillText)
		case "name":
			s.name, err = jsx.String(value, 64)
		case "source":
			s.source, err = jsx.String(value, 1000)
		case "folder":
			s.folder, _, err = b.api.Folder(value)
		case "paths":
			s.paths, err = pathsOf(value)
		case "trusted":
			s.trusted, err = jsx.Bool(value)
		default:
			err = page.ErrNoOption
		}
		return err
	})
	switch {
	case err != nil:
		return s, err
	case texts == (s.folder != nil):
		return s, errors.New("must have a text, or a folder")
	case texts && s.paths != nil:
		return s, errors.New("paths: are those of a folder")
	case !texts && (s.name != "" || s.source != ""):
		return s, errors.New("name and source: are those of a text")
	}
	return s, nil
}

// pathsOf reads a list of at most eight paths.
func pathsOf(v jsx.Value) ([]string, error) {
	n, err := jsx.Length(v)
	if err != nil || !jsx.IsArray(v) || n == 0 || n > 8 {
		return nil, errors.New("must be a list of one to eight paths")
	}
	out := make([]string, n)
	for i := range n {
		item, err := jsx.Index(v, i)
		if err == nil {
			out[i], err = jsx.String(item, 4096)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// skills returns the skills of all sources. A text that is no skill is an error, and so is a name that is there twice. A
// file of a folder that is none is refused.
func skills(ctx context.Context, sources []skillSource) (set skillSet, err error) {
	seen := map[string]bool{}
	add := func(s sandbox.Skill, trusted bool) bool {
		if seen[s.Name] {
			return false
		}
		seen[s.Name], s.Trusted = true, trusted
		set.list = append(set.list, s)
		return true
	}
	const twice = "an earlier skill has the same name"
	for i, s := range sources {
		if s.folder == nil {
			one, err := skillOf(ctx, s)
			if err == nil && !add(one, s.trusted) {
				err = errors.New(twice)
			}
			if err != nil {
				return set, fmt.Errorf("%d: %w", i, err)
			}
			continue
		}
		found, bad, err := sandbox.FolderSkills(ctx, s.folder, s.paths...)
		if err != nil {
			return set, fmt.Errorf("%d: %w", i, err)
		}
		for _, e := range bad {
			set.refused = append(set.refused, refusedSkill{e.Path, e.Err.Error()})
		}
		for _, one := range found {
			if !add(one, s.trusted) {
				set.refused = append(set.refused, refusedSkill{one.Source, twice})
			}
		}
	}
	return set, nil
}

// skillOf returns the skill of a text, as [sandbox.FolderSkills] reads it. Its name is that of the front matter.
func skillOf(ctx context.Context, s skillSource) (sandbox.Skill, error) {
	s.text = strings.ReplaceAll(strings.TrimPrefix(s.text, "\ufeff"), "\r\n", "\n")
	if s.name == "" {
		head, _, _, err := frontmatter.Split(s.text)
		if err != nil {
			return sandbox.Skill{}, err
		}
		m, err := frontmatter.Parse(head, "argument-hint")
		if err != nil {
			return sandbox.Skill{}, err
		}
		for i, key := range m.Keys {
			if key == "name" && m.Items[i].Kind == frontmatter.Text {
				s.name = m.Items[i].Text
			}
		}
	}
	if s.name == "" || !fs.ValidPath(s.name) {
		return sandbox.Skill{}, errors.New("the skill has no name: write one into its front matter, such as name: helper, or give the option name")
	}
	dir := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	file := "skills/" + s.name + "/SKILL.md"
	if err := dir.MkdirAll("skills/"+s.name, 0o755); err != nil {
		return sandbox.Skill{}, err
	}
	if err := dir.WriteFile(file, []byte(s.text), 0o644); err != nil {
		return sandbox.Skill{}, err
	}
	list, refused, err := sandbox.FolderSkills(ctx, dir, "skills")
	if err == nil && len(refused) > 0 {
		err = refused[0].Err
	}
	if err == nil && len(list) != 1 {
		err = errors.New("the name must be 1 to 64 characters of a-z, 0-9 and single hyphens within")
	}
	if err != nil {
		return sandbox.Skill{}, fmt.Errorf("the skill %s: %w", strconv.Quote(s.name), err)
	}
	list[0].Source = s.source
	if s.source == "" {
		list[0].Source = s.name + ", a skill of this page"
	}
	return list[0], nil
}

// table implements skills().
func (k skillSet) table(context.Context, []jsx.Value) (any, error) {
	rows, refused := []any{}, []any{}
	for _, s := range k.list {
		rows = append(rows, map[string]any{
			"name": s.Name, "description": s.Description, "source": s.Source, "trusted": s.Trusted, "license": s.License, "compatibility": s.Compatibility, "metadata": orEmpty(s.Metadata),
			"allowedTools": append([]string{}, s.AllowedTools...), "argumentHint": s.ArgumentHint, "userOnly": s.UserOnly, "modelOnly": s.ModelOnly,
		})
	}
	for _, r := range k.refused {
		refused = append(refused, map[string]any{"path": r.path, "reason": r.reason})
	}
	text, err := json.Marshal(map[string]any{"skills": rows, "refused": refused})
	if err != nil {
		return nil, err
	}
	return parsed(string(text))
}

func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	return m
}

// text implements skillText(name, arguments).
func (k skillSet) text(_ context.Context, args []jsx.Value) (any, error) {
	name, err := page.Text(args, 0, "skillText(name, arguments): name")
	if err != nil {
		return nil, err
	}
	arguments := ""
	if len(args) > 1 && !jsx.Nullish(args[1]) {
		if arguments, err = page.Text(args, 1, "skillText(name, arguments): arguments"); err != nil {
			return nil, err
		}
	}
	for _, s := range k.list {
		if s.Name == name {
			return s.Fill(arguments)
		}
	}
	return nil, &jsx.Error{Name: string(jsx.ErrNotFound), Message: "skillText(name, arguments): the box has no skill " + strconv.Quote(name)}
}
