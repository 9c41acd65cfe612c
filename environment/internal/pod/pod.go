// Package pod has both ends of the way between a front end and a job in a pod. In the pod, [Serve] starts a bailey-box and
// gives its folder and its socket to the front end alone. In the front end, [Connect] returns the pod as a place for a job.
//
// Both are one TLS connection at the pod's address. The front end has a [Key], and the pod knows the key's sum, which is
// no secret. The pod makes a certificate at its start. The front end meets it at the address that the cluster names, and
// expects the same one afterwards: an address may have become another pod's. The protocol of TLS (ALPN) is one of two:
//
//	http/1.1      POST /launch, /restore, /save, /halt and GET /ended
//	bailey-box/1  the bytes of a connection to bailey-box
//
// The first POST /launch gets the credential of this launch, which all other requests need. There is none in a manifest, a
// variable or a log.
//
// The pod trusts the front end. The front end trusts no pod: what one sends is checked, and is its tenant's alone.
package pod

import (
	"bufio"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"time"

	"github.com/bailey-go/bailey/environment/internal/jobs"
)

// The protocols of TLS.
const (
	protocolJob = "http/1.1"
	protocolBox = "bailey-box/1"
)

// Key is the key of the front ends of a cluster. Who has it can use every job that is not launched yet.
type Key struct{ private ed25519.PrivateKey }

// NewKey returns a new key.
func NewKey() *Key {
	_, k, _ := ed25519.GenerateKey(rand.Reader) // never fails
	return &Key{k}
}

// PEM returns the key as [ReadKey] reads it.
func (k *Key) PEM() []byte {
	der, _ := x509.MarshalPKCS8PrivateKey(k.private) // never fails for this kind of key
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// ReadKey reads the key of a file that other users of the machine can't read.
func ReadKey(name string) (*Key, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("pod: the key of the front ends: %w", err)
	}
	if info.Mode().Perm()&0o007 != 0 {
		return nil, fmt.Errorf("pod: others can read the key of the front ends in %s: chmod o= %s", name, name)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("pod: the key of the front ends: %w", err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("pod: %s has no key as PEM: bailey-front-kubernetes key makes one", name)
	}
	k, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	private, ok := k.(ed25519.PrivateKey)
	if err != nil || !ok {
		return nil, fmt.Errorf("pod: %s has no key of Ed25519: bailey-front-kubernetes key makes one", name)
	}
	return &Key{private}, nil
}

// Sum returns the SHA-256 of the public key in hex, which pods know.
func (k *Key) Sum() string {
	der, _ := x509.MarshalPKIXPublicKey(k.private.Public()) // never fails for this kind of key
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}

// certificate returns a certificate of the key that it signs itself. Nothing in it counts but the key.
func (k *Key) certificate() (tls.Certificate, error) {
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "bailey"}, NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().Add(10 * 365 * 24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, k.private.Public(), k.private)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: k.private}, err
}

// errPeer is the error of a peer with another key.
var errPeer = errors.New("pod: the other end has another key than the expected one")

// is returns nil if the peer has proved the key with this sum.
func is(state tls.ConnectionState, sum string) error {
	if len(state.PeerCertificates) == 0 || subtle.ConstantTimeCompare([]byte(sumOf(state)), []byte(sum)) != 1 {
		return errPeer
	}
	return nil
}

func sumOf(state tls.ConnectionState) string {
	s := sha256.Sum256(state.PeerCertificates[0].RawSubjectPublicKeyInfo)
	return hex.EncodeToString(s[:])
}

// item is a node of a snapshot on its way. Its content follows the line, if it has one.
type item struct {
	Tree int       `json:"tree"` // 0 is the folder, 1 the sessions, and 2 the end of both
	Node jobs.Node `json:"node"`
	Size int64     `json:"size"` // of the content, or -1 if the receiver has it already
}

const (
	treeFolder = iota
	treeState
	treeEnd
)

// Limits of items.
const (
	maxLine = 32 << 10  // bytes. A path has at most 4 KiB, which JSON may write six times as long
	maxSize = 256 << 20 // bytes of a content
)

func (i item) write(w io.Writer, data []byte) error {
	line, err := json.Marshal(i)
	if err == nil {
		_, err = w.Write(append(line, '\n'))
	}
	if err == nil && i.Size > 0 {
		_, err = w.Write(data)
	}
	return err
}

// readItem reads an item and its content from a reader whose buffer has maxLine bytes.
func readItem(r *bufio.Reader) (i item, data []byte, err error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return i, nil, err
	}
	if err := json.Unmarshal(line, &i); err != nil {
		return i, nil, err
	}
	if i.Tree < treeFolder || i.Tree > treeEnd || i.Size < -1 || i.Size > maxSize {
		return i, nil, fmt.Errorf("pod: an item of tree %d has %d bytes", i.Tree, i.Size)
	}
	if i.Size <= 0 {
		return i, nil, nil
	}
	// A sender that promises much and sends little gets little memory.
	data, err = io.ReadAll(io.LimitReader(r, i.Size))
	if err == nil && int64(len(data)) < i.Size {
		err = io.ErrUnexpectedEOF
	}
	return i, data, err
}
