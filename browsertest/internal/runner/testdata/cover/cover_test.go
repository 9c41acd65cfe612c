package cover

import (
	"runtime"
	"testing"
)

func TestWhere(t *testing.T) {
	want := "native"
	if runtime.GOOS == "js" {
		want = "browser"
	}
	if got := Where(runtime.GOOS, ""); got != want {
		t.Error(got)
	}
}
