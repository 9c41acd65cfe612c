package sandbox

import (
	"strings"

	"github.com/bailey-go/bailey/fsaccess"
)

// Without disables the defence with the name of its field in off.
func (o *Options) Without(defence string) {
	*map[string]*bool{"clone": &o.off.clone, "keys": &o.off.keys, "names": &o.off.names, "agents": &o.off.agents,
		"words": &o.off.words, "same": &o.off.same, "marks": &o.off.marks, "views": &o.off.views, "sizes": &o.off.sizes, "apps": &o.off.apps, "answers": &o.off.answers}[defence] = true
}

// AgentsAtWork returns the number of subagents that run in the background.
func (b *Box) AgentsAtWork() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id := range b.running {
		if strings.HasPrefix(id, "ses-") {
			n++
		}
	}
	return n
}

// Copy returns the folder of a dry run, without its box.
func (p *Plan) Copy() *fsaccess.Overlay { return p.over }

// ParseSkill is parseSkill.
var ParseSkill = parseSkill

// BuiltinName is builtinName.
func BuiltinName(name string) string { return builtinName(name) }

// Shortened is shortened.
func Shortened(list []ModelMessage, limit int) []ModelMessage { return shortened(list, limit) }

// The limits of files.
const (
	MaxImage        = maxImage
	MaxFile         = maxFile
	MaxFiles        = maxFiles
	MaxFilesBytes   = maxFilesBytes
	MaxSessionFiles = maxSessionFiles
)

// ReadLimit is how many bytes of a result of the tool read are kept.
var ReadLimit = outputLimitFor("read").Bytes
