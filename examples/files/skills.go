//go:build js && wasm

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"slices"
	"syscall/js"

	"github.com/bailey-go/bailey/sandbox"
)

// skillsFolder is the folder with skills inside of the user's folder, each as NAME/SKILL.md.
const skillsFolder = ".skills"

// sum returns the SHA-256 hash of a skill's name and content in hex. A changed skill has another
// one.
func sum(s sandbox.Skill) string {
	h := sha256.Sum256([]byte(s.Name + "\x00" + s.Content))
	return hex.EncodeToString(h[:])
}

// readSkills reads the skills of the folder. A skill is trusted if the user accepted exactly its
// text. The model does not receive the others.
func (a *app) readSkills() error {
	a.skills = nil
	list, err := sandbox.FolderSkills(a.ctx, a.work, skillsFolder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, s := range list {
		s.Trusted = slices.Contains(a.kept.Skills, sum(s))
		a.skills = append(a.skills, s)
	}
	return nil
}

// showSkills lists the skills. The user can accept one only after its text was shown.
func (a *app) showSkills() {
	box := element("skills")
	box.Call("replaceChildren")
	a.ofSkills.release()
	for _, s := range a.skills {
		row, bar := create("li", ""), create("div", "")
		state := " · not accepted: the assistant does not know of it"
		if s.Trusted {
			state = " · accepted"
		}
		row.Call("append", create("b", s.Name), create("small", state))
		if s.Description != "" {
			row.Call("append", create("p", cut(s.Description, 200)))
		}
		bar.Set("className", "bar")
		if s.Trusted {
			a.ofSkills.button(bar, "Take back", "stop small", func() {
				a.trust(func() { a.kept.Skills = slices.DeleteFunc(a.kept.Skills, func(k string) bool { return k == sum(s) }) })
			}).Call("setAttribute", "aria-label", "Take back "+s.Name)
		} else {
			a.ofSkills.button(bar, "Read", "small", func() {
				pre := create("pre", s.Content)
				pre.Set("tabIndex", 0)
				pre.Set("className", "notices")
				pre.Call("setAttribute", "aria-label", "Text of "+s.Name)
				answer, _ := ask(asking{title: "Instructions from " + s.Source, text: "They came with the folder, and not from you. If you accept them, the assistant may follow them in every conversation of yours, as long as this very text stays.",
					body: []js.Value{pre}, answers: []string{"Leave", "Accept"}})
				if answer == "Accept" {
					a.trust(func() { a.kept.Skills = append(a.kept.Skills, sum(s)) })
				}
			}).Call("setAttribute", "aria-label", "Read "+s.Name)
		}
		row.Call("append", bar)
		box.Call("append", row)
	}
	hide("no-skills", len(a.skills) > 0)
}

// trust changes the trusted skills, and makes a new box with them.
func (a *app) trust(change func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if failed(a.busy()) {
		return
	}
	change()
	a.kept.save()
	if !failed(a.rebox()) {
		status("Kept.")
	}
}
