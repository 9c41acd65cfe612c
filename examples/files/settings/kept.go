package settings

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/bailey-go/bailey/examples/files/keys"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// inBrowser is the id of the browser's own model.
const inBrowser = "browser"

// Model is a connected model of a provider.
type Model struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
	URL      string `json:"url"`
	Key      string `json:"key,omitempty"`
	Origin   string `json:"origin"`
	Effort   string `json:"effort,omitempty"`
	Context  int    `json:"context,omitempty"`
}

// mostModels is the number of connected models that are kept.
const mostModels = 12

// use makes a model the chosen one. The zero value is the demo mode.
func (k *Kept) use(m Model) {
	k.Provider, k.Model, k.URL, k.Key, k.Origin, k.Effort, k.Context = m.Provider, m.Model, m.URL, m.Key, m.Origin, m.Effort, m.Context
}

// chosen returns the chosen model.
func (k *Kept) chosen() Model {
	return Model{k.Provider, k.Model, k.URL, k.Key, k.Origin, k.Effort, k.Context}
}

// remember puts the chosen model first among the connected ones, in place of one with the same provider,
// address and name. A new key is the key of all models of that address.
func (k *Kept) remember() {
	now := k.chosen()
	if now.Provider == "" {
		return
	}
	list := []Model{now}
	for _, m := range k.Models {
		if m.Provider == now.Provider && m.URL == now.URL {
			m.Key = now.Key
			if m.Model == now.Model {
				continue
			}
		}
		list = append(list, m)
	}
	k.Models = list[:min(len(list), mostModels)]
}

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

	Models []Model `json:"models,omitempty"` // connected earlier, for the choice of one

	Notify bool            `json:"notify,omitempty"`
	Voice  bool            `json:"voice,omitempty"`  // the user has agreed to speech input
	Copies map[string]bool `json:"copies,omitempty"` // folders that are worked on in a copy, by name
	Skills []string        `json:"skills,omitempty"` // accepted skills, by their hash

	Rules map[string]policy.Rules `json:"rules,omitempty"` // lasting answers, by folder name

	Web     Web      `json:"web,omitzero"`
	Servers []Server `json:"servers,omitempty"`
	Origins []string `json:"origins,omitempty"` // of Web, Servers, Box and Cloud, for Narrow
	Box     Box      `json:"box,omitzero"`
	Cloud   Box      `json:"cloud,omitzero"` // a bailey-front

	Prices map[string]Prices `json:"prices,omitempty"` // of the models, by their origin and name

	put func(Kept) Kept // stores the keys, and returns the settings without them
}

// Box is the bailey-box on this computer that the user connected, or a bailey-front. Its zero value is none.
type Box struct {
	URL string `json:"url,omitempty"`
	Key string `json:"key,omitempty"` // the credential of its launch, or of the user
}

// key is one of the keys in the settings.
type key struct {
	name, host string // in package keys
	value      *string
}

// keysOf returns the keys in the settings, which may be empty. The store has them, and localStorage has them only
// if this browser has no such store.
func (k *Kept) keysOf() (list []key) {
	add := func(name, address string, value *string) {
		if host := keys.Host(address); host != "" {
			list = append(list, key{name, host, value})
		}
	}
	if k.Provider != "" && k.Provider != inBrowser {
		add("provider", k.URL, &k.Key)
	}
	for i := range k.Models { // all of one address have the same key
		m := &k.Models[i]
		sum := sha256.Sum256([]byte(m.Provider + " " + m.URL))
		add("m"+hex.EncodeToString(sum[:16]), m.URL, &m.Key)
	}
	if k.Web.Engine != "" {
		add("search", "https://"+Engines[k.Web.Engine], &k.Web.Key)
	}
	add("box", k.Box.URL, &k.Box.Key)
	add("cloud", k.Cloud.URL, &k.Cloud.Key)
	for i := range k.Servers {
		s := &k.Servers[i]
		name := hex.EncodeToString([]byte(s.Name))
		add("k"+name, s.URL, &s.Key)
		add("t"+name, s.URL, &s.Tokens)
	}
	return list
}

// unlock reads the keys. It reports whether some are still in the settings.
func (k *Kept) unlock(ctx context.Context, from *keys.Keys) (old bool) {
	k.Servers, k.Models = slices.Clone(k.Servers), slices.Clone(k.Models)
	for _, e := range k.keysOf() {
		if *e.value != "" {
			old = true
			continue
		}
		*e.value, _ = from.Get(ctx, e.name, e.host) // without it, the user is asked for the key again
	}
	return old
}

// lock stores the keys, and returns the settings without those that are stored.
func (k Kept) lock(ctx context.Context, to *keys.Keys) Kept {
	k.Servers, k.Models = slices.Clone(k.Servers), slices.Clone(k.Models)
	there := map[string]bool{}
	for _, e := range k.keysOf() {
		if *e.value == "" {
			continue
		}
		there[e.name] = true
		if to.Put(ctx, e.name, e.host, *e.value) == nil {
			*e.value = ""
		}
	}
	_ = to.Only(ctx, there) // a key that stays is for the same host as before
	return k
}

// Prices are the user's prices of a model in dollars: of a million tokens read, of a million of them that the
// provider had cached, and of a million written. Most is the most that one task may cost, 0 for no limit.
type Prices struct {
	Input  float64 `json:"input,omitempty"`
	Cached float64 `json:"cached,omitempty"`
	Output float64 `json:"output,omitempty"`
	Most   float64 `json:"most,omitempty"`
}

// MaxPrice is the highest price of a million tokens, in dollars.
const MaxPrice = 100_000

// Price returns the prices of the chosen model. It reports whether the model can have prices: one on this machine
// costs nothing.
func (k Kept) Price() (p Prices, paid bool) {
	if k.Provider == "" || k.Provider == inBrowser || k.Provider == "local" {
		return p, false
	}
	return k.Prices[k.Origin+" "+k.Model], true
}

// Run returns the options of a run: the chosen model's prices and their limit, and how often the output of a
// running call is shown.
func (k Kept) Run() sandbox.RunOptions {
	p, _ := k.Price()
	return sandbox.RunOptions{Progress: time.Second, InputPrice: p.Input, CachedPrice: p.Cached, OutputPrice: p.Output, Money: p.Most}
}
