package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/internal/gate"
)

// Skill is a text of instructions for the model, which the tool skill returns by name.
type Skill struct {
	Name        string
	Description string
	Content     string
	// Trusted marks a skill of the app's own. Any other skill, such as one from the user's folder,
	// is shown to the user and must be accepted before the model receives it.
	Trusted bool
	Source  string // origin of the skill, such as a path, for display
}

// maxSkill is the maximum length of a folder's skill, in bytes.
const maxSkill = 64 << 10

// FolderSkills returns the skills in a folder, the files dir/*/SKILL.md, as untrusted skills. Each
// is named after its folder. Files of more than 64 KiB, files that are not UTF-8 and folders whose
// name is not a valid tool name are skipped. The description is the value of the line
// "description:" in a leading block between lines of ---.
func FolderSkills(ctx context.Context, fsys fsaccess.FS, dir string) ([]Skill, error) {
	var out []Skill
	for e, err := range fsaccess.Walk(ctx, fsys, dir, fsaccess.WalkOptions{Depth: 2, Limit: 10_000}) {
		if err != nil {
			return out, err
		}
		if e.Dir || e.Name() != "SKILL.md" || e.Size > maxSkill {
			continue
		}
		data, err := fsaccess.WithContext(ctx, fsys).ReadFile(e.Path)
		if err != nil {
			return out, err
		}
		text, folder := string(data), path.Dir(e.Path)
		name := path.Base(folder)
		if len(data) > maxSkill || !utf8.ValidString(text) || path.Dir(folder) != path.Clean(dir) || protocol.ValidToolName(name) != nil {
			continue
		}
		out = append(out, Skill{Name: name, Description: frontMatter(text, "description"), Content: text, Source: e.Path})
	}
	return out, nil
}

func frontMatter(text, key string) string {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return ""
	}
	head, _, ok := strings.Cut(rest, "\n---")
	if !ok {
		return ""
	}
	for line := range strings.Lines(head) {
		if v, ok := strings.CutPrefix(line, key+":"); ok {
			return strings.Trim(strings.TrimSpace(v), `"'`)
		}
	}
	return ""
}

func skillTool() Tool {
	return Tool{
		Tool: protocol.Tool{ID: "skill", Description: "Gives the instructions of a skill by its name.",
			Parameters: `{"type":"object","properties":{"name":{"type":"string","minLength":1}},"required":["name"],"additionalProperties":false}`},
		Run: runSkill, Text: "content",
	}
}

func runSkill(ctx context.Context, c *Call) (any, error) {
	for _, s := range c.box.o.Skills {
		if s.Name != c.text("name") {
			continue
		}
		if err := acceptSkill(ctx, c, s); err != nil {
			return nil, err
		}
		return map[string]any{"content": s.Content}, nil
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
	return c.acceptOnce(ctx, key, gate.Request{Call: c.ID, Tool: "skill", Title: title, Effects: []gate.Effect{{Text: title, Risk: protocol.RiskHigh}}, Args: c.Args, Risk: protocol.RiskHigh,
		Untrusted: true, Reason: "these instructions come with the folder, and not from you", Diff: s.Content, Session: c.Session(), Agent: c.scope.agent})
}
