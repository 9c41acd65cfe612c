package near

import (
	"slices"
	"testing"
)

func TestNames(t *testing.T) {
	from := []string{"read", "write", "edit", "web_fetch", "web_search", "grep"}
	for name, want := range map[string][]string{
		"reed": {"read"}, "raed": {"read"}, "red": {"read"}, "rxxd": nil, "wite": {"write"}, "web_ftch": {"web_fetch"}, "webfech": {"web_fetch"}, "zzz": nil, "": nil,
		"readreadreadreadreadreadreadread1": nil,
	} {
		if got := Names(name, from); !slices.Equal(got, want) {
			t.Errorf("%q: %q, not %q", name, got, want)
		}
	}
	if got := Names("aa", []string{"ab", "ac", "ad", "ae", "af", "ag", "ab"}); len(got) != 5 {
		t.Errorf("%q", got)
	}
}
