package sandbox

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/internal/gate"
)

func pathSchema(more, required string) string {
	if more != "" {
		more = "," + more
	}
	return `{"type":"object","properties":{"path":{"type":"string","minLength":1,"description":"relative to the folder, names parted by /"}` + more +
		`},"required":["path"` + required + `],"additionalProperties":false}`
}

func requires(cs ...protocol.Capability) []protocol.Grant {
	var out []protocol.Grant
	for _, c := range cs {
		out = append(out, protocol.Grant{Capability: c})
	}
	return out
}

// onPath returns a Needs function for a tool with one path.
func onPath(c protocol.Capability, op protocol.FSOp) func(context.Context, *Call) ([]Need, error) {
	return func(_ context.Context, call *Call) ([]Need, error) {
		return []Need{{Capability: c, Op: op, Subject: call.text("path")}}, nil
	}
}

// text returns a string argument, or "".
func (c *Call) text(name string) string {
	m, _ := c.Args.(map[string]any)
	s, _ := m[name].(string)
	return s
}

func readTool() Tool {
	return Tool{
		Tool: protocol.Tool{ID: "read", Requires: requires(protocol.FSRead),
			Description: "Reads a text file. Returns its content and its version, which edit and write take. offset is the first line (from 1), limit a number of lines.",
			Parameters:  pathSchema(`"offset":{"type":"integer","minimum":1},"limit":{"type":"integer","minimum":1}`, "")},
		Needs: func(_ context.Context, c *Call) ([]Need, error) {
			if strings.HasPrefix(c.text("path"), outputFolder) {
				return nil, nil // an earlier output of this session
			}
			return []Need{{Capability: protocol.FSRead, Subject: c.text("path")}}, nil
		},
		Run:  runRead,
		Text: "content",
	}
}

func runRead(ctx context.Context, c *Call) (any, error) {
	var a struct {
		Path   string `json:"path"`
		Offset int    `json:"offset"`
		Limit  int    `json:"limit"`
	}
	if err := c.Bind(&a); err != nil {
		return nil, err
	}
	var data []byte
	var v fsaccess.Version
	if whole, ok := c.scope.output(a.Path); ok {
		data = []byte(whole.text)
		c.narrow(whole.level)
	} else if strings.HasPrefix(a.Path, outputFolder) {
		return nil, protocol.Errorf(protocol.ErrExecution, "read", a.Path, "there is no such output in this session").WithReason(protocol.ReasonNotFound)
	} else {
		var err error
		if data, v, err = c.readFile(ctx, a.Path, maxReading); err != nil {
			return nil, err
		}
		c.scope.saw(a.Path, v)
	}
	if !utf8.Valid(data) || strings.IndexByte(string(data[:min(len(data), 8000)]), 0) >= 0 {
		return nil, protocol.Errorf(protocol.ErrExecution, "read", a.Path, "this is not a text file (%d bytes)", len(data)).WithReason(protocol.ReasonParse)
	}
	return map[string]any{"content": lineRange(string(data), a.Offset, a.Limit), "version": string(v)}, nil
}

// lineRange returns limit lines of a text, from line offset on. The first line is 1. A limit of 0
// is all lines.
func lineRange(text string, offset, limit int) string {
	for ; offset > 1 && text != ""; offset-- {
		_, text, _ = strings.Cut(text, "\n")
	}
	if limit == 0 {
		return text
	}
	end := 0
	for ; limit > 0 && end < len(text); limit-- {
		i := strings.IndexByte(text[end:], '\n')
		if i < 0 {
			return text
		}
		end += i + 1
	}
	return text[:end]
}

func writeTool() Tool {
	return Tool{
		turn: true,
		Tool: protocol.Tool{ID: "write", Requires: requires(protocol.FSWrite),
			Description: "Writes a whole file, making it if need be. An existing file must have been read before; it is replaced only if it has not changed since, or has the version given.",
			Parameters:  pathSchema(`"content":{"type":"string"},"version":{"type":"string"}`, `,"content"`)},
		Needs: onPath(protocol.FSWrite, protocol.OpWrite),
		Preview: func(ctx context.Context, c *Call) (string, string) {
			path := c.text("path")
			old, _, err := c.readFile(ctx, path, maxReading)
			if err != nil {
				return "", questionDiff(ctx, "/dev/null", "b/"+path, nil, []byte(c.text("content")))
			}
			return "", questionDiff(ctx, "a/"+path, "b/"+path, old, []byte(c.text("content")))
		},
		content: func(c *Call) []byte { return []byte(c.text("content")) },
		Foresee: func(ctx context.Context, c *Call) error {
			path := c.text("path")
			want, err := c.wantedVersion(ctx, path)
			if err != nil {
				return err
			}
			_, have, err := c.readFile(ctx, path, maxReading)
			if errors.Is(err, fs.ErrNotExist) {
				have, err = fsaccess.Absent, nil
			}
			if err == nil && have != want {
				return c.stale(path)
			}
			return nil // a file that can't be read may be written
		},
		Run: runWrite,
	}
}

func (c *Call) stale(path string) error {
	return protocol.Errorf(protocol.ErrExecution, c.tool.ID, path, "the file was changed since you read it; read it again").WithReason(protocol.ReasonStale)
}

func runWrite(ctx context.Context, c *Call) (any, error) {
	path, content := c.text("path"), c.text("content")
	want, err := c.wantedVersion(ctx, path)
	if err != nil {
		return nil, err
	}
	v, err := c.FS.Write(ctx, c.Permit, path, []byte(content), want)
	if err != nil {
		return nil, err
	}
	c.scope.saw(path, v)
	return map[string]any{"version": string(v), "bytes": float64(len(content))}, nil
}

// wantedVersion returns the version that the model intends to replace: the one in the arguments, or
// the one that it last saw.
func (c *Call) wantedVersion(ctx context.Context, path string) (fsaccess.Version, error) {
	if v := c.text("version"); v != "" {
		return fsaccess.Version(v), nil
	}
	if v, ok := c.scope.seen(path); ok {
		return v, nil
	}
	_, err := c.FS.Stat(ctx, c.Permit, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fsaccess.Absent, nil
	case err != nil:
		return "", err
	}
	return "", protocol.Errorf(protocol.ErrExecution, c.tool.ID, path, "the file is there and was not read; read it first, so that nothing is lost unseen").WithReason(protocol.ReasonNotRead)
}

func editTool() Tool {
	return Tool{
		turn: true,
		Tool: protocol.Tool{ID: "edit", Requires: requires(protocol.FSRead, protocol.FSWrite),
			Description: "Replaces old_string by new_string in a file that was read before. old_string must be there exactly once, unless replace_all is true. Returns the change as a unified diff.",
			Parameters: pathSchema(`"old_string":{"type":"string","minLength":1},"new_string":{"type":"string"},"replace_all":{"type":"boolean"},"version":{"type":"string"}`,
				`,"old_string","new_string"`)},
		Needs: func(_ context.Context, c *Call) ([]Need, error) {
			p := c.text("path")
			words := "edit " + gate.Spelled(p)
			return []Need{{Capability: protocol.FSRead, Subject: p, Words: words}, {Capability: protocol.FSWrite, Op: protocol.OpWrite, Subject: p, Words: words}}, nil
		},
		Preview: func(ctx context.Context, c *Call) (string, string) {
			path := c.text("path")
			old, _, err := c.readFile(ctx, path, c.maxEdit())
			if err != nil {
				return "", ""
			}
			now, err := c.edited(ctx, string(old))
			if err != nil { // Foresee may not be called here: see Tool.Foresee
				return "", "(this will fail: " + protocol.Public(err).Message + ")"
			}
			return "", questionDiff(ctx, "a/"+path, "b/"+path, old, []byte(now))
		},
		Foresee: func(ctx context.Context, c *Call) error {
			_, _, _, err := c.edit(ctx)
			return err
		},
		Run:  runEdit,
		Text: "diff",
	}
}

// edit returns the text before and after an edit, and the file's current version.
func (c *Call) edit(ctx context.Context) (old []byte, now string, have fsaccess.Version, err error) {
	path := c.text("path")
	want, err := c.wantedVersion(ctx, path)
	if err != nil {
		return nil, "", "", err
	}
	old, have, err = c.readFile(ctx, path, c.maxEdit())
	if err != nil {
		return nil, "", "", err
	}
	if have != want {
		return nil, "", "", c.stale(path)
	}
	now, err = c.edited(ctx, string(old))
	return old, now, have, err
}

func runEdit(ctx context.Context, c *Call) (any, error) {
	path := c.text("path")
	old, now, have, err := c.edit(ctx)
	if err != nil {
		return nil, err
	}
	v, err := c.FS.Write(ctx, c.Permit, path, []byte(now), have)
	if err != nil {
		return nil, err
	}
	c.scope.saw(path, v)
	text, err := fsaccess.UnifiedDiff(ctx, "a/"+path, "b/"+path, old, []byte(now))
	if err != nil {
		text = "The edit is done; the call ended before its diff was made.\n"
	}
	return map[string]any{"diff": text, "version": string(v)}, nil
}

// questionDiff returns a diff for a question, or a line with the reason why there is none.
func questionDiff(ctx context.Context, a, b string, old, now []byte) string {
	text, err := fsaccess.QuestionDiff(ctx, a, b, old, now)
	if err != nil {
		return "(what would change can't be shown: " + protocol.Public(err).Message + ")\n"
	}
	return text
}

const (
	maxReading = 64 << 20 // maximum bytes of a file that a tool reads
	maxEditing = 16 << 20 // maximum bytes of a file before and after an edit
)

// maxEdit returns the size limit of an edit.
func (c *Call) maxEdit() int64 {
	if c.box.o.off.sizes {
		return 1 << 62
	}
	return maxEditing
}

// readFile returns the content and version of a file of at most most bytes.
func (c *Call) readFile(ctx context.Context, path string, most int64) ([]byte, fsaccess.Version, error) {
	fi, err := c.FS.Stat(ctx, c.Permit, path)
	if err == nil && !fi.IsDir() && fi.Size() > most {
		return nil, "", protocol.Errorf(protocol.ErrResourceLimit, c.tool.ID, path, "the file has %d bytes; %s takes files of at most %d", fi.Size(), c.tool.ID, most)
	}
	return c.FS.Read(ctx, c.Permit, path)
}

// edited returns the text after the edit's replacement.
func (c *Call) edited(ctx context.Context, text string) (string, error) {
	path, from, to := c.text("path"), c.text("old_string"), c.text("new_string")
	m, _ := c.Args.(map[string]any)
	all, _ := m["replace_all"].(bool)
	fail := func(r protocol.Reason, why string) (string, error) {
		return "", protocol.Errorf(protocol.ErrExecution, "edit", path, "%s", why).WithReason(r)
	}
	r, n := replacer{ctx: ctx, from: from}, 0
	if err := r.each(text, func(int) error { n++; return nil }); err != nil {
		return "", err
	}
	switch {
	case from == to:
		return fail(protocol.ReasonNoOp, "old_string and new_string are the same")
	case n == 0:
		return fail(protocol.ReasonNotFound, "old_string is not in the file; it must match exactly, with white space and line ends")
	case n > 1 && !all:
		return fail(protocol.ReasonAmbiguous, "old_string is in the file more than once; give more of the text around it, or set replace_all")
	}
	// The size is checked before the replacement. It can't overflow int64: both lengths are of
	// texts in memory.
	if size := int64(len(text)) + int64(n)*int64(len(to)-len(from)); size > c.maxEdit() {
		return "", protocol.Errorf(protocol.ErrResourceLimit, "edit", path, "the file would have %d bytes; an edit may make a file of %d", size, c.maxEdit())
	}
	return r.replace(text, to, n)
}
