package tools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/bailey-go/bailey/examples/files/settings"
	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/sandbox"
)

// Skills are the skills of the open folder. The user accepts each of them.
type Skills struct {
	settings *settings.Settings
	lock     sync.Locker
	change   func(do func()) error
	list     []sandbox.Skill
	refused  []*fs.PathError // skills that can't be used
	of       dom.Listeners   // of the list, released before it is rebuilt
}

// NewSkills returns no skills. When the user accepts a skill or takes that back, it calls change, with
// lock held. That calls do and makes a new box, or returns an error.
func NewSkills(s *settings.Settings, lock sync.Locker, change func(do func()) error) *Skills {
	return &Skills{settings: s, lock: lock, change: change}
}

// sum returns the SHA-256 hash of a skill's name and content in hex. A changed skill has another
// one.
func sum(s sandbox.Skill) string {
	h := sha256.Sum256([]byte(s.Name + "\x00" + s.Content))
	return hex.EncodeToString(h[:])
}

// Read reads the skills of a folder and shows them. A skill is trusted if the user accepted exactly its
// text. The model does not receive the others.
func (k *Skills) Read(ctx context.Context, folder fsaccess.FS) ([]sandbox.Skill, error) {
	k.list = nil
	list, refused, err := sandbox.FolderSkills(ctx, folder)
	if err != nil {
		return nil, err
	}
	k.refused = refused
	if k.list = list; len(k.settings.Skills) > 0 {
		if err := trusted(ctx, list, k.settings.Skills); err != nil {
			return nil, err
		}
	}
	k.show()
	return k.list, nil
}

// trusted sets Trusted of each skill whose hash the user accepted. Hashing 200 skills of 64 KiB takes
// half a second, so the page gets its turn in between.
func trusted(ctx context.Context, list []sandbox.Skill, accepted []string) error {
	turn := time.Now()
	for i := range list {
		list[i].Trusted = slices.Contains(accepted, sum(list[i]))
		if time.Since(turn) < 8*time.Millisecond { // half a frame
			continue
		}
		if err := dom.Yield(ctx); err != nil {
			return err
		}
		turn = time.Now()
	}
	return nil
}

// show lists the skills. The user can accept one only after all of its text was shown.
func (k *Skills) show() {
	box := dom.Element("skills")
	box.Call("replaceChildren")
	k.of.Release()
	for _, s := range k.list {
		row, bar := dom.Create("li", ""), dom.Create("div", "")
		state := " · not accepted: the assistant does not know of it"
		switch {
		case s.Trusted && s.UserOnly:
			state = " · accepted, but it says that the assistant may not use it"
		case s.Trusted:
			state = " · accepted"
		}
		row.Call("append", dom.Create("b", s.Name), dom.Create("small", state))
		if s.Description != "" {
			row.Call("append", dom.Create("p", dom.Cut(s.Description, 200)))
		}
		bar.Set("className", "bar")
		if s.Trusted {
			k.of.Button(bar, "Take back", "stop small", func() {
				hash := sum(s)
				k.trust(func() {
					k.settings.Skills = slices.DeleteFunc(k.settings.Skills, func(h string) bool { return h == hash })
				})
			}).Call("setAttribute", "aria-label", "Take back "+s.Name)
		} else {
			k.of.Button(bar, "Read", "small", func() {
				yes, err := accepts(s)
				if !dom.Failed(err) && yes {
					k.trust(func() { k.settings.Skills = append(k.settings.Skills, sum(s)) })
				}
			}).Call("setAttribute", "aria-label", "Read "+s.Name)
		}
		row.Call("append", bar)
		box.Call("append", row)
	}
	for _, r := range k.refused {
		row := dom.Create("li", "")
		row.Call("append", dom.Create("b", r.Path), dom.Create("small", " · can't be used"), dom.Create("p", dom.Cut(r.Err.Error(), 200)))
		box.Call("append", row)
	}
	dom.Hide("no-skills", len(k.list)+len(k.refused) > 0)
}

// trust changes the trusted skills, and makes a new box with them.
func (k *Skills) trust(change func()) {
	k.lock.Lock()
	defer k.lock.Unlock()
	if !dom.Failed(k.change(change)) {
		dom.Status("Kept.")
	}
}
