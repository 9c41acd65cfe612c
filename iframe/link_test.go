package iframe

import "testing"

func TestLinkCheck(t *testing.T) {
	for _, good := range []string{"https://example.org", "http://example.org/a?b#c", "mailto:a@example.org", "tel:+4312345", "https://münchen.example/"} {
		if err := (Link{URL: good}).check(); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", "javascript:alert(1)", "JavaScript:alert(1)", "java\nscript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd",
		"blob:https://a/b", "about:blank", "//example.org", "/path", "https:", "https:///path", "https://a\n.example", "\x00https://a", "%", "view-source:https://a"} {
		if err := (Link{URL: bad}).check(); err == nil {
			t.Errorf("%q would be opened", bad)
		}
	}
}

func TestLinkHost(t *testing.T) {
	for url, want := range map[string]string{
		"https://user:pw@example.org:8080/a": "example.org:8080",
		"mailto:a@example.org":               "a@example.org",
		"tel:+43":                            "+43",
		"https://xn--bcher-kva.example/":     "xn--bcher-kva.example",
	} {
		if got := (Link{URL: url}).Host(); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}
