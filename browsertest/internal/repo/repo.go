// Package repo is what the commands of this module share: the repository's folder, lists that a user picks from, and programs that end when
// the user interrupts the command.
package repo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Root returns the repository's folder, found from the working folder, which is in it.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "browsertest", "internal", "repo")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("run it inside of the repository")
		}
		dir = up
	}
}

// Pick returns the names in text, which have commas or spaces between, in the order of text. Each is one of all; what is the word for one in
// the error. An empty text picks nothing.
func Pick(what, text string, all []string) ([]string, error) {
	var picked []string
	for name := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("there is no %s %q; there are %s", what, name, strings.Join(all, " "))
		}
		picked = append(picked, name)
	}
	return picked, nil
}

// Command is exec.CommandContext for a program that ends by itself when it is interrupted: it has 10 s for it once the context has ended.
func Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}
