package fsaccess

import (
	"context"
	"strings"
)

// insideGit refuses a path inside a git folder that has another name than .git: a bare
// repository, or one that was made with git init --separate-git-dir. Git runs what its
// config, hooks and commondir say, wherever it lies. A folder is looked at only if the
// path goes on with a name that git folders hold, so most paths cost nothing.
func (g *guard) insideGit(ctx context.Context, name string) error {
	for at := 0; at <= len(name); {
		elem, rest, more := strings.Cut(name[at:], "/")
		if gitHolds(elem) {
			dir := "."
			if at > 0 {
				dir = name[:at-1]
			}
			if g.gitFolder(ctx, dir, elem) {
				return refuse(ErrProtected, "%s is a git folder: git runs what its files say, so no policy opens it", dir)
			}
		}
		if !more {
			return nil
		}
		at = len(name) - len(rest)
	}
	return nil
}

// gitHolds reports whether a git folder may hold a name, folded as the most lenient
// file system folds it (https://git-scm.com/docs/gitrepository-layout). Names with ~
// may be Windows' short names of these.
func gitHolds(elem string) bool {
	look := strings.TrimRight(skeleton(elem), ". ")
	switch look {
	case "head", "config", "config.worktree", "commondir", "gitdir", "hooks", "info", "objects", "refs", "packed-refs", "index",
		"modules", "worktrees", "branches", "remotes", "logs", "shallow", "common", "sequencer", "rebase-merge", "rebase-apply", "lfs", "svn":
		return true
	}
	return strings.Contains(look, "~")
}

// gitFolder decides as git's is_git_directory does (setup.c): a file HEAD, and objects
// and refs here or where commondir says. Git follows links, so it matters only that
// they exist. elem counts as there: the part that would complete a git folder is refused,
// else its config could be written before it is one.
func (g *guard) gitFolder(ctx context.Context, dir, elem string) bool {
	elem = strings.TrimRight(skeleton(elem), ". ")
	there := func(name string) bool {
		if elem == name || strings.Contains(elem, "~") && strings.HasPrefix(elem, name[:min(6, len(name))]+"~") {
			return true
		}
		_, err := g.core.stat(ctx, join(dir, name))
		return err == nil
	}
	if fi, err := g.core.stat(ctx, join(dir, "HEAD")); err != nil || fi.IsDir() {
		return false
	}
	return there("objects") && there("refs") || there("commondir")
}
