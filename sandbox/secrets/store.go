package secrets

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/bailey-go/bailey/protocol"
)

// Limits of a [Store].
const (
	maxSecrets = 100  // of one store
	maxHosts   = 16   // of one secret
	minValue   = 8    // bytes of a value: a shorter one can be guessed, and is found in texts by chance
	maxValue   = 4096 // bytes of a value
	maxName    = 63   // bytes of a name
)

// Store keeps secrets of the user, such as the key of an API, each with the hosts that it is for. A
// model and its code see only the name, the hosts and the placeholder of a secret, see
// [Store.Placeholder]. The broker of package web replaces the placeholder in a request to one of the
// hosts by the value ([Store.Fill]), and hides the value in the answer ([Store.Hide]). No method
// returns a value by itself, and printing a Store prints none.
//
// The zero Store keeps its secrets in memory. [OpenStore] keeps them in the browser. A Store is safe
// for concurrent use.
type Store struct {
	mu     sync.Mutex
	keep   keeper           // nil for a store in memory
	memory map[string]entry // by name
}

// entry is a secret. Its value is behind a function, so that no package prints it by reflection.
type entry struct {
	hosts []string
	value func() string
}

// keeper stores secrets outside of this program.
type keeper interface {
	put(ctx context.Context, name string, hosts []string, value string) error
	list(ctx context.Context) (map[string][]string, error)
	value(ctx context.Context, name string, hosts []string) (string, error)
	remove(ctx context.Context, name string) error
}

func bad(name, format string, args ...any) error {
	return protocol.Errorf(protocol.ErrInvalidParams, "secret", shown(name), format, args...)
}

// shown returns a name for an error. A long text is cut, because it may be a value in the wrong field.
func shown(name string) string {
	if len(name) > 20 {
		return "of the given name"
	}
	return name
}

func validName(name string) bool {
	if name == "" || len(name) > maxName || name[0] < 'a' || name[0] > 'z' {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

// Set stores a secret, or replaces the one of the same name with its hosts. A name is a lower-case
// letter, then up to 62 of a-z, 0-9, _ and -. A value has 8 to 4096 printable ASCII characters, as it
// becomes a part of a header. Hosts are 1 to 16 patterns as in a policy, such as "*.example.com".
// Otherwise the error is [protocol.ErrInvalidParams]. It never contains the value. A store has up to
// 100 secrets, and one more is [protocol.ErrResourceLimit].
func (s *Store) Set(ctx context.Context, name, value string, hosts []string) error {
	switch {
	case !validName(name):
		return bad(name, "a name is a small letter, then up to 62 of a-z, 0-9, _ and -")
	case len(value) < minValue || len(value) > maxValue:
		return bad(name, "a value has %d to %d characters, and this one has %d", minValue, maxValue, len(value))
	case strings.TrimSpace(value) != value:
		return bad(name, "the value begins or ends with a space; remove it")
	case strings.IndexFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) >= 0:
		return bad(name, "a value is one line of printable ASCII characters")
	case strings.Contains(value, placeholderEnd):
		return bad(name, "the value holds a placeholder; give the secret itself")
	case len(hosts) == 0 || len(hosts) > maxHosts:
		return bad(name, "name 1 to %d hosts that the secret is for, and not %d", maxHosts, len(hosts))
	}
	for _, h := range hosts {
		if _, err := protocol.ParseHost(h); err != nil {
			return err
		}
	}
	hosts = slices.Clone(hosts)
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := s.list(ctx)
	if err != nil {
		return err
	}
	if _, there := all[name]; !there && len(all) >= maxSecrets {
		return protocol.Errorf(protocol.ErrResourceLimit, "secret", name, "there are %d secrets already; remove one first", len(all))
	}
	if s.keep != nil {
		return s.keep.put(ctx, name, hosts, value)
	}
	if s.memory == nil {
		s.memory = map[string]entry{}
	}
	s.memory[name] = entry{hosts, func() string { return value }}
	return nil
}

// List returns the hosts of all secrets by their names.
func (s *Store) List(ctx context.Context) (map[string][]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list(ctx)
}

func (s *Store) list(ctx context.Context) (map[string][]string, error) {
	if s.keep != nil {
		return s.keep.list(ctx)
	}
	all := map[string][]string{}
	for name, e := range s.memory {
		all[name] = slices.Clone(e.hosts)
	}
	return all, nil
}

// Remove deletes a secret. It is no error if there is none of that name.
func (s *Store) Remove(ctx context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keep != nil {
		return s.keep.remove(ctx, name)
	}
	delete(s.memory, name)
	return nil
}

// get returns the value of a secret with these hosts.
func (s *Store) get(ctx context.Context, name string, hosts []string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keep != nil {
		return s.keep.value(ctx, name, hosts)
	}
	e, ok := s.memory[name]
	if !ok || !slices.Equal(e.hosts, hosts) { // it was replaced in between
		return "", noSuch(name)
	}
	return e.value(), nil
}

func noSuch(name string) error {
	return protocol.Errorf(protocol.ErrInvalidParams, "secret", name, "there is no such secret; the user stores secrets in the settings of the app")
}

// The form of a placeholder: secret.github.placeholder.
const (
	placeholderStart = "secret."
	placeholderEnd   = ".placeholder"
)

// Placeholder returns the text that stands for a secret in a request, such as
// "secret.github.placeholder". It consists of letters, digits, dots, - and _ alone. So it is the same
// text in a header, an address, JSON, YAML, a shell's word and a variable of an environment.
func (*Store) Placeholder(name string) string { return placeholderStart + name + placeholderEnd }

// Names returns the names of the placeholders in a text, each once, in order. The secrets need not
// exist.
func (*Store) Names(text string) []string {
	var out []string
	for rest := text; ; {
		_, name, after, ok := cut(rest)
		if !ok {
			return out
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
		rest = after
	}
}

// cut splits a text around its first placeholder.
func cut(text string) (before, name, after string, ok bool) {
	for at := 0; ; {
		i := strings.Index(text[at:], placeholderEnd)
		if i < 0 {
			return text, "", "", false
		}
		end := at + i
		if start := strings.LastIndex(text[max(0, end-maxName-len(placeholderStart)):end], placeholderStart); start >= 0 {
			start += max(0, end-maxName-len(placeholderStart))
			if name := text[start+len(placeholderStart) : end]; validName(name) {
				return text[:start], name, text[end+len(placeholderEnd):], true
			}
		}
		at = end + len(placeholderEnd)
	}
}

// granted returns the names of the secrets for a "host:port", in order, with their hosts.
func granted(all map[string][]string, hostport string) ([]string, error) {
	host, port, err := protocol.SplitHost(hostport)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if slices.ContainsFunc(all[name], func(text string) bool {
			p, err := protocol.ParseHost(text)
			return err == nil && p.Match(host, port)
		}) {
			out = append(out, name)
		}
	}
	return out, nil
}

// Check returns nil if all secrets of the placeholders in a text exist and are for a "host:port". For
// another host it returns [protocol.ErrSecurityViolation], and for an unknown name
// [protocol.ErrInvalidParams].
func (s *Store) Check(ctx context.Context, text, hostport string) error {
	_, err := s.check(ctx, text, hostport)
	return err
}

func (s *Store) check(ctx context.Context, text, hostport string) (map[string][]string, error) {
	all, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range s.Names(text) {
		if all[name] == nil {
			return nil, noSuch(name)
		}
		names, err := granted(all, hostport)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(names, name) {
			return nil, protocol.Errorf(protocol.ErrSecurityViolation, "secret", name, "this secret is not for %s; its hosts are %s, and only the user can name another one in the settings of the app", hostport, strings.Join(all[name], ", "))
		}
	}
	return all, nil
}

// Fill returns a text with the values of its placeholders, for a request to a "host:port". The caller
// must send the text to that host alone, without following redirects, and keep it nowhere. The errors
// are those of [Store.Check].
func (s *Store) Fill(ctx context.Context, text, hostport string) (string, error) {
	all, err := s.check(ctx, text, hostport)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for rest := text; ; {
		before, name, after, ok := cut(rest)
		b.WriteString(before)
		if !ok {
			return b.String(), nil
		}
		value, err := s.get(ctx, name, all[name])
		if err != nil {
			return "", err
		}
		b.WriteString(value)
		rest = after
	}
}

// Hide returns a text from a "host:port" with the values of the secrets for that host replaced by their
// placeholders. It finds a value in any mix of plain, upper and lower case, percent-encoded (up to four
// times), HTML and JSON escapes, with line breaks, tabs, spaces and invisible characters in between, and
// also in hexadecimal, in base64, and reversed. Of a longer value it finds the first 64 characters, with those that follow. It does not find a value that was cut into pieces,
// compressed, hashed, encrypted or written in another way. If ctx ends first, Hide returns its cause and
// no text.
//
// Secrets for other hosts are not searched for. Otherwise a page could try guesses by the thousand, and
// see which of them is hidden.
func (s *Store) Hide(ctx context.Context, text, hostport string) (string, error) {
	all, err := s.List(ctx)
	if err != nil {
		return "", err
	}
	names, err := granted(all, hostport)
	if err != nil || len(names) == 0 || text == "" {
		return text, err
	}
	var find []needle
	for _, name := range names {
		value, err := s.get(ctx, name, all[name])
		if err != nil {
			return "", err
		}
		find = append(find, needles(value, s.Placeholder(name))...)
	}
	slices.SortStableFunc(find, func(a, b needle) int { return cmp.Compare(len(b.text), len(a.text)) })
	return hide(&search{ctx: ctx}, text, find)
}

// OpenStore returns a store that keeps its secrets in the page's IndexedDB, in the database of the given
// name, for this origin and this browser. The values are encrypted with a key of the browser's WebCrypto
// that no script can export, so that they are not readable in developer tools, in a copy of the database
// by a script, or in the browser's files at a glance. This is no protection from a script of the same
// origin, which can have them decrypted, nor from a program that reads the browser's files, where the key
// is as well. Without a browser, and in a page without IndexedDB or WebCrypto (which needs https or
// localhost), the error wraps [errors.ErrUnsupported].
func OpenStore(ctx context.Context, name string) (*Store, error) {
	if name == "" {
		return nil, protocol.Errorf(protocol.ErrInvalidParams, "secrets", "", "the database needs a name")
	}
	keep, err := openKeeper(ctx, name)
	if err != nil {
		return nil, err
	}
	return &Store{keep: keep}, nil
}
