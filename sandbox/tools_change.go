package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/internal/gate"
	"github.com/bailey-go/bailey/sandbox/policy"
)

func deleteTool() Tool {
	return Tool{
		turn: true, unified: true,
		Tool: protocol.Tool{ID: "delete", Requires: requires(protocol.FSWrite),
			Description: "Deletes a file, or a folder with all that is in it. The user is asked each time.",
			Parameters:  pathSchema("", "")},
		Needs: func(_ context.Context, c *Call) ([]policy.Need, error) {
			return []policy.Need{{Capability: protocol.FSWrite, Op: protocol.OpRemove, Subject: c.text("path"), Tree: true, Destroys: true}}, nil
		},
		Preview: func(ctx context.Context, c *Call) (string, string) {
			return "", listing(ctx, c, c.text("path"))
		},
		Precheck: deletable,
		Run: func(ctx context.Context, c *Call) (any, error) {
			path := c.text("path")
			if err := deletable(ctx, c); err != nil {
				return nil, err
			}
			if err := c.FS.Remove(ctx, c.Permit, path, true); err != nil {
				return nil, err
			}
			return map[string]any{"deleted": path, "undo": c.FS.Journal()}, nil
		},
	}
}

func deletable(ctx context.Context, c *Call) error {
	path := c.text("path")
	if path == "." {
		return protocol.Errorf(protocol.ErrInvalidParams, "delete", path, "the folder itself can't be deleted")
	}
	_, err := c.FS.Stat(ctx, c.Permit, path)
	return err
}

// maxListed is the maximum number of names that a question lists.
const maxListed = 1000

// listing returns the content of a file or the names in a folder, for a question.
func listing(ctx context.Context, c *Call, path string) string {
	data, _, err := readFile(ctx, c, path, maxReading)
	if err == nil {
		return questionDiff(ctx, "a/"+path, "/dev/null", data, nil)
	}
	out, n := "", 0
	for e, err := range c.FS.Walk(ctx, c.Permit, path, fsaccess.WalkOptions{}) {
		if err != nil || e.Dir {
			continue
		}
		if n++; n <= maxListed {
			out += "- " + e.Path + "\n"
		}
	}
	if n > maxListed {
		out += fmt.Sprintf("… and %d more\n", n-maxListed)
	}
	return out + unreadLine(ctx, c, path)
}

// unreadLine returns a line for a question with the number of files below a path that the question
// does not name.
func unreadLine(ctx context.Context, c *Call, path string) string {
	switch n, err := c.FS.f.Unread(ctx, c.Permit.p, path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "(the folder could not be listed whole)\n"
	case n == 1:
		return "and 1 file that may not be read\n"
	case n > 1:
		return fmt.Sprintf("and %d files that may not be read\n", n)
	}
	return ""
}

func moveTool() Tool {
	return Tool{
		turn: true, unified: true,
		Tool: protocol.Tool{ID: "move", Requires: requires(protocol.FSRead, protocol.FSWrite),
			Description: "Moves or renames a file or a folder. Folders on the way to the new name are made. A file in the new place is replaced only if replace is true.",
			Parameters:  `{"type":"object","properties":{"from":{"type":"string","minLength":1},"to":{"type":"string","minLength":1},"replace":{"type":"boolean"}},"required":["from","to"],"additionalProperties":false}`},
		Needs: func(_ context.Context, c *Call) ([]policy.Need, error) {
			m, _ := c.Args.(map[string]any)
			replace, _ := m["replace"].(bool)
			return []policy.Need{
				{Capability: protocol.FSWrite, Op: protocol.OpRemove, Subject: c.text("from"), Tree: true},
				{Capability: protocol.FSWrite, Op: protocol.OpWrite, Subject: c.text("to"), Tree: true, Replaces: replace},
			}, nil
		},
		Preview: func(ctx context.Context, c *Call) (string, string) {
			return "", "rename from " + c.text("from") + "\nrename to " + c.text("to") + "\n" + unreadLine(ctx, c, c.text("from"))
		},
		Precheck: movable,
		Run:      runMove,
	}
}

// movable returns an error if there is nothing to move, or if an existing file would be lost.
func movable(ctx context.Context, c *Call) error {
	from, to := c.text("from"), c.text("to")
	if _, err := c.FS.Stat(ctx, c.Permit, from); err != nil {
		return err
	}
	m, _ := c.Args.(map[string]any)
	if replace, _ := m["replace"].(bool); replace || from == to {
		return nil
	}
	_, err := c.FS.Stat(ctx, c.Permit, to)
	switch {
	case err == nil:
		return protocol.Errorf(protocol.ErrExecution, "move", to, "a file or folder of that name exists already; choose another, or set replace")
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return nil
}

func runMove(ctx context.Context, c *Call) (any, error) {
	from, to := c.text("from"), c.text("to")
	if err := movable(ctx, c); err != nil {
		return nil, err
	}
	if err := c.FS.Rename(ctx, c.Permit, from, to); err != nil {
		return nil, err
	}
	c.scope.moved(from, to)
	return map[string]any{"from": from, "to": to}, nil
}

func mkdirTool() Tool {
	return Tool{
		turn: true,
		Tool: protocol.Tool{ID: "mkdir", Requires: requires(protocol.FSWrite),
			Description: "Makes a folder, and those above it.", Parameters: pathSchema("", "")},
		Needs: onPath(protocol.FSWrite, protocol.OpMkdir),
		Run: func(ctx context.Context, c *Call) (any, error) {
			if err := c.FS.Mkdir(ctx, c.Permit, c.text("path")); err != nil {
				return nil, err
			}
			return map[string]any{"path": c.text("path")}, nil
		},
	}
}

func diffTool() Tool {
	return Tool{
		Tool: protocol.Tool{ID: "diff", Requires: requires(protocol.FSRead),
			Description: "Shows as a unified diff what the last change of the folder did, or the change with the number step, or how file a differs from file b.",
			Parameters:  `{"type":"object","properties":{"step":{"type":"integer","minimum":1},"a":{"type":"string","minLength":1},"b":{"type":"string","minLength":1}},"dependentRequired":{"a":["b"],"b":["a"]},"additionalProperties":false}`},
		Needs: func(ctx context.Context, c *Call) ([]policy.Need, error) {
			if a := c.text("a"); a != "" {
				return []policy.Need{{Capability: protocol.FSRead, Subject: a}, {Capability: protocol.FSRead, Subject: c.text("b")}}, nil
			}
			step, err := chosenChange(ctx, c, false)
			if err != nil {
				return nil, err
			}
			var out []policy.Need
			for _, p := range step.Paths {
				out = append(out, policy.Need{Capability: protocol.FSRead, Subject: p})
			}
			return out, nil
		},
		Run:  runDiff,
		Text: "diff",
	}
}

func runDiff(ctx context.Context, c *Call) (any, error) {
	if a, b := c.text("a"), c.text("b"); a != "" {
		x, _, err := readFile(ctx, c, a, maxReading)
		if err != nil {
			return nil, err
		}
		y, _, err := readFile(ctx, c, b, maxReading)
		if err != nil {
			return nil, err
		}
		text, err := fsaccess.UnifiedDiff(ctx, "a/"+a, "b/"+b, x, y)
		if err != nil {
			return nil, err
		}
		return map[string]any{"diff": text}, nil
	}
	step, err := chosenChange(ctx, c, false)
	if err != nil {
		return nil, err
	}
	c.reading(step.Paths...)
	text, err := c.FS.f.Diff(ctx, c.Permit.p, step)
	if err != nil {
		return nil, err
	}
	return map[string]any{"diff": text, "step": float64(step.ID)}, nil
}

func undoTool() Tool {
	return Tool{
		turn: true, unified: true,
		Tool: protocol.Tool{ID: "undo", Requires: requires(protocol.FSWrite),
			Description: "Takes back the last change of the folder, or the change with the number step. It fails if a file was changed since.",
			Parameters:  `{"type":"object","properties":{"step":{"type":"integer","minimum":1}},"additionalProperties":false}`},
		Needs: func(ctx context.Context, c *Call) ([]policy.Need, error) {
			step, err := chosenChange(ctx, c, true)
			if err != nil {
				return nil, err
			}
			needs, err := c.FS.f.UndoNeeds(ctx, step)
			for i := range needs {
				if !needs[i].Destroys && len(step.Paths) <= maxNamed { // a lost file has words of its own
					needs[i].Words = undoWords(step)
				}
			}
			return needs, err
		},
		Preview: func(ctx context.Context, c *Call) (string, string) {
			step, err := chosenChange(ctx, c, true)
			if err != nil {
				return "", ""
			}
			text, err := c.FS.f.DiffBack(ctx, c.Permit.p, step)
			if err != nil {
				text = "(what would change can't be shown: " + protocol.Public(err).Message + ")\n"
			}
			return undoWords(step), text
		},
		Run: func(ctx context.Context, c *Call) (any, error) {
			step, err := chosenChange(ctx, c, true)
			if err != nil {
				return nil, err
			}
			if err := c.FS.f.Undo(ctx, c.Permit.p, step); err != nil {
				return nil, err
			}
			paths := []any{}
			for _, p := range step.Paths {
				paths = append(paths, p)
			}
			return map[string]any{"undone": float64(step.ID), "op": step.Op, "paths": paths}, nil
		},
	}
}

// maxNamed is the maximum number of files that the words of an undo name together. With more files
// each need has its own words. Otherwise every need would search the long common words for its own
// name.
const maxNamed = 20

// undoWords returns the words for undoing a step, such as "undo the move of a.txt to b.txt". Of
// many files they have only the number.
func undoWords(step fsaccess.Change) string {
	var names []string
	for _, p := range step.Paths {
		names = append(names, gate.Spelled(p))
	}
	what := map[string]string{"write": "the change to ", "create": "the new file ", "mkdir": "the new folder ", "remove": "the removal of ", "rename": "the move of "}[step.Op]
	switch {
	case what == "":
		what = "the " + gate.Spelled(step.Op) + " of "
	case step.Op == "rename" && len(names) == 2:
		return "undo the move of " + names[0] + " to " + names[1]
	case len(names) > maxNamed:
		return fmt.Sprintf("undo %s%d files", what, len(names))
	}
	return "undo " + what + gate.List(names)
}

// hidesName reports whether the policy's lists hide a file's name from the model.
func hidesName(c *Call, path string) bool {
	return c.box.policy.Policy.FS.Check(protocol.OpRead, path) != nil
}

// chosenChange returns the change that a call is about: the one with the given number, or the last
// one. If back is set, it is the last one that is not undone. Changes of files that may not be read
// are skipped, because a result would contain the file's name. The first result is kept: from Needs
// on, a call is about the same change.
func chosenChange(ctx context.Context, c *Call, back bool) (fsaccess.Change, error) {
	if c.change != nil {
		return *c.change, nil
	}
	list, err := c.FS.f.History(ctx)
	if err != nil {
		return fsaccess.Change{}, err
	}
	m, _ := c.Args.(map[string]any)
	id, chosen := m["step"].(float64)
	for _, s := range list {
		hidden := func(path string) bool { return hidesName(c, path) }
		if slices.ContainsFunc(s.Paths, hidden) && !c.box.o.off.views {
			continue
		}
		if chosen && float64(s.ID) == id || !chosen && (!back || !s.Undone && s.Op != "undo" && s.Op != "undoto") {
			if !c.box.o.off.views {
				c.change = &s
			}
			return s, nil
		}
	}
	return fsaccess.Change{}, protocol.Errorf(protocol.ErrExecution, c.tool.ID, "", "there is no such change").WithReason(protocol.ReasonNotFound)
}
