package main

import (
	"strings"
	"testing"
)

// An edit whose text is not in git's source exactly once is an error, so that a new release can't lose one unseen.
func TestEditsOfGit(t *testing.T) {
	var all string
	for _, e := range gitEdits {
		if e.file == "userdiff.c" {
			all += e.old
		}
	}
	got, err := edited("userdiff.c", all)
	if err != nil || !strings.Contains(got, "git_not_run(") {
		t.Errorf("%q, %v", got, err)
	}
	for _, text := range []string{"", all + all} {
		if _, err := edited("userdiff.c", text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
	// Commands that write or are elsewhere have no function of git's any more.
	var table strings.Builder
	for _, e := range gitEdits {
		if e.file == "git.c" {
			table.WriteString(e.old)
		}
	}
	table.WriteString("static struct cmd_struct commands[] = {\n\t{ \"commit\", cmd_commit, RUN_SETUP | NEED_WORK_TREE },\n\t{ \"fetch\", cmd_fetch, RUN_SETUP },\n\t{ \"checkout--worker\", cmd_checkout__worker,\n\t\tRUN_SETUP },\n\t{ \"stash\", cmd_stash, RUN_SETUP },\n")
	for _, name := range gitReads {
		table.WriteString("\t{ \"" + name + "\", cmd_" + strings.ReplaceAll(name, "-", "_") + ", RUN_SETUP },\n")
	}
	got, err = edited("git.c", table.String()+"\n};\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`{ "commit", cmd_git_writes }`, `{ "fetch", cmd_git_network }`, `{ "checkout--worker", cmd_git_writes }`, `{ "stash", cmd_git_stash, RUN_SETUP }`, `{ "log", cmd_log, RUN_SETUP }`, `{ "branch", cmd_git_branch, RUN_SETUP }`, `{ "submodule", cmd_git_writes }`} {
		if !strings.Contains(got, want) {
			t.Errorf("the table has no %s", want)
		}
	}
	if strings.Contains(got, "cmd_commit") || strings.Contains(got, "cmd_fetch") {
		t.Error("the table has commands that write")
	}
}
