package secrets_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/sandbox/secrets"
)

// made joins the pieces of a secret, so that no scanner takes this file for one with secrets.
func made(pieces ...string) string { return strings.Join(pieces, "") }

const mixed = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9fG1hJ3kL5mN7pQ9rS1tU3vW5xY7zA9bC1d"

func TestKnownFormsAreFound(t *testing.T) {
	hex := strings.Repeat("0a1b2c3d4e5f6789", 10)
	for want, text := range map[string]string{
		"aws access key":         "id " + made("AK", "IAQ4X7MZ2LPTRW6BVN"),
		"github token":           made("gh", "p_", mixed[:36]),
		"gitlab token":           made("glp", "at-", mixed[:20]),
		"slack token":            made("xo", "xb-123456789012-", mixed[:24]),
		"anthropic key":          made("sk-", "ant-api03-", mixed[:60]),
		"openai key":             made("sk-", "proj-", mixed[:48]),
		"openrouter key":         made("sk-", "or-v1-", hex[:64]),
		"google api key":         made("AI", "za", mixed[:35]),
		"stripe key":             made("sk_", "live_", mixed[:24]),
		"sendgrid key":           made("S", "G.", mixed[:22], ".", mixed[:43]),
		"npm token":              made("np", "m_", mixed[:36]),
		"json web token":         made("ey", "JhbGciOiJIUzI1NiJ9.", "ey", "JzdWIiOiIxMjM0NTY3ODkwIn0.", mixed[:43]),
		"private key":            "-----BEGIN RSA " + "PRIVATE KEY-----\n" + mixed + "\n-----END RSA " + "PRIVATE KEY-----",
		"password in an address": "postgres://app:" + mixed[:12] + "@db.internal:5432/app",
		"authorization header":   "Authorization: Bearer " + mixed[:40],
		"named secret":           `api_key = "` + mixed[:32] + `"`,
		"hugging face token":     made("h", "f_", "abcdefghijKLMNOPqrstuvWXYZabcdefgh"),
		"digitalocean token":     made("dop", "_v1_", hex[:64]),
		"groq key":               made("gs", "k_", mixed[:52]),
	} {
		out, kinds := secrets.Redact(context.Background(), "before "+text+" after\nPASSWORD\n")
		if len(kinds) == 0 || kinds[0] != want || strings.Contains(out, mixed[:12]) || !strings.HasPrefix(out, "before") || !strings.HasSuffix(out, "PASSWORD\n") {
			t.Errorf("%s: %v in %q", want, kinds, out)
		}
	}
}

func TestOrdinaryTextsAreLeft(t *testing.T) {
	for _, text := range []string{"password: please", `token := os.Getenv("GITHUB_TOKEN")`, "api_key = your-api-key-here", "https://user@example.com/path", "commit 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12", "the secret of good bread is time",
		`"integrity": "sha512-aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9fG1hJ3kL5mN7pQ9rS1tU3vW5xY7zA9bC1d=="`, "uuid 123e4567-e89b-12d3-a456-426614174000", "AKIAIOSFODNN7EXAMPLE", "postgres://user:${PASSWORD}@host/db", `password = "<your password>"`} {
		if out, kinds := secrets.Redact(context.Background(), text); len(kinds) > 0 {
			t.Errorf("%q: %v %q", text, kinds, out)
		}
	}
}

// At most one line in a hundred of ordinary text may be a false positive.
func TestBenignLines(t *testing.T) {
	data, err := os.ReadFile("testdata/benign.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines, bad := 0, 0
	for line := range strings.Lines(string(data)) {
		lines++
		if out, kinds := secrets.Redact(context.Background(), line); len(kinds) > 0 {
			bad++
			t.Logf("%v: %s", kinds, out)
		}
	}
	if lines < 100 || bad*100 > lines {
		t.Errorf("%d of %d lines", bad, lines)
	}
}

// Secrets of several lines, and the text beside a secret, which must stay.
func TestSurroundingsDecide(t *testing.T) {
	value := mixed[:24]
	manifest := "kind: Secret\nmetadata:\n  name: a-name\ndata:\n  ca: " + value + "\n  more: |\n    " + value + "\nrest: untouched1234\n"
	for name, c := range map[string]struct {
		text string
		n    int
	}{
		"manifest":              {manifest, 2},
		"manifest of another":   {strings.Replace(manifest, "Secret", "ConfigMap", 1), 0},
		"second manifest":       {"kind: ConfigMap\ndata:\n  a: b123456789\n---\n" + manifest, 2},
		"element":               {"<apiToken>\n   " + value + "\n</apiToken>", 1},
		"two lines":             {"- name: API_TOKEN\n  value: " + value, 1},
		"escaped line":          {`{"env": "API_TOKEN=` + value + `\nX=1"}`, 1},
		"arguments":             {`set("API_TOKEN", "` + value + `")`, 1},
		"makefile":              {`API_TOKEN ::= "` + value + `"`, 1},
		"query":                 {"https://example.org/?access_token=" + value + "&x=1", 1},
		"its id":                {`API_TOKEN_ID = "` + value + `"`, 0},
		"public":                {`publicToken = "` + value + `"`, 0},
		"curl":                  {"curl -k \\\n -X POST \\\n -u me:" + value + " https://example.org", 1},
		"curl with a variable":  {"curl -u me:$PW https://example.org", 0},
		"another program's -u":  {"chown -u me:" + value, 0},
		"header":                {`-H "X-Api-Key: ` + value + `"`, 1},
		"setting":               {`<add key="Password" value="plainwords" />`, 1},
		"setting of a variable": {`<add key="Password" value="%PASSWORD%" />`, 0},
	} {
		out, _ := secrets.Redact(context.Background(), c.text)
		if n := len(secrets.Find(context.Background(), c.text)); n != c.n || c.n > 0 && strings.Contains(out, value) || strings.Contains(c.text, "untouched") && !strings.Contains(out, "untouched") {
			t.Errorf("%s: %d in %q", name, n, out)
		}
	}
}

// Our own sources contain no secrets, and at most one file in a hundred may be a false positive. In
// a page, where files and the search are slower, a part of them is searched.
func TestFalseFindingsInOurSources(t *testing.T) {
	files, bad, root, least := 0, 0, "../..", 100
	if runtime.GOOS == "js" {
		root, least = "../provider", 10
	}
	_ = filepath.WalkDir(root, func(p string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() && (e.Name() == ".git" || e.Name() == "node_modules" || e.Name() == ".bin") {
			return filepath.SkipDir
		}
		ext := filepath.Ext(p)
		if e.IsDir() || ext != ".go" && ext != ".md" && ext != ".js" && ext != ".json" || strings.Contains(p, "drill_test") || strings.Contains(p, "secrets_test") {
			return nil
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return nil
		}
		files++
		if found := secrets.Find(context.Background(), string(data)); len(found) > 0 {
			bad++
			t.Logf("%s: %s at %d", p, found[0].Kind, found[0].Start)
		}
		return nil
	})
	if files < least {
		t.Fatalf("only %d files", files)
	}
	if bad*100 > files {
		t.Errorf("%d of %d files", bad, files)
	}
}

func BenchmarkRedact(b *testing.B) {
	text := strings.Repeat("func (s *Session) put(ctx context.Context) error { token := next(); return s.store.Put(ctx, token) }\n", 2000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		secrets.Redact(context.Background(), text)
	}
}

// A secret far from its word in a long line, beside letters whose other case has another length.
func TestPlacesStay(t *testing.T) {
	text := strings.Repeat("İ", 3000) + " api_key = \"" + mixed[:32] + "\" " + strings.Repeat("x ", 6000)
	if out, kinds := secrets.Redact(context.Background(), text); len(kinds) != 1 || strings.Contains(out, mixed[:12]) || len(out) != len(text)-32+len("[named secret removed]") {
		t.Errorf("%v", kinds)
	}
}
