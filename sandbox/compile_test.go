//go:build !js

package sandbox_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// An effect without a permit does not compile: each marked line of testdata/unguarded is a compile
// error, and no other line is.
func TestUnguardedEffectsDoNotCompile(t *testing.T) {
	out, err := exec.Command("go", "build", "-gcflags=-e", "-o", os.DevNull, "./testdata/unguarded").CombinedOutput()
	if err == nil {
		t.Fatal("it compiles")
	}
	src, err := os.ReadFile("testdata/unguarded/main.go")
	must(t, err)
	for i, line := range strings.Split(string(src), "\n") {
		failed := strings.Contains(string(out), "main.go:"+itoa(i+1)+":")
		if failed != strings.HasSuffix(line, "// must not") {
			t.Errorf("line %d compiles: %t\n%s", i+1, !failed, line)
		}
	}
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}
