package shell

// Differences returns the differences between the tool and bash, one text each. Show them to a
// model or in documentation.
func Differences() []string {
	return []string{
		"/ is the folder, and .. ends there. There is no home folder, and no /dev except null, stdin, stdout, stderr and fd. mktemp makes /tmp in the folder.",
		"There are no processes. &, wait and jobs work on parts of the script, and kill and $! reach nothing else.",
		"coproc and ~user are refused.",
		"The command in <(…) runs to its end first, and prints at most 8 MiB. The one in >(…) runs when the statement ends.",
		"The environment has PATH, HOME=/, LC_ALL, UID, EUID, GID and the variables that the script exports.",
		"There are no links. chmod and touch -d set nothing and are an error if they would have to. Times are in UTC.",
		"A redirect into a file becomes visible to others when the redirected command ends, or the file is closed, and then completely.",
		"Aliases are not expanded. There is no DEBUG trap, no shopt nocasematch, and no attribute -i of variables. ${#m[@]} of an associative array is 1.",
		"xargs -P runs its commands one after the other, and tail -f ends at the end of the file.",
		"A pattern with a back reference or look-around has a limit of steps. grep -P has no atomic groups and no conditions.",
		"bc has no functions of -l and no define. date knows common forms only. sort compares bytes, as with LC_ALL=C.",
		"awk and jq need a Runner. In a page tar, gzip, join, column, bc and others need one, too: see Commands.",
	}
}
