package localpath

import (
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	long := strings.Repeat("a", MaxBytes)
	for in, want := range map[string]string{
		"notes/plan.md": "notes/plan.md", "./a": "a", "a/./b/../c": "a/c", "/a/b": "a/b", `notes\plan.md`: "notes/plan.md",
		"my%20file.md": "my file.md", "a.md#L10": "a.md", "a.md?x=1": "a.md", " a ": "a", "a b": "a b", "日本.md": "日本.md", "a:b": "", "a/b:c": "a/b:c",
		long: long,
		"":   "", ".": "", "..": "", "../a": "", "a/../../b": "", "/": "", "//host/a": "", `\\host\a`: "", "https://a": "", "file:///a": "", "C:/a": "",
		"%2e%2e/a": "", "..%2fa": "", "..%5ca": "", "%00a": "", "a%0ab": "", "%ff": "", "%zz": "", "#a": "", "?a": "", long + "a": "",
	} {
		if got := Of(in); got != want {
			t.Errorf("%.40q: %q, want %q", in, got, want)
		}
	}
}
