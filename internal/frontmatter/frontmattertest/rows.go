// Package frontmattertest has the table of front matters that the tests of package frontmatter, and the test
// against a YAML library in browsertest/frontmatter, go through.
package frontmattertest

import (
	"strings"

	"github.com/bailey-go/bailey/internal/frontmatter"
)

// Row is a file and its reading.
type Row struct {
	Name string
	File string
	// Want is the map in JSON, with every scalar as a string. Without it, the file is refused.
	Want string
	// Err is the error, or its beginning.
	Err string
	// Other says how a YAML library reads the front matter where it does not read it as Want, or does
	// not refuse it: "refused" or "read".
	Other string
}

// Plain returns a value as strings, slices and maps.
func Plain(v *frontmatter.Value) any {
	switch v.Kind {
	case frontmatter.List:
		out := []any{}
		for _, e := range v.Items {
			out = append(out, Plain(e))
		}
		return out
	case frontmatter.Map:
		out := map[string]any{}
		for i, k := range v.Keys {
			out[k] = Plain(v.Items[i])
		}
		return out
	}
	return v.Text
}

// head returns a file with a front matter of these lines.
func head(lines ...string) string {
	return "---\n" + strings.Join(lines, "\n") + "\n---\nDo it.\n"
}

// Nested returns n maps, one in the other.
func Nested(n int) string {
	s := ""
	for i := range n {
		s += strings.Repeat(" ", i) + "k:\n"
	}
	return s
}

// Rows returns the table.
func Rows() []Row {
	return []Row{
		// The examples of agentskills.io/specification.
		{Name: "minimal", File: head("name: skill-name", "description: A description of what this skill does and when to use it."),
			Want: `{"description":"A description of what this skill does and when to use it.","name":"skill-name"}`},
		{Name: "metadata", File: head("name: pdf-processing", "license: Apache-2.0", "metadata:", "  author: example-org", `  version: "1.0"`),
			Want: `{"license":"Apache-2.0","metadata":{"author":"example-org","version":"1.0"},"name":"pdf-processing"}`},
		{Name: "tools in a text", File: head("allowed-tools: Bash(git:*) Bash(jq:*) Read"), Want: `{"allowed-tools":"Bash(git:*) Bash(jq:*) Read"}`},
		{Name: "tools in a list", File: head("allowed-tools:", "  - Bash(git:*)", "  - Bash(jq:*)", "  - Read"), Want: `{"allowed-tools":["Bash(git:*)","Bash(jq:*)","Read"]}`},
		{Name: "a list as far left as its key", File: head("a:", "- b", "- c", "d: e"), Want: `{"a":["b","c"],"d":"e"}`},
		{Name: "tools in brackets", File: head(`allowed-tools: [Read, "Grep", 'Glob', Bash(git diff:*)]`), Want: `{"allowed-tools":["Read","Grep","Glob","Bash(git diff:*)"]}`},
		{Name: "brackets over lines", File: head("a: [", "  b, # one", "", "  c,", "]", "d: e"), Want: `{"a":["b","c"],"d":"e"}`},
		{Name: "braces", File: head(`a: {b: c, "d": [e, {f: g}], 'h':  i}`), Want: `{"a":{"b":"c","d":["e",{"f":"g"}],"h":"i"}}`},
		{Name: "empty brackets", File: head("a: []", "b: {}", "c: [ ]"), Want: `{"a":[],"b":{},"c":[]}`},

		// Plain texts.
		{Name: "no type is guessed", File: head("a: true", "b: 1.0", "c: null", "d: ~", "e: 2026-01-01", "f: 0x10", "g: no"), Want: `{"a":"true","b":"1.0","c":"null","d":"~","e":"2026-01-01","f":"0x10","g":"no"}`},
		{Name: "empty values", File: head("a:", "b: # none", "c: ''", `d: ""`), Want: `{"a":"","b":"","c":"","d":""}`},
		{Name: "nothing", File: "---\n---\nDo it.\n", Want: `{}`},
		{Name: "comments alone", File: head("# a: b", "", "   # c"), Want: `{}`},
		{Name: "comments", File: head("# first", "a: b # c", "  # d", "e: f#g", "h: '#i' # j"), Want: `{"a":"b","e":"f#g","h":"#i"}`},
		{Name: "a plain text over lines", File: head("a: one", "  two", "    three  ", "", "", "  four", "b: c"), Want: `{"a":"one two three\n\nfour","b":"c"}`},
		{Name: "a plain text on the next line", File: head("a:", "  one", "  two"), Want: `{"a":"one two"}`},
		{Name: "signs in a plain text", File: head(`a: it's "so" [far], {at} 5:30 -x & *y* | z > w! http://h/p?q`), Want: `{"a":"it's \"so\" [far], {at} 5:30 -x \u0026 *y* | z \u003e w! http://h/p?q"}`},
		{Name: "signs at the beginning", File: head("a: -x", "b: ?y", "c: :z", "d: (e)", "f: $1"), Want: `{"a":"-x","b":"?y","c":":z","d":"(e)","f":"$1"}`},
		{Name: "letters of all the world", File: head("description: Grüße 日本語 🙂 العربية"), Want: `{"description":"Grüße 日本語 🙂 العربية"}`},
		{Name: "keys with spaces and quotes", File: head("a b: c", `"d: e": f`, "'g''h' : i"), Want: `{"a b":"c","d: e":"f","g'h":"i"}`},
		{Name: "tabs in a text", File: head("a: b\tc", "d: 'e\tf'"), Want: `{"a":"b\tc","d":"e\tf"}`},

		// Quoted texts.
		{Name: "single quotes", File: head(`a: 'it''s \n'`, `b: ''''`), Want: `{"a":"it's \\n","b":"'"}`},
		{Name: "double quotes", File: head(`a: "x\ty\n\"z\" \\ \x41\u00e9\U0001F642"`), Want: `{"a":"x\ty\n\"z\" \\ Aé🙂"}`},
		{Name: "a colon in quotes", File: head(`a: "Use when: now"`, `b: 'c: d'`), Want: `{"a":"Use when: now","b":"c: d"}`},
		{Name: "quotes over lines", File: head("a: 'one  ", "  two", "", "  three'", `b: "four`, `  five"`), Want: `{"a":"one two\nthree","b":"four five"}`},
		{Name: "an escaped line end", File: head(`a: "one \`, `  \  two\`, `  three"`), Want: `{"a":"one   twothree"}`},
		{Name: "quotes on the next line", File: head("a:", `  "b" # c`), Want: `{"a":"b"}`},

		// Literal and folded blocks.
		{Name: "literal", File: head("a: |", "  one", "    two", "", "  three", "b: c"), Want: `{"a":"one\n  two\n\nthree\n","b":"c"}`},
		{Name: "literal, stripped", File: head("a: |-", "  one", "  two", "", "b: c"), Want: `{"a":"one\ntwo","b":"c"}`},
		{Name: "literal, kept", File: head("a: |+", "  one", "", "", "b: c"), Want: `{"a":"one\n\n\n","b":"c"}`},
		{Name: "literal with a digit", File: head("a: |2-", "    one", "  two"), Want: `{"a":"  one\ntwo"}`},
		{Name: "literal with signs", File: head("a: | # why", "  # no comment: [x", "  - no list", "\ttab"), Err: "line 5: a tab may not indent"},
		{Name: "literal, anything in it", File: head("a: |", "  # no comment: [x", "  - no list", `  "`, "  \ttab"), Want: `{"a":"# no comment: [x\n- no list\n\"\n\ttab\n"}`},
		{Name: "folded", File: head("description: >", "  one", "  two", "", "  three", "    four", "  five", "b: c"), Want: `{"b":"c","description":"one two\nthree\n  four\nfive\n"}`},
		{Name: "folded, stripped", File: head("a: >-", "  one", "  two"), Want: `{"a":"one two"}`},
		{Name: "folded, kept", File: head("a: >+", "  one", "", "b: c"), Want: `{"a":"one\n\n","b":"c"}`},
		{Name: "folded, digit and sign", File: head("a: >1-", "  one", " two"), Want: `{"a":" one\ntwo"}`},
		{Name: "empty blocks", File: head("a: |", "b: >-", "c: |+", "", "d: e"), Want: `{"a":"","b":"","c":"\n","d":"e"}`},
		{Name: "blocks in a list", File: head("a:", "  - |", "    one", "  - >-", "    two", "    three"), Want: `{"a":["one\n","two three"]}`},

		// Maps and lists.
		{Name: "maps in lists", File: head("args:", "  - name: area", "    description: The feature", "  - name: b", "hooks:", "  pre:", "    - a: b", "      c:", "      - d"),
			Want: `{"args":[{"description":"The feature","name":"area"},{"name":"b"}],"hooks":{"pre":[{"a":"b","c":["d"]}]}}`},
		{Name: "lists in lists", File: head("a:", "  - - b", "    - c", "  -", "    d: e", "  - []", "  -"), Want: `{"a":[["b","c"],{"d":"e"},[],""]}`},
		{Name: "at the greatest depth", File: "---\n" + Nested(8) + "---\n", Want: `{"k":{"k":{"k":{"k":{"k":{"k":{"k":{"k":""}}}}}}}}`},
		{Name: "too deep", File: "---\n" + Nested(9) + "---\n", Err: "line 10: maps and lists are nested deeper than 8", Other: "read"},
		{Name: "brackets too deep", File: head("a: " + strings.Repeat("[", 8) + strings.Repeat("]", 8)), Err: "line 2: maps and lists are nested deeper than 8", Other: "read"},
		{Name: "dashes too deep", File: head("a:", strings.Repeat("- ", 9)+"b"), Err: "line 3: maps and lists are nested deeper than 8", Other: "read"},
		{Name: "many values", File: head("a: [" + strings.Repeat("b,", 1000) + "]"), Err: "line 2: there are more than 1000 values", Other: "read"},
		{Name: "a long key", File: head(strings.Repeat("k", 65) + ": b"), Err: "line 2: a key is longer than 64 bytes", Other: "read"},
		{Name: "a key at its limit", File: head(strings.Repeat("k", 64) + ": b"), Want: `{"` + strings.Repeat("k", 64) + `":"b"}`},
		{Name: "very long", File: head("a: b", "# "+strings.Repeat("x", 16<<10)), Err: "line 1: the front matter is longer than 16384 bytes", Other: "read"},

		// The file around it.
		{Name: "CRLF", File: "---\r\nname: a\r\ndescription: >\r\n  one\r\n  two\r\n\r\n  three\r\nb: \"c\r\n  d\"\r\n---\r\nDo it.\r\n", Want: `{"b":"c d","description":"one two\nthree\n","name":"a"}`},
		{Name: "a byte order mark", File: "\ufeff---\na: b\n---\n", Want: `{"a":"b"}`},
		{Name: "white space behind the marks", File: "--- \t\na: b\n---  \n", Want: `{"a":"b"}`},
		{Name: "no text behind it", File: "---\na: b\n---", Want: `{"a":"b"}`},
		{Name: "longer lines of dashes", File: head("a: |", "  ---", "b: ----", "c: --- d"), Want: `{"a":"---\n","b":"----","c":"--- d"}`},
		{Name: "no end", File: "---\na: b\n", Err: `line 1: the front matter has no end`, Other: "read"},
		{Name: "no end, but a longer line", File: "---\na: b\n----\n", Err: `line 1: the front matter has no end`},
		{Name: "no front matter", File: "Do it.\n---\na: b\n---\n", Err: "none"},
		{Name: "an empty line before it", File: "\n---\na: b\n---\n", Err: "none"},
		{Name: "an empty file", File: "", Err: "none"},
		{Name: "the mark alone", File: "---", Err: "line 1: the front matter has no end", Other: "read"},

		// Mistakes that clients read.
		{Name: "a colon in a plain text", File: head("description: Use this skill when: the user asks # or not"), Want: `{"description":"Use this skill when: the user asks"}`, Other: "refused"},
		{Name: "a colon at the end", File: head("description: Use this:"), Want: `{"description":"Use this:"}`, Other: "refused"},
		{Name: "a colon, and more lines", File: head("a: b: c", "  d"), Err: "line 2: a text that contains"},
		{Name: "a colon further in", File: head("a:", "  b: c: d"), Err: "line 3: a text that contains"},
		{Name: "a colon on a further line", File: head("a: b", "  c: d"), Err: "line 3: this line looks like a key"},
		{Name: "a hint in brackets", File: head("argument-hint: [file] [format] # two"), Want: `{"argument-hint":"[file] [format]"}`, Other: "refused"},
		{Name: "a hint that is a list", File: head("argument-hint: [issue-number]"), Want: `{"argument-hint":"[issue-number]"}`, Other: "read"},

		// Refused.
		{Name: "the same key twice", File: head("name: a", "b: c", "name: d"), Err: `line 4: the key "name" is there twice`},
		{Name: "the same key, quoted", File: head("name: a", `"na\x6de": d`), Err: `line 3: the key "name" is there twice`},
		{Name: "the same key in braces", File: head("a: {b: c, b: d}"), Err: `line 2: the key "b" is there twice`},
		{Name: "an anchor", File: head("a: &x b"), Err: "line 2: anchors and aliases", Other: "read"},
		{Name: "an alias", File: head("a: &x b", "c: *x"), Err: "line 2: anchors and aliases", Other: "read"},
		{Name: "an alias of nothing", File: head("a: *x"), Err: "line 2: anchors and aliases"},
		{Name: "a tag", File: head("a: !!str b"), Err: "line 2: tags are not", Other: "read"},
		{Name: "a tag of an object", File: head("a: !!python/object:os.system x"), Err: "line 2: tags are not", Other: "read"},
		{Name: "a merge", File: head("a: {b: c}", "<<: {d: e}"), Err: "line 3: maps can't be merged", Other: "read"},
		{Name: "a directive", File: "---\n%YAML 1.2\na: b\n---\n", Err: "line 2: a plain text can't begin with %"},
		{Name: "a key of many lines", File: head("? a", ": b"), Err: "line 2: a plain text can't begin like this", Other: "read"},
		{Name: "a second document", File: head("a: b", "...", "c: d"), Err: "line 3: a second YAML document", Other: "read"},
		{Name: "a list", File: head("- a", "- b"), Err: "line 2: this is no line of the form", Other: "read"},
		{Name: "a text", File: head("just a text"), Err: "line 2: this is no line of the form", Other: "read"},
		{Name: "a tab as indentation", File: head("a:", "\tb: c"), Err: "line 3: a tab may not indent"},
		{Name: "a tab behind spaces", File: head("a:", "  \tb: c"), Err: "line 3: a tab may not indent"},
		{Name: "a tab behind the colon", File: head("a:\tb"), Err: "line 2: there is a tab behind the colon", Other: "read"},
		{Name: "indented for no reason", File: head("a: b", "c: d", "  - e"), Err: "line 4: this line looks like", Other: "read"},
		{Name: "less indented than the others", File: head("a:", "    b: c", "  d: e"), Err: "line 4: this line"},
		{Name: "the first line is indented", File: head("  a: b"), Err: "line 2: the first line is indented", Other: "read"},
		{Name: "an open quotation mark", File: head(`a: "b`, "c: d"), Err: "line 3: a text in quotation marks goes on", Other: ""},
		{Name: "an open quotation mark at the end", File: head(`a: 'b`), Err: "line 2: a quotation mark is not closed"},
		{Name: "text behind quotation marks", File: head(`a: "b" c`), Err: "line 2: there is text behind the end"},
		{Name: "an open bracket", File: head("a: [b, c"), Err: "line 2: a bracket is not closed"},
		{Name: "a bracket too many", File: head("a: [b]]"), Err: "line 2: there is text behind the end"},
		{Name: "no comma", File: head(`a: ["b" "c"]`), Err: "line 2: between brackets a comma"},
		{Name: "an empty item", File: head("a: [b,,c]"), Err: "line 2: a plain text can't begin with ,"},
		{Name: "a map in a list in brackets", File: head("a: [b: c]"), Err: "line 2: between brackets a comma", Other: "read"},
		{Name: "text behind the sign of a block", File: head("a: >", "b: | c", "  d"), Err: "line 3: there is text behind the end"},
		{Name: "a wrong sign of a block", File: head("a: |x", "  d"), Err: "line 2: behind | there may be"},
		{Name: "signs that nothing begins with", File: head("a: @b"), Err: "line 2: a plain text can't begin with @"},
		{Name: "an escape that is none", File: head(`a: "\d"`), Err: `line 2: this escape is not supported: \d`},
		{Name: "an escape of YAML 1.2 alone", File: head(`a: "\/"`), Err: `line 2: this escape is not supported: \/`},
		{Name: "an escape of half a character", File: head(`a: "\ud83d\ude42"`), Err: "line 2: this escape is no character"},
		{Name: "an escape of a control character", File: head(`a: "\x1b[2J"`), Err: "line 2: this escape is no character, or a control character", Other: "read"},
		{Name: "a control character", File: head("a: b\x1b[2J"), Err: "line 2: there is a control character, U+001B"},
		{Name: "NUL", File: head("a: b", "c: d\x00e"), Err: "line 3: there is a control character, U+0000"},
		{Name: "a lone carriage return", File: head("a: b\rc: d"), Err: "line 2: there is a control character, U+000D", Other: "read"},
		{Name: "a line separator", File: head("a: b\u2028c: d"), Err: "line 2: there is a control character, U+2028", Other: "read"},
		{Name: "a next line", File: head("a: b\u0085c: d"), Err: "line 2: there is a control character, U+0085", Other: "read"},
		{Name: "a byte order mark in the text", File: head("a: b\ufeff"), Err: "line 2: there is a control character, U+FEFF", Other: "read"},
		{Name: "no UTF-8", File: head("a: \xff"), Err: "line 2: this is not UTF-8"},
	}
}
