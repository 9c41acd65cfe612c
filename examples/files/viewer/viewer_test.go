package viewer

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"reflect"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/iframe/markdown"
)

func TestKinds(t *testing.T) {
	for _, c := range []struct {
		name, head string
		want       kind
	}{
		{"a.txt", "hello", asText}, {"a", "", asText}, {"a.md", "# x", asMarkdown}, {"A.CSV", "a,b", asTable},
		{"a.bin", "a\x00b", asBytes}, {"a.txt", "gr\xfc\xdfe", asBytes}, {"cut.txt", "gr\xc3", asText}, {"cut.txt", "x\xf0\x9f\x98", asText}, {"whole.txt", "über ü", asText},
		{"a.txt", "\xff\xfeh\x00", asText},
		{"a.svg", `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`, asText},
		{"a.png", `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`, asText},
		{"a.html", "<script>alert(1)</script>", asText},
		{"a.txt", "\x89PNG\r\n\x1a\n", asImage}, {"a.md", "GIF89a", asImage}, {"a.pdf", "%PDF-1.7", asPDF}, {"a.png", "%PDF-1.7", asPDF},
	} {
		if got := kindOf(c.name, []byte(c.head)); got != c.want {
			t.Errorf("%s %q: %s, want %s", c.name, c.head, got, c.want)
		}
	}
}

// An image is decoded up to the limits, and not above them, whatever its header says.
func TestImageLimits(t *testing.T) {
	header := func(w, h uint32) []byte {
		b := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
		return append(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, w), h), 8, 6, 0, 0, 0)
	}
	for _, c := range []struct {
		w, h uint32
		want bool
	}{{1, 1, true}, {8000, 8000, true}, {8001, 8000, false}, {maxSide, 100, true}, {maxSide + 1, 1, false}, {0, 5, false}, {1 << 31, 1 << 31, false}, {1<<32 - 1, 1, false}} {
		if why := mayDecode(header(c.w, c.h)); (why == "") != c.want {
			t.Errorf("%d × %d: %q", c.w, c.h, why)
		}
	}
	for _, damaged := range []string{"\x89PNG\r\n\x1a\n", "\xff\xd8\xff", "\xff\xd8\xff\xe0\xff\xff", "GIF89a", "RIFF....WEBPVP8X", "\xff\xd8\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
		if mayDecode([]byte(damaged)) == "" {
			t.Errorf("%q is decoded", damaged)
		}
	}
}

func TestSides(t *testing.T) {
	im := image.NewGray(image.Rect(0, 0, 300, 17))
	for name, enc := range map[string]func(b *bytes.Buffer) error{
		"png": func(b *bytes.Buffer) error { return png.Encode(b, im) }, "gif": func(b *bytes.Buffer) error { return gif.Encode(b, im, nil) }, "jpeg": func(b *bytes.Buffer) error { return jpeg.Encode(b, im, nil) },
	} {
		var b bytes.Buffer
		if err := enc(&b); err != nil {
			t.Fatal(err)
		}
		if w, h := sides(b.Bytes()); w != 300 || h != 17 {
			t.Errorf("%s: %d × %d", name, w, h)
		}
		for n := range b.Len() { // any cut is no panic
			sides(b.Bytes()[:n])
		}
	}
	webp := []byte("RIFF\x00\x00\x00\x00WEBPVP8L\x00\x00\x00\x00\x2f")
	webp = append(binary.LittleEndian.AppendUint32(webp, 299|16<<14), make([]byte, 10)...)
	if w, h := sides(webp); w != 300 || h != 17 {
		t.Errorf("webp: %d × %d", w, h)
	}
}

// An edited text keeps the format of its file, and all lines that were not edited.
func TestEncodeKeepsTheFormat(t *testing.T) {
	utf16of := func(bom string, order binary.AppendByteOrder, s string) string {
		out := []byte(bom)
		for _, u := range utf16.Encode([]rune(s)) {
			out = order.AppendUint16(out, u)
		}
		return string(out)
	}
	for _, c := range []struct{ name, file, from, to, want string }{
		{"plain", "a\nb\n", "b", "B", "a\nB\n"},
		{"no end", "a\nb", "b", "B", "a\nB"},
		{"windows", "a\r\nb\r\nc\r\n", "b\n", "B\nnew\n", "a\r\nB\r\nnew\r\nc\r\n"},
		{"old mac", "a\rb\r", "b", "B", "a\rB\r"},
		{"mixed", "a\r\nb\nc\r\nd\n", "c", "C", "a\r\nb\nC\r\nd\n"},
		{"bom", "\ufeffa\r\nb", "b", "B", "\ufeffa\r\nB"},
		{"utf-16 le", utf16of("\xff\xfe", binary.LittleEndian, "ä\r\n😀b"), "b", "B", utf16of("\xff\xfe", binary.LittleEndian, "ä\r\n😀B")},
		{"utf-16 be", utf16of("\xfe\xff", binary.BigEndian, "ä\n"), "ä", "ö", utf16of("\xfe\xff", binary.BigEndian, "ö\n")},
		{"empty", "", "", "x\n", "x\n"},
		{"emptied", "a\r\nb\r\n", "a\nb\n", "", ""},
		{"doubled line", "x\r\nx\nx\r\n", "x\nx\nx\n", "x\nx\n", "x\r\nx\n"},
		{"end comes", "a\r\nb", "b", "b\n", "a\r\nb\r\n"},
	} {
		s, f, err := decode([]byte(c.file))
		if err != nil {
			t.Fatal(c.name, err)
		}
		if got := string(encode(plain(s), s, f)); got != c.file {
			t.Errorf("%s: unchanged it becomes %q, was %q", c.name, got, c.file)
		}
		edited := c.to
		if c.from != "" {
			edited = strings.Replace(plain(s), c.from, c.to, 1)
		}
		if got := string(encode(edited, s, f)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for _, bad := range []string{"gr\xfc\xdfe", "\xff\xfea\x00b", "\xff\xfe\x00\xd8"} {
		if _, _, err := decode([]byte(bad)); err == nil {
			t.Errorf("%q is text that could be saved", bad)
		}
	}
}

// Whatever is typed, the bytes become the typed text again.
func FuzzEncode(f *testing.F) {
	f.Add("a\r\nb\rc\n", "a\nB\nc\n")
	f.Add("\ufeffx\r\n\r\r\n", "\n\nx")
	f.Fuzz(func(t *testing.T, file, edited string) {
		s, form, err := decode([]byte(file))
		if err != nil {
			return
		}
		edited = plain(strings.ToValidUTF8(edited, ""))
		if got := encode(plain(s), s, form); string(got) != file {
			t.Errorf("unchanged, %q becomes %q", file, got)
		}
		if form.name != "UTF-8" {
			return
		}
		if got := strings.TrimPrefix(string(encode(edited, s, form)), form.bom); plain(got) != edited {
			t.Errorf("%q edited to %q becomes %q", file, edited, got)
		}
	})
}

func TestCells(t *testing.T) {
	for _, c := range []struct {
		text string
		want [][]string
	}{
		{"a,b\n1,2\n", [][]string{{"a", "b"}, {"1", "2"}}},
		{"a,b\r\n1,2", [][]string{{"a", "b"}, {"1", "2"}}},
		{"\"a,\n\"\"b\"\"\",2\n", [][]string{{"a,\n\"b\"", "2"}}},
		{"a,,\n\n,b", [][]string{{"a", "", ""}, {"", "b"}}},
		{"\"open,\n1", [][]string{{"open,\n1"}}},
		{"\"a\"b,c", [][]string{{"ab", "c"}}},
		{"a,", [][]string{{"a", ""}}},
		{"", nil},
		{"=1+2,<b>x</b>", [][]string{{"=1+2", "<b>x</b>"}}},
	} {
		if got, n := cells(c.text, ','); !reflect.DeepEqual(got, c.want) || n != len(c.want) {
			t.Errorf("%q: %q (%d), want %q", c.text, got, n, c.want)
		}
	}
	for n, kept := range map[int]int{maxRows - 1: maxRows - 1, maxRows: maxRows, maxRows + 1: maxRows} {
		if rows, all := cells(strings.Repeat("a,b\n", n), ','); len(rows) != kept || all != n {
			t.Errorf("%d rows: %d are kept, %d counted", n, len(rows), all)
		}
	}
}

func FuzzCells(f *testing.F) {
	f.Add("a,\"b\n\",\r\n\r\r\"")
	f.Fuzz(func(t *testing.T, s string) { cells(s, ',') }) // it ends
}

func TestComma(t *testing.T) {
	for s, want := range map[string]byte{"a;b\n1,5;2\n": ';', "a,b\n1,2\n": ',', "a\tb\n1\t2\n": '\t', "a|b\n1|2": '|', "one": ',', "": ','} {
		if got := comma("x.csv", s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for s, want := range map[string]bool{"1": true, "-1,200.50": true, "12 %": true, "€5": true, "": false, "-": false, "0x1f": false, "NaN": false, "1 Jan": false, "Inf": false} {
		if got := isNumber(s); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
}

func diff(t *testing.T, a, b string) string {
	t.Helper()
	d, err := fsaccess.UnifiedDiff(context.Background(), "a/x.txt", "b/x.txt", []byte(a), []byte(b))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

// Each hunk can be taken back alone, and all of them together give the old text.
func TestRevertEachHunk(t *testing.T) {
	old := lines(60)
	now := strings.NewReplacer("line 5\n", "LINE 5\nmore\n", "line 30\n", "", "line 55\n", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n").Replace(old)
	for _, c := range []struct{ name, old, now string }{
		{"three places", old, now},
		{"ends", "a\n", "a\nb"}, {"no end", "a", "b"}, {"all new", "", "x\ny\n"}, {"all gone", "x\ny\n", ""}, {"end goes", "a\nb\n", "a\nb"}, {"windows", "a\r\nb\r\n", "a\r\nB\r\n"},
		{"looks like a diff", "-- a\n++ b\n", "--- a\n+++ b\n"},
	} {
		files := parse(diff(t, c.old, c.now))
		if len(files) != 1 || files[0].path != "x.txt" || files[0].what != "Edited" {
			t.Errorf("%s: %+v", c.name, files)
			continue
		}
		text := c.now
		for i := len(files[0].hunks) - 1; i >= 0; i-- {
			var err error
			if text, err = files[0].hunks[i].revert(text); err != nil {
				t.Errorf("%s: hunk %d: %v", c.name, i, err)
			}
		}
		if text != c.old {
			t.Errorf("%s: %q, want %q", c.name, text, c.old)
		}
	}
	// One of them, in any order, with other lines above.
	h := parse(diff(t, old, now))[0].hunks
	text, err := h[1].revert("new first line\n" + now)
	if want := "new first line\n" + strings.Replace(now, "line 29\n", "line 29\nline 30\n", 1); err != nil || text != want {
		t.Errorf("%v: %q", err, text)
	}
}

// A place that has changed since is left as it is, and so is one of two equal places.
func TestRevertRefuses(t *testing.T) {
	h := parse(diff(t, "a\nb\nc\n", "a\nB\nc\n"))[0].hunks[0]
	for _, now := range []string{"a\nother\nc\n", "", "a\nB\n", "x\na\nB\nc\ny\n"[:3]} {
		if text, err := h.revert(now); err == nil {
			t.Errorf("%q becomes %q", now, text)
		}
	}
	one := parse(diff(t, lines(9)+"x\n"+lines(9), lines(9)+"y\n"+lines(9)))[0].hunks[0]
	block := strings.Join(func() (out []string) { _, now := one.sides(); return now }(), "")
	if text, err := one.revert(block + strings.Repeat("gap\n", 5) + block); err == nil {
		t.Errorf("one of two places is changed: %q", text)
	}
}

func TestParseWholeSteps(t *testing.T) {
	d := "rename from a\nrename to b/c\nnew folder d\ndeleted folder e\n--- a/big\n+++ b/big\nLarge files differ: 5000000 bytes, then 6000000 bytes.\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+hi\n--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-hi\n"
	var got []string
	for _, f := range parse(d) {
		got = append(got, fmt.Sprintf("%s %s %s %q %d", f.what, f.from, f.path, f.note, len(f.hunks)))
	}
	want := []string{`Renamed a b/c "" 0`, `New folder  d "" 0`, `Deleted folder  e "" 0`, `Edited  big "Large files differ: 5000000 bytes, then 6000000 bytes." 0`, `New  new.txt "" 1`, `Deleted  gone.txt "" 1`}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A review shows what several steps have changed together, and leaves the user's own changes in between.
func TestPartsOfSeveralSteps(t *testing.T) {
	step1, step2, step3 := lines(40), strings.Replace(lines(40), "line 3\n", "LINE 3\n", 1), ""
	step3 = strings.Replace(step2, "line 30\n", "line thirty\nline 30b\n", 1)
	now := map[string]string{"x.txt": step3, "new.txt": "hi\n"}
	present := func(name string) (string, bool) { s, ok := now[name]; return s, ok }
	steps := []step{
		{3, true, "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+hi\n"},
		{2, true, diff(t, step2, step3)},
		{1, true, diff(t, step1, step2)},
	}
	list := parts(steps, present)
	if len(list) != 2 || list[0].path != "new.txt" || list[0].there || list[0].was != "" || list[1].path != "x.txt" || list[1].was != step1 || !list[1].there || list[1].why != "" || len(list[1].steps) != 2 {
		for _, p := range list {
			t.Errorf("%+v", p)
		}
	}
	// The first step alone is reviewed: the text before it is the same, as the later step is taken back in between.
	steps[0].mine, steps[1].mine = false, false
	if list := parts(steps, present); len(list) != 1 || list[0].was != step1 {
		t.Errorf("%+v", list)
	}
	// A change that is not in the steps makes the text before unknown.
	now["x.txt"] = "something else\n"
	if list := parts(steps, present); len(list) != 1 || list[0].why == "" {
		t.Errorf("%+v", list)
	}
	// A deleted file has its old text, and a renamed one a note.
	gone := parts([]step{{1, true, "--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-hi\n"}, {0, true, "rename from a\nrename to b\n"}}, func(string) (string, bool) { return "", false })
	if len(gone) != 2 || gone[0].was != "hi\n" || gone[0].what != "Deleted" || gone[1].why != "Renamed from a." {
		t.Errorf("%+v", gone)
	}
}

// A guest that lies about a text colours nothing.
func TestSpansOfALiar(t *testing.T) {
	text := []string{"ab", "", "c"}
	span := func(class, s string) markdown.Span { return markdown.Span{Class: class, Text: s} }
	for _, c := range []struct {
		name  string
		spans []markdown.Span
		ok    bool
	}{
		{"honest", []markdown.Span{span("keyword", "a"), span("", "b\n"), span("x-1", "\nc")}, true},
		{"less", []markdown.Span{span("", "ab\n\n")}, false}, {"more", []markdown.Span{span("", "ab\n\ncd")}, false}, {"other", []markdown.Span{span("", "aB\n\nc")}, false},
		{"a line more", []markdown.Span{span("", "ab\n\nc\n")}, false}, {"none", nil, false}, {"lines early", []markdown.Span{span("", "a\nb")}, false},
		{"class", []markdown.Span{span(`x" onclick="y`, "ab\n\nc")}, false}, {"long class", []markdown.Span{span(strings.Repeat("x", 33), "ab\n\nc")}, false},
	} {
		if _, ok := spansByLine(c.spans, text); ok != c.ok {
			t.Errorf("%s: %v", c.name, ok)
		}
	}
}

func TestDump(t *testing.T) {
	if got, want := dump([]byte("<b>\x00\xff0123456789abc")), "00000000  3c 62 3e 00 ff 30 31 32 33 34 35 36 37 38 39 61  <b>..0123456789a\n00000010  62 63                                            bc\n"; got != want {
		t.Errorf("%q", got)
	}
}
