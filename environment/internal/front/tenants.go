package front

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

// Tenants are the credentials of the tenants, as their SHA-256.
type Tenants struct {
	list []credential
	// names are the tenants in the order of the file, each once.
	names []string
}

type credential struct {
	tenant string
	sum    [sha256.Size]byte
}

// maxTenants is the most credentials of a file.
const maxTenants = 10_000

var tenantForm = regexp.MustCompile(`^[a-z0-9]{1,24}$`)

// NewCredential returns a new credential of a tenant and its line for the file, which does not have the credential.
func NewCredential(tenant string) (secret, line string, err error) {
	if !tenantForm.MatchString(tenant) {
		return "", "", fmt.Errorf("front: %q is no name of a tenant: it has 1 to 24 lower-case letters and digits", tenant)
	}
	secret = "bailey-" + rand.Text() + rand.Text()
	sum := sha256.Sum256([]byte(secret))
	return secret, tenant + " sha256:" + hex.EncodeToString(sum[:]), nil
}

// ReadTenants reads a file of credentials that nobody else can change. A line is a tenant and the SHA-256 of a
// credential, as [NewCredential] returns it. A tenant may have several lines, and # begins a comment.
func ReadTenants(name string) (*Tenants, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("front: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("front: %w", err)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return nil, fmt.Errorf("front: others can change %s, and with it whose sessions a credential opens: chmod go-w %s", name, name)
	}
	return ParseTenants(f)
}

// ParseTenants reads what ReadTenants describes.
func ParseTenants(r io.Reader) (*Tenants, error) {
	t := &Tenants{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		// The line may have a credential by mistake, so the error does not show it.
		if len(fields) != 2 || !tenantForm.MatchString(fields[0]) {
			return nil, fmt.Errorf("front: line %d of the credentials: want a tenant of 1 to 24 lower-case letters and digits, and sha256:HEX", n)
		}
		text, ok := strings.CutPrefix(fields[1], "sha256:")
		sum, err := hex.DecodeString(text)
		if !ok || err != nil || len(sum) != sha256.Size {
			return nil, fmt.Errorf("front: line %d of the credentials: want sha256:HEX, the SHA-256 of a credential: bailey-front credential %s makes one", n, fields[0])
		}
		c := credential{tenant: fields[0], sum: [sha256.Size]byte(sum)}
		if slices.ContainsFunc(t.list, func(x credential) bool { return x.sum == c.sum && x.tenant != c.tenant }) {
			return nil, fmt.Errorf("front: line %d of the credentials: another tenant has the same credential", n)
		}
		if len(t.list) >= maxTenants {
			return nil, fmt.Errorf("front: there are more than %d credentials", maxTenants)
		}
		if t.list = append(t.list, c); !slices.Contains(t.names, c.tenant) {
			t.names = append(t.names, c.tenant)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("front: the credentials: %w", err)
	}
	if len(t.list) == 0 {
		return nil, fmt.Errorf("front: there are no credentials: bailey-front credential NAME makes one")
	}
	return t, nil
}

// of returns the tenant of a request by its headers Authorization. It compares the sum with each one, so its time says
// nothing about them. open takes a tenant's name for its credential, for a test.
func (t *Tenants) of(headers []string, open bool) (string, bool) {
	if len(headers) != 1 || len(headers[0]) > 1024 {
		return "", false
	}
	scheme, given, _ := strings.Cut(headers[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	sum := sha256.Sum256([]byte(given))
	found := -1
	for i := range t.list {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(sum[:], t.list[i].sum[:]), i, found)
	}
	if found >= 0 {
		return t.list[found].tenant, true
	}
	if open {
		return t.list[0].tenant, true
	}
	return "", false
}
