package gate

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

const (
	// MostLost is the maximum number of files and folders that a program may remove, move away or, where that is a loss, write
	// over. No user reads a longer question.
	MostLost = 1000
	// mostListed is the maximum number of other changes that a question lists. It shows the number of those beyond.
	mostListed = 500
)

// Changes returns the needs of a program's changes, with words that list each of them. shell reports that they are decided as those of
// the shell's commands, where a file that is written over counts as lost, and one that is moved does not. Beyond a limit, changes that lose nothing share one need for each folder that
// they have in common and that covers allows. If covers is nil, it is one folder.
func Changes(tool, command string, changes []protocol.FileChange, shell bool, covers func(dir string) bool) ([]policy.Need, error) {
	var out []policy.Need
	lost, listed := 0, 0
	var more []protocol.FileChange
	for _, c := range changes {
		for _, p := range []string{c.Path, c.From, c.Same} {
			if p != "" && (!fs.ValidPath(p) || p == ".") {
				return nil, protocol.Errorf(protocol.ErrCapabilityDenied, tool, p, "the program names a file that can't be")
			}
		}
		loses := c.Size < 0 || c.From != "" || shell && c.Before >= 0
		switch {
		case loses:
			lost++
		case listed == mostListed:
			more = append(more, c)
			continue
		default:
			listed++
		}
		out = append(out, needs(c, shell)...)
	}
	if lost > MostLost {
		return nil, protocol.Errorf(protocol.ErrResourceLimit, tool, command, "the command would remove, move away or write over %d files; %d is the most, as the user is asked about each", lost, MostLost)
	}
	for _, group := range grouped(more, covers) {
		if group.dir == "" {
			out = append(out, needs(group.list[0], shell)...)
			continue
		}
		out = append(out, rest(group))
	}
	return out, nil
}

// needs returns the needs of one change.
func needs(c protocol.FileChange, shell bool) []policy.Need {
	name, write := Spelled(c.Path), policy.Need{Capability: protocol.FSWrite, Op: protocol.OpWrite, Subject: c.Path}
	switch {
	case c.Size < 0:
		n := policy.Need{Capability: protocol.FSWrite, Op: protocol.OpRemove, Subject: c.Path, Destroys: true}
		if !c.Dir && c.Before >= 0 {
			n.Words = "delete " + name + " (" + bytes(c.Before) + ")"
		}
		return []policy.Need{n}
	case c.Dir:
		return []policy.Need{{Capability: protocol.FSWrite, Op: protocol.OpMkdir, Subject: c.Path}}
	case c.From != "":
		words := "move " + Spelled(c.From) + " to " + name
		return []policy.Need{{Capability: protocol.FSWrite, Op: protocol.OpRemove, Subject: c.From, Tree: true, Destroys: !shell, Words: words},
			{Capability: protocol.FSWrite, Op: protocol.OpWrite, Subject: c.Path, Tree: true, Words: words}}
	case c.Link != "":
		write.Words = "make " + name + " a link to " + Spelled(c.Link)
	case c.Same != "":
		write.Words = "make " + name + " another name of " + Spelled(c.Same)
	case c.Before >= 0:
		write.Words = "change " + name + " (" + bytes(c.Before) + ", then " + bytes(c.Size) + ")"
	default:
		write.Words = "write the new file " + name + " (" + bytes(c.Size) + ")"
	}
	if !shell || c.Before < 0 {
		return []policy.Need{write}
	}
	if write.Words += ", whose content is lost"; c.Link != "" || c.Same != "" {
		write.Words = "replace " + name + " (" + bytes(c.Before) + "): " + strings.TrimSuffix(write.Words, ", whose content is lost")
	}
	lose := write
	lose.Op, lose.Destroys = protocol.OpRemove, true
	return []policy.Need{write, lose}
}

// below is a folder with changes below it, or one change.
type below struct {
	dir  string // empty: one change, of which no folder is allowed
	list []protocol.FileChange
}

// grouped returns changes by the widest folders that covers allows. It asks once about each folder, as a program may
// make many changes below many folders.
func grouped(list []protocol.FileChange, covers func(dir string) bool) (out []below) {
	at, asked := map[string]int{}, map[string]bool{}
	may := func(dir string) bool {
		yes, known := asked[dir]
		if !known {
			yes = covers(dir)
			asked[dir] = yes
		}
		return yes
	}
	for _, c := range list {
		dir, top := path.Dir(c.Path), "."
		if covers != nil {
			if !may(dir) { // the command may write this file, and not its folder
				out = append(out, below{"", []protocol.FileChange{c}})
				continue
			}
			for top = dir; top != "." && may(path.Dir(top)); {
				top = path.Dir(top)
			}
		}
		i, known := at[top]
		if !known {
			at[top] = len(out)
			out = append(out, below{dir, []protocol.FileChange{c}})
			continue
		}
		for !Below(out[i].dir, c.Path) {
			out[i].dir = path.Dir(out[i].dir)
		}
		out[i].list = append(out[i].list, c)
	}
	return out
}

// rest returns the need of changes that are too many for a list.
func rest(group below) policy.Need {
	dir, size, made := group.dir, int64(0), 0
	for _, c := range group.list {
		if size += c.Size; c.Before < 0 {
			made++
		}
	}
	name := Spelled(dir)
	if dir == "." {
		name = "the whole folder (.)"
	}
	return policy.Need{Capability: protocol.FSWrite, Op: protocol.OpWrite, Subject: dir, Tree: true,
		Words: fmt.Sprintf("write %d more files in %s, of which %d are new (%s)", len(group.list), name, made, bytes(size))}
}

func bytes(n int64) string {
	switch {
	case n == 1:
		return "1 byte"
	case n < 10_000:
		return fmt.Sprintf("%d bytes", n)
	case n < 10_000_000:
		return fmt.Sprintf("%d kB", (n+500)/1000)
	}
	return fmt.Sprintf("%d MB", (n+500_000)/1_000_000)
}
