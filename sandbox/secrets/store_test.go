package secrets_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/until"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/secrets"
)

const hidden = "Zq7/correct+horse=battery&%9-Kk"

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The example shows how a request gets a secret, and an answer loses it.
func ExampleStore() {
	ctx := context.Background()
	var store secrets.Store // in a page OpenStore keeps it
	if err := store.Set(ctx, "github", "a-value-of-the-user", []string{"api.github.com"}); err != nil {
		fmt.Println(err)
		return
	}
	header := "Bearer " + store.Placeholder("github")
	fmt.Println(header)
	filled, err := store.Fill(ctx, header, "api.github.com:443")
	fmt.Println(len(filled), err)
	_, err = store.Fill(ctx, header, "evil.example.org:443")
	fmt.Println(errors.Is(err, protocol.ErrSecurityViolation))
	answer, _ := store.Hide(ctx, "you sent a-value-of-the-user", "api.github.com:443")
	fmt.Println(answer)
	// Output:
	// Bearer secret.github.placeholder
	// 26 <nil>
	// true
	// you sent secret.github.placeholder
}

func TestStoreLimits(t *testing.T) {
	ctx := t.Context()
	for _, c := range []struct {
		name, value string
		hosts       []string
		ok          bool
	}{
		{"a", "12345678", []string{"a.example.com"}, true},
		{"a", "1234567", []string{"a.example.com"}, false},
		{"a", strings.Repeat("x", 4096), []string{"a.example.com"}, true},
		{"a", strings.Repeat("x", 4097), []string{"a.example.com"}, false},
		{"a" + strings.Repeat("b", 62), "12345678", []string{"a.example.com"}, true},
		{"a" + strings.Repeat("b", 63), "12345678", []string{"a.example.com"}, false},
		{"", "12345678", []string{"a.example.com"}, false},
		{"A", "12345678", []string{"a.example.com"}, false},
		{"1a", "12345678", []string{"a.example.com"}, false},
		{"a.b", "12345678", []string{"a.example.com"}, false},
		{"a", "1234 5678", []string{"a.example.com"}, true},
		{"a", " 12345678", []string{"a.example.com"}, false},
		{"a", "1234567\n8", []string{"a.example.com"}, false},
		{"a", "1234567ä8", []string{"a.example.com"}, false},
		{"a", "secret.b.placeholder", []string{"a.example.com"}, false},
		{"a", "12345678", nil, false},
		{"a", "12345678", many(16), true},
		{"a", "12345678", many(17), false},
		{"a", "12345678", []string{"*"}, false},
		{"a", "12345678", []string{"*.com"}, false},
		{"a", "12345678", []string{"https://a.example.com"}, false},
	} {
		var s secrets.Store
		err := s.Set(ctx, c.name, c.value, c.hosts)
		if (err == nil) != c.ok {
			t.Errorf("%.70q %d %d: %v", c.name, len(c.value), len(c.hosts), err)
		}
		if err != nil && strings.Contains(err.Error(), c.value) {
			t.Errorf("the error has the value: %v", err)
		}
	}
	var s secrets.Store
	for i := range 100 {
		must(t, s.Set(ctx, fmt.Sprint("n", i), "12345678", []string{"a.example.com"}))
	}
	if err := s.Set(ctx, "n100", "12345678", []string{"a.example.com"}); !errors.Is(err, protocol.ErrResourceLimit) {
		t.Errorf("the 101st: %v", err)
	}
	must(t, s.Set(ctx, "n99", "87654321", []string{"b.example.com"}))
	must(t, s.Remove(ctx, "n0"))
	must(t, s.Remove(ctx, "n0"))
	must(t, s.Set(ctx, "n100", "12345678", []string{"a.example.com"}))
	if all, err := s.List(ctx); err != nil || len(all) != 100 || all["n99"][0] != "b.example.com" || all["n0"] != nil {
		t.Errorf("%v %v", all, err)
	}
}

func many(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("h%d.example.com", i))
	}
	return out
}

func TestPlaceholders(t *testing.T) {
	var s secrets.Store
	long := strings.Repeat("a", 63)
	for text, want := range map[string]string{
		"": "", "secret.a.placeholder": "a", "Bearer secret.git-hub_2.placeholder.": "git-hub_2",
		"secret.a.placeholder secret.b.placeholder,secret.a.placeholder": "a b",
		"secret.A.placeholder":                             "",
		"secret..placeholder":                              "",
		"secret.a.b.placeholder":                           "",
		"secret.secret.a.placeholder":                      "a",
		"secret." + long + ".placeholder":                  long,
		"secret." + long + "a.placeholder":                 "",
		".placeholder.placeholder secret.a.placeholder":    "a",
		"secret.a\nb.placeholder secret.a.placeholder":     "a",
		strings.Repeat("secret.", 1e5) + "a.placeholder":   "a",
		strings.Repeat(".placeholder", 1e5) + "secret.a.p": "",
	} {
		if got := strings.Join(s.Names(text), " "); got != want {
			t.Errorf("%.80q: %q", text, got)
		}
	}
}

func TestFill(t *testing.T) {
	ctx := t.Context()
	var s secrets.Store
	must(t, s.Set(ctx, "a", "value-of-a", []string{"a.example.com", "*.example.org:443"}))
	must(t, s.Set(ctx, "b", "value-of-b", []string{"b.example.com"}))
	for _, c := range []struct {
		text, host, want string
		code             protocol.Code
	}{
		{"x secret.a.placeholder y secret.a.placeholder", "a.example.com:443", "x value-of-a y value-of-a", ""},
		{"secret.a.placeholder", "x.example.org:443", "value-of-a", ""},
		{"secret.a.placeholder", "x.example.org:8443", "", protocol.ErrSecurityViolation},
		{"secret.a.placeholder", "example.org:443", "", protocol.ErrSecurityViolation},
		{"secret.a.placeholder secret.b.placeholder", "a.example.com:443", "", protocol.ErrSecurityViolation},
		{"secret.c.placeholder", "a.example.com:443", "", protocol.ErrInvalidParams},
		{"secret.a.placeholder", "not a host", "", protocol.ErrInvalidParams},
		{"nothing", "b.example.com", "nothing", ""},
	} {
		got, err := s.Fill(ctx, c.text, c.host)
		if got != c.want || c.code != "" && protocol.CodeOf(err) != c.code || c.code == "" && err != nil {
			t.Errorf("%s for %s: %q %v", c.text, c.host, got, err)
		}
		if err != nil && strings.Contains(err.Error(), "value-of") {
			t.Errorf("the error has a value: %v", err)
		}
	}
}

// Only secrets for the host are searched for, so no page sees which of its guesses is hidden.
func TestAttackGuessesOfAnotherHost(t *testing.T) {
	a := attack.Start(t, "secrets")
	ctx := t.Context()
	var s secrets.Store
	must(t, s.Set(ctx, "pin", "84629175", []string{"a.example.com"}))
	guesses := ""
	for i := range 1000 {
		guesses += fmt.Sprint(84629000+i) + "\n"
	}
	got, err := s.Hide(ctx, guesses, "evil.example.org:443")
	must(t, err)
	a.Try("a thousand guesses", got != guesses)
	got, err = s.Hide(ctx, guesses, "a.example.com:443")
	must(t, err)
	a.Off("on the secret's own host", got != guesses)
}

// No way to print a store prints a value.
func TestAttackPrintedStore(t *testing.T) {
	a := attack.Start(t, "secrets")
	a.NoSwitch("the value is behind a function, which nothing prints")
	ctx := t.Context()
	var s secrets.Store
	must(t, s.Set(ctx, "a", hidden, []string{"a.example.com"}))
	for _, form := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, v := range []any{&s, struct{ S *secrets.Store }{&s}, []any{&s}, map[string]any{"s": &s}} {
			got := fmt.Sprintf(form, v)
			a.Try(form, strings.Contains(got, hidden) || strings.Contains(got, fmt.Sprintf("%x", hidden)))
		}
	}
	text, err := json.Marshal([]any{&s}) // within a value, as the linter knows that a store alone has no fields to write
	must(t, err)
	a.Try("JSON", strings.Contains(string(text), "Zq7"))
	for name, err := range map[string]error{
		"a value with a line break": s.Set(ctx, "b", hidden+"\n", []string{"a.example.com"}),
		"the value as the name":     s.Set(ctx, hidden, "12345678", []string{"a.example.com"}),
		"the value as a bad host":   s.Set(ctx, "b", hidden, nil),
	} {
		if err == nil {
			t.Errorf("%s is taken", name)
			continue
		}
		a.Try(name, strings.Contains(fmt.Sprintf("%+v %v", err, protocol.Public(err)), hidden))
	}
}

// What Hide leaves: texts without a secret, and the forms that its comment names.
func TestHideLeaves(t *testing.T) {
	ctx := t.Context()
	var s secrets.Store
	must(t, s.Set(ctx, "a", hidden, []string{"a.example.com"}))
	must(t, s.Set(ctx, "b", hidden+"-and-more", []string{"a.example.com"}))
	for text, want := range map[string]string{
		"":                                "",
		"nothing here":                    "nothing here",
		hidden[:len(hidden)-1]:            hidden[:len(hidden)-1],
		"x" + hidden + "y":                "xsecret.a.placeholdery",
		hidden + hidden:                   "secret.a.placeholdersecret.a.placeholder",
		hidden + "-and-more":              "secret.b.placeholder",
		hidden + "-and-mor":               "secret.a.placeholder-and-mor",
		"ä" + hidden + "ä":                "äsecret.a.placeholderä",
		hidden[:10] + "<b>" + hidden[10:]: hidden[:10] + "<b>" + hidden[10:],
		"\xff\xfe" + hidden:               "\xff\xfesecret.a.placeholder",
		"a " + base64.StdEncoding.EncodeToString([]byte("user:"+hidden)) + " b": "a secret.a.placeholder b",
		strings.Repeat("Z", 1e5) + hidden:                                       strings.Repeat("Z", 1e5) + "secret.a.placeholder",
		strings.Repeat(hidden[:20], 1000):                                       strings.Repeat(hidden[:20], 1000),
		strings.Repeat("%", 1e5):                                                strings.Repeat("%", 1e5),
		strings.Repeat("&#", 1e5) + "&" + hidden:                                strings.Repeat("&#", 1e5) + "&secret.a.placeholder",
	} {
		got, err := s.Hide(ctx, text, "a.example.com:443")
		if err != nil || got != want {
			t.Errorf("%.60q: %.80q %v", text, got, err)
		}
	}
	must(t, s.Set(ctx, "long", strings.Repeat("0123456789", 20), []string{"b.example.com"}))
	for n, want := range map[int]int{63: 63, 64: len("secret.long.placeholder"), 65: len("secret.long.placeholder"), 200: len("secret.long.placeholder"), 201: len("secret.long.placeholder") + 1} {
		if got, err := s.Hide(ctx, strings.Repeat("0123456789", 21)[:n], "b.example.com:443"); err != nil || len(got) != want {
			t.Errorf("%d bytes of a long value: %q %v", n, got, err)
		}
	}
	if _, err := s.Hide(ctx, "x", "not a host"); err == nil {
		t.Error("a bad host is taken")
	}
}

// Hide yields to the page, and returns no text once its context has ended.
func TestHideRests(t *testing.T) {
	var s secrets.Store
	must(t, s.Set(t.Context(), "a", strings.Repeat("a", 4096), []string{"a.example.com"}))
	for name, text := range map[string]string{"like the value": strings.Repeat(strings.Repeat("a", 63)+"b", 1<<12), "unlike": strings.Repeat("x ", 1<<20), "spaces": strings.Repeat(strings.Repeat("a"+strings.Repeat(" ", 63), 63)+"b", 1<<4)} {
		ctx := &until.Looks{Context: t.Context()}
		if got, err := s.Hide(ctx, text, "a.example.com:443"); err != nil || got != text || ctx.N < 8 {
			t.Errorf("%s: %v after %d looks", name, err, ctx.N)
		}
		ctx = &until.Looks{Context: t.Context(), End: 4}
		if got, err := s.Hide(ctx, text, "a.example.com:443"); !errors.Is(err, context.Canceled) || got != "" || ctx.N > 12 {
			t.Errorf("%s: after the end %v, %d bytes, %d looks", name, err, len(got), ctx.N)
		}
	}
}

func FuzzHide(f *testing.F) {
	f.Add("a %5Aq7", 3)
	f.Add("x&#90;&#113;", 0)
	f.Fuzz(func(t *testing.T, around string, at int) {
		var s secrets.Store
		must(t, s.Set(t.Context(), "a", hidden, []string{"a.example.com"}))
		at = max(0, min(at, len(around)))
		got, err := s.Hide(t.Context(), around[:at]+hidden+around[at:], "a.example.com:443")
		if err != nil || strings.Contains(got, hidden) || !strings.Contains(got, "secret.a.placeholder") {
			t.Errorf("%q %v", got, err)
		}
	})
}
