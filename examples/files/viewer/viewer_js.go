package viewer

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"syscall/js"
	"time"

	"github.com/bailey-go/bailey/examples/files/unseen"
	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/iframe/guests"
	md "github.com/bailey-go/bailey/iframe/markdown"
)

// Options are the parts of the page that the viewer talks with. All are required.
type Options struct {
	Lock sync.Locker                        // held during one action of the user's
	Work func() *fsaccess.Journal           // the open folder, nil without one
	Took func(said string, err error) error // shows the outcome of a change, and the changed folder
	Link func(context.Context, iframe.Link) // a link to an address was chosen
	Find func(name string)                  // selects a file in the tree
}

// Viewer shows one file at a time in the element "viewer".
type Viewer struct {
	Options
	ctx     context.Context
	box     js.Value
	of      dom.Listeners // of the file in view
	head    js.Value
	about   js.Value
	bar     js.Value
	note    js.Value
	body    js.Value
	paper   js.Value // around the document
	gen     int      // counts the files, so that late work for an earlier one is dropped
	opens   int      // counts the files that were chosen, so that the last one is shown
	file    file
	wrap    bool
	doc     *iframe.Document
	text    *iframe.Section
	render  *md.Renderer
	draws   func(context.Context, md.Source) (md.Drawing, error)
	editor  *editor
	review  review
	arrival *Arrival        // changes that are not in the folder, nil without them
	marks   map[string]bool // hunks that the user keeps
}

// file is the file in view.
type file struct {
	path string
	size int64
	time time.Time
	kind kind
	data []byte // what was read
	form format
	mode string // of the views for this kind
	rest string // the last line of the text, which may go on
	line int    // the number of lines in view, without rest
	last js.Value
}

// The sizes of what is shown at once, in bytes and in lines.
const (
	pieceBytes = 256 << 10
	pieceLines = 5000
	bytesShown = 4 << 10
	colourMax  = 64 << 10
)

// New sets up the viewer, which shows no file yet.
func New(ctx context.Context, o Options) *Viewer {
	v := &Viewer{Options: o, ctx: ctx, box: dom.Element("viewer"), wrap: true, marks: map[string]bool{}}
	v.draws = guests.Draw(ctx, "guests/")
	v.render, _ = md.New(md.Options{}.Draw(v.draws)) // these options are valid
	div := func(class string) js.Value {
		d := dom.Create("div", "")
		d.Set("className", class)
		return d
	}
	v.head, v.about, v.bar, v.note, v.body, v.paper = dom.Create("h2", ""), dom.Create("p", ""), div("bar v-bar"), dom.Create("p", ""), div("v-body"), div("v-paper")
	v.about.Set("className", "small v-about")
	v.note.Set("className", "v-note")
	v.note.Call("setAttribute", "role", "status")
	v.head.Set("className", "v-name")
	v.head.Call("setAttribute", "dir", "auto")
	v.body.Set("tabIndex", 0)
	v.body.Call("setAttribute", "role", "region")
	v.paper.Set("id", "viewer-paper")
	v.paper.Set("hidden", true)
	v.box.Call("replaceChildren", v.head, v.about, v.bar, v.note, v.body, v.paper)
	v.nothing()
	js.Global().Call("addEventListener", "beforeunload", js.FuncOf(func(_ js.Value, args []js.Value) any {
		if v.dirty() {
			args[0].Call("preventDefault")
		}
		return nil
	}))
	return v
}

// nothing shows that no file is open.
func (v *Viewer) nothing() {
	v.clear()
	v.file = file{}
	v.head.Set("textContent", "No file is open")
	v.about.Set("textContent", "Choose a file in the list to look at it here.")
	v.body.Set("hidden", true)
}

// clear takes the file out of view.
func (v *Viewer) clear() {
	v.gen++
	v.editor, v.review.on = nil, false
	v.bar.Call("replaceChildren")
	v.body.Call("replaceChildren")
	v.body.Set("hidden", false)
	v.body.Set("className", "v-body")
	v.of.Release()
	v.paper.Set("hidden", true)
	v.say("")
}

// say shows a sentence about the file, or hides it.
func (v *Viewer) say(text string) {
	v.note.Set("textContent", text)
	v.note.Set("hidden", text == "")
}

// Close closes the file without a question, because another folder is opened. What was written and not
// saved is asked for before, by [Viewer.Leave].
func (v *Viewer) Close() {
	v.arrival = nil
	v.nothing()
	v.marks = map[string]bool{}
	v.review = review{}
}

// Open shows a file, and selects its tab. If the file in view has changes that are not saved, it asks.
// Of several files that are opened at once the last one is shown.
func (v *Viewer) Open(name string) {
	if v.Work() == nil || v.editor != nil && v.file.path == name && v.dirty() || !v.Leave() {
		return
	}
	v.opens++
	chosen := v.opens
	fi, err := v.Work().Stat(name)
	if chosen != v.opens {
		return
	}
	if err == nil && fi.IsDir() {
		v.Find(name)
		return
	}
	if tab := dom.Element("tab-file"); !tab.IsNull() {
		tab.Call("click")
	}
	v.clear()
	v.file = file{path: name}
	v.title()
	if err != nil {
		v.failed(err)
		return
	}
	v.file.size, v.file.time = fi.Size(), fi.ModTime()
	gen := v.gen
	data, err := v.read(name, 0, pieceBytes)
	if gen != v.gen {
		return
	}
	if err != nil {
		v.failed(err)
		return
	}
	v.file.data, v.file.kind = data, kindOf(name, data)
	v.file.mode = map[kind]string{asMarkdown: "Preview", asTable: "Table", asImage: "Picture", asPDF: "File", asBytes: "Bytes"}[v.file.kind]
	if v.file.mode == "" {
		v.file.mode = "Text"
	}
	v.show()
}

// failed shows that the file can't be read.
func (v *Viewer) failed(err error) {
	v.about.Set("textContent", "")
	v.body.Set("hidden", true)
	v.tools()
	if errors.Is(err, fs.ErrNotExist) {
		v.say("This file is no longer there. It may have been renamed, moved or deleted: History can bring back what was deleted here.")
		return
	}
	v.say("This file can't be read: " + unseen.Text(err.Error()))
}

// read returns up to n bytes of a file from an offset.
func (v *Viewer) read(name string, from int64, n int) ([]byte, error) {
	f, err := v.Work().Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if s, ok := f.(io.Seeker); ok {
		_, err = s.Seek(from, io.SeekStart)
	} else {
		_, err = io.CopyN(io.Discard, f, from)
	}
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(n)))
	return data, err
}

// all reads the whole file, which has at most limit bytes.
func (v *Viewer) all(limit int) ([]byte, error) {
	if int64(len(v.file.data)) < v.file.size {
		data, err := v.read(v.file.path, 0, limit+1)
		if err != nil {
			return nil, err
		}
		v.file.data = data
	}
	return v.file.data, nil
}

// title shows the name of the file and what it is.
func (v *Viewer) title() {
	v.head.Call("replaceChildren")
	v.put(v.head, v.file.path, "")
	v.head.Set("title", unseen.Text(v.file.path))
	v.body.Call("setAttribute", "aria-label", "Content of "+unseen.Text(v.file.path))
	if v.dirty() {
		dot := dom.Create("span", " ● ")
		dot.Set("className", "v-dot")
		dot.Call("append", dom.Away("not saved"))
		v.head.Call("prepend", dot)
	}
	f := v.file
	list := []string{dom.Size(f.size)}
	switch f.kind {
	case asBytes:
		list = append(list, program(f.data))
	case asImage:
		w, h := sides(f.data)
		list = append(list, fmt.Sprintf("%d × %d pixels", w, h), strings.ToUpper(strings.TrimPrefix(raster(f.data), "image/")))
	case asPDF:
		list = append(list, "PDF")
	case "":
		list = nil
	default:
		list = append(list, f.form.String())
	}
	v.about.Set("textContent", strings.Join(list, " · "))
}

// program returns what the first bytes say about a file that is neither a text nor an image.
func program(b []byte) string {
	for _, m := range [][2]string{{"PK\x03\x04", "ZIP archive"}, {"\x1f\x8b", "gzip"}, {"\x00asm", "WebAssembly"}, {"\x7fELF", "program (ELF)"}, {"MZ", "program (Windows)"}, {"SQLite format 3", "SQLite database"},
		{"ID3", "MP3 audio"}, {"fLaC", "FLAC audio"}, {"OggS", "Ogg"}, {"RIFF", "RIFF"}, {"7z\xbc\xaf", "7z archive"}, {"BZh", "bzip2"}, {"\xfd7zXZ", "xz"}, {"\x28\xb5\x2f\xfd", "Zstandard"}} {
		if bytes.HasPrefix(b, []byte(m[0])) {
			return m[1]
		}
	}
	if len(b) > 12 && string(b[4:8]) == "ftyp" {
		return "video or image (" + strings.ToValidUTF8(unseen.Text(string(b[8:12])), "") + ")"
	}
	return "no text"
}

// put appends a text to an element. Characters that can't be seen become marks.
func (v *Viewer) put(to js.Value, s, class string) {
	for _, p := range unseen.Pieces(s) {
		switch {
		case p.Mark:
			mark := dom.Create("i", p.Text)
			mark.Set("className", "v-hidden")
			to.Call("append", mark)
		case class != "":
			span := dom.Create("span", p.Text)
			span.Set("className", class)
			to.Call("append", span)
		default:
			to.Call("append", p.Text)
		}
	}
}

// tools fills the bar above the file.
func (v *Viewer) tools() {
	v.bar.Call("replaceChildren")
	v.of.Release()
	f := v.file
	modes := map[kind][]string{asMarkdown: {"Preview", "Text"}, asTable: {"Table", "Text"}, asBytes: {"Bytes", "Text"}}[f.kind]
	for _, mode := range modes {
		b := v.of.Button(v.bar, mode, "small", func() {
			if v.Leave() {
				v.editor = nil
				v.file.mode = mode
				v.show()
				v.refocus(mode)
			}
		})
		b.Call("setAttribute", "aria-pressed", fmt.Sprint(mode == f.mode && v.editor == nil))
	}
	end := dom.Create("span", "")
	end.Set("className", "bar end tight")
	if v.editor == nil && f.mode == "Text" {
		b := v.of.Button(end, "Wrap", "small", func() {
			v.wrap = !v.wrap
			v.body.Get("classList").Call("toggle", "v-nowrap", !v.wrap)
			v.tools()
			v.refocus("Wrap")
		})
		b.Call("setAttribute", "aria-pressed", fmt.Sprint(v.wrap))
	}
	if v.editor == nil && (f.kind == asText || f.kind == asMarkdown || f.kind == asTable) {
		v.of.Button(end, "Edit", "small primary", func() { v.edit() })
	}
	if f.kind != "" {
		v.of.Button(end, "Download", "small", func() { dom.Failed(fsaccess.SaveAs(v.ctx, v.Work(), f.path, path.Base(f.path))) })
	}
	v.of.Button(end, "Close", "small", func() {
		if v.Leave() {
			v.nothing()
		}
	})
	v.bar.Call("append", end)
}

// refocus focuses the button with a text, because the bar was filled again.
func (v *Viewer) refocus(text string) {
	for _, b := range dom.Each(v.bar.Call("querySelectorAll", "button")) {
		if b.Get("textContent").String() == text {
			b.Call("focus")
		}
	}
}

// show shows the file in its mode.
func (v *Viewer) show() {
	v.gen++
	gen := v.gen
	v.say("")
	v.body.Call("replaceChildren")
	v.body.Set("hidden", false)
	v.body.Set("className", "v-body v-"+strings.ToLower(v.file.mode))
	v.body.Get("classList").Call("toggle", "v-nowrap", !v.wrap)
	v.body.Set("scrollTop", 0)
	v.paper.Set("hidden", true)
	_, v.file.form, _ = decode(v.file.data)
	v.title()
	v.tools()
	switch v.file.mode {
	case "Text":
		v.file.rest, v.file.line, v.file.last = "", 0, js.Null()
		v.lines(gen, v.file.data)
	case "Preview":
		v.preview(gen)
	case "Table":
		v.table()
	case "Picture":
		v.picture(gen)
	case "File":
		v.body.Call("append", dom.Create("p", "This page does not show PDFs. A browser runs its PDF viewer outside of the page's rules and not at all in a sandboxed frame, so a link in the PDF could send data away from here. Download it to read it."))
	case "Bytes":
		v.body.Call("append", dom.Pre(dump(v.file.data[:min(len(v.file.data), bytesShown)]), "v-hex", ""))
		if v.file.size > bytesShown {
			v.body.Call("append", dom.Create("p", fmt.Sprintf("These are the first %s of %s.", dom.Size(bytesShown), dom.Size(v.file.size))))
		}
	}
}

// more adds a button that reads the next piece of the file, unless all of it was read.
func (v *Viewer) more(show func(piece []byte)) {
	if int64(len(v.file.data)) >= v.file.size {
		return
	}
	gen := v.gen
	row := dom.Create("p", "")
	row.Set("className", "v-more")
	row.Call("append", dom.Create("span", fmt.Sprintf("The first %s of %s. ", dom.Size(int64(len(v.file.data))), dom.Size(v.file.size))))
	v.of.Button(row, "Show more", "", func() {
		piece, err := v.read(v.file.path, int64(len(v.file.data)), pieceBytes)
		if gen != v.gen || dom.Failed(err) {
			return
		}
		if len(piece) == 0 {
			v.file.size = int64(len(v.file.data))
		}
		row.Call("remove")
		v.file.data = append(v.file.data, piece...)
		show(piece)
		v.body.Call("focus")
	})
	v.body.Call("append", row)
}

// lines shows a piece of a text, behind what is in view. A line that was cut goes on.
func (v *Viewer) lines(gen int, piece []byte) {
	f := &v.file
	first := f.line == 0 && f.rest == ""
	s := ""
	if f.form.name == "UTF-8" {
		if int64(len(f.data)) < f.size { // a character may be cut: its bytes come with the next piece
			for k := 1; k <= 3 && k < len(piece); k++ {
				if piece[len(piece)-k] >= 0xC0 {
					f.data, piece = f.data[:len(f.data)-k], piece[:len(piece)-k]
					break
				}
			}
		}
		s = string(piece) // bytes that are no UTF-8 become marks
		if first {
			s = strings.TrimPrefix(s, f.form.bom)
		}
	} else if first {
		s, _, _ = decode(piece)
	} else {
		s, _, _ = decode(append([]byte(f.form.bom), piece...))
	}
	list := splitLines(f.rest + s)
	if f.rest != "" {
		f.last.Call("remove")
	}
	f.rest = ""
	if n := len(list); n > 0 && !strings.HasSuffix(list[n-1], "\n") && !strings.HasSuffix(list[n-1], "\r") {
		f.rest = list[n-1]
	}
	v.draw(gen, list, f.line, func() {
		f.line += len(list)
		if f.rest != "" {
			f.line--
		}
		if f.size == 0 {
			v.body.Call("append", dom.Create("p", "This file is empty."))
		}
		v.more(func(piece []byte) { v.lines(v.gen, piece) })
	})
	if first {
		go v.colour(gen, list)
	}
}

// draw adds lines to the body. Of many short lines it adds a part, and a button for the others. It calls
// done when all are there.
func (v *Viewer) draw(gen int, list []string, above int, done func()) {
	for i, line := range list {
		if i == pieceLines {
			row := dom.Create("p", "")
			row.Set("className", "v-more")
			row.Call("append", dom.Create("span", fmt.Sprintf("%d more lines were read. ", len(list)-i)))
			v.of.Button(row, "Show more", "", func() {
				row.Call("remove")
				v.draw(gen, list[i:], above+i, done)
				v.body.Call("focus")
			})
			v.body.Call("append", row)
			return
		}
		if i%1000 == 999 && dom.Yield(v.ctx) != nil || gen != v.gen {
			return
		}
		el := dom.Create("div", "")
		el.Set("className", "ln")
		el.Get("dataset").Set("n", above+i+1)
		v.line(el, line, nil)
		v.body.Call("append", el)
		v.file.last = el
	}
	done()
}

// line fills the element of a line. Without spans the text has no colours.
func (v *Viewer) line(el js.Value, line string, spans []md.Span) {
	body := strings.TrimRight(line, "\r\n")
	if spans == nil {
		spans = []md.Span{{Text: body}}
	}
	for _, s := range spans {
		class := ""
		if s.Class != "" {
			class = "hl-" + s.Class
		}
		v.put(el, s.Text, class)
	}
	if body == "" {
		el.Call("append", "\n") // so that the line has a height, and is copied
	}
}

// colour colours the first lines by a guest, which is not trusted: what it returns counts only if its
// texts are those of the file.
func (v *Viewer) colour(gen int, list []string) {
	lang := strings.TrimPrefix(strings.ToLower(path.Ext(v.file.path)), ".")
	switch base := strings.ToLower(path.Base(v.file.path)); base {
	case "makefile", "dockerfile":
		lang = base
	}
	size, n := 0, 0
	for n < min(len(list), pieceLines) && size+len(list[n]) <= colourMax {
		size += len(list[n])
		n++
	}
	if lang == "" || lang == "txt" || n == 0 {
		return
	}
	text := plain(strings.Join(list[:n], ""))
	d, err := v.draws(v.ctx, md.Source{Lang: lang, Text: strings.TrimSuffix(text, "\n")})
	if err != nil || gen != v.gen {
		return // plain text is shown
	}
	byLine, ok := spansByLine(d.Spans, strings.Split(strings.TrimSuffix(text, "\n"), "\n"))
	if !ok {
		return
	}
	els := v.body.Get("children")
	for i, spans := range byLine {
		if len(spans) == 0 || len(spans) == 1 && spans[0].Class == "" {
			continue
		}
		el := els.Index(i)
		el.Call("replaceChildren")
		v.line(el, list[i], spans)
		if i%500 == 499 && (dom.Yield(v.ctx) != nil || gen != v.gen) {
			return
		}
	}
}

// preview shows Markdown behind two frames.
func (v *Viewer) preview(gen int) {
	if v.doc != nil && v.doc.Err() != nil {
		v.doc, v.text = nil, nil
		v.paper.Call("replaceChildren")
	}
	v.body.Set("hidden", true)
	v.paper.Set("hidden", false)
	if v.doc == nil {
		parent, err := iframe.ElementByID("viewer-paper")
		if err == nil {
			v.doc, err = iframe.NewDocument(v.ctx, parent, iframe.DocumentOptions{Label: "Preview", Renderer: v.render, MaxHeight: 1 << 20, MaxImage: 8 << 20, OnLink: v.link, OnImage: v.pictureOf,
				Theme: iframe.Theme{Variables: map[string]string{"--bailey-background": "light-dark(#ffffff, #1a1e23)"}}})
		}
		if err != nil {
			v.doc = nil
			v.say("The preview can't be shown: " + err.Error())
			return
		}
	}
	if gen != v.gen {
		return
	}
	v.text = v.doc.Section("file")
	_ = v.text.Reset()
	s, _, _ := decode(v.file.data)
	if v.file.size == 0 {
		s = "*This file is empty.*"
	}
	_, _ = v.text.WriteString(s)
	if int64(len(v.file.data)) < v.file.size {
		_, _ = v.text.WriteString("\n\n---\n\n*This is the beginning of a long file. “Text” shows more of it.*\n")
	}
	_ = v.text.Close()
}

// link follows a link of a preview: one to a file opens it.
func (v *Viewer) link(ctx context.Context, l iframe.Link) {
	if l.Path == "" {
		v.Link(ctx, l)
		return
	}
	for _, name := range []string{path.Join(path.Dir(v.file.path), l.Path), l.Path} {
		if _, err := v.Work().Stat(name); err == nil {
			v.Open(name)
			return
		}
	}
	dom.Status("There is no " + unseen.Text(l.Path) + " in this folder.")
}

// pictureOf returns an image of the folder for a preview. It fetches nothing.
func (v *Viewer) pictureOf(_ context.Context, r iframe.ImageRequest) ([]byte, error) {
	name := path.Join(path.Dir(v.file.path), strings.TrimPrefix(r.URL, "./"))
	if strings.Contains(r.URL, ":") || !fs.ValidPath(name) {
		return nil, fs.ErrNotExist
	}
	fi, err := v.Work().Stat(name)
	if err != nil || fi.Size() > 8<<20 {
		return nil, errors.Join(err, fs.ErrInvalid)
	}
	data, err := v.Work().ReadFile(name)
	if err == nil && mayDecode(data) != "" {
		err = fs.ErrInvalid
	}
	return data, err
}

// picture shows an image, if decoding it is not too much.
func (v *Viewer) picture(gen int) {
	if v.file.size > maxImage {
		v.body.Call("append", dom.Create("p", fmt.Sprintf("This image has %s, and this page shows images of at most %s. Download it to look at it in another program.", dom.Size(v.file.size), dom.Size(maxImage))))
		return
	}
	data, err := v.all(maxImage)
	if gen != v.gen || dom.Failed(err) {
		return
	}
	if why := mayDecode(data); why != "" {
		v.body.Call("append", dom.Create("p", why))
		return
	}
	img := dom.Create("img", "")
	img.Set("alt", unseen.Text(path.Base(v.file.path)))
	v.of.On(img, "error", func(js.Value) {
		if gen == v.gen {
			v.body.Call("replaceChildren", dom.Create("p", "This image is damaged: the browser can't show it."))
		}
	})
	img.Set("src", "data:"+raster(data)+";base64,"+base64.StdEncoding.EncodeToString(data))
	v.body.Call("append", img)
}

// table shows a CSV file as a table.
func (v *Viewer) table() {
	s, _, _ := decode(v.file.data)
	rows, all := cells(s, comma(v.file.path, s))
	v.body.Call("replaceChildren")
	if len(rows) == 0 {
		v.body.Call("append", dom.Create("p", "This file has no rows."))
		return
	}
	table, head, body := dom.Create("table", ""), dom.Create("thead", ""), dom.Create("tbody", "")
	for i, row := range rows {
		tr := dom.Create("tr", "")
		for _, cell := range row[:min(len(row), maxColumns)] {
			tag := "td"
			if i == 0 {
				tag = "th"
			}
			td := dom.Create(tag, "")
			if i == 0 {
				td.Set("scope", "col")
			} else if isNumber(cell) {
				td.Set("className", "num")
			}
			if len(cell) > maxCell {
				cell = strings.ToValidUTF8(cell[:maxCell], "") + "…"
			}
			v.put(td, cell, "")
			tr.Call("append", td)
		}
		if i == 0 {
			head.Call("append", tr)
		} else {
			body.Call("append", tr)
		}
	}
	table.Call("append", head, body)
	v.body.Call("append", table)
	said := fmt.Sprintf("%d rows", all-1)
	if all > maxRows {
		said = fmt.Sprintf("The first %d of %d rows. “Text” shows all of them", maxRows-1, all-1)
	}
	if int64(len(v.file.data)) < v.file.size {
		said += fmt.Sprintf(" of the first %s", dom.Size(int64(len(v.file.data))))
	}
	v.say(said + ".")
	v.more(func([]byte) { v.table() })
}

// Changed shows the file again if it is one of the changed ones, or tells that it has changed while it
// is edited. Without names it looks at the file in view, whatever has changed.
func (v *Viewer) Changed(names ...string) {
	f := v.file
	if f.path == "" || v.Work() == nil {
		return
	}
	if v.review.on {
		return
	}
	fi, err := v.Work().Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && v.editor == nil:
		v.clear()
		v.failed(err)
	case errors.Is(err, fs.ErrNotExist):
		v.say("This file was deleted or renamed meanwhile. Saving makes it again.")
	case err != nil || fi.Size() == f.size && fi.ModTime().Equal(f.time):
	case v.editor != nil:
		v.outside()
	default:
		top, mode := v.body.Get("scrollTop"), f.mode
		data, err := v.read(f.path, 0, max(pieceBytes, len(f.data)))
		if err != nil || v.file.path != f.path {
			return
		}
		v.file.size, v.file.time, v.file.data, v.file.kind = fi.Size(), fi.ModTime(), data, kindOf(f.path, data)
		if v.file.kind != f.kind {
			v.Open(f.path)
			return
		}
		v.file.mode = mode
		v.show()
		v.body.Set("scrollTop", top)
	}
}
