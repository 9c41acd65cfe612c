// Package keys keeps the keys of the page itself, such as the one of the model's provider: each for the one
// host that it is for, encrypted by the browser, and not in the settings. The assistant's tools know nothing of
// them. A user's secrets for tools are in another store, see package vault.
package keys

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/secrets"
)

// Keys are the stored keys. It is safe for concurrent use.
type Keys struct {
	open  func(context.Context) (*secrets.Store, error)
	mu    sync.Mutex
	store *secrets.Store  // nil before the first use
	known map[string]held // what this page read or wrote, by name
}

// held tells one key for one host from others, without the key.
type held struct {
	host string
	sum  [sha256.Size]byte
}

func of(host, value string) held { return held{host, sha256.Sum256([]byte(value))} }

// New returns the keys of a store, which must have no other secrets. It is opened when it is needed.
func New(open func(context.Context) (*secrets.Store, error)) *Keys {
	return &Keys{open: open, known: map[string]held{}}
}

// ready opens the store. mu is held.
func (k *Keys) ready(ctx context.Context) (err error) {
	if k.store == nil {
		k.store, err = k.open(ctx)
	}
	return err
}

// Limits of the store's values. A long value, such as the tokens of a sign-in, is stored in pieces.
const (
	pieceSize = 4000 // characters
	maxPieces = 10
)

// Host returns the "host:port" of an address, or "".
func Host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	host, port, err := protocol.SplitHost(u.Host)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http":
		return ""
	case port == 0 && u.Scheme == "http":
		port = 80
	case port == 0:
		port = 443
	}
	return host + ":" + strconv.Itoa(port)
}

func piece(name string, i int) string { return name + "-" + strconv.Itoa(i) }

// Put stores a key for a host, or with an empty value removes it. The name is a small letter, then small
// letters and digits, at most 61. Put returns an error if the key can't be read back.
func (k *Keys) Put(ctx context.Context, name, host, value string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if old, known := k.known[name]; known && old == of(host, value) {
		return nil
	}
	if err := k.ready(ctx); err != nil {
		return err
	}
	if value == "" {
		return k.remove(ctx, name)
	}
	// The first piece has the number of pieces, and a hash of all of them.
	sum := sha256.Sum256([]byte(value))
	text := "key." + hex.EncodeToString(sum[:8]) + "." + base64.RawURLEncoding.EncodeToString([]byte(value))
	n := (len(text) + pieceSize - 1) / pieceSize
	if n > maxPieces {
		return fmt.Errorf("a key of %d bytes is too long to be kept", len(value))
	}
	for i := range n {
		part := text[i*pieceSize : min(len(text), (i+1)*pieceSize)]
		if err := k.store.Set(ctx, piece(name, i), strconv.Itoa(n)+"pieces."+part, []string{host}); err != nil {
			return err
		}
	}
	for i := n; i < maxPieces; i++ { // of a longer key before
		if err := k.store.Remove(ctx, piece(name, i)); err != nil {
			return err
		}
	}
	got, err := k.read(ctx, name, host)
	if err != nil || got != value {
		return fmt.Errorf("the browser did not keep the key: %v", err)
	}
	k.known[name] = of(host, value)
	return nil
}

// remove deletes a key. mu is held.
func (k *Keys) remove(ctx context.Context, name string) error {
	for i := range maxPieces {
		if err := k.store.Remove(ctx, piece(name, i)); err != nil {
			return err
		}
	}
	delete(k.known, name)
	return nil
}

// Get returns a key for a host, and "" if there is none for it.
func (k *Keys) Get(ctx context.Context, name, host string) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.ready(ctx); err != nil {
		return "", err
	}
	all, err := k.store.List(ctx)
	if hosts := all[piece(name, 0)]; err != nil || len(hosts) != 1 || hosts[0] != host {
		return "", err
	}
	value, err := k.read(ctx, name, host)
	if err == nil {
		k.known[name] = of(host, value)
	}
	return value, err
}

func (k *Keys) read(ctx context.Context, name, host string) (string, error) {
	text, n := "", 1
	for i := 0; i < n; i++ {
		part, err := k.store.Fill(ctx, k.store.Placeholder(piece(name, i)), host)
		if err != nil {
			return "", err
		}
		count, rest, ok := strings.Cut(part, "pieces.")
		if n, err = strconv.Atoi(count); err != nil || !ok || n < 1 || n > maxPieces {
			return "", fmt.Errorf("the stored key can't be read")
		}
		text += rest
	}
	sum, rest, _ := strings.Cut(strings.TrimPrefix(text, "key."), ".")
	value, err := base64.RawURLEncoding.DecodeString(rest)
	want := sha256.Sum256(value)
	if err != nil || sum != hex.EncodeToString(want[:8]) {
		return "", fmt.Errorf("the stored key is not whole")
	}
	return string(value), nil
}

// Only removes the keys that this page knows, except those of the given names. Another tab may have others.
func (k *Keys) Only(ctx context.Context, names map[string]bool) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for name := range k.known {
		if names[name] {
			continue
		}
		if err := k.remove(ctx, name); err != nil {
			return err
		}
	}
	return nil
}
