package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// Engines returns the engines for tests that drive browsers themselves: Chromium, or those in the
// environment variable BROWSERTEST_ENGINES, such as "chromium,firefox,webkit" or "all".
func Engines() (list []Engine) {
	names := os.Getenv("BROWSERTEST_ENGINES")
	switch names {
	case "":
		return []Engine{Chromium}
	case "all":
		return []Engine{Chromium, Firefox, WebKit}
	}
	for name := range strings.SplitSeq(names, ",") {
		list = append(list, Engine(strings.TrimSpace(name)))
	}
	return list
}

// candidates are names on the PATH and absolute paths, the best first.
var candidates = map[Engine][]string{
	Chromium: {
		"chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome", "chrome-headless-shell",
		"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
		"/Applications/Chromium.app/Contents/MacOS/Chromium",
		`C:\Program Files\Google\Chrome\Application\chrome.exe`,
	},
	Firefox: {"firefox-esr", "firefox", "/Applications/Firefox.app/Contents/MacOS/firefox"},
	WebKit: {
		"/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser",
		"/usr/lib/aarch64-linux-gnu/webkit2gtk-4.1/MiniBrowser",
		"/usr/libexec/webkit2gtk-4.1/MiniBrowser",
		"/usr/lib/webkit2gtk-4.1/MiniBrowser",
	},
}

// debian are the Debian packages of each engine.
var debian = map[Engine][]string{
	Chromium: {"chromium"},
	Firefox:  {"firefox-esr"},
	WebKit:   {"libwebkit2gtk-4.1-0", "webkit2gtk-driver", "xvfb", "xauth"},
}

// variables are environment variables with the path of an executable. They take precedence over
// candidates.
var variables = map[Engine]string{
	Chromium: "BROWSERTEST_CHROMIUM",
	Firefox:  "BROWSERTEST_FIREFOX",
	WebKit:   "BROWSERTEST_WEBKIT",
}

// Find returns the executable of an engine. If there is none, or it is older than
// BROWSERTEST_CHROMIUM_OLDEST (a major version) says, it installs the engine as root on a Linux with
// apt-get, unless BROWSERTEST_INSTALL=0. Otherwise the error names the packages to install.
func Find(ctx context.Context, e Engine) (string, error) {
	names, ok := candidates[e]
	if !ok {
		return "", fmt.Errorf("browser: unknown engine %q: use chromium, firefox or webkit", e)
	}
	if p := os.Getenv(variables[e]); p != "" {
		if _, err := exec.LookPath(p); err != nil {
			return "", fmt.Errorf("browser: %s=%s: %w", variables[e], p, err)
		}
		return p, nil
	}
	lacks := "is not installed"
	look := func() string {
		for _, n := range names {
			p, err := exec.LookPath(n)
			if err != nil {
				continue
			}
			if oldest, err := strconv.Atoi(os.Getenv("BROWSERTEST_CHROMIUM_OLDEST")); err == nil && e == Chromium {
				if v := major(ctx, p); v > 0 && v < oldest {
					lacks = fmt.Sprintf("%d is too old, since the tests need %d or newer", v, oldest)
					continue
				}
			}
			return p
		}
		return ""
	}
	if p := look(); p != "" {
		return p, nil
	}
	pkgs := strings.Join(debian[e], " ")
	if runtime.GOOS == "linux" && os.Geteuid() == 0 && os.Getenv("BROWSERTEST_INSTALL") != "0" {
		if apt, err := exec.LookPath("apt-get"); err == nil {
			p, err := install(ctx, apt, debian[e], look)
			if err != nil {
				return "", fmt.Errorf("browser: %s %s, and installing it failed: %w", e, lacks, err)
			}
			if p != "" {
				return p, nil
			}
		}
	}
	return "", fmt.Errorf("browser: %s %s: on Debian or Ubuntu run `sudo apt-get update && sudo apt-get install %s`, else install it and set %s to its executable", e, lacks, pkgs, variables[e])
}

// major returns the major version of Chromium, or 0 if it is unknown.
func major(ctx context.Context, executable string) int {
	out, err := exec.CommandContext(ctx, executable, "--version").Output()
	if err != nil {
		return 0
	}
	for word := range strings.FieldsSeq(string(out)) {
		number, _, _ := strings.Cut(word, ".")
		if v, err := strconv.Atoi(number); err == nil {
			return v
		}
	}
	return 0
}

// install runs apt-get update and apt-get install under a lock, because packages are tested in
// parallel. It returns what look returns afterwards, and installs nothing if another process did so
// while this one waited. Without the update an old list would install an old browser. A failed update
// does not stop the installation, since the packages may come from elsewhere.
func install(ctx context.Context, apt string, pkgs []string, look func() string) (string, error) {
	unlock, err := lockFile(filepath.Join(os.TempDir(), "browsertest-install.lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if p := look(); p != "" {
		return p, nil
	}
	fmt.Fprintf(os.Stderr, "browsertest: installing %s with apt-get (BROWSERTEST_INSTALL=0 forbids it)\n", strings.Join(pkgs, " "))
	run := func(args ...string) error {
		c := exec.CommandContext(ctx, apt, args...)
		c.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		out, err := c.CombinedOutput()
		if err != nil {
			return fmt.Errorf("apt-get %s: %w\n%s", strings.Join(args, " "), err, out)
		}
		return nil
	}
	updated := run("update")
	if err := run(append([]string{"install", "-y", "--no-install-recommends"}, pkgs...)...); err != nil {
		return "", errors.Join(err, updated)
	}
	return look(), nil
}
