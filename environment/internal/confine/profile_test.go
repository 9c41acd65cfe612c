package confine

import (
	"strings"
	"testing"
)

func TestProfile(t *testing.T) {
	got, err := Profile(&Spec{Dir: `/private/tmp/a "b"\c`, Read: []string{"/opt/tools"}}, 3128)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(got), "\n")
	if lines[1] != "(deny default)" {
		t.Errorf("the profile must begin with a denial:\n%s", got)
	}
	for _, want := range []string{
		`(allow file-read* file-write* process-exec (subpath "/private/tmp/a \"b\"\\c"))`,
		`(allow file-read* process-exec (subpath "/opt/tools"))`,
		`(allow network-outbound (remote tcp "localhost:3128"))`,
		`(deny network* (remote unix-socket))`,
	} {
		if strings.Count(got, want+"\n") != 1 {
			t.Errorf("%s is not there once:\n%s", want, got)
		}
	}
	if strings.Count(got, "(") != strings.Count(got, ")") || strings.Contains(got, "(allow default)") || strings.Count(got, "file-write*") != 2 {
		t.Errorf("the profile allows more than it must:\n%s", got)
	}
	if got, err := Profile(&Spec{Dir: "/a"}, 0); err != nil || strings.Contains(got, "network-outbound") {
		t.Errorf("without a proxy there is a network: %v\n%s", err, got)
	}
	for _, dir := range []string{"", "a", "/a\n(allow default)", "/a\x00"} {
		if _, err := Profile(&Spec{Dir: dir}, 0); err == nil {
			t.Errorf("%q was accepted", dir)
		}
	}
}

func TestSpecLimits(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		spec Spec
		ok   bool
	}{
		{Spec{}, true}, {Spec{Processes: 1}, true}, {Spec{Processes: -1}, false}, {Spec{Processes: 10_001}, false}, {Spec{Files: 15}, false}, {Spec{Files: 16}, true},
		{Spec{Memory: 16<<20 - 1}, false}, {Spec{Memory: 16 << 20}, true}, {Spec{Time: 1}, false}, {Spec{Sub: "../x"}, false}, {Spec{Sub: "a/b"}, true}, {Spec{Env: []string{"A"}}, false}, {Spec{Env: []string{"A=\x00"}}, false},
	} {
		c.spec.Dir = dir
		if err := c.spec.check(); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.spec, err)
		}
	}
	for _, bad := range []string{"", "a", "/a/../b", dir + "/none"} {
		if (&Spec{Dir: bad}).check() == nil {
			t.Errorf("the folder %q was accepted", bad)
		}
	}
}
