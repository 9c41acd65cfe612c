package talk

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestDraft(t *testing.T) {
	long := strings.Repeat("a line of the file\n", 2)
	whole, _ := json.Marshal(map[string]any{"content": long})
	for text, want := range map[string][2]string{ // the arguments, and the end of the text
		``:                       {"map[]", ""},
		`{"pa`:                   {"map[]", ""},
		`{"path":"notes/pl`:      {"map[path:notes/pl]", ""},
		`{"path": "a\"b\\`:       {`map[path:a"b\]`, ""},
		`{"path": "a\\", "n": 1`: {`map[path:a\]`, ""},
		`{"path":"a","content":"one\ntwo \u00e9\ud83d\ude00\t|`:              {"map[content:one\ntwo é😀\t| path:a]", "one\ntwo é😀\t|"},
		`{"path":"a","content":"one\ntwo","replace":tr`:                      {"map[content:one\ntwo path:a]", "one\ntwo"},
		`{"edits":[{"old_string":"one\n","new_string":"two\nthr`:             {"map[]", "two\nthr"},
		`{"edits":[{"old_string":"one\ntwo","new_stri`:                       {"map[]", "one\ntwo"},
		`{"path":"a","more":{"path":"b"},"pattern":"c"`:                      {"map[path:a pattern:c]", ""},
		`{"path":"\ud83d\n\u0041`:                                            {"map[path:\nA]", "\nA"},
		string(whole):                                                        {"map[content:" + long + "]", strings.TrimRight(long, "\n")},
		`["one\ntwo"]`:                                                       {"map[]", ""},
		`no JSON`:                                                            {"map[]", ""},
		`}]}`:                                                                {"map[]", ""},
		strings.Repeat(`{"a":`, 100) + `"one\ntwo"`:                          {"map[]", ""},
		`{"path":"` + strings.Repeat("é", 80) + `"`:                          {"map[path:" + strings.Repeat("é", 80) + "]", strings.Repeat("é", 80)},
		`{"command":"` + strings.Repeat("x", 1000):                           {"map[command:" + strings.Repeat("x", 240) + "]", strings.Repeat("x", 1000)},
		`{"content":"` + strings.Repeat("x", 9000) + strings.Repeat(`\n`, 2): {"map[content:" + strings.Repeat("x", 240) + "]", strings.Repeat("x", 8000)},
	} {
		for _, size := range []int{1, 7, len(text) + 1} {
			var d draft
			for rest := text; rest != ""; {
				n := min(size, len(rest))
				d.write(rest[:n])
				rest = rest[n:]
			}
			if got := [2]string{fmt.Sprint(d.arguments()), d.end()}; got != want || d.size != len(text) {
				t.Errorf("%.80s in pieces of %d: %.300q, want %.300q; %d bytes", text, size, got, want, d.size)
			}
		}
	}
}

// A draft stays small, however long the arguments are and whatever is in them.
func TestDraftStaysSmall(t *testing.T) {
	for name, of := range map[string]struct{ start, more string }{
		"a long text":    {`{"content":"`, "0123456789"},
		"a long name":    {`{"`, "0123456789"},
		"many arguments": {`{`, `"%d":"x",`},
		"nested":         {``, `{"a":`},
		"lists":          {`{"a":`, `[`},
		"blank lines":    {`{"content":"`, `\n\n`},
	} {
		var d draft
		d.write(of.start)
		for i := range 200_000 {
			d.write(strings.ReplaceAll(of.more, "%d", fmt.Sprint(i)))
		}
		size := cap(d.text) + cap(d.name) + cap(d.open)
		for k, v := range d.args {
			size += len(k) + cap(v)
		}
		if size > 64<<10 || len(d.end()) > draftEnd {
			t.Errorf("%s: it keeps %d bytes, and shows %d", name, size, len(d.end()))
		}
	}
}

// The beginnings of the arguments are those that a JSON reader finds.
func FuzzDraft(f *testing.F) {
	f.Add(`{"path":"a/b.txt","content":"one \"two\" \u00e9\ud83d\ude00\\","n":[1,{"x":"y"}],"edits":[{"new_string":"z"}]}`, 3)
	f.Fuzz(func(t *testing.T, text string, size int) {
		var d draft
		for rest := text; rest != ""; {
			n := min(max(size, 1), len(rest))
			d.write(rest[:n])
			rest = rest[n:]
		}
		var whole map[string]any
		if json.Unmarshal([]byte(text), &whole) != nil {
			return
		}
		for name, got := range d.arguments() {
			want, ok := whole[name].(string)
			if strings.Contains(text, `\u`) || strings.Count(text, `"`+name+`"`) != 1 || !utf8.ValidString(text) {
				continue // the reader of encoding/json mends such a text, or takes the last of several
			}
			if s, _ := got.(string); !ok || !strings.HasPrefix(want, s) {
				t.Errorf("%s: %q is %q, want %q", text, name, s, want)
			}
		}
	})
}
