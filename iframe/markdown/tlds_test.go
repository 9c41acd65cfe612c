package markdown

import (
	"strings"
	"testing"

	"golang.org/x/net/publicsuffix"
)

// The list of endings contains exactly those of the public suffix list and the names for
// special use.
func TestEndingsAreTopLevelDomains(t *testing.T) {
	special := " alt arpa corp eth example home internal invalid lan local localdomain localhost mail onion test "
	list := strings.Fields(tlds)
	if len(list) < 1200 {
		t.Fatalf("%d endings", len(list))
	}
	for _, tld := range list {
		if suffix, icann := publicsuffix.PublicSuffix("nobody-has-this-name." + tld); !hasWord(special, tld) && (!icann || !strings.HasSuffix(suffix, tld)) {
			t.Errorf("%s is no top-level domain (%s)", tld, suffix)
		}
	}
	for _, tld := range []string{"com", "de", "google", "travel", "zip", "photography", "ck"} {
		if !hasWord(tlds, tld) {
			t.Errorf("%s is missing", tld)
		}
	}
	for _, tld := range strings.Fields(tldsIdeographs) {
		ascii, _ := asciiLabel(tld)
		if suffix, icann := publicsuffix.PublicSuffix("nobody-has-this-name." + ascii); !icann || !strings.HasSuffix(suffix, ascii) || !ideographs(tld) {
			t.Errorf("%s (%s) is no top-level domain", tld, ascii)
		}
	}
	if hasWord(tlds, "or") || hasWord(tlds, "println") {
		t.Error("the list has what is no top-level domain")
	}
}
