package settings

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/examples/files/keys"
	"github.com/bailey-go/bailey/sandbox/secrets"
)

// The keys of a visit before there was a store move into it, and none is lost. The settings have none of them.
func TestKeysMove(t *testing.T) {
	const before = `{"provider":"local","url":"http://localhost:11434/v1","key":"key-one","model":"m",
		"models":[{"provider":"local","model":"m","url":"http://localhost:11434/v1","key":"key-one"},{"provider":"openai","model":"a","url":"https://api.openai.example/v1","key":"key-five"},
		{"provider":"openai","model":"b","url":"https://api.openai.example/v1","key":"key-five"},{"provider":"openrouter","model":"c","url":"https://openrouter.example/v1","key":"key-six"}],"web":{"engine":"brave","key":"key-two"},"box":{"url":"http://127.0.0.1:8730","key":"key-seven"},"cloud":{"url":"https://front.example.org","key":"key-eight"},
		"servers":[{"name":"Far","url":"https://mcp.example.org/mcp","key":"key-three"},{"name":"b","url":"https://b.example","tokens":"{\"access_token\":\"key-four\"}"}]}`
	read := func(text string) (k Kept) {
		if err := json.Unmarshal([]byte(text), &k); err != nil {
			t.Fatal(err)
		}
		return k
	}
	write := func(k Kept) string {
		text, err := json.Marshal(k)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	want := write(read(before))
	var store secrets.Store
	open := func(context.Context) (*secrets.Store, error) { return &store, nil }
	k := read(before)
	in := keys.New(open)
	if !k.unlock(t.Context(), in) {
		t.Error("no key is in the settings")
	}
	text := write(k.lock(t.Context(), in))
	if strings.Contains(text, "key-") {
		t.Errorf("the settings still have one: %s", text)
	}
	if write(k) != want {
		t.Error("the page's own settings lost a key")
	}
	// The next visit has all of them.
	k, in = read(text), keys.New(open)
	if k.unlock(t.Context(), in) || write(k) != want {
		t.Errorf("the next visit has %s", write(k))
	}
	// A key that was removed is gone, and the others stay.
	k.Key, k.Servers, k.Models = "", k.Servers[:1], k.Models[1:3]
	text = write(k.lock(t.Context(), in))
	k = read(text)
	if k.unlock(t.Context(), keys.New(open)); k.Key != "" || k.Web.Key != "key-two" || k.Box.Key != "key-seven" || k.Cloud.Key != "key-eight" || k.Servers[0].Key != "key-three" || k.Models[0].Key != "key-five" || k.Models[1].Key != "key-five" {
		t.Errorf("after two were removed: %s", write(k))
	}
	if all, _ := store.List(t.Context()); len(all) != 5 {
		t.Errorf("the store has %v", all)
	}
	// The address of another host does not get the key.
	k = read(strings.NewReplacer("mcp.example.org", "evil.example.org", "front.example.org", "front.example.net", "127.0.0.1:8730", "127.0.0.1:8731", "api.openai.example", "evil.example.org").Replace(text))
	if k.unlock(t.Context(), keys.New(open)); k.Servers[0].Key != "" || k.Models[0].Key != "" || k.Box.Key != "" || k.Cloud.Key != "" {
		t.Error("another host gets the key")
	}
	// Without a store everything stays where it was.
	none := keys.New(func(context.Context) (*secrets.Store, error) { return nil, errors.New("no store") })
	k = read(before)
	if k.unlock(t.Context(), none); write(k.lock(t.Context(), none)) != want {
		t.Error("without a store, a key is lost")
	}
}
