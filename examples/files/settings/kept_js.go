package settings

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/files/keys"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/secrets"
)

const storage = "bailey-files"

// Settings are the settings of the page.
type Settings struct {
	Kept
	lock   sync.Locker // held during one action of the user's
	loaded string      // the provider's origin in this page's policy, fixed until a reload
	others []string    // the other origins in it, without those of the secrets

	grants      *Grants  // of the open folder
	secretHosts []string // those of the user's secrets in this page's policy
}

// Load returns the stored settings, with the keys. It locks lock during its own actions.
func Load(ctx context.Context, lock sync.Locker) *Settings {
	k := load()
	store := keys.New(func(ctx context.Context) (*secrets.Store, error) {
		return secrets.OpenStore(ctx, "bailey-files-keys")
	})
	old := k.unlock(ctx, store)
	k.put = func(k Kept) Kept { return k.lock(ctx, store) }
	if old { // of a visit before there was a store
		k.Save()
	}
	return &Settings{Kept: k, lock: lock, loaded: k.Origin}
}

func load() (k Kept) {
	defer func() {
		if k.Rules == nil { // shared by all copies of the settings
			k.Rules = map[string]policy.Rules{}
		}
		if k.Copies == nil {
			k.Copies = map[string]bool{}
		}
	}()
	if v := js.Global().Get("localStorage").Call("getItem", storage); v.Type() == js.TypeString {
		_ = json.Unmarshal([]byte(v.String()), &k) // unreadable settings are ignored
	}
	return k
}

// Save stores the settings.
func (k Kept) Save() {
	k.Origins = k.origins()
	if k.put != nil {
		k = k.put(k)
	}
	b, _ := json.Marshal(k)
	js.Global().Get("localStorage").Call("setItem", storage, string(b))
}

// SetPrice stores the prices of the chosen model.
func (k *Kept) SetPrice(p Prices) {
	k.Prices = maps.Clone(k.Prices)
	if k.Prices == nil {
		k.Prices = map[string]Prices{}
	}
	k.Prices[k.Origin+" "+k.Model] = p
	k.Save()
}

// SetCopied stores whether the folder with the name is worked on in a copy.
func (k Kept) SetCopied(name string, yes bool) {
	if yes {
		k.Copies[name] = true
	} else {
		delete(k.Copies, name)
	}
	k.Save()
}

// Unreached returns the origins of Web and Servers that this page's policy lacks until it is loaded again.
func (s *Settings) Unreached() []string {
	return slices.DeleteFunc(s.origins(), s.Reaches)
}

// Reaches reports whether this page's own policy has the origin. The headers of its server may still lack
// it.
func (s *Settings) Reaches(origin string) bool {
	return slices.Contains(s.others, origin) || origin == s.loaded || origin == js.Global().Get("location").Get("origin").String()
}

// Stale returns a text for the user if another provider was chosen after this page was loaded, and
// "" otherwise. Requests to that provider would fail without a reason.
func (s *Settings) Stale() string {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.Provider == "" || s.Origin == "" || s.Reaches(s.Origin) {
		return ""
	}
	return fmt.Sprintf("Reload the page to start using %s at %s. Your draft is kept.", s.Model, s.Origin)
}
