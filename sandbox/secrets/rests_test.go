package secrets

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/until"
)

func allWords() (out []string) {
	for _, r := range rules() {
		out = append(out, r.words...)
	}
	return out
}

// A text is searched in pieces, whatever its content. The context is checked once for a number of
// steps. After the context has ended, no part of the text is returned.
func TestSearchForSecretsRests(t *testing.T) {
	const size = 6_000
	all := 0 // steps for a character by all rules, each of which has a word in the text
	for _, r := range rules() {
		if !r.manifests {
			_, cost := r.compiled()
			all += cost
		}
	}
	for name, unit := range map[string]string{
		"words in lines": strings.Join(allWords(), " \n") + "\n", "words in one line": strings.Join(allWords(), " ") + " ", "names in one line": "api_key=abcdEFGH1234 ",
		"keys that begin": "-----BEGIN " + "PRIVATE KEY-----\n", "commands": "curl ", "manifests": "kind: Secret\ndata:\n  a: aGVsbG93b3JsZA==\n---\n", "a manifest in a line": "kind: Secret data: ", "addresses": "a://b:",
	} {
		text := strings.Repeat(unit, size/len(unit)+1)
		ctx := &until.Looks{Context: context.Background()}
		found := Find(ctx, text)
		if least := size * all / (16 << 10) * 9 / 10; name == "words in one line" && ctx.N < least || ctx.N == 0 {
			t.Errorf("%s: %d looks, at least %d", name, ctx.N, least)
		}
		if len(found) == 1 && found[0].Kind == "unread rest" {
			t.Errorf("%s: nothing was read", name)
		}
		end := &until.Looks{Context: context.Background(), End: max(1, ctx.N/2)}
		if out, kinds := Redact(end, text); out != "[unread rest removed]" || !slices.Equal(kinds, []string{"unread rest"}) || end.N > end.End+4 {
			t.Errorf("%s: after the end %.60q, %d looks of %d", name, out, end.N, end.End)
		}
	}
}

// Finding the windows of a rule is linear in the length of the text, however long its lines are.
func TestWindowsAreFoundInTheirLength(t *testing.T) {
	text := strings.Repeat(strings.Join(allWords(), " ")+" ", 200)
	for _, r := range rules() {
		s := &search{ctx: &until.Looks{Context: context.Background()}}
		if !r.manifests {
			r.windows(s, text, func(window) {})
		}
		// A window and its neighbourhood are inspected for each word and for each 4 KiB. After an
		// inspection that uses up the time there is a second one.
		if most := 10 + 2*len(r.words)*(2+len(text)/reach)*(2*reach/16+128)/(16<<10); s.ctx.(*until.Looks).N > most {
			t.Errorf("%s: %d looks, at most %d", r.kind, s.ctx.(*until.Looks).N, most)
		}
	}
}

// A search with yields has the result of a search without.
func TestSearchInPiecesFindsTheSame(t *testing.T) {
	rep := strings.Repeat
	value := "aB3" + "dE5gH7jK9mN1pQ"
	for name, text := range map[string]string{
		"short": "password = " + value + "\n", "one long line": rep("x ", 40_000) + "api_key=" + value + " " + rep("y ", 40_000),
		"two beside each other": rep("z ", 1000) + "token=" + value + " secret=" + value + rep(" z", 1000), "behind long lines": rep(rep("w", 9000)+"\n", 9) + "passwd: " + value + "\n",
		"a key":                rep("a\n", 700) + "-----BEGIN RSA " + "PRIVATE KEY-----\n" + rep("MIIabc\n", 200) + "-----END RSA " + "PRIVATE KEY-----\n" + rep("b\n", 700),
		"a key without an end": rep("a\n", 700) + "-----BEGIN " + "PRIVATE KEY-----\n" + rep("MIIabc\n", 200), "a manifest": rep("# a\n", 300) + "kind: Secret\ndata:\n  a: aGVsbG93b3JsZA==\n  b: |\n" + rep("    aGVsbG93b3JsZA==\n", 50) + "---\n" + rep("# b\n", 300),
		"letters of several bytes": rep("ä€ ", 4000) + "api_key=" + value + rep(" ä", 4000),
	} {
		same(t, name, text)
		if len(Find(t.Context(), text)) == 0 {
			t.Errorf("%s: nothing is found", name)
		}
	}
}
