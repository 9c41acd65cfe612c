package sandbox_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/sandbox"
)

func TestAuditShowsTampering(t *testing.T) {
	var out bytes.Buffer
	a := sandbox.NewAudit(&out)
	for _, s := range []string{"one", "two", "three", "four"} {
		a.Note(s, time.Unix(1, 0).UTC())
	}
	whole := out.String()
	lines := strings.SplitAfter(strings.TrimSpace(whole), "\n")
	seq, hash, err := sandbox.VerifyAudit(strings.NewReader(whole))
	if s, h := a.Head(); err != nil || seq != 4 || s != seq || h != hash {
		t.Fatalf("%d %s %v", seq, hash, err)
	}
	for name, text := range map[string]string{
		"changed":     strings.Replace(whole, "two", "tow", 1),
		"left out":    lines[0] + lines[2] + lines[3],
		"swapped":     lines[0] + lines[2] + lines[1] + lines[3],
		"twice":       lines[0] + lines[1] + lines[1] + lines[2],
		"no JSON":     lines[0] + "x\n",
		"a key more":  strings.Replace(whole, `{"seq":2`, `{"x":1,"seq":2`, 1),
		"other hash":  strings.Replace(whole, hash, strings.Repeat("0", 64), 1),
		"not the 1st": strings.Replace(lines[0], `"prev":""`, `"prev":"ab"`, 1),
	} {
		if _, _, err := sandbox.VerifyAudit(strings.NewReader(text)); err == nil {
			t.Errorf("%s: nothing shows", name)
		}
	}
	// Missing lines at the end are detected only by comparing with Head.
	if seq, h, err := sandbox.VerifyAudit(strings.NewReader(lines[0] + lines[1])); err != nil || seq != 2 || h == hash {
		t.Errorf("cut: %d %v", seq, err)
	}
}
