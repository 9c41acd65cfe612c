package strictjson

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// A text is read with rests between its parts, to the same value or error as at a stretch. An error of a rest ends it.
func TestParseRests(t *testing.T) {
	rep := strings.Repeat
	for name, c := range map[string]struct {
		text  string
		least int
	}{
		"numbers": {"[" + rep("1,", 9999) + "1]", 10000 / 256}, "objects": {"[" + rep(`{"a":1},`, 4999) + "{}]", 10000 / 256},
		"a string": {`"` + rep("a", 1<<20) + `"`, 16}, "an escaped string": {`"\n` + rep("a", 1<<20) + `"`, 16}, "letters of several bytes": {`"` + rep("aä€😀", 100_000) + `"`, 30}, "no UTF-8": {`"` + rep("ä", 100_000) + "\xff" + rep("ä", 100_000) + `"`, 6},
		"the end of a letter": {`"` + rep("ä", 100_000) + "\xc3" + `"`, 6}, "white space": {rep(" ", 1<<19) + "1" + rep("\n", 1<<19), 16}, "white space within": {"[" + rep(" ", 1<<20) + "]", 16}, "an error": {"[" + rep("1,", 5000) + "]", 19}, "short": {"1", 0},
	} {
		limits := Limits{Bytes: 2 << 20}
		want, wantErr := Parse(c.text, limits, plain())
		n := 0
		limits.Rest = func() error { n++; return nil }
		got, err := Parse(c.text, limits, plain())
		if !reflect.DeepEqual(got, want) || (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			t.Errorf("%s: %.50v, %v; at a stretch %.50v, %v", name, got, err, want, wantErr)
		}
		if n < c.least || n > 4*c.least+1 {
			t.Errorf("%s: %d rests, at least %d", name, n, c.least)
		}
		if n == 0 {
			continue
		}
		stop, calls := errors.New("stop"), 0
		limits.Rest = func() error {
			if calls++; calls == (n+1)/2 {
				return stop
			}
			return nil
		}
		if v, err := Parse(c.text, limits, plain()); v != nil || err != stop || calls != (n+1)/2 {
			t.Errorf("%s: after the end %.50v, %v, %d calls", name, v, err, calls)
		}
	}
}

func plain() *Dialect {
	return &Dialect{Invalid: errors.New("invalid"), Limit: errors.New("limit"), Refused: errors.New("refused")}
}
