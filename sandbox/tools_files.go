package sandbox

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/textdiff"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/internal/gate"
	"github.com/bailey-go/bailey/sandbox/internal/yielding"
	"github.com/bailey-go/bailey/sandbox/policy"
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
func onPath(c protocol.Capability, op protocol.FSOp) func(context.Context, *Call) ([]policy.Need, error) {
	return func(_ context.Context, call *Call) ([]policy.Need, error) {
		return []policy.Need{{Capability: c, Op: op, Subject: call.text("path")}}, nil
	}
}

func readTool() Tool {
	return Tool{
		Tool: protocol.Tool{ID: "read", Requires: requires(protocol.FSRead),
			Description: "Reads a text file, or shows a PNG, JPEG, GIF or WebP image. Returns its content and its version, which edit and write take. offset is the first line (from 1), limit a number of lines.",
			Parameters:  pathSchema(`"offset":{"type":"integer","minimum":1},"limit":{"type":"integer","minimum":1}`, "")},
		Needs: func(_ context.Context, c *Call) ([]policy.Need, error) {
			if strings.HasPrefix(c.text("path"), outputFolder) {
				return nil, nil // an earlier output of this session
			}
			return []policy.Need{{Capability: protocol.FSRead, Subject: c.text("path")}}, nil
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
		c.narrow(whole.level, "an earlier output was read")
		c.reading(whole.from...)
	} else if strings.HasPrefix(a.Path, outputFolder) {
		return nil, protocol.Errorf(protocol.ErrExecution, "read", a.Path, "there is no such output in this session").WithReason(protocol.ReasonNotFound)
	} else {
		var err error
		if data, v, err = readFile(ctx, c, a.Path, maxReading); err != nil {
			return nil, err
		}
		c.scope.saw(a.Path, v)
	}
	if imageType(data) != "" {
		return showImage(c, a.Path, data, v)
	}
	if !isText(data) {
		return nil, protocol.Errorf(protocol.ErrExecution, "read", a.Path, "this is not a text file (%d bytes)", len(data)).WithReason(protocol.ReasonParse)
	}
	return map[string]any{"content": lineRange(string(data), a.Offset, a.Limit), "version": string(v)}, nil
}

// showImage adds an image to the result. The type is that of the content, and not that of the name.
func showImage(c *Call, name string, data []byte, v fsaccess.Version) (any, error) {
	f, err := c.addFile(File{Name: path.Base(name), Data: data})
	if err != nil {
		return nil, err
	}
	about := map[string]any{"media_type": f.MediaType, "width": float64(f.width), "height": float64(f.height), "bytes": float64(len(data))}
	return map[string]any{"image": about, "version": string(v)}, nil
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
		turn: true, unified: true,
		Tool: protocol.Tool{ID: "write", Requires: requires(protocol.FSWrite),
			Description: "Writes a whole file, making it if need be. An existing file must have been read before; it is replaced only if it has not changed since, or has the version given.",
			Parameters:  pathSchema(`"content":{"type":"string"},"version":{"type":"string"}`, `,"content"`)},
		Needs: onPath(protocol.FSWrite, protocol.OpWrite),
		Preview: func(ctx context.Context, c *Call) (string, string) {
			path := c.text("path")
			old, _, err := readFile(ctx, c, path, maxReading)
			if err != nil {
				return "", questionDiff(ctx, "/dev/null", "b/"+path, nil, []byte(c.text("content")))
			}
			return "", questionDiff(ctx, "a/"+path, "b/"+path, old, []byte(c.text("content")))
		},
		content: func(c *Call) []byte { return []byte(c.text("content")) },
		Precheck: func(ctx context.Context, c *Call) error {
			path := c.text("path")
			want, err := wantedVersion(ctx, c, path)
			if err != nil {
				return err
			}
			_, have, err := readFile(ctx, c, path, maxReading)
			if errors.Is(err, fs.ErrNotExist) {
				have, err = fsaccess.Absent, nil
			}
			if err == nil && have != want {
				return errStale(c, path)
			}
			return nil // a file that can't be read may be written
		},
		Run: runWrite,
	}
}

func errStale(c *Call, path string) error {
	return protocol.Errorf(protocol.ErrExecution, c.tool.ID, path, "the file was changed since you read it; read it again").WithReason(protocol.ReasonStale)
}

func runWrite(ctx context.Context, c *Call) (any, error) {
	path, content := c.text("path"), c.text("content")
	want, err := wantedVersion(ctx, c, path)
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
func wantedVersion(ctx context.Context, c *Call, path string) (fsaccess.Version, error) {
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
		turn: true, unified: true,
		Tool: protocol.Tool{ID: "edit", Requires: requires(protocol.FSRead, protocol.FSWrite),
			Description: "Replaces old_string by new_string in a file that was read before. old_string must be there exactly once, unless replace_all is true. Returns the change as a unified diff.",
			Parameters: pathSchema(`"old_string":{"type":"string","minLength":1},"new_string":{"type":"string"},"replace_all":{"type":"boolean"},"version":{"type":"string"}`,
				`,"old_string","new_string"`)},
		Needs: func(_ context.Context, c *Call) ([]policy.Need, error) {
			path := c.text("path")
			words := "edit " + gate.Spelled(path)
			return []policy.Need{{Capability: protocol.FSRead, Subject: path, Words: words}, {Capability: protocol.FSWrite, Op: protocol.OpWrite, Subject: path, Words: words}}, nil
		},
		Preview: func(ctx context.Context, c *Call) (string, string) {
			path := c.text("path")
			old, _, err := readFile(ctx, c, path, maxEdit(c))
			if err != nil {
				return "", ""
			}
			now, err := editedText(ctx, c, string(old))
			if err != nil { // Precheck may not be called here: see Tool.Precheck
				return "", "(this will fail: " + protocol.Public(err).Message + ")"
			}
			return "", questionDiff(ctx, "a/"+path, "b/"+path, old, []byte(now))
		},
		Precheck: func(ctx context.Context, c *Call) error {
			_, _, _, err := prepareEdit(ctx, c)
			return err
		},
		Run:  runEdit,
		Text: "diff",
	}
}

// prepareEdit returns the text before and after an edit, and the file's current version.
func prepareEdit(ctx context.Context, c *Call) (old []byte, now string, have fsaccess.Version, err error) {
	path := c.text("path")
	want, err := wantedVersion(ctx, c, path)
	if err != nil {
		return nil, "", "", err
	}
	old, have, err = readFile(ctx, c, path, maxEdit(c))
	if err != nil {
		return nil, "", "", err
	}
	if have != want {
		return nil, "", "", errStale(c, path)
	}
	now, err = editedText(ctx, c, string(old))
	return old, now, have, err
}

func runEdit(ctx context.Context, c *Call) (any, error) {
	path := c.text("path")
	old, now, have, err := prepareEdit(ctx, c)
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
	text, err := textdiff.Question(ctx, a, b, old, now)
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
func maxEdit(c *Call) int64 {
	if c.box.o.off.sizes {
		return 1 << 62
	}
	return maxEditing
}

// readFile returns the content and version of a file of at most most bytes.
func readFile(ctx context.Context, c *Call, path string, most int64) ([]byte, fsaccess.Version, error) {
	fi, err := c.FS.Stat(ctx, c.Permit, path)
	if err == nil && !fi.IsDir() && fi.Size() > most {
		return nil, "", protocol.Errorf(protocol.ErrResourceLimit, c.tool.ID, path, "the file has %d bytes; %s takes files of at most %d", fi.Size(), c.tool.ID, most)
	}
	return c.FS.Read(ctx, c.Permit, path)
}

// editedText returns the text after the edit's replacement.
func editedText(ctx context.Context, c *Call, text string) (string, error) {
	path, from, to := c.text("path"), c.text("old_string"), c.text("new_string")
	m, _ := c.Args.(map[string]any)
	all, _ := m["replace_all"].(bool)
	fail := func(r protocol.Reason, why string) (string, error) {
		return "", protocol.Errorf(protocol.ErrExecution, "edit", path, "%s", why).WithReason(r)
	}
	r, n := yielding.NewReplacer(ctx, from), 0
	if err := r.Each(text, func(int) error { n++; return nil }); err != nil {
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
	if size := int64(len(text)) + int64(n)*int64(len(to)-len(from)); size > maxEdit(c) {
		return "", protocol.Errorf(protocol.ErrResourceLimit, "edit", path, "the file would have %d bytes; an edit may make a file of %d", size, maxEdit(c))
	}
	return r.Replace(text, to, n)
}

// inTree returns the need of a tool that searches below a path.
func inTree(_ context.Context, c *Call) ([]policy.Need, error) {
	return []policy.Need{{Capability: protocol.FSRead, Subject: searchRoot(c), Tree: true, Filtered: true}}, nil
}

func searchRoot(c *Call) string {
	if path := c.text("path"); path != "" {
		return path
	}
	return "."
}

func globTool() Tool {
	return Tool{
		Tool: protocol.Tool{ID: "glob", Requires: requires(protocol.FSRead),
			Description: "Lists files by pattern: * within a name, ** across folders, ? one character, [abc] one of these. path is where to begin.",
			Parameters:  `{"type":"object","properties":{"pattern":{"type":"string","minLength":1},"path":{"type":"string"}},"required":["pattern"],"additionalProperties":false}`},
		Needs: inTree,
		Run:   runGlob,
		Rows:  "paths",
	}
}

// maxFound is the maximum number of rows of a search.
const maxFound = 10_000

func runGlob(ctx context.Context, c *Call) (any, error) {
	matches, err := globMatcher("glob", c.text("pattern"))
	if err != nil {
		return nil, err
	}
	paths, more := []any{}, false
	for e, err := range c.FS.Walk(ctx, c.Permit, searchRoot(c), fsaccess.WalkOptions{}) {
		if err != nil {
			if e.Path == searchRoot(c) {
				return nil, err
			}
			continue
		}
		if e.Dir || !matches(below(searchRoot(c), e.Path)) {
			continue
		}
		if len(paths) == maxFound {
			more = true
			break
		}
		paths = append(paths, e.Path)
	}
	out := map[string]any{"paths": paths}
	if more {
		out["more"] = true
	}
	return out, nil
}

// globMatcher returns a function that matches a path with a pattern of the policy's syntax. A
// literal matches that name only, and not the files below it.
func globMatcher(tool, text string) (func(string) bool, error) {
	p, err := protocol.ParsePattern(text)
	if err != nil {
		e := protocol.Errorf(protocol.ErrInvalidParams, tool, "", "%s", protocol.Public(err).Message)
		return nil, e.WithReason(protocol.ReasonParse)
	}
	return p.Match, nil
}

func below(root, path string) string {
	if root == "." {
		return path
	}
	return strings.TrimPrefix(path, root+"/")
}

func grepTool() Tool {
	return Tool{
		Tool: protocol.Tool{ID: "grep", Requires: requires(protocol.FSRead),
			Description: "Searches files for a regular expression (RE2), line by line. include is a pattern for file names, such as *.go; path is where to begin.",
			Parameters:  `{"type":"object","properties":{"pattern":{"type":"string","minLength":1,"maxLength":1024},"path":{"type":"string"},"include":{"type":"string"}},"required":["pattern"],"additionalProperties":false}`},
		Needs: inTree,
		Run:   runGrep,
		Rows:  "matches",
	}
}

// The cost of an expression is its size times the bytes of the searched text, at about 0.1 µs a
// step in a browser. fsaccess.Grep yields to the page and checks the context and the tool's time
// limit, even within a line. For large expressions the total cost is limited too.
const (
	grepSmall   = 60
	grepSteps   = 2 << 30
	grepLargest = 2_000 // instructions
)

func runGrep(ctx context.Context, c *Call) (any, error) {
	re, size, err := expression(c.text("pattern"))
	if err != nil {
		return nil, err
	}
	var include func(string) bool
	if text := c.text("include"); text != "" {
		if include, err = globMatcher("grep", text); err != nil {
			return nil, err
		}
		if !strings.Contains(text, "/") {
			base := include
			include = func(p string) bool { return base(p[strings.LastIndexByte(p, '/')+1:]) }
		}
	}
	budget, skipped := int64(grepSteps), 0
	o := fsaccess.GrepOptions{Max: maxFound}
	o.Skip = func(e fsaccess.Entry) bool {
		if e.Dir {
			return false
		}
		if include != nil && !include(below(searchRoot(c), e.Path)) {
			return true
		}
		if size > grepSmall {
			if budget -= e.Size * int64(size); budget < 0 {
				skipped++
				return true
			}
		}
		return false
	}
	matches, last := []any{}, ""
	for m, err := range c.FS.Grep(ctx, c.Permit, searchRoot(c), re, o) {
		if err != nil {
			if m.Path == searchRoot(c) || ctx.Err() != nil {
				return nil, err
			}
			continue
		}
		if m.Path != last { // code that made this call may pass the result on
			c.touch([]policy.Need{{Capability: protocol.FSRead, Subject: m.Path}})
			last = m.Path
		}
		matches = append(matches, map[string]any{"path": m.Path, "line": float64(m.Line), "text": m.Text})
	}
	out := map[string]any{"matches": matches}
	if skipped > 0 {
		out["skipped"] = float64(skipped)
		out["note"] = "the expression is too costly for all files; use a simpler one, or a narrower path"
	}
	return out, nil
}

// expression compiles a model's regular expression and returns its size in instructions.
func expression(text string) (*regexp.Regexp, int, error) {
	bad := func(why string) (*regexp.Regexp, int, error) {
		return nil, 0, protocol.Errorf(protocol.ErrInvalidParams, "grep", "", "%s", why).WithReason(protocol.ReasonParse)
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return bad("this is not a regular expression in RE2's syntax: " + err.Error())
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return bad("this is not a regular expression in RE2's syntax")
	}
	if len(prog.Inst) > grepLargest {
		return bad("the expression is too large once its repetitions are written out")
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return bad("this is not a regular expression in RE2's syntax")
	}
	return re, len(prog.Inst), nil
}
