package browser

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/poll"
)

// An old browser counts as missing. It is replaced where apt-get can, after an update of its lists.
func TestFindReplacesAnOldBrowser(t *testing.T) {
	dir := t.TempDir()
	script := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	chromium := candidates[Chromium]
	candidates[Chromium] = []string{"chromium-of-the-test"}
	t.Cleanup(func() { candidates[Chromium] = chromium })
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("BROWSERTEST_CHROMIUM", "")
	t.Setenv("BROWSERTEST_INSTALL", "0")
	script("chromium-of-the-test", "echo Chromium 155.0.8000.1 built on Debian")
	for oldest, want := range map[string]bool{"": true, "154": true, "155": true, "156": false} {
		t.Setenv("BROWSERTEST_CHROMIUM_OLDEST", oldest)
		p, err := Find(context.Background(), Chromium)
		if (err == nil) != want || want && p != filepath.Join(dir, "chromium-of-the-test") {
			t.Errorf("oldest %q: %q %v", oldest, p, err)
		}
		if err != nil && !strings.Contains(err.Error(), "chromium 155 is too old, since the tests need 156 or newer") {
			t.Error(err)
		}
	}
	if os.Geteuid() != 0 {
		return // the rest needs root, for whom alone Find installs
	}
	t.Setenv("BROWSERTEST_CHROMIUM_OLDEST", "156")
	t.Setenv("BROWSERTEST_INSTALL", "1")
	script("apt-get", `echo "$1" >> `+dir+`/calls; [ "$1" != install ] || printf '#!/bin/sh\necho Chromium 156.0\n' > `+dir+`/chromium-of-the-test`)
	if _, err := Find(context.Background(), Chromium); err != nil {
		t.Error(err)
	}
	if calls, _ := os.ReadFile(filepath.Join(dir, "calls")); string(calls) != "update\ninstall\n" {
		t.Errorf("apt-get was called with %q", calls)
	}
}

// Packages are tested in parallel, and on a new machine all of them need a browser. The first one
// installs it, and the others find it when they get the lock.
func TestFindInstallsOnce(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, for whom alone Find installs")
	}
	dir := t.TempDir()
	script := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	lines := func(name string) int {
		data, _ := os.ReadFile(filepath.Join(dir, name))
		return strings.Count(string(data), "\n")
	}
	chromium := candidates[Chromium]
	candidates[Chromium] = []string{"chromium-of-the-test"}
	t.Cleanup(func() { candidates[Chromium] = chromium })
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("TMPDIR", dir) // of the lock
	t.Setenv("BROWSERTEST_CHROMIUM", "")
	t.Setenv("BROWSERTEST_CHROMIUM_OLDEST", "156")
	t.Setenv("BROWSERTEST_INSTALL", "1")
	script("chromium-of-the-test", "echo >> "+dir+"/looked; echo Chromium 155.0")
	script("apt-get", `echo "$1" >> `+dir+`/calls; [ "$1" != install ] || printf '#!/bin/sh\necho Chromium 156.0\n' > `+dir+`/chromium-of-the-test`)
	unlock, err := lockFile(filepath.Join(dir, "browsertest-install.lock"))
	if err != nil {
		t.Fatal(err)
	}
	const n = 3
	errs := make(chan error, n)
	for range n {
		go func() {
			_, err := Find(context.Background(), Chromium)
			errs <- err
		}()
	}
	poll.Until(t, "each of them has seen that the browser is too old", func() bool { return lines("looked") == n })
	unlock()
	for range n {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if lines("calls") != 2 {
		t.Errorf("apt-get was called %d times, not for one update and one install", lines("calls"))
	}
}
