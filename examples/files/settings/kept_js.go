package settings

import (
	"encoding/json"
	"fmt"
	"sync"
	"syscall/js"

	"github.com/bailey-go/bailey/sandbox/policy"
)

// Kept is the settings in the browser's localStorage. boot.js reads theme.
type Kept struct {
	Theme    string `json:"theme,omitempty"`
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
	URL      string `json:"url,omitempty"`
	Key      string `json:"key,omitempty"`
	Origin   string `json:"origin,omitempty"`  // of the provider's address
	Effort   string `json:"effort,omitempty"`  // how much the model thinks, see provider.Options
	Context  int    `json:"context,omitempty"` // tokens of the model's window, 0 for the provider's own

	Notify bool            `json:"notify,omitempty"`
	Voice  bool            `json:"voice,omitempty"`  // the user has agreed to speech input
	Copies map[string]bool `json:"copies,omitempty"` // folders that are worked on in a copy, by name
	Skills []string        `json:"skills,omitempty"` // accepted skills, by their hash

	Rules map[string]policy.Rules `json:"rules,omitempty"` // lasting answers, by folder name
}

const storage = "bailey-files"

// Settings are the settings of the page.
type Settings struct {
	Kept
	lock   sync.Locker // held during one action of the user's
	loaded string      // the provider's origin in this page's policy, fixed until a reload

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
