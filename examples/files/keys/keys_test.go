package keys

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/sandbox/secrets"
)

func in(s *secrets.Store) func(context.Context) (*secrets.Store, error) {
	return func(context.Context) (*secrets.Store, error) { return s, nil }
}

func TestKeys(t *testing.T) {
	ctx := t.Context()
	for _, host := range []string{"api.example.com:443", "localhost:11434", "127.0.0.1:8080"} {
		for _, value := range []string{"k", "sk-secret", "{\"access_token\":\"\u00e9\"}", "secret.a.placeholder", strings.Repeat("x", 2983), strings.Repeat("x", 2984), strings.Repeat("y", 29_900)} {
			var store secrets.Store
			k := New(in(&store))
			if err := k.Put(ctx, "provider", host, strings.Repeat("z", 20_000)); err != nil {
				t.Fatal(err)
			}
			if err := k.Put(ctx, "provider", host, value); err != nil {
				t.Fatalf("%s, %d bytes: %v", host, len(value), err)
			}
			again := New(in(&store)) // another visit
			if got, err := again.Get(ctx, "provider", host); got != value || err != nil {
				t.Errorf("%s: %.40q, %v", host, got, err)
			}
			if got, _ := again.Get(ctx, "provider", "evil.example:443"); got != "" {
				t.Errorf("another host gets %.40q", got)
			}
			if strings.Contains(fmt.Sprintf("%v %+v %#v", &store, &store, k), "sk-secret") {
				t.Error("the store prints the key")
			}
			if err := again.Put(ctx, "provider", host, ""); err != nil {
				t.Fatal(err)
			}
			if all, _ := store.List(ctx); len(all) != 0 {
				t.Errorf("after its end: %v", all)
			}
		}
	}
	if err := New(in(&secrets.Store{})).Put(ctx, "p", "a.example:443", strings.Repeat("x", 30_000)); err == nil {
		t.Error("30,000 bytes are kept")
	}
}

// A shorter key leaves nothing of a longer one, also of one from a visit that this page has not read.
func TestShorterKey(t *testing.T) {
	var store secrets.Store
	for _, value := range []string{strings.Repeat("z", 20_000), "short"} {
		if err := New(in(&store)).Put(t.Context(), "provider", "a.example:443", value); err != nil {
			t.Fatal(err)
		}
	}
	if all, _ := store.List(t.Context()); len(all) != 1 {
		t.Errorf("%d pieces are left: %v", len(all), all)
	}
}

// A name of 30 characters in hexadecimal fits.
func TestKeysOfServers(t *testing.T) {
	var store secrets.Store
	k, other := New(in(&store)), New(in(&store))
	long := "k" + strings.Repeat("5a", 30)
	for name, keys := range map[string]*Keys{long: k, "t41": k, "provider": other} {
		if err := keys.Put(t.Context(), name, "a.example:443", "value of "+name); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.Only(t.Context(), map[string]bool{long: true}); err != nil {
		t.Fatal(err)
	}
	if got, _ := New(in(&store)).Get(t.Context(), long, "a.example:443"); got != "value of "+long {
		t.Errorf("%q", got)
	}
	if got, _ := New(in(&store)).Get(t.Context(), "t41", "a.example:443"); got != "" {
		t.Errorf("a removed server's: %q", got)
	}
	if got, _ := New(in(&store)).Get(t.Context(), "provider", "a.example:443"); got == "" {
		t.Error("another tab's key is gone")
	}
}

func TestHost(t *testing.T) {
	for address, want := range map[string]string{"https://API.example.com/v1": "api.example.com:443", "http://localhost:11434/v1": "localhost:11434", "http://127.0.0.1": "127.0.0.1:80", "": "", "ftp://a.example": "", "x": ""} {
		if got := Host(address); got != want {
			t.Errorf("%q: %q", address, got)
		}
	}
}
