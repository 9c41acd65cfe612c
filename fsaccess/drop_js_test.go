package fsaccess

import (
	"testing"

	"github.com/bailey-go/bailey/internal/jsx"
)

// While files are dragged over the page, the element of a zone has an attribute, and its
// frames ignore the pointer.
func TestDropZoneShowsDrags(t *testing.T) {
	if !jsx.Supported("document") {
		t.Skip("a worker has no page")
	}
	build, err := jsx.NewGlobal("Function", `const zone = document.createElement("div");
		zone.id = "drags"; zone.innerHTML = "<iframe></iframe>"; document.body.append(zone);
		return (kind, file) => {
			if (!kind) return zone.remove();
			if (kind === "frame") return zone.firstChild;
			const data = new DataTransfer(); file ? data.items.add(new File(["x"], "x.txt")) : data.items.add("words", "text/plain");
			const e = new DragEvent(kind, {bubbles: true, cancelable: true, dataTransfer: data});
			document.body.dispatchEvent(e);
			return zone.hasAttribute("data-drop") + " " + zone.firstChild.style.pointerEvents;
		}`)
	must(t, err)
	do, err := jsx.Invoke(build)
	must(t, err)
	defer func() { _, _ = jsx.Invoke(do) }()
	drag := func(kind string, file bool) string {
		t.Helper()
		v, err := jsx.Invoke(do, kind, file)
		must(t, err)
		s, err := jsx.String(v, 100)
		must(t, err)
		return s
	}
	z, err := NewDropZone("#drags")
	must(t, err)
	frame, err := jsx.Invoke(do, "frame")
	must(t, err)
	s := jsx.NewScope(jsx.ScopeOptions{})
	defer s.Close()
	claim, err := jsx.Aside(s, frame, nil)
	must(t, err)
	for _, c := range []struct {
		kind string
		file bool
		want string
	}{
		{"dragover", false, "false "},
		{"dragenter", true, "true none"},
		{"dragover", true, "true none"},
		{"drop", true, "false "},      // beside the zone
		{"dragstart", true, "false "}, // a picture of the page
		{"dragover", true, "false "},
		{"dragend", true, "false "},
		{"claim", true, "false none"}, // of the frame, that files are over it
		{"dragover", true, "true none"},
	} {
		if c.kind == "claim" {
			claim()
		}
		if got := drag(c.kind, c.file); got != c.want {
			t.Errorf("%s, a file: %v: %q, want %q", c.kind, c.file, got, c.want)
		}
	}
	must(t, z.Close())
	must(t, s.Close())
	if got := drag("dragover", true); got != "false " {
		t.Errorf("after the end: %q", got)
	}
}

// A dropped picture of the page has the kind of a file and no handle. It is no drop, and
// Next returns the next item.
func TestDropOfThePagesOwnPicture(t *testing.T) {
	if !jsx.Supported("document") {
		t.Skip("a worker has no page")
	}
	build, err := jsx.NewGlobal("Function", `const zone = document.createElement("div");
		zone.id = "pictures"; document.body.append(zone);
		return (name) => {
			if (name === "end") return zone.remove();
			const file = name && {name, kind: "file", getFile: async () => new File(["x"], name), queryPermission: async () => "denied"};
			const e = new Event("drop", {bubbles: true, cancelable: true});
			e.dataTransfer = {types: ["Files"], items: [{kind: "file", getAsFileSystemHandle: async () => file}, {kind: "file", webkitGetAsEntry: () => null}]};
			zone.dispatchEvent(e);
		}`)
	must(t, err)
	do, err := jsx.Invoke(build)
	must(t, err)
	defer func() { _, _ = jsx.Invoke(do, "end") }()
	z, err := NewDropZone("#pictures")
	must(t, err)
	defer z.Close()
	_, err = jsx.Invoke(do, jsx.Null())
	must(t, err)
	_, err = jsx.Invoke(do, "real.txt")
	must(t, err)
	d, err := z.Next(t.Context())
	if must(t, err); d.Name() != "real.txt" {
		t.Errorf("dropped: %q", d.Name())
	}
}
