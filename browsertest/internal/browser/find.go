package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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

// Find returns the executable of an engine. If there is none, it installs the engine as root on a
// Linux with apt-get, unless BROWSERTEST_INSTALL=0. Otherwise the error names the packages to
// install.
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
	look := func() string {
		for _, n := range names {
			if p, err := exec.LookPath(n); err == nil {
				return p
			}
		}
		return ""
	}
	if p := look(); p != "" {
		return p, nil
	}
	pkgs := strings.Join(debian[e], " ")
	if runtime.GOOS == "linux" && os.Geteuid() == 0 && os.Getenv("BROWSERTEST_INSTALL") != "0" {
		if apt, err := exec.LookPath("apt-get"); err == nil {
			if err := install(ctx, apt, debian[e]); err != nil {
				return "", fmt.Errorf("browser: %s is not installed, and installing it failed: %w", e, err)
			}
			if p := look(); p != "" {
				return p, nil
			}
		}
	}
	return "", fmt.Errorf("browser: %s is not installed: on Debian or Ubuntu run `sudo apt-get install %s`, else install it and set %s to its executable", e, pkgs, variables[e])
}

// install runs apt-get install under a lock, because packages are tested in parallel. If that fails, it
// runs apt-get update and tries again.
func install(ctx context.Context, apt string, pkgs []string) error {
	unlock, err := lockFile(filepath.Join(os.TempDir(), "browsertest-install.lock"))
	if err != nil {
		return err
	}
	defer unlock()
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
	args := append([]string{"install", "-y", "--no-install-recommends"}, pkgs...)
	if run(args...) == nil {
		return nil
	}
	if err := run("update"); err != nil {
		return err
	}
	return run(args...)
}
