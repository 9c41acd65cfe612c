package headers

import (
	"strings"
	"testing"
)

func TestCheckHost(t *testing.T) {
	label63 := strings.Repeat("a", 63)
	// 253 characters: three full labels with their dots, and 61 more.
	name253 := strings.Repeat(label63+".", 3) + strings.Repeat("b", 61)
	good := []string{"api.example.com", "API.Example.COM", "*.example.com", "localhost", "localhost:11434", "127.0.0.1:8080",
		"api.example.com:1", "api.example.com:65535", "xn--bcher-kva.example", "a_b.example.com", label63 + ".com", name253, "*.a.b.c"}
	for _, p := range good {
		if err := CheckHost(p); err != nil {
			t.Errorf("%q: %v", p, err)
		}
	}
	bad := map[string]string{
		"":                        "empty",
		"*":                       "every host",
		"*.com":                   "top-level",
		"*.localhost":             "top-level",
		"*.":                      "1 to 253",
		"a.*.com":                 "may only stand first",
		"*a.example.com":          "may only stand first",
		"**.example.com":          "may only stand first",
		"https://api.example.com": "scheme",
		"api.example.com/v1":      "path",
		"user@example.com":        "path or user",
		"[::1]":                   "IPv6",
		"::1":                     "port",
		"api.example.com:0":       "port",
		"api.example.com:65536":   "port",
		"api.example.com:080":     "port",
		"api.example.com:":        "port",
		"api.example.com:+1":      "port",
		"api..example.com":        "empty label",
		".example.com":            "empty label",
		"example.com.":            "empty label",
		"-a.com":                  "hyphen",
		"a-.com":                  "hyphen",
		"bücher.example":          "punycode",
		"a b.com":                 "character",
		"a;b.com":                 "character",
		"a,b.com":                 "character",
		"a'b.com":                 "character",
		`a"b.com`:                 "character",
		"a\nb.com":                "character",
		"{x}.com":                 "character",
		strings.Repeat("a", 64):   "63",
		name253 + "b":             "253",
	}
	for p, why := range bad {
		if err := CheckHost(p); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, want an error that says %q", p, err, why)
		}
	}
}

// No accepted pattern can end a directive, a string or a header.
func FuzzCheckHost(f *testing.F) {
	for _, s := range []string{"api.example.com", "*.x.com:80", "*", "a;b", "\"", "[::1]:3", "xn--a:65535"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, p string) {
		h, err := parseHost(p)
		if err != nil {
			return
		}
		if strings.ContainsAny(h.String(), " ;,'\"\\()\r\n\t{}$%/?#@[]") {
			t.Errorf("%q passes as %q", p, h)
		}
		again, err := parseHost(h.String())
		if err != nil || again != h {
			t.Errorf("%q gives %v, which gives %v (%v)", p, h, again, err)
		}
	})
}
