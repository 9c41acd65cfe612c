package worker

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bailey-go/bailey/protocol"
)

// A Manifest describes a tool. It is the content of manifest.json in a tool package, and of each
// tool in the starter set's tools.json.
type Manifest struct {
	// Name is the tool's name: 1 to 64 lower-case letters, digits, - and _, with a letter first.
	Name string
	// Version has the form 1.2.3, optionally with a suffix after - or +, for example 1.2.3-beta.1.
	Version string
	// Description describes the tool, in 1 to 1,024 bytes.
	Description string
	// Parameters is the JSON Schema of the tool's parameters. Execution.ArgStyle is how they are passed.
	Parameters string
	// Returns describes the tool's output in words. A schema in the file is kept as its JSON text.
	Returns string
	// Execution is how the tool is run.
	Execution Execution
	// Pipeable is true if the tool reads its standard input.
	Pipeable bool
	// Category is a group of tools for a listing, at most 64 bytes.
	Category string
	// Author is the tool's author, at most 256 bytes.
	Author string
	// Licence is an SPDX expression of at most 256 bytes. The key may also be spelled "license".
	Licence string
}

// Execution is how a tool is run.
type Execution struct {
	// ArgStyle is how the tool gets its parameters. In every style a text parameter named stdin
	// becomes the standard input instead.
	//
	//   - "positional" passes the values as arguments: first those that the schema lists as required, in
	//     that order, then the others, sorted by name. Each element of an array is an argument of its own.
	//   - "cli", the default, passes the values as --name=value, sorted by name. true is --name, and false
	//     is left out. The elements of the array "args" follow unchanged.
	//   - "json" passes all values as one argument, a JSON object.
	ArgStyle string
	// FileAccess is the access that the tool requests. Default [FilesNone].
	FileAccess FileAccess
	// Timeout is the limit of time, at most 10 minutes. 0 is the pool's.
	Timeout time.Duration
	// MemoryLimit is the limit of memory in bytes, at most 4 GiB less a page. 0 is the pool's.
	MemoryLimit int64
}

// The values of [Execution].ArgStyle.
const (
	argsPositional = "positional"
	argsCLI        = "cli"
	argsJSON       = "json"
)

// FileAccess is the access of a tool to the files it is given.
type FileAccess string

const (
	// FilesNone gives the tool no files. It is the default.
	FilesNone FileAccess = "none"
	// FilesRead lets the tool read files.
	FilesRead FileAccess = "read"
	// FilesWrite lets the tool write new files into a folder that appears empty. The tool can
	// neither read nor change existing files.
	FilesWrite FileAccess = "write"
	// FilesReadWrite lets the tool read and change files.
	FilesReadWrite FileAccess = "readwrite"
)

// within reports whether a gives no more than b.
func (a FileAccess) within(b FileAccess) bool {
	return a == b || a == FilesNone || a == "" || b == FilesReadWrite
}

const (
	maxManifest = 64 << 10
	maxTimeout  = 10 * time.Minute
)

var (
	packageName    = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)
	packageVersion = regexp.MustCompile(`^[0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,9}([-+][0-9A-Za-z.+-]{1,64})?$`)
)

// wireManifest is the JSON form of a manifest.
type wireManifest struct {
	Name        string         `json:"name"`
	Version     string         `json:"version"`
	Description string         `json:"description"`
	Parameters  map[string]any `json:"parameters"`
	Returns     any            `json:"returns"`
	Execution   struct {
		ArgStyle    string `json:"argStyle"`
		FileAccess  string `json:"fileAccess"`
		Timeout     int64  `json:"timeout"`
		MemoryLimit int64  `json:"memoryLimit"`
	} `json:"execution"`
	Pipeable bool   `json:"pipeable"`
	Category string `json:"category"`
	Author   string `json:"author"`
	Licence  string `json:"licence"`
	License  string `json:"license"`
}

// ParseManifest parses and checks a manifest of at most 64 KiB. In the file, timeout is in
// milliseconds and memoryLimit in bytes. An unknown key or a wrong value is
// [protocol.ErrInvalidParams]. Too many bytes are [protocol.ErrResourceLimit].
func ParseManifest(data []byte) (*Manifest, error) {
	bad := func(format string, args ...any) error {
		return protocol.Errorf(protocol.ErrInvalidParams, "read", "manifest.json", format, args...)
	}
	if len(data) > maxManifest {
		return nil, protocol.Errorf(protocol.ErrResourceLimit, "read", "manifest.json", "it has %d bytes; the limit is %d", len(data), maxManifest)
	}
	tree, err := protocol.ParseJSON(string(data), protocol.JSONLimits{Depth: 32, Nodes: 10_000})
	if err != nil {
		return nil, bad("%w", err)
	}
	if _, ok := tree.(map[string]any); !ok {
		return nil, bad("it is no object")
	}
	var w wireManifest
	if err := protocol.Unmarshal(tree, &w); err != nil {
		return nil, bad("%w", err)
	}
	m := &Manifest{
		Name: w.Name, Version: w.Version, Description: w.Description, Pipeable: w.Pipeable, Category: w.Category, Author: w.Author, Licence: w.Licence,
		Execution: Execution{ArgStyle: w.Execution.ArgStyle, FileAccess: FileAccess(w.Execution.FileAccess),
			Timeout: time.Duration(w.Execution.Timeout) * time.Millisecond, MemoryLimit: w.Execution.MemoryLimit},
	}
	if w.License != "" {
		if w.Licence != "" {
			return nil, bad("licence and license are the same; give one")
		}
		m.Licence = w.License
	}
	if m.Returns, err = returns(w.Returns); err != nil {
		return nil, bad("%w", err)
	}
	if w.Parameters == nil {
		w.Parameters = map[string]any{"type": "object", "additionalProperties": false}
	}
	if m.Parameters, err = protocol.EncodeJSON(w.Parameters, protocol.JSONLimits{}); err != nil {
		return nil, bad("parameters: %w", err)
	}
	if w.Execution.Timeout > int64(maxTimeout/time.Millisecond) || w.Execution.Timeout < 0 {
		return nil, bad("execution.timeout: want milliseconds from 0 to %d", maxTimeout/time.Millisecond)
	}
	return m, m.check(bad)
}

// returns accepts a text, or a schema, which it returns as JSON.
func returns(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case map[string]any:
		return protocol.EncodeJSON(v, protocol.JSONLimits{})
	}
	return "", errors.New("returns: want a text or an object")
}

func (m *Manifest) check(bad func(string, ...any) error) error {
	if m.Execution.ArgStyle == "" {
		m.Execution.ArgStyle = argsCLI
	}
	if m.Execution.FileAccess == "" {
		m.Execution.FileAccess = FilesNone
	}
	switch {
	case !packageName.MatchString(m.Name):
		return bad("name %q: want 1 to 64 lower-case letters, digits, - and _, a letter first", m.Name)
	case !packageVersion.MatchString(m.Version):
		return bad("version %q: want one such as 1.2.3", m.Version)
	case m.Description == "" || len(m.Description) > 1024:
		return bad("description: want 1 to 1024 bytes, it has %d", len(m.Description))
	case len(m.Category) > 64 || len(m.Author) > 256 || len(m.Licence) > 256:
		return bad("category takes up to 64 bytes, author and licence up to 256")
	case !slices.Contains([]string{argsPositional, argsCLI, argsJSON}, m.Execution.ArgStyle):
		return bad("execution.argStyle %q: want positional, cli or json", m.Execution.ArgStyle)
	case !slices.Contains([]FileAccess{FilesNone, FilesRead, FilesWrite, FilesReadWrite}, m.Execution.FileAccess):
		return bad("execution.fileAccess %q: want none, read, write or readwrite", m.Execution.FileAccess)
	case m.Execution.MemoryLimit < 0 || m.Execution.MemoryLimit > mostLimits.Memory:
		return bad("execution.memoryLimit: want bytes from 0 to %d", mostLimits.Memory)
	}
	for _, text := range []string{m.Description, m.Category, m.Author, m.Licence, m.Returns} {
		if strings.ContainsFunc(text, func(r rune) bool {
			return r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
		}) {
			return bad("a text has control characters")
		}
	}
	if _, err := protocol.ParseSchema(m.Parameters); err != nil {
		return bad("parameters: %w", err)
	}
	return nil
}

// Args checks params, a value returned by [protocol.ParseJSON], against the schema. It returns the
// arguments that follow the tool's name, and the standard input. The error is
// [protocol.ErrInvalidParams] if params do not match the schema.
func (m *Manifest) Args(params any) (args []string, stdin string, err error) {
	if params == nil {
		params = map[string]any{}
	}
	schema, err := protocol.ParseSchema(m.Parameters)
	if err == nil {
		err = schema.Validate(params)
	}
	if err != nil {
		return nil, "", protocol.Errorf(protocol.ErrInvalidParams, "call", m.Name, "%w", err)
	}
	object, ok := params.(map[string]any)
	if !ok {
		return nil, "", protocol.Errorf(protocol.ErrInvalidParams, "call", m.Name, "the parameters are no object")
	}
	rest := map[string]any{}
	for k, v := range object {
		if text, ok := v.(string); k == "stdin" && ok {
			stdin = text
		} else {
			rest[k] = v
		}
	}
	switch m.Execution.ArgStyle {
	case argsJSON:
		text, err := protocol.EncodeJSON(rest, protocol.JSONLimits{})
		return []string{text}, stdin, err
	case argsPositional:
		for _, name := range m.order(rest) {
			if args, err = values(args, rest[name]); err != nil {
				return nil, "", protocol.Errorf(protocol.ErrInvalidParams, "call", m.Name, "%s: %w", name, err)
			}
		}
	default:
		if args, err = options(rest); err != nil {
			return nil, "", protocol.Errorf(protocol.ErrInvalidParams, "call", m.Name, "%w", err)
		}
	}
	for _, a := range args {
		if strings.Contains(a, "\x00") {
			return nil, "", protocol.Errorf(protocol.ErrInvalidParams, "call", m.Name, "an argument has a NUL byte")
		}
	}
	return args, stdin, nil
}

// order returns the names of object in the order of positional arguments.
func (m *Manifest) order(object map[string]any) (names []string) {
	tree, err := protocol.ParseJSON(m.Parameters, protocol.JSONLimits{})
	if schema, ok := tree.(map[string]any); ok && err == nil {
		list, _ := schema["required"].([]any)
		for _, v := range list {
			name, _ := v.(string)
			if _, ok := object[name]; ok && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	first := len(names)
	for name := range object {
		if !slices.Contains(names[:first], name) {
			names = append(names, name)
		}
	}
	slices.Sort(names[first:])
	return names
}

func options(object map[string]any) (args []string, err error) {
	names := make([]string, 0, len(object))
	for name := range object {
		if name != "args" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if strings.ContainsAny(name, "= \t\n\x00") || name == "" || name[0] == '-' {
			return nil, fmt.Errorf("%q can't be the name of an option", name)
		}
		list, ok := object[name].([]any)
		if !ok {
			list = []any{object[name]}
		}
		for _, v := range list {
			switch v := v.(type) {
			case nil:
			case bool:
				if v {
					args = append(args, "--"+name)
				}
			default:
				text, err := scalar(v)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
				args = append(args, "--"+name+"="+text)
			}
		}
	}
	return values(args, object["args"])
}

func values(args []string, v any) ([]string, error) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, v := range list {
		if v == nil {
			continue
		}
		text, err := scalar(v)
		if err != nil {
			return nil, err
		}
		args = append(args, text)
	}
	return args, nil
}

// scalar returns a value as one argument. A value that is no text, number or boolean becomes JSON.
func scalar(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	case bool:
		return strconv.FormatBool(v), nil
	}
	return protocol.EncodeJSON(v, protocol.JSONLimits{})
}
