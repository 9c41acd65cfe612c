package core

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"

	"github.com/bailey-go/bailey/internal/jsx"
)

// Version identifies the content of a file. Package fsaccess documents it.
type Version string

// Absent is the version of a file that does not exist.
const Absent Version = "absent"

// VersionOf returns the version of a content.
func VersionOf(data []byte) Version {
	return versionOfHash(HashOf(data))
}

// VersionIn is [VersionOf] that lets the page run in between. It ends with ctx.
func VersionIn(ctx context.Context, data []byte) (Version, error) {
	if len(data) <= 64<<10 {
		return VersionOf(data), nil
	}
	h := sha256.New()
	if err := jsx.WriteIn(ctx, new(jsx.Budget), h, data); err != nil {
		return "", err
	}
	return versionOfHash(hex.EncodeToString(h.Sum(nil))), nil
}

func versionOfHash(hash string) Version { return Version(hash[:32]) }

func HashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// HashFile returns the SHA-256 of a file, in hexadecimal, and its size. It reads in chunks.
func HashFile(ctx context.Context, c Core, name string) (hash string, size int64, err error) {
	f, err := c.Open(ctx, name, os.O_RDONLY, 0)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	size, err = Pump(ctx, h, f, nil)
	return hex.EncodeToString(h.Sum(nil)), size, err
}

func VersionAt(ctx context.Context, c Core, name string) (Version, error) {
	hash, _, err := HashFile(ctx, c, name)
	if NotExist(err) {
		return Absent, nil
	}
	if err != nil {
		return "", err
	}
	return versionOfHash(hash), nil
}
