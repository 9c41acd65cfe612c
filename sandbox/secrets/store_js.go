package secrets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bailey-go/bailey/internal/idb"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
)

// The database has two object stores: the key, and by name the hosts, the initialisation vector and the
// encrypted value of each secret.
const (
	idbKeys    = "keys"
	idbSecrets = "secrets"
	keyName    = "key"
)

// indexed keeps secrets in IndexedDB.
type indexed struct{ db idb.Database }

func openKeeper(ctx context.Context, name string) (keeper, error) {
	for _, need := range []string{"indexedDB.open", "crypto.subtle.generateKey"} {
		if !jsx.Supported(need) {
			return nil, protocol.Errorf(protocol.ErrSession, "secrets", name, "this page has no %s, so it can keep no secrets; serve it over https or from localhost: %w", need, errors.ErrUnsupported)
		}
	}
	k := indexed{idb.Database{Name: name, Stores: []idb.Store{{Name: idbKeys}, {Name: idbSecrets}}, Strict: true}}
	_, err := k.list(ctx)
	return k, err
}

// do makes a transaction. Its errors contain no value.
func (k indexed) do(ctx context.Context, mode string, do func(t *idb.Transaction) error) error {
	err := k.db.Do(ctx, mode, func(t *idb.Transaction) error {
		if err := do(t); err != nil {
			t.Abort()
			return err
		}
		if mode == idb.Write {
			return t.Finish(ctx)
		}
		return nil
	})
	if errors.Is(err, idb.ErrNotDone) || errors.Is(err, idb.ErrBlocked) {
		return protocol.Errorf(protocol.ErrSession, "secrets", "", "the browser's database failed, or another tab holds it open: %w", err)
	}
	return err
}

func subtle() (jsx.Value, error) { return jsx.Lookup(jsx.Global(), "crypto.subtle") }

// key returns the database's key, and makes it if there is none. The first of two tabs wins.
func (k indexed) key(ctx context.Context) (key jsx.Value, err error) {
	get := func(t *idb.Transaction) error {
		key, err = t.Ask(ctx, idbKeys, "get", keyName)
		return err
	}
	if err := k.do(ctx, idb.Read, get); err != nil || !key.IsUndefined() {
		return key, err
	}
	crypto, err := subtle()
	if err != nil {
		return key, err
	}
	made, err := jsx.CallAwait(ctx, crypto, "generateKey", map[string]any{"name": "AES-GCM", "length": 256}, false, []any{"encrypt", "decrypt"})
	if err != nil {
		return key, fmt.Errorf("secrets: making a key: %w", err)
	}
	err = k.do(ctx, idb.Write, func(t *idb.Transaction) error {
		if err := get(t); err != nil || !key.IsUndefined() {
			return err
		}
		key = made
		_, err := t.Start(idbKeys, "put", made, keyName)
		return err
	})
	return key, err
}

// params returns the parameters of the cipher. The name and the hosts are a part of what is
// authenticated, so the hosts of an entry can't be changed without the key.
func params(iv jsx.Value, name string, hosts []string) (map[string]any, error) {
	bound, err := json.Marshal(append([]string{name}, hosts...))
	if err != nil {
		return nil, err
	}
	return map[string]any{"name": "AES-GCM", "iv": iv, "additionalData": bound}, nil
}

func (k indexed) put(ctx context.Context, name string, hosts []string, value string) error {
	key, err := k.key(ctx)
	if err != nil {
		return err
	}
	crypto, err := jsx.Lookup(jsx.Global(), "crypto")
	if err != nil {
		return err
	}
	iv, err := jsx.FromBytes(make([]byte, 12))
	if err != nil {
		return err
	}
	if iv, err = jsx.Call(crypto, "getRandomValues", iv); err != nil {
		return err
	}
	p, err := params(iv, name, hosts)
	if err != nil {
		return err
	}
	s, err := subtle()
	if err != nil {
		return err
	}
	data, err := jsx.CallAwait(ctx, s, "encrypt", p, key, []byte(value))
	if err != nil {
		return fmt.Errorf("secrets: encrypting: %w", err)
	}
	return k.do(ctx, idb.Write, func(t *idb.Transaction) error {
		_, err := t.Start(idbSecrets, "put", map[string]any{"hosts": hosts, "iv": iv, "data": data}, name)
		return err
	})
}

func (k indexed) list(ctx context.Context) (map[string][]string, error) {
	all := map[string][]string{}
	err := k.do(ctx, idb.Read, func(t *idb.Transaction) error {
		names, err := t.Ask(ctx, idbSecrets, "getAllKeys")
		if err != nil {
			return err
		}
		rows, err := t.Ask(ctx, idbSecrets, "getAll") // in the order of the keys
		if err != nil {
			return err
		}
		list, err := texts(names)
		if err != nil {
			return err
		}
		for i, name := range list {
			row, err := jsx.Index(rows, i)
			if err != nil {
				return err
			}
			if all[name], err = hostsOf(row); err != nil {
				return err
			}
		}
		return nil
	})
	return all, err
}

func hostsOf(row jsx.Value) ([]string, error) {
	list, err := jsx.Get(row, "hosts")
	if err != nil {
		return nil, err
	}
	return texts(list)
}

func texts(list jsx.Value) ([]string, error) {
	n, err := jsx.Length(list)
	if err != nil {
		return nil, err
	}
	out := make([]string, n)
	for i := range out {
		v, err := jsx.Index(list, i)
		if err != nil {
			return nil, err
		}
		if out[i], err = jsx.String(v, maxValue); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (k indexed) value(ctx context.Context, name string, hosts []string) (string, error) {
	key, err := k.key(ctx)
	if err != nil {
		return "", err
	}
	var row jsx.Value
	err = k.do(ctx, idb.Read, func(t *idb.Transaction) (err error) {
		row, err = t.Ask(ctx, idbSecrets, "get", name)
		return err
	})
	if err != nil {
		return "", err
	}
	if row.IsUndefined() {
		return "", noSuch(name)
	}
	iv, err := jsx.Get(row, "iv")
	if err != nil {
		return "", err
	}
	data, err := jsx.Get(row, "data")
	if err != nil {
		return "", err
	}
	p, err := params(iv, name, hosts)
	if err != nil {
		return "", err
	}
	s, err := subtle()
	if err != nil {
		return "", err
	}
	plain, err := jsx.CallAwait(ctx, s, "decrypt", p, key, data)
	if err != nil {
		return "", protocol.Errorf(protocol.ErrSession, "secret", name, "the stored secret can't be read with its hosts; let the user store it again")
	}
	value, err := jsx.Bytes(plain, maxValue)
	return string(value), err
}

func (k indexed) remove(ctx context.Context, name string) error {
	return k.do(ctx, idb.Write, func(t *idb.Transaction) error {
		_, err := t.Start(idbSecrets, "delete", name)
		return err
	})
}
