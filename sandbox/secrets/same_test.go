package secrets

import (
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// fragments returns pieces of texts with and without credentials.
func fragments() []string {
	value := "aB3" + "dE5gH7jK9mN1pQ"
	hex := strings.Repeat("0a1b2c3d4e5f6789", 4)
	return append(allWords(), "\n", "\n", "\n", " ", "\r\n", "\t", "  ", " = ", "=", ": ", `"`, "'", `\n`, ",", "<", ">", "</", "{", "$", "ä", "İ", "K", "\xff",
		value, value+value, hex, hex[:32], "x", "0", "_", "-", "secret", "api_key = "+value, `token: "`+value+`"`, "curl -k \\\n", " -u me:"+value, "name: API_TOKEN\n", "value: "+value, "postgres://app:"+value+"@db",
		"gh"+"p_"+strings.Repeat("aB3d", 9), "AK"+"IAQ4X7MZ2LPTRW6BVN", "-----BEGIN RSA "+"PRIVATE KEY-----", "-----END RSA "+"PRIVATE KEY-----", "-----END CERTIFICATE-----", "\n---\n", "\n--- \t\n\n", "\n----\n",
		"\nkind: Secret\n", "\nkind:\n  'secret' \n", "\n kind: \"Secret\"", "\nkind: Secrets\n", "kind: ConfigMap\n", "\ndata:\n", "\n  stringData: \r\n", "\n  a: aGVsbG93b3JsZA==\n", "\n  b.c-d:   'aGVsbG93b3JsZA=='  \n", "\n    aGVsbG93b3JsZA==", "\nAuthorization: Bearer "+hex)
}

// same reports whether the search with yields has the same result as the one without. In a text
// with long lines it may find more.
func same(t *testing.T, name, text string) {
	t.Helper()
	want, got := whole(text), Find(t.Context(), text)
	long := slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool { return len(line) > 256 })
	if !long && !slices.Equal(want, got) {
		t.Errorf("%s: %v, want %v in %.2000q", name, got, want, text)
	}
	for _, f := range want {
		if !slices.ContainsFunc(got, func(g Finding) bool { return g.Start <= f.Start && g.End >= f.End }) {
			t.Errorf("%s: %v is not found, but %v in %.2000q", name, f, got, text)
		}
	}
}

func TestRandomTextsAreSearchedAsAtAStretch(t *testing.T) {
	n := 400
	if testing.Short() || runtime.GOOS == "js" {
		n = 60
	}
	r, fragments := rand.New(rand.NewSource(1)), fragments()
	for i := range n {
		var b strings.Builder
		for range 1 << r.Intn(9) {
			b.WriteString(fragments[r.Intn(len(fragments))])
		}
		text := b.String()
		if i%3 == 0 {
			text = strings.ReplaceAll(text, "\n", " ") // one line
		}
		same(t, "random", text)
	}
}

// sources calls run with every nth of our own source files.
func sources(tb testing.TB, n int, run func(path, text string)) {
	tb.Helper()
	files := 0
	err := filepath.WalkDir("../..", func(p string, e os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (slices.Contains([]string{".git", "node_modules", ".bin", "build"}, e.Name())):
			return filepath.SkipDir
		case e.IsDir() || !slices.Contains([]string{".go", ".md", ".js", ".json"}, filepath.Ext(p)):
			return nil
		}
		if files++; files%n != 0 {
			return nil
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		run(p, string(data))
		return nil
	})
	if err != nil || files < 100 {
		tb.Fatalf("%d files, %v", files, err)
	}
}

func TestOurSourcesAreSearchedAsAtAStretch(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("the reference is slow there")
	}
	n := 1
	if testing.Short() {
		n = 8
	}
	sources(t, n, func(path, text string) { same(t, path, text) })
}

// BenchmarkOurSources compares the searches with and without yields on 1 MiB of our own sources.
func BenchmarkOurSources(b *testing.B) {
	var text strings.Builder
	sources(b, 1, func(_, t string) {
		if text.Len() < 1<<20 {
			text.WriteString(t)
		}
	})
	line := strings.ReplaceAll(text.String()[:256<<10], "\n", " ")
	for name, text := range map[string]string{"lines": text.String(), "one line": line} {
		b.Run(name+"/rests", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Find(b.Context(), text)
			}
		})
		b.Run(name+"/at a stretch", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				whole(text)
			}
		})
	}
}
