package settings

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"syscall/js"

	"github.com/bailey-go/bailey/sandbox/policy"
)

const storage = "bailey-files"

// Settings are the settings of the page.
type Settings struct {
	Kept
	lock   sync.Locker // held during one action of the user's
	loaded string      // the provider's origin in this page's policy, fixed until a reload
	others []string    // the other origins in it, without those of the secrets

	secretHosts []string // those of the user's secrets in this page's policy
}

// Load returns the stored settings. It locks lock during its own actions.
func Load(lock sync.Locker) *Settings {
	k := load()
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
	b, _ := json.Marshal(k)
	js.Global().Get("localStorage").Call("setItem", storage, string(b))
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
	if s.Provider == "" || s.Origin == s.loaded {
		return ""
	}
	return fmt.Sprintf("This page was loaded before you chose %s, and its policy lets it reach nothing new. Load it again: the conversations and what you wrote are kept.", s.Origin)
}
