// Package compiled keeps compiled WebAssembly modules in a folder, so that the next start of a program
// does not compile them again. The folder holds machine code, which wazero maps and runs with a check
// for accidents (CRC-32) and none for an attacker. Whoever can write to it runs code as the user, outside
// of every sandbox. So it is used only if nobody but the user can write to it or replace it: it belongs
// to the user with mode 0700, has no links, and each folder above it belongs to the user or to root and
// is writable by nobody else. In a sandbox of its own a program opens it with [Frozen].
//
// The names of the files have the hash of the module and the features of the processor. The folder's
// name has the version of wazero, or the hash of the running program if that has no versions. The package
// trusts root and all programs of the user outside of a sandbox.
package compiled

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
)

// ErrUnsafe is the error of a folder that somebody else can write to.
var ErrUnsafe = errors.New("the folder of compiled programs is not used, and programs are compiled at each start")

// most is the most bytes that the folder keeps. A larger one is emptied, as versions of wazero leave theirs.
const most = 1 << 30

// Dir returns the folder of the user, os.UserCacheDir()/bailey/wasm. It need not exist.
func Dir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnsafe, err)
	}
	return filepath.Join(dir, "bailey", "wasm"), nil
}

// Open makes the folder if it does not exist, checks it, and returns a cache over it. The error wraps
// [ErrUnsafe] and names the reason and the next step. The caller then compiles without a cache.
func Open(dir string) (wazero.CompilationCache, error) { return open(dir, true) }

// Frozen is Open for a process that can't write to the folder. It makes nothing.
func Frozen(dir string) (wazero.CompilationCache, error) { return open(dir, false) }

func open(dir string, create bool) (wazero.CompilationCache, error) {
	dir, err := prepared(dir, create)
	if err != nil {
		return nil, err
	}
	if create {
		prune(dir, most)
	}
	key, err := version()
	if err != nil {
		return nil, err
	}
	c, err := wazero.NewCompilationCacheWithDir(filepath.Join(dir, key))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnsafe, err)
	}
	// wazero made two folders more, in a folder that nobody else can write to.
	return c, nil
}

// Real returns the path without links of the folder, which exists after Open.
func Real(dir string) (string, error) { return filepath.EvalSymlinks(dir) }

func refuse(path, format string, args ...any) error {
	return fmt.Errorf("%w: %s %s", ErrUnsafe, path, fmt.Sprintf(format, args...))
}

// prepared makes and checks the folder and returns its path without links. Links above the folder's last
// two names are followed, because the home of a user may be behind one. Whoever can change such a link can
// lead to another folder, and that one is checked.
func prepared(dir string, create bool) (string, error) {
	if err := supported(); err != nil {
		return "", err
	}
	if !filepath.IsAbs(dir) {
		return "", refuse(dir, "is not an absolute path")
	}
	parent, name := filepath.Split(filepath.Clean(dir))
	base, above := filepath.Base(filepath.Clean(parent)), filepath.Dir(filepath.Clean(parent))
	if create {
		if err := os.MkdirAll(above, 0o700); err != nil {
			return "", fmt.Errorf("%w: %w", ErrUnsafe, err)
		}
	}
	real, err := filepath.EvalSymlinks(above)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnsafe, err)
	}
	for p := real; ; p = filepath.Dir(p) {
		if err := ancestor(p); err != nil {
			return "", err
		}
		if p == filepath.Dir(p) {
			break
		}
	}
	for _, n := range []string{base, name} {
		real = filepath.Join(real, n)
		if create {
			if err := os.Mkdir(real, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
				return "", fmt.Errorf("%w: %w", ErrUnsafe, err)
			}
		}
		if err := own(real); err != nil {
			return "", err
		}
	}
	// A file that somebody put there before the folder was safe is still theirs.
	err = filepath.WalkDir(real, func(path string, _ fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // another process removed it
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrUnsafe, err)
		}
		return own(path)
	})
	return real, err
}

var version = sync.OnceValues(func() (string, error) {
	if info, ok := debug.ReadBuildInfo(); ok {
		i := slices.IndexFunc(info.Deps, func(m *debug.Module) bool { return m.Path == "github.com/tetratelabs/wazero" })
		if i >= 0 && info.Deps[i].Replace == nil && regexp.MustCompile(`^v[0-9][0-9A-Za-z.+-]*$`).MatchString(info.Deps[i].Version) {
			return info.Deps[i].Version, nil
		}
	}
	// Another program may have another compiler.
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnsafe, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnsafe, err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnsafe, err)
	}
	return "program-" + hex.EncodeToString(h.Sum(nil)[:16]), nil
})

// prune empties the folder if it has more than most bytes, and removes what a killed process left.
func prune(dir string, most int64) {
	var files []string
	var sum int64
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if i, err := d.Info(); err == nil {
			if filepath.Ext(path) == ".tmp" && time.Since(i.ModTime()) > time.Hour {
				_ = os.Remove(path)
				return nil
			}
			files = append(files, path)
			sum += i.Size()
		}
		return nil
	})
	if sum <= most {
		return
	}
	for _, f := range files {
		_ = os.Remove(f)
	}
}

// Mark stores that all modules of a set are in the folder. The set is a name of letters and digits.
func Mark(dir, set string) error {
	key, err := version()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, key, "all-"+set), nil, 0o600)
}

// Marked reports whether Mark was called for the set, and the folder not emptied since.
func Marked(dir, set string) bool {
	key, err := version()
	if err != nil {
		return false
	}
	_, err = os.Stat(filepath.Join(dir, key, "all-"+set))
	return err == nil
}
