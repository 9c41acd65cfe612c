package provider

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

type obj = map[string]any

// name is the pattern of a file or folder name in a request: in quotes, or without spaces.
const name = "(\"[^\"]+\"|'[^']+'|`[^`]+`|[^\\s,]+)"

// commandRules returns the rules. The first one that matches applies.
var commandRules = sync.OnceValue(func() []rule {
	r := func(help, re string, next func([]string, []done) move) rule {
		re = strings.ReplaceAll(re, "NAME", name)
		return rule{regexp.MustCompile(`(?is)^(?:` + re + `)$`), help, next}
	}
	return []rule{
		r(`help`, `help|what can you do|what do you know|commands|\?|who are you`, func([]string, []done) move {
			return move{help: true}
		}),
		r(`undo`, `undo(?: (?:that|it|the last (?:change|step)|last))?|take (?:that|it) back|revert(?: that| the last change)?|go back`, once(
			func([]string) []want { return one("undo", obj{}) },
			func(_ []string, p []done) string {
				return "Taken back: " + fmt.Sprint(p[0].out["op"]) + " of " + strings.Join(strs(p[0].out["paths"]), ", ") + "."
			})),
		r(`what changed`, `what (?:has )?changed|show (?:me )?(?:the )?(?:last )?(?:change|diff)|diff|what did you (?:do|change)`, once(
			func([]string) []want { return one("diff", obj{}) },
			func(_ []string, p []done) string { return fenced("diff", p[0].out["diff"]) })),
		r(`compare a.txt with b.txt`, `(?:compare|diff) NAME (?:with|and|to|against) NAME|(?:what is )?the difference between NAME and NAME`, once(
			func(m []string) []want { return one("diff", obj{"a": first(m[1], m[3]), "b": first(m[2], m[4])}) },
			func(_ []string, p []done) string {
				if s, _ := p[0].out["diff"].(string); s == "" {
					return "They are the same."
				}
				return fenced("diff", p[0].out["diff"])
			})),
		r(`organise the files by type`, `(?:organi[sz]e|sort|tidy(?: up)?|group|clean up) (?:the |all |my )?(?:files|folder|everything|them)(?: (?:in|of) NAME)?(?: by (?:type|kind|extension))?(?: into folders)?`, organise),
		r(`replace "old" with "new" in notes.md`, `(?:replace|change|substitute) (?:all )?("[^"]+"|'[^']+'|\S+) (?:with|by|to|into|for) ("[^"]*"|'[^']*'|\S+) in NAME`, replaceIn),
		r(`add "text" to notes.md`, `(?:add|append|put|write) (?:the (?:line|text) )?(.+?) (?:to|at) (?:the end of )?(?:the file )?NAME`, appendTo),
		r(`write "text" into notes.md`, `(?:write|save|put) (.+?) (?:in|into|as) (?:the |a |a new )?(?:file )?NAME`, func(m []string, p []done) move { return writeFile(m[2], m[1], p) }),
		r(`create notes.md with "text"`, `(?:create|make|write|new|touch|add) (?:me )?(?:a |an |the )?(?:new |empty )?(?:text )?(?:file )?(?:called |named )?NAME (?:with|containing|that says|saying|:)(?: the (?:text|content))? ?(.*)`, func(m []string, p []done) move { return writeFile(m[1], m[2], p) }),
		r(`make a folder named old`, `(?:create|make|mkdir|add|new) ?(?:a |an |the )?(?:new )?(?:folder|directory|dir)?(?: called| named)? NAME`, func(m []string, p []done) move {
			if strings.Contains(path.Base(m[1]), ".") && !strings.HasSuffix(m[1], "/") && !regexp.MustCompile(`(?i)folder|director|mkdir|\bdir\b`).MatchString(m[0]) {
				return writeFile(m[1], "", p)
			}
			return once(func(m []string) []want { return one("mkdir", obj{"path": clean(m[1])}) },
				func(m []string, _ []done) string { return "Made the folder " + clean(m[1]) + "." })(m, p)
		}),
		r(`create an empty file a.txt`, `(?:create|make|touch) (?:a |an |the )?(?:new |empty )*file(?: called| named)? NAME|touch NAME`, func(m []string, p []done) move { return writeFile(first(m[1], m[2]), "", p) }),
		r(`rename a.txt to b.txt`, `(?:rename|move|mv|transfer)(?: the)?(?: file| folder)? NAME (?:to|into|as|in)(?: the)?(?: folder)? NAME|(?:mv) NAME NAME`, once(
			func(m []string) []want {
				from, to := clean(first(m[1], m[3])), first(m[2], m[4])
				if strings.HasSuffix(to, "/") || !strings.Contains(path.Base(to), ".") && strings.Contains(path.Base(from), ".") && !strings.HasPrefix(strings.ToLower(m[0]), "rename") {
					to = path.Join(to, path.Base(from))
				}
				return one("move", obj{"from": from, "to": clean(to)})
			},
			func(_ []string, p []done) string {
				return fmt.Sprintf("Moved %v to %v.", p[0].out["from"], p[0].out["to"])
			})),
		r(`move all *.txt to old`, `(?:move|put) (?:all |every |the )?(?:files (?:matching |named )?)?(\S*\*\S*)(?: files)? (?:to|into|in) (?:the folder )?NAME`, func(m []string, p []done) move { return moveAll(m[1], m[2], p) }),
		r(`delete all *.tmp`, `(?:delete|remove|rm|erase|trash) (?:all |every |the )?(?:files (?:matching |named )?)?(\S*\*\S*)(?: files)?`, func(m []string, p []done) move { return deleteAll(m[1], p) }),
		r(`delete a.txt`, `(?:delete|remove|rm|rm -r|rm -rf|erase|trash|get rid of|throw away)(?: the)?(?: file| folder| directory)? NAME`, once(
			func(m []string) []want { return one("delete", obj{"path": clean(m[1])}) },
			func(_ []string, p []done) string {
				return fmt.Sprintf("Deleted %v. Say undo to have it back.", p[0].out["deleted"])
			})),
		r(`run "ls | wc -l"`, `(?:run|execute|bash|sh|shell)(?: the command| in the shell)?:? (.+)`, once(
			func(m []string) []want { return one("bash", obj{"command": m[1]}) },
			func(_ []string, p []done) string { return fenced("", p[0].out["output"]) })),
		r(`calculate 6 * 7`, `(?:calculate|compute|what is|what's|evaluate) ([-+*/%(). \d]+)`, once(
			func(m []string) []want { return one("code_run", obj{"code": "return " + m[1]}) },
			func(_ []string, p []done) string { return codeSays(p[0].out) })),
		r(`run JavaScript: return 1 + 1`, `(?:javascript|js|code)(?: code)?: (.+)`, once(
			func(m []string) []want { return one("code_run", obj{"code": m[1]}) },
			func(_ []string, p []done) string { return codeSays(p[0].out) })),
		r(`fetch https://example.com`, `(?:fetch|download|get|open|read|load|browse)(?: the page)? (https?://\S+)`, once(
			func(m []string) []want { return one("web_fetch", obj{"url": m[1]}) },
			func(_ []string, p []done) string { return fmt.Sprint(p[0].out["content"]) })),
		r(`search the web for Go iterators`, `(?:search|look) (?:on |in )?(?:the )?(?:web|internet|online) for (.+)|google (.+)`, once(
			func(m []string) []want { return one("web_search", obj{"query": first(m[1], m[2])}) },
			webResults)),
		r(`how many lines has a.txt`, `(?:count|how many) (?:the )?(lines|words|characters|bytes) (?:of |in |has |have |does |are (?:there )?in |are |is )*NAME(?: have| has)?|(wc) NAME`, once(
			func(m []string) []want { return one("read", obj{"path": clean(first(m[2], m[4]))}) }, countIn)),
		r(`show the first 5 lines of a.txt`, `(?:(?:show|print|read|give|display)(?: me)? )?(?:the )?(first|last|top) (\d+) lines (?:of|in|from) NAME|(head|tail) (?:-n ?(\d+) )?NAME`, once(
			func(m []string) []want { return one("read", obj{"path": clean(first(m[3], m[6]))}) }, ends)),
		r(`how many files are there`, `(?:count (?:the |all )?files|how many files)(?: are there| do i have| are)?(?: in| below)?(?: NAME)?`, once(
			func(m []string) []want { return one("glob", in("**", folder(m[1]))) },
			func(_ []string, p []done) string { return strconv.Itoa(len(strs(p[0].out["paths"]))) + " files." })),
		r(`search for "TODO" in src`, `(?:search|grep|look|find)(?: for)? (?:the )?(?:text |word |lines? (?:with|containing) |all |occurrences of )?("[^"]+"|'[^']+'|\S+) (?:in|inside|within|below|under) (?:the |all )?(?:folder |file |files )?(?:of |in )?NAME|(?:search|grep|look)(?: for)? (?:the )?(?:text |word )?("[^"]+"|'[^']+'|\S+)|(?:which|what) files (?:contain|mention|have) (.+)|where is ("[^"]+"|'[^']+'|\S+)(?: used| mentioned)?|find ("[^"]+"|'[^']+')`, once(
			func(m []string) []want {
				a := in(regexp.QuoteMeta(first(m[1], m[3], m[4], m[5], m[6])), folder(m[2]))
				return one("grep", a)
			}, grepResults)),
		r(`find *.md`, `(?:find|glob|locate|list|show|ls)(?: me)?(?: all)?(?: the)?(?: files)?(?: named| called| matching| like)? (\S*[*?]\S*)(?: files)?(?: in NAME)?`, once(
			func(m []string) []want { return one("glob", in(deep(m[1]), folder(m[2]))) }, paths)),
		r(`list all pdf files`, `(?:find|list|show|ls|what)(?: me)?(?: all)?(?: the| of the| my)? \.?(\w+) files(?: are there| do i have)?(?: in NAME)?`, func(m []string, p []done) move {
			ext := strings.ToLower(m[1])
			pattern := "**/*." + ext
			if ext == "the" || ext == "all" || ext == "my" || ext == "these" {
				pattern = "**"
			}
			if ext == "markdown" {
				pattern = "**/*.md"
			}
			return once(func(m []string) []want { return one("glob", in(pattern, folder(m[2]))) }, paths)(m, p)
		}),
		r(`list the files in notes`, `(?:list|ls|dir|show|what(?:'s| is| files are)|see)(?: me)?(?: all)?(?: the| my)?(?: files| folder| contents?| everything| there| here)?(?: (?:in|of|inside|below) (?:the )?(?:folder )?NAME)?|(?:ls|dir) NAME|what(?:'s| is) (?:in |there )?(?:in )?(?:here|this folder|the folder)|which files are there`, func(m []string, p []done) move {
			at := first(m[1], m[2])
			if path.Ext(at) != "" && !strings.HasSuffix(at, "/") {
				return show(clean(at), p)
			}
			return once(func([]string) []want { return one("glob", in("**", folder(at))) }, paths)(m, p)
		}),
		r(`find notes.md`, `(?:find|locate)(?: the)?(?: file| folder)? NAME`, once(
			func(m []string) []want { return one("glob", obj{"pattern": "**/" + m[1]}) }, paths)),
		r(`show notes.md`, `(?:show|read|open|cat|print|display|view|type|see)(?: me)?(?: the)?(?: contents?(?: of)?| text(?: of)?)?(?: the)?(?: file)? NAME|what(?:'s| is| does)(?: it say)? in(?: the file)? NAME|what does NAME (?:say|contain)`,
			func(m []string, p []done) move { return show(clean(first(m[1], m[2], m[3])), p) }),
		r(`copy a.txt to b.txt`, `(?:copy|cp|duplicate)(?: the)?(?: file)? NAME (?:to |as |into )?NAME`, copyFile),
		r(`remember to buy milk`, `(?:remember|note|todo|remind me)(?: to|:)? (.+)`, once(
			func(m []string) []want {
				return one("todo", obj{"todos": []any{obj{"content": m[1], "status": "pending"}}})
			},
			func(m []string, _ []done) string { return "Noted: " + m[1] + "." })),
	}
})

func first(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

func clean(p string) string {
	p = strings.TrimPrefix(path.Clean(strings.TrimSuffix(p, "/")), "./")
	return strings.TrimPrefix(p, "/")
}

func folder(p string) string {
	switch strings.ToLower(p) {
	case "", ".", "/", "here", "there", "it", "this", "all", "everything", "files", "every", "folder", "project":
		return ""
	}
	return clean(p)
}

func in(pattern, dir string) obj {
	a := obj{"pattern": pattern}
	if dir != "" {
		a["path"] = dir
	}
	return a
}

// deep returns a pattern that matches at any depth if it has no slash.
func deep(pattern string) string {
	if strings.Contains(pattern, "/") {
		return pattern
	}
	return "**/" + pattern
}

// writeFile creates a file, or reads an existing one and then replaces it.
func writeFile(file, text string, past []done) move {
	file = clean(file)
	switch len(past) {
	case 0:
		return move{calls: one("glob", obj{"pattern": "**/" + path.Base(file)})}
	case 1:
		if slices.Contains(strs(past[0].out["paths"]), file) {
			return move{calls: one("read", obj{"path": file})}
		}
	}
	if past[len(past)-1].tool != "write" {
		return move{calls: one("write", obj{"path": file, "content": ended(text)})}
	}
	if why := failure(past); why != "" {
		return move{say: why}
	}
	return move{say: "Wrote " + file + "."}
}

func ended(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

func appendTo(m []string, past []done) move {
	file := clean(m[2])
	if len(past) == 0 {
		return move{calls: one("read", obj{"path": file})}
	}
	last := past[len(past)-1]
	if last.tool == "read" {
		if last.failed && !strings.Contains(last.text, "not_found") {
			return move{say: failure(past)}
		}
		old, _ := last.out["content"].(string)
		a := obj{"path": file, "content": ended(old) + ended(m[1])}
		if v, ok := last.out["version"]; ok {
			a["version"] = v
		}
		return move{calls: one("write", a)}
	}
	if last.failed {
		return move{say: failure(past[len(past)-1:])}
	}
	return move{say: "Added it to " + file + "."}
}

func replaceIn(m []string, past []done) move {
	file := clean(m[3])
	switch len(past) {
	case 0:
		return move{calls: one("read", obj{"path": file})}
	case 1:
		if past[0].failed {
			return move{say: failure(past)}
		}
		return move{calls: one("edit", obj{"path": file, "old_string": m[1], "new_string": m[2], "replace_all": true})}
	}
	if why := failure(past); why != "" {
		return move{say: why}
	}
	return move{say: fenced("diff", past[1].out["diff"])}
}

func copyFile(m []string, past []done) move {
	from, to := clean(m[1]), clean(m[2])
	switch len(past) {
	case 0:
		return move{calls: one("read", obj{"path": from})}
	case 1:
		if past[0].failed {
			return move{say: failure(past)}
		}
		text, _ := past[0].out["content"].(string)
		return move{calls: one("write", obj{"path": to, "content": text})}
	}
	if why := failure(past); why != "" {
		return move{say: why}
	}
	return move{say: "Copied " + from + " to " + to + "."}
}

// each calls a tool for all files that match a pattern, in one round.
func each(pattern string, past []done, tool string, args func(file string) obj, say string) move {
	if len(past) == 0 {
		return move{calls: one("glob", obj{"pattern": pattern})}
	}
	if len(past) == 1 && past[0].tool == "glob" {
		var calls []want
		for _, f := range strs(past[0].out["paths"]) {
			if a := args(f); a != nil {
				calls = append(calls, want{tool, a})
			}
		}
		if past[0].failed || len(calls) == 0 {
			return move{say: first(failure(past), "There are no such files.")}
		}
		return move{calls: calls}
	}
	if why := failure(past); why != "" {
		return move{say: why}
	}
	return move{say: fmt.Sprintf(say, len(past)-1)}
}

func moveAll(pattern, to string, past []done) move {
	return each(pattern, past, "move", func(f string) obj { return obj{"from": f, "to": path.Join(clean(to), path.Base(f))} }, "Moved %d files to "+clean(to)+".")
}

func deleteAll(pattern string, past []done) move {
	return each(pattern, past, "delete", func(f string) obj { return obj{"path": f} }, "Deleted %d files. Say undo to have one back.")
}

// organise moves files into folders by their kind.
func organise(m []string, past []done) move {
	dir := folder(m[1])
	return each(path.Join(dir, "*"), past, "move", func(f string) obj {
		ext := strings.TrimPrefix(strings.ToLower(path.Ext(f)), ".")
		if ext == "" || strings.HasPrefix(path.Base(f), ".") {
			return nil
		}
		return obj{"from": f, "to": path.Join(dir, kindFolder(ext), path.Base(f))}
	}, "Put %d files into folders by their kind.")
}

func kindFolder(ext string) string {
	for dir, list := range map[string]string{
		"pictures":  " png jpg jpeg gif webp avif svg heic bmp tiff ",
		"documents": " pdf doc docx odt rtf txt md tex epub ",
		"tables":    " csv tsv xls xlsx ods json ",
		"music":     " mp3 flac ogg wav m4a opus ",
		"films":     " mp4 mkv mov avi webm ",
		"archives":  " zip gz tar 7z rar xz bz2 zst ",
		"code":      " go js ts py rs c h cpp java rb sh html css ",
	} {
		if strings.Contains(list, " "+ext+" ") {
			return dir
		}
	}
	return ext
}

func show(file string, past []done) move {
	return once(func([]string) []want { return one("read", obj{"path": file}) },
		func(_ []string, p []done) string { return fenced("", p[0].out["content"]) })(nil, past)
}
