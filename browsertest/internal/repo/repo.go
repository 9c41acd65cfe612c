// Package repo is shared by the commands of this module. It finds the repository's folder, parses lists of names, and
// runs programs that are to end when the user interrupts the command.
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

// Root returns the repository's folder. The working folder must be in it.
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

// Pick returns the names in text, which are separated by commas or spaces, in the order of text. It returns an error
// if one is not in all. The first parameter is the word for a name in that error, such as "layout". For an empty text
// it returns nil.
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

// Command returns an exec.Cmd like exec.CommandContext. When the context ends, the program is interrupted, and it has
// 10 s to end by itself before it is killed.
func Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}
