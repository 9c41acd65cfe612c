package iframe

import "testing"

func TestLinkCheck(t *testing.T) {
	for _, good := range []string{"https://example.org", "http://example.org/a?b#c", "mailto:a@example.org", "tel:+4312345", "https://münchen.example/"} {
		if err := (Link{URL: good}).check(); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"tel:*21*+1900%23", "tel:+43#5", "tel:%2321%23", "tel:*#06#", "tel:%2a21", "", "javascript:alert(1)", "JavaScript:alert(1)", "java\nscript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd",
		"blob:https://a/b", "about:blank", "//example.org", "/path", "https:", "https:///path", "https://a\n.example", "\x00https://a", "%", "view-source:https://a"} {
		if err := (Link{URL: bad}).check(); err == nil {
			t.Errorf("%q would be opened", bad)
		}
	}
}

func TestLinkTo(t *testing.T) {
	if l, err := linkTo("s", "./notes/plan.md", "the plan"); err != nil || l != (Link{Section: "s", Path: "notes/plan.md", Text: "the plan"}) {
		t.Errorf("%+v, %v", l, err)
	}
	for _, bad := range []string{"./", "./../a", ".//etc/passwd", "./a/../b", "./a\x00b", "notes/plan.md", "./a//b"} {
		if l, err := linkTo("s", bad, ""); err == nil {
			t.Errorf("%q is %+v", bad, l)
		}
	}
}

func TestLinkHost(t *testing.T) {
	for url, want := range map[string]string{
		"https://user:pw@example.org:8080/a":                   "example.org:8080",
		"mailto:a@example.org":                                 "a@example.org",
		"tel:+43":                                              "+43",
		"mailto:help@bank.example?subject=a&body=b":            "help@bank.example",
		"mailto:help@bank.example?to=spy@evil.test":            "help@bank.example, spy@evil.test",
		"mailto:help@bank.example?cc=spy@evil.test":            "help@bank.example, spy@evil.test",
		"mailto:help@bank.example?%62cc=spy%40evil.test":       "help@bank.example, spy@evil.test",
		"mailto:help@bank.example?subject=a&BCC=spy@evil.test": "help@bank.example, spy@evil.test",
		"mailto:help@bank.example,spy@evil.test":               "help@bank.example, spy@evil.test",
		"mailto:help@bank.example%2Cspy@evil.test":             "help@bank.example, spy@evil.test",
		"mailto:?to=spy@evil.test":                             "spy@evil.test",
		"mailto:/help@bank.example":                            "help@bank.example",
		"https://xn--bcher-kva.example/":                       "xn--bcher-kva.example",
	} {
		if got := (Link{URL: url}).Host(); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}
