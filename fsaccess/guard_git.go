package fsaccess

import (
	"context"
	"strings"
)

// insideGit refuses a path inside a git folder that is not called .git: a bare repository,
// or one made with git init --separate-git-dir. Git executes commands from the config, the
// hooks and the commondir of such a folder, wherever it is. insideGit checks a folder only
// if the next name in the path can be in a git folder, so most paths cost nothing.
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

// gitHolds reports whether a git folder may contain a name, folded as the most lenient file
// system folds it (https://git-scm.com/docs/gitrepository-layout). A name with ~ may be the
// Windows short name of one of these.
func gitHolds(elem string) bool {
	look := strings.TrimRight(skeleton(elem), ". ")
	switch look {
	case "head", "config", "config.worktree", "commondir", "gitdir", "hooks", "info", "objects", "refs", "packed-refs", "index",
		"modules", "worktrees", "branches", "remotes", "logs", "shallow", "common", "sequencer", "rebase-merge", "rebase-apply", "lfs", "svn":
		return true
	}
	return strings.Contains(look, "~")
}

// gitFolder reports whether dir is a git folder, by the rules of git's is_git_directory
// (setup.c): it has a file HEAD, and objects and refs in dir, or a file commondir that
// names another folder for them. Git follows links, so only their existence matters. elem
// counts as existing, so the part that would complete a git folder is refused. Otherwise a
// program could write the config first and that part afterwards.
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
