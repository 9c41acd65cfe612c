package headers

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// The golden files are the text that a deployer copies, so that a change to it is visible in a
// review.
func TestRenderGolden(t *testing.T) {
	h, err := For(full())
	if err != nil {
		t.Fatal(err)
	}
	for name, h := range map[string]Headers{"default": Default(), "full": h} {
		for _, server := range strings.Split(servers, ", ") {
			got, err := h.Render(server)
			if err != nil {
				t.Errorf("%s, %s: %v", server, name, err)
				continue
			}
			file := filepath.Join("testdata", "golden", server+"-"+name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s is not what is rendered now; look at the difference, then run go test -update:\n%s", file, got)
			}
		}
	}
}

func TestRenderRefuses(t *testing.T) {
	if _, err := Default().Render("iis"); err == nil || !strings.Contains(err.Error(), "use one of nginx") {
		t.Errorf("%v", err)
	}
	if _, err := (Headers{}).Render("nginx"); err == nil {
		t.Error("headers without a policy were rendered")
	}
	h := Default()
	h.CSP = append(h.CSP, Directive{"script-src-elem", []string{"'nonce-$x'"}})
	if _, err := h.Render("nginx"); err == nil || !strings.Contains(err.Error(), "variable") {
		t.Errorf("nginx and $: %v", err)
	}
	h.CSP[len(h.CSP)-1].Values = []string{"'nonce-{x}'"}
	if _, err := h.Render("caddy"); err == nil || !strings.Contains(err.Error(), "placeholder") {
		t.Errorf("Caddy and braces: %v", err)
	}
	h.CSP[len(h.CSP)-1].Values = []string{"'nonce-\n'"}
	for _, server := range strings.Split(servers, ", ") {
		if _, err := h.Render(server); err == nil {
			t.Errorf("%s: a line break in a header passed", server)
		}
	}
}
