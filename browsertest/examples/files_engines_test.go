package examples

import (
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/testpage"
)

// eachEngine opens the files example in each engine that this run tests. Firefox and Chromium keep
// the sample folder in the origin private file system. WebKitGTK has none, so the sample is in
// memory there, and the page states that.
func eachEngine(t *testing.T, test func(t *testing.T, f *filesPage)) {
	for _, engine := range engines() {
		t.Run(string(engine), func(t *testing.T) {
			f := startFiles(t, engine)
			private := f.check(`!!navigator.storage?.getDirectory`) == "true"
			if private == testpage.NoPrivateFolder.In(string(engine)) {
				t.Errorf("%s has a private file system: %v", engine, private)
			}
			if memory := f.check(`document.getElementById("name").textContent.includes("in memory")`) == "true"; memory == private {
				t.Errorf("private file system: %v; the page says that the folder is in memory: %v", private, memory)
			}
			test(t, f)
		})
	}
}

// The guided task, with the reader of commands, which is the default model.
func TestFilesTourInEngines(t *testing.T) {
	long(t)
	t.Parallel()
	eachEngine(t, func(t *testing.T, f *filesPage) {
		f.check(`localStorage.removeItem("bailey-files")`)
		f.reload()
		f.click("#tour")
		holds(t, "it asks", f.asks(), "Change notes/plan.md?", "+- [ ] TODO take the umbrella")
		f.answer(once)
		holds(t, "it asks", f.asks(), "Undo the last change to notes/plan.md?", "-- [ ] TODO take the umbrella")
		f.answer(once)
		f.ready()
		f.rested()
		holds(t, "the cards", f.cards(), "done glob **", "done bash awk -F,", "done grep TODO", "done code_run const rows",
			"failed code_run const secret", "done write notes/plan.md", "done undo")
		f.check(`document.getElementById("tab-undo").click()`)
		f.wait("the undo list has both", `document.querySelectorAll("#history li").length === 2 && !!document.querySelector("#history .undone")`)
	})
}

// Each tool, called by a model over the folder of the page. The model receives its outcome.
func TestFilesTools(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, f *filesPage) {
		for _, s := range []struct {
			keys string
			call call
			want []string
		}{
			{"", tc("glob", "pattern", "**"), []string{"hours.csv", "notes/plan.md", "trip/packing.txt"}},
			{"", tc("read", "path", "notes/plan.md"), []string{"TODO"}},
			{"", tc("grep", "pattern", "TODO", "path", "notes"), []string{"notes/plan.md"}},
			{once, tc("write", "path", "new/a.txt", "content", "one\ntwo\n"), []string{"version"}},
			{"", tc("read", "path", "new/a.txt"), []string{"one"}},
			{once, tc("edit", "path", "new/a.txt", "old_string", "two", "new_string", "three"), []string{"-two", "+three"}},
			{"", tc("diff"), []string{"-two", "+three"}},
			{"", tc("diff", "a", "new/a.txt", "b", "notes/plan.md"), []string{"-one"}},
			{once, tc("move", "from", "new/a.txt", "to", "new/b.txt"), []string{"new/b.txt"}},
			{once, tc("mkdir", "path", "empty"), []string{"empty"}},
			{once, tc("delete", "path", "new/b.txt"), []string{"new/b.txt"}},
			{once, tc("undo"), []string{"new/b.txt"}},
			{"", tc("read", "path", "new/b.txt"), []string{"three"}},
			{"", tc("todo", "todos", []any{map[string]any{"content": "rest", "status": "pending"}}), []string{"rest"}},
			{"", tc("code_run", "code", `return (await callTool("read", {path: "new/b.txt"})).content.trim().split("\n").length * 21`), []string{"42"}},
			{"", tc("bash", "command", "sort hours.csv | head -n 2; wc -l < hours.csv"), []string{"5"}},
			{"", tc("tool_run", "command", "sha256sum", "args", []any{"hours.csv"}, "read", []any{"hours.csv"}), []string{"hours.csv"}},
			{"", tc("read", "path", "nowhere.txt"), []string{"not_found"}},
		} {
			got := f.one(s.keys, s.call.tool, pairs(s.call.args)...)
			holds(t, s.call.tool, got, s.want...)
			// The card shows the user all of it.
			f.wait("the card of "+s.call.tool, `document.querySelector("#cards li:last-child b").textContent.startsWith(`+js(s.call.tool)+`)`)
			f.saw(got)
		}
		// A model elsewhere receives less than this one, which is on this machine.
		const credential = "ghp_abcdefghij0123456789ABCDEFGHIJ012345"
		f.one(once, "write", "path", "key.txt", "content", credential)
		got := f.one("", "read", "path", "key.txt")
		holds(t, "the model on this machine", got, credential)
		f.saw(got)
		far := f.check(`document.querySelector("#cards li:last-child [aria-label='What a model elsewhere sees']").textContent`)
		if want := strings.ReplaceAll(got, credential, "[github token removed]"); far != want {
			t.Errorf("the card says that a model elsewhere sees %q, want %q", far, want)
		}
		f.wait("the tree shows the new folder", `!!document.querySelector("#tree [data-path='empty']")`)
	})
}

// saw reports an error unless the last card shows exactly this text as sent to the model.
func (f *filesPage) saw(sent string) {
	f.t.Helper()
	got := f.check(`document.querySelector("#cards li:last-child :is([aria-label='What the model saw'], [aria-label='What a model on this computer sees'])")?.textContent`)
	if got != sent {
		f.t.Errorf("the card says that the model saw %q; it was sent %q", got, sent)
	}
}

func pairs(args map[string]any) (kv []any) {
	for k, v := range args {
		kv = append(kv, k, v)
	}
	return kv
}

// Each answer to a question of consent has the effect of its name, and no other.
func TestFilesAnswers(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, f *filesPage) {
		write := func(keys, path, text string) string {
			t.Helper()
			return f.one(keys, "write", "path", path, "content", text)
		}
		read := func(path string) string {
			t.Helper()
			return f.one("", "read", "path", path)
		}
		holds(t, "once", write(once, "a.txt", "1"), "version")
		holds(t, "once more is asked again", write(once, "a.txt", "2"), "version")
		holds(t, "no", write(reject, "a.txt", "3"), "rejected")
		holds(t, "after no", read("a.txt"), "2")
		f.wait("the card says no", `document.querySelectorAll("#cards li.denied").length === 1`)

		holds(t, "for the conversation", write(session, "b.txt", "1"), "version")
		holds(t, "isn't asked again", write("", "b.txt", "2"), "version")
		holds(t, "another file is", write(reject, "c.txt", "1"), "rejected")
		f.click("#new")
		f.wait("a new conversation", `document.getElementById("cards").childElementCount === 0`)
		read("b.txt")
		holds(t, "in another conversation it is", write(reject, "b.txt", "3"), "rejected")

		holds(t, "for the folder", write(project, "d.txt", "1"), "version")
		holds(t, "isn't asked again", write("", "d.txt", "2"), "version")
		f.click("#new")
		f.wait("a new conversation", `document.getElementById("cards").childElementCount === 0`)
		read("d.txt")
		holds(t, "nor in another conversation", write("", "d.txt", "3"), "version")

		// The model receives the user's reason.
		f.then(turn{calls: []call{tc("delete", "path", "d.txt")}}, turn{text: "Then not."})
		f.say("delete it")
		f.asks()
		f.check(`document.getElementById("ask").shadowRoot.getElementById("why").focus()`)
		must(t, f.Type(t.Context(), "keep it"))
		must(t, f.Press(t.Context(), "Enter"))
		f.rested()
		all := f.requests()
		holds(t, "the reason", strings.Join(all[len(all)-1].results(), " "), "keep it")
		holds(t, "and the file", read("d.txt"), "3")
	})
}

// Undo and redo by the buttons, and back to before the first change.
func TestFilesUndo(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, f *filesPage) {
		before := f.one("", "read", "path", "hours.csv")
		f.one(once, "write", "path", "hours.csv", "content", "gone\n")
		f.one(once, "write", "path", "other.txt", "content", "new\n")
		holds(t, "written", f.one("", "read", "path", "hours.csv"), "gone")
		f.check(`document.getElementById("tab-undo").click()`)
		f.wait("two changes", `document.querySelectorAll("#history li").length === 2`)
		f.check(`document.querySelectorAll("#history button")[2].click()`)
		f.wait("the difference", `!!(globalThis.read = document.querySelector("#history li:last-child .diff .add"))`)
		f.click("#undo")
		f.wait("the file is gone", `!document.querySelector("#tree [data-path='other.txt']")`)
		f.wait("the difference of what wasn't undone stays", `document.querySelectorAll("#history li").length === 3 && document.querySelector("#history li .diff .add") === globalThis.read`)
		f.click("#redo")
		f.wait("the file is back", `!!document.querySelector("#tree [data-path='other.txt']")`)
		f.check(`[...document.querySelectorAll("#history button")].filter((b) => b.name === "restore").at(-1).click()`)
		f.wait("all is undone", `!document.querySelector("#tree [data-path='other.txt']")`)
		if got := f.one("", "read", "path", "hours.csv"); got != before {
			t.Errorf("after undo: %q, want %q", got, before)
		}
	})
}
