package confine

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A process in a sandbox of Self still starts programs in theirs.
func TestNested(t *testing.T) {
	supported(t)
	dir := folder(t)
	if os.Getenv("CONFINE_NESTED") == "" {
		cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run", "^TestNested$", "-test.v", "-test.timeout", "10s")
		cmd.Env = append(os.Environ(), "CONFINE_NESTED=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS: TestNested") {
			t.Errorf("%v\n%s", err, out)
		}
		if p, err := where(); err == nil {
			p.sweep()
			if left, _ := filepath.Glob(filepath.Join(p.dirs["memory"], fmt.Sprintf("bailey-box-%d-*", cmd.Process.Pid))); len(left) > 0 {
				t.Errorf("%q are left", left)
			}
		}
		return
	}
	if err := Self(nil, []string{dir}); err != nil {
		t.Fatal(err)
	}
	if _, err := where(); err == nil {
		if err := Groups(); err != nil {
			t.Errorf("a process in a sandbox has no groups for its programs: %v", err)
		}
	}
	out, code := runs(t, Spec{Dir: dir, Env: []string{"PATH=/usr/bin:/bin"}, Nested: true}, `echo hello > a; cat a; ls /proc; exit 4`)
	if code != 4 || !strings.HasPrefix(out, "hello\n") {
		t.Errorf("%q, %d", out, code)
	}
}
