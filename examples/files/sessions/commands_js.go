package sessions

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/sandbox"
)

// commands is the list of the words that the user can choose while typing: commands that a message begins
// with, which are /compact and the skills of the folder that the user accepted, and files after an @.
type commands struct {
	skills []sandbox.Skill
	read   func(dir string) ([]fs.DirEntry, error) // of the open folder
	shown  []command
	text   string // that the list is of
	at     int    // the chosen one
	closed string // the text for which the user closed the list
	of     dom.Listeners
}

// command is a row of the list. A file has the text of the field with its path in it.
type command struct{ name, hint, about, whole string }

// mostRows is the number of files that the list offers.
const mostRows = 30

// files returns the files for a text that ends in @ and the beginning of a path, folder by folder.
func (c *commands) files(text string) (out []command) {
	at := strings.LastIndexByte(text, '@')
	if at < 0 || text == c.closed || at > 0 && !strings.ContainsAny(text[at-1:at], " \n\"") || strings.ContainsAny(text[at:], " \n") {
		return nil
	}
	dir, begin := path.Split(text[at+1:])
	list, err := c.read(path.Clean("./" + dir))
	if err != nil {
		return nil
	}
	begin = strings.ToLower(begin)
	for _, e := range list {
		if name := e.Name(); len(out) < mostRows && strings.HasPrefix(strings.ToLower(name), begin) && (begin != "" || name[0] != '.') {
			whole := dir + name
			switch {
			case e.IsDir():
				out = append(out, command{name: whole + "/", whole: text[:at] + "@" + whole + "/"})
				continue
			case strings.Contains(whole, " "):
				whole = strconv.Quote(whole)
			}
			out = append(out, command{name: dir + name, whole: text[:at] + whole + " "})
		}
	}
	return out
}

// matches returns the commands for a text, none if it is no beginning of one.
func (c *commands) matches(text string) (out []command) {
	begin, ok := strings.CutPrefix(text, "/")
	if !ok || text == c.closed || strings.ContainsAny(begin, " \n") {
		return nil
	}
	all := []command{{name: "compact", about: "Put a summary in place of the older messages"}}
	for _, s := range c.skills {
		if s.Trusted && !s.ModelOnly && s.Name != "compact" {
			all = append(all, command{name: s.Name, hint: s.ArgumentHint, about: s.Description})
		}
	}
	for _, one := range all {
		if strings.HasPrefix(one.name, begin) {
			out = append(out, one)
		}
	}
	return out
}

// listen shows the list while the user types.
func (c *commands) listen() {
	dom.On(dom.Element("text"), "input", func(js.Value) { c.update() })
	dom.On(dom.Element("text"), "blur", func(js.Value) { c.show(nil) })
	dom.On(dom.Element("text"), "focus", func(js.Value) { c.update() })
}

// update shows the commands for the text in the field.
func (c *commands) update() {
	text := dom.Value("text")
	if text != c.text {
		c.text, c.at = text, 0
	}
	if text != c.closed {
		c.closed = ""
	}
	list := c.matches(text)
	if len(list) == 0 {
		list = c.files(text)
	}
	if text == dom.Value("text") { // the user may have typed on while a folder was read
		c.show(list)
	}
}

// show shows a list, and hides an empty one.
func (c *commands) show(list []command) {
	box, field := dom.Element("commands"), dom.Element("text")
	c.of.Release()
	box.Call("replaceChildren")
	c.shown = list
	field.Call("removeAttribute", "aria-activedescendant")
	for i, one := range list {
		row := dom.Create("li", "")
		row.Set("id", fmt.Sprint("command-", i))
		row.Set("dir", "auto")
		row.Call("setAttribute", "role", "option")
		row.Call("setAttribute", "aria-selected", fmt.Sprint(i == c.at))
		row.Call("append", dom.Create("b", map[bool]string{true: "/"}[one.whole == ""]+one.name))
		if one.hint != "" {
			row.Call("append", " ", dom.Create("span", dom.Cut(one.hint, 60)))
		}
		row.Call("append", " ", dom.Create("small", dom.Cut(one.about, 120)))
		down := js.FuncOf(func(_ js.Value, args []js.Value) any { // a click would take the focus from the field first
			args[0].Call("preventDefault")
			go c.choose(one)
			return nil
		})
		c.of = append(c.of, down)
		row.Call("addEventListener", "pointerdown", down)
		box.Call("append", row)
	}
	box.Set("hidden", len(list) == 0)
	if len(list) > 0 {
		field.Call("setAttribute", "aria-activedescendant", fmt.Sprint("command-", c.at))
		dom.Element(fmt.Sprint("command-", c.at)).Call("scrollIntoView", map[string]any{"block": "nearest"})
	}
}

// choose puts a command into the field.
func (c *commands) choose(one command) {
	text := one.whole
	if text == "" {
		text = "/" + one.name + " "
	}
	dom.SetValue("text", text)
	dom.Element("text").Call("focus")
	c.show(nil)
	go c.update() // it may read a folder, which a key's event must not wait for
}

// key handles a key in the field, and reports whether it was for the list. A whole command is sent by
// Enter like any text.
func (c *commands) key(e js.Value) bool {
	text := dom.Value("text")
	list := c.matches(text)
	if len(list) == 0 && text == c.text {
		list = c.shown
	}
	if len(list) == 0 || e.Get("isComposing").Bool() {
		return false
	}
	if text != c.text {
		c.text, c.at = text, 0
	}
	step := func(by int) bool {
		c.at = (c.at + by + len(list)) % len(list)
		c.show(list)
		return true
	}
	switch e.Get("key").String() {
	case "ArrowDown":
		return step(1)
	case "ArrowUp":
		return step(-1)
	case "Escape":
		e.Call("stopPropagation") // it would stop the assistant
		c.closed = text
		c.show(nil)
		return true
	case "Tab":
		if e.Get("shiftKey").Bool() {
			return false
		}
	case "Enter":
		if e.Get("shiftKey").Bool() || slices.ContainsFunc(list, func(one command) bool { return one.whole == "" && "/"+one.name == text }) {
			return false
		}
	default:
		return false
	}
	c.choose(list[min(c.at, len(list)-1)])
	return true
}

// call returns the files of a message that calls a skill: its text with the arguments, before the others.
// Of any other message it returns files. An error says why the skill can't be called.
func (c *commands) call(text string, files []sandbox.File) ([]sandbox.File, error) {
	name, arguments, _ := strings.Cut(strings.TrimPrefix(text, "/"), " ")
	at := slices.IndexFunc(c.skills, func(s sandbox.Skill) bool { return s.Name == name })
	if !strings.HasPrefix(text, "/") || at < 0 {
		return files, nil
	}
	s := c.skills[at]
	switch {
	case !s.Trusted:
		return nil, fmt.Errorf("the skill %s is not accepted yet: read it under Tools, then send this again", name)
	case s.ModelOnly:
		return nil, fmt.Errorf("the skill %s says that only the assistant may use it", name)
	}
	filled, err := s.Fill(strings.TrimSpace(arguments))
	if err != nil {
		return nil, err
	}
	file := sandbox.File{Name: name + " (skill).md", MediaType: "text/markdown", Data: []byte(filled)}
	files = slices.DeleteFunc(slices.Clone(files), func(f sandbox.File) bool { return f.Name == file.Name }) // of a message that was taken back
	if len(files) >= mostFiles {
		return nil, fmt.Errorf("a message takes %d files, and the skill is one of them: remove one", mostFiles)
	}
	return append([]sandbox.File{file}, files...), nil
}
