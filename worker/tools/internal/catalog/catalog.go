// Package catalog lists the commands of each binary, and describes each command like the manifest
// of a tool package.
package catalog

import (
	"github.com/bailey-go/bailey/internal/userland/tool"
	"github.com/bailey-go/bailey/worker/tools/internal/core"
	"github.com/bailey-go/bailey/worker/tools/internal/data"
	"github.com/bailey-go/bailey/worker/tools/internal/web"
)

// Version is the version of all tools.
const Version = "0.1.0"

// Binaries returns the commands of each binary, in the order in which they are shown.
func Binaries() map[string]tool.Set {
	return map[string]tool.Set{
		"core":    core.Commands(),
		"data":    data.Commands(),
		"web":     web.Commands(),
		"sqlite3": {SQLite()},
		"awk":     {AWK()},
		"jq":      {JQ()},
		"git":     {Git()},
	}
}

// Order is the order in which the binaries are built and shown.
var Order = []string{"core", "data", "web", "sqlite3", "awk", "jq", "git"}

// C are the binaries that are C programs. Without a C compiler for WASI they are not built.
var C = []string{"sqlite3", "awk", "jq", "git"}

// AWK returns the description of awk.
func AWK() tool.Command {
	return tool.Command{Name: "awk", Usage: "[-F SEP] [-v NAME=VALUE] [-f FILE] PROGRAM [FILE]...", Summary: "run a program over records", Category: "data", Files: "readwrite",
		Help: "  -F SEP  the fields' separator    -v NAME=VALUE  a variable    -f FILE  the program\n  system() and pipes to commands do not work: a program in a sandbox starts no other."}
}

// JQ returns the description of jq.
func JQ() tool.Command {
	return tool.Command{Name: "jq", Usage: "[-rjcsnRSe] [--arg NAME VALUE] FILTER [FILE]...", Summary: "query and change JSON", Category: "data", Files: "read",
		Help: "  -r  texts without quotes    -j  and without line breaks    -c  on one line    -s  all inputs as one list    -n  no input    -R  the input is text    -S  sorted keys    -e  the exit code is the result's\n" +
			"  --arg NAME VALUE  $NAME is a text    --argjson NAME JSON  $NAME is a value    --slurpfile NAME FILE  $NAME is a file's values    --tab, --indent N  the indentation"}
}

// Git returns the description of git.
func Git() tool.Command {
	return tool.Command{Name: "git", Usage: "[-C DIR] [-c NAME=VALUE] COMMAND [ARGUMENT]...", Summary: "read a git repository: status, log, diff, show, blame and others", Category: "files", Files: "read",
		Help: "  status log diff show blame shortlog describe reflog stash list    branch tag remote -v worktree list config --get    ls-files ls-tree cat-file grep archive    rev-parse rev-list merge-base for-each-ref show-ref\n" +
			"  It only reads: add, commit, checkout, push and others are an error. It starts no other program (hooks, filters, drivers of diff, pagers) and has no network. git COMMAND -h shows the options."}
}

// SQLite returns the description of sqlite3.
func SQLite() tool.Command {
	return tool.Command{Name: "sqlite3", Usage: "[-csv|-json|-markdown|-column|-line] [-header] [-readonly] [FILE [SQL]...]", Summary: "query and change SQLite databases",
		Category: "data", Files: "readwrite", Help: "  Without SQL it is read from the input. .tables .schema .dump stand in lines of their own."}
}

// Tool is the manifest of a command in tools.json.
type Tool struct {
	Name        string         `json:"name"`
	Version     string         `json:"version"`
	Description string         `json:"description"`
	Category    string         `json:"category"`
	Author      string         `json:"author"`
	Licence     string         `json:"licence"`
	Parameters  map[string]any `json:"parameters"`
	Returns     string         `json:"returns"`
	Execution   Execution      `json:"execution"`
	Pipeable    bool           `json:"pipeable"`
}

// Execution is how a tool is run.
type Execution struct {
	ArgStyle    string `json:"argStyle"`
	FileAccess  string `json:"fileAccess"`
	Timeout     int    `json:"timeout"`     // ms
	MemoryLimit int    `json:"memoryLimit"` // bytes
}

// Describe returns a command's manifests: one for its name, and one for each other name.
func Describe(c tool.Command) (list []Tool) {
	for _, name := range append([]string{c.Name}, c.Also...) {
		usage := c
		usage.Name = name
		list = append(list, Tool{
			Name: name, Version: Version, Description: c.Summary, Category: c.Category, Author: "Bailey", Licence: "Apache-2.0", Returns: "text",
			Execution: Execution{ArgStyle: "cli", FileAccess: c.Files, Timeout: 30_000, MemoryLimit: 512 << 20},
			Pipeable:  true,
			Parameters: map[string]any{
				"type": "object",
				"properties": map[string]any{
					"args":  map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "description": usage.Manual()},
					"stdin": map[string]any{"type": "string", "description": "the text on standard input"},
				},
				"additionalProperties": false,
			},
		})
	}
	return list
}
