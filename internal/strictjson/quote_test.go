package strictjson

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func FuzzQuoted(f *testing.F) {
	for _, s := range []string{"", "a", "a</script>", "\"\\\x00\x7f", "\xff\xfe", "é\u2028", "\xed\xa0\x80", "\ufffd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b := AppendString(nil, s)
		if string(b) != strings.ReplaceAll(string(AppendScriptString(nil, s)), `\u003c`, "<") && !strings.Contains(s, `u003c`) {
			t.Fatalf("%q and %q", b, AppendScriptString(nil, s))
		}
		if bytes.ContainsAny(b, "\u2028\u2029\x7f") {
			t.Fatalf("%q is no part of a script", b)
		}
		var got string
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		if want := string([]rune(s)); got != want { // invalid bytes become U+FFFD, one each
			t.Fatalf("%q, want %q", got, want)
		}
	})
}
