package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/internal/gate"
	"github.com/bailey-go/bailey/sandbox/internal/raster"
	"github.com/bailey-go/bailey/sandbox/secrets"
)

// The limits of files in a conversation, in bytes unless it says otherwise.
const (
	// maxImage is the limit of a PNG, JPEG, GIF or WebP image that is sent to models. In base64 it is
	// 5 MiB, the smallest limit of the providers (Anthropic's on some platforms).
	maxImage = 5 << 20 / 4 * 3
	// maxFile is the limit of any other file.
	maxFile = 8 << 20
	// maxFiles is the number of files in one message, be it the user's or the model's, or in one tool's
	// result.
	maxFiles = 10
	// maxFilesBytes is the limit of all files of one message, or of one tool's result.
	maxFilesBytes = 12 << 20
	// maxSessionFiles is the limit of all files of a session. Equal files count once.
	maxSessionFiles = 32 << 20

	maxPixels    = 8000          // of an image's width and height: Anthropic refuses more
	sentFiles    = 20            // files of a request: with more, Anthropic refuses images above 2,000 pixels
	sentBytes    = maxFilesBytes // bytes of a request's files: in base64 16 MiB, below Gemini's limit of 20 MB
	maxFileName  = 255
	maxMediaType = 127

	imageTokens  = 1600 // see File.tokens
	bytesOfToken = 128
)

// File is a file in a message or in a tool's result, such as an image or a PDF.
type File struct {
	// Name is the name for the user and the model, such as "chart.png". It need not be unique.
	// Control characters and those that turn the direction of text become "_", and a name is cut
	// after the last character that ends within 255 bytes. "" becomes "file".
	Name string
	// MediaType is the type without parameters, such as "image/png" or "application/pdf". "" is the
	// type of the content if it is a PNG, JPEG, GIF or WebP image or a PDF, "text/plain" for text,
	// and otherwise "application/octet-stream".
	MediaType string
	// Data is the content, of at least one byte.
	Data []byte

	id            string // SHA-256 of the content in hex
	size          int    // of the content
	width, height int    // of an image, in pixels
	local         bool   // only a model on this machine receives it
	far           *File  // a model elsewhere receives this one in its place, without credentials
	imported      bool   // no model receives it, see importedLine
	made          bool   // a model made it in this answer
}

// importedLine stands for a file of an imported conversation. A page may not show the file, or its name,
// to the user, and a stranger chose both.
const importedLine = "[a file of an imported conversation, which is not sent]"

// checked returns f with all its fields, or the error of a file that a conversation can't hold.
func (f File) checked() (File, error) {
	f.Name = cleanName(f.Name)
	f.size = len(f.Data)
	fail := func(code protocol.Code, format string, a ...any) (File, error) {
		return File{}, protocol.Errorf(code, "file", f.Name, format, a...)
	}
	if len(f.Data) == 0 {
		return fail(protocol.ErrInvalidParams, "the file is empty")
	}
	f.MediaType = strings.ToLower(f.mediaType())
	if !validMediaType(f.MediaType) {
		return fail(protocol.ErrInvalidParams, "the media type must be like image/png, without parameters")
	}
	is := imageType(f.Data)
	if f.image() {
		is = raster.Type(f.Data)
	}
	if is != "" || f.image() {
		if err := f.checkImage(is); err != nil {
			return File{}, err
		}
	}
	if len(f.Data) > maxFile {
		return fail(protocol.ErrResourceLimit, "the file has %d bytes, and a message takes files of at most %d; put it into the folder, where tools can read parts of it", len(f.Data), maxFile)
	}
	f.id = fileID(f.Data)
	return f, nil
}

// fileID returns the SHA-256 of a content in hex.
func fileID(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// checkImage checks an image whose content is of the type is. The limits of images that models take are
// not for one that a model made, or that no model receives.
func (f *File) checkImage(is string) error {
	if is != f.MediaType {
		return protocol.Errorf(protocol.ErrInvalidParams, "file", f.Name, "the content is %s and not %s; leave the media type empty", cmp.Or(is, "no such image"), f.MediaType)
	}
	m, err := raster.Check(f.Data)
	own := f.made || f.imported
	switch {
	case err != nil:
		return protocol.Errorf(protocol.ErrExecution, "file", f.Name, "the image is damaged or cut off; save it again with an image program").WithReason(protocol.ReasonParse)
	case len(f.Data) > maxImage && !own:
		return protocol.Errorf(protocol.ErrResourceLimit, "file", f.Name, "the image has %d bytes, and models take at most %d; make it smaller, or save it as JPEG", len(f.Data), maxImage)
	case (m.Width > maxPixels || m.Height > maxPixels) && !own:
		return protocol.Errorf(protocol.ErrResourceLimit, "file", f.Name, "the image has %d × %d pixels, and models take at most %d on each side; make it smaller, or cut a part out", m.Width, m.Height, maxPixels)
	}
	f.width, f.height = m.Width, m.Height
	return nil
}

// image reports whether f is of a type that models take as an image. SVG is not: it is text.
func (f *File) image() bool {
	switch f.MediaType {
	case raster.PNG, raster.JPEG, raster.GIF, raster.WebP:
		return true
	}
	return false
}

// text reports whether f is of a type whose content models take as text.
func (f *File) text() bool {
	switch f.MediaType {
	case "application/json", "application/xml", "application/javascript", "application/yaml", "image/svg+xml":
		return true
	}
	return strings.HasPrefix(f.MediaType, "text/")
}

// String returns the name, the type and the size, such as "[image: a.png, image/png, 1234 bytes]",
// for a reader that does not get the content.
func (f File) String() string { return f.line("") }

func (f *File) line(why string) string {
	media := f.mediaType()
	kind, _, _ := strings.Cut(media, "/")
	if kind != "image" && kind != "audio" && kind != "video" {
		kind = "file"
	}
	return fmt.Sprintf("[%s: %s, %s, %d bytes%s]", kind, gate.Spelled(f.Name), media, cmp.Or(f.size, len(f.Data)), why)
}

// tokens estimates the tokens of a file. Providers count an image by its pixels: at most about 1,600
// tokens at Anthropic, and 1,100 to 2,500 at OpenAI and Google. A page of a PDF has as many as an
// image, and a scanned one about 200 KB. So other files count one token for 128 bytes, and at least as
// many as an image. https://docs.claude.com/en/docs/build-with-claude/vision
func (f *File) tokens() int {
	size := cmp.Or(f.size, len(f.Data))
	switch {
	case f.image():
		return imageTokens
	case f.text():
		return size / 4
	}
	return max(imageTokens, size/bytesOfToken)
}

func cleanName(name string) string {
	name = strings.ToValidUTF8(name, "_")
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' {
			return '_'
		}
		return r
	}, name)
	if end := maxFileName; len(name) > end {
		for !utf8.RuneStart(name[end]) {
			end--
		}
		name = name[:end]
	}
	return cmp.Or(name, "file")
}

// imageType returns the media type of an image by its content, or "". A text may begin like a GIF.
func imageType(data []byte) string {
	is := raster.Type(data)
	if is != "" && isText(data) {
		if _, err := raster.Check(data); err != nil {
			return ""
		}
	}
	return is
}

// mediaType returns f's type, or that of its content if f has none.
func (f *File) mediaType() string {
	if t := cmp.Or(f.MediaType, imageType(f.Data)); t != "" {
		return t
	}
	switch {
	case bytes.HasPrefix(f.Data, []byte("%PDF-")):
		return "application/pdf"
	case len(f.Data) > 0 && isText(f.Data):
		return "text/plain"
	}
	return "application/octet-stream"
}

// isText reports whether a content is text: UTF-8 without a NUL in its first 8,000 bytes.
func isText(data []byte) bool {
	return utf8.Valid(data) && strings.IndexByte(string(data[:min(len(data), 8000)]), 0) < 0
}

// validMediaType reports whether s is a media type without parameters, as of RFC 6838, section 4.2.
func validMediaType(s string) bool {
	kind, sub, ok := strings.Cut(s, "/")
	token := func(s string) bool {
		return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789!#$&-^_.+") == ""
	}
	return ok && len(s) <= maxMediaType && token(kind) && token(sub)
}

// checkFiles returns the files of one message, answer or result with all their fields: those of have,
// which were checked, and more.
func checkFiles(have []File, more ...File) ([]File, error) {
	if n := len(have) + len(more); n > maxFiles {
		return nil, protocol.Errorf(protocol.ErrResourceLimit, "files", "", "%d files are more than the %d that a message takes; send the rest with the next message", n, maxFiles)
	}
	out, sum := slices.Clone(have), 0
	for _, f := range have {
		sum += f.size
	}
	for _, f := range more {
		f, err := f.checked()
		if err != nil {
			return nil, err
		}
		if sum += f.size; sum > maxFilesBytes {
			return nil, protocol.Errorf(protocol.ErrResourceLimit, "files", f.Name, "the files together have more than the %d bytes that a message takes; send the rest with the next message", maxFilesBytes)
		}
		out = append(out, f)
	}
	return out, nil
}

// record returns the stored form of a file. The content is stored beside the messages, under its id.
func (f *File) record() map[string]any {
	m := map[string]any{"file": f.id, "name": f.Name, "media_type": f.MediaType, "bytes": float64(f.size)}
	if f.width > 0 {
		m["width"], m["height"] = float64(f.width), float64(f.height)
	}
	if f.local {
		m["local"] = true
	}
	if f.imported {
		m["imported"] = true
	}
	if f.far != nil {
		m["far"] = f.far.record()
	}
	return m
}

// fileOf returns a file without its content from its stored form. A stored conversation may have been
// written by anyone.
func fileOf(v any) (f File, ok bool) {
	m, _ := v.(map[string]any)
	str := func(key string) string { s, _ := m[key].(string); return s }
	num := func(key string) int {
		n, _ := m[key].(float64)
		if n >= 0 && n <= maxFile {
			return int(n)
		}
		return 0
	}
	f = File{Name: cleanName(str("name")), MediaType: str("media_type"), id: str("file"), size: num("bytes"), width: num("width"), height: num("height")}
	f.local, _ = m["local"].(bool)
	f.imported, _ = m["imported"].(bool)
	if far, ok := m["far"].(map[string]any); ok && far["far"] == nil {
		if far, ok := fileOf(far); ok {
			f.far = &far
		} else {
			f.local = true
		}
	}
	return f, validFileID(f.id) && validMediaType(f.MediaType)
}

// validFileID reports whether id is a SHA-256 in hex.
func validFileID(id string) bool {
	return len(id) == 2*sha256.Size && strings.Trim(id, "0123456789abcdef") == ""
}

// filesOf returns the files of a stored part without their contents: a file, or those of a tool's result.
func filesOf(p PartRecord) (out []File) {
	d, _ := p.Data.(map[string]any)
	list, _ := d["files"].([]any)
	if p.Type == "file" {
		list = []any{d}
	}
	for _, v := range list[:min(len(list), maxFiles)] {
		if f, ok := fileOf(v); ok {
			out = append(out, f)
		}
	}
	return out
}

// storedFiles returns the files of a stored part, and what models elsewhere receive in their place.
func storedFiles(p PartRecord) []File { return withFar(filesOf(p)) }

func withFar(list []File) (out []File) {
	for _, f := range list {
		out = append(out, f)
		if f.far != nil {
			out = append(out, *f.far)
		}
	}
	return out
}

// sendableFiles returns the files of a list that a model may receive.
func sendableFiles(list []File, to Model) (out []File) {
	for _, f := range list {
		switch {
		case f.far != nil && !to.Local():
			out = append(out, *f.far)
		case !f.local || to.Local():
			out = append(out, f)
		}
	}
	return out
}

// Files returns the files of a part of the session, with their contents: a part of the type "file",
// or a call whose result has files. The error of a content that the store no longer has wraps
// [fs.ErrNotExist].
func (s *Session) Files(ctx context.Context, p PartRecord) ([]File, error) {
	list := filesOf(p)
	for i := range list {
		var err error
		if list[i].Data, err = s.content(ctx, list[i].id); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// content returns the content of a stored file. A damaged one counts as one that is not there.
func (s *Session) content(ctx context.Context, id string) ([]byte, error) {
	data, err := s.store.File(ctx, s.rec.ID, id)
	if err != nil {
		return nil, err
	}
	if fileID(data) != id {
		return nil, noFile(id)
	}
	return data, nil
}

func noFile(id string) error {
	return protocol.Errorf(protocol.ErrSession, "file", id, "%w", fs.ErrNotExist).WithReason(protocol.ReasonNotFound)
}

// storeFiles stores the contents of files. If more is set, the session may have more than its limit.
func (s *Session) storeFiles(ctx context.Context, list []File, more bool) error {
	if len(list) == 0 {
		return nil
	}
	s.mu.Lock()
	closed, have := s.closed, s.fileSizes()
	s.mu.Unlock()
	if closed {
		return protocol.Errorf(protocol.ErrSession, "session", s.rec.ID, "the session is closed")
	}
	if err := fits(have, list); err != nil && !more {
		return err
	}
	for _, f := range list {
		if err := s.store.PutFile(ctx, s.rec.ID, f.id, f.Data); err != nil {
			return err
		}
	}
	return nil
}

// fileSizes returns the sizes of the stored files by id. mu is held.
func (s *Session) fileSizes() map[string]int {
	have := map[string]int{}
	maps.Copy(have, s.sizes)
	for _, parts := range s.parts {
		for _, p := range parts {
			for _, f := range storedFiles(p) {
				have[f.id] = f.size
			}
		}
	}
	return have
}

// fits adds files to have, the sizes of a session's files by id. It returns an error if they are
// too many.
func fits(have map[string]int, list []File) error {
	for _, f := range list {
		have[f.id] = f.size
	}
	sum := 0
	for _, n := range have {
		sum += n
	}
	if sum > maxSessionFiles {
		return protocol.Errorf(protocol.ErrResourceLimit, "files", "", "the files of a conversation may have %d bytes, and with this they would have %d; begin a new conversation", maxSessionFiles, sum)
	}
	return nil
}

// withLines returns messages with lines in the place of files. From the newest file to the oldest, line
// returns the line for a file, or "" if the file stays, and may change the file.
func withLines(list []ModelMessage, line func(f *File, of PartType) (string, error)) ([]ModelMessage, error) {
	list = slices.Clone(list)
	for i := len(list) - 1; i >= 0; i-- {
		list[i].Parts = slices.Clone(list[i].Parts)
		for j := len(list[i].Parts) - 1; j >= 0; j-- {
			p := &list[i].Parts[j]
			files, lines := []File(nil), []string(nil)
			for _, f := range slices.Backward(p.Files) {
				if text, err := line(&f, p.Type); err != nil {
					return nil, err
				} else if text != "" {
					lines = append(lines, text)
				} else {
					files = append(files, f)
				}
			}
			slices.Reverse(files)
			slices.Reverse(lines)
			p.replace(files, lines)
		}
	}
	return list, nil
}

// newest returns messages with a line in the place of each file that is not sent. The newest ones are
// sent, up to 20 files and 12 MiB. If texts is set, only texts are.
func newest(list []ModelMessage, texts bool) []ModelMessage {
	count, sum := 0, 0
	list, _ = withLines(list, func(f *File, _ PartType) (string, error) { // which never fails
		if texts && !f.text() {
			return f.String(), nil
		}
		if count++; count > sentFiles || sum+f.size > sentBytes {
			count = sentFiles // nor is an older one sent: the newest are without a gap
			return f.line("; it is too old to be sent again"), nil
		}
		sum += f.size
		return "", nil
	})
	return list
}

// described returns messages with a line in the place of each file.
func described(list []ModelMessage) []ModelMessage {
	list, _ = withLines(list, func(f *File, _ PartType) (string, error) { return f.String(), nil })
	return list
}

// load reads the contents of the files of a request. A line stands for one that the store no longer
// has. The content of a text is sent as text, and in a tool's result it is cut as other results are.
func (s *Session) load(ctx context.Context, list []ModelMessage) ([]ModelMessage, error) {
	read := map[string][]byte{}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.loaded = read // of the last request, because the next one needs them again
	}()
	s.mu.Lock()
	before := s.loaded
	s.mu.Unlock()
	return withLines(list, func(f *File, of PartType) (line string, err error) {
		data, ok := before[f.id]
		if !ok {
			if data, err = s.content(ctx, f.id); errors.Is(err, fs.ErrNotExist) {
				return f.line("; its content is lost"), nil
			} else if err != nil {
				return "", err
			}
		}
		read[f.id], f.Data = data, data
		if !f.text() || !isText(data) {
			return "", nil
		}
		text := string(data)
		if most := outputLimitFor("").Bytes; of == PartResult && len(text) > most {
			text = strings.ToValidUTF8(text[:most], "") + "\n[cut here; the user has the whole file]"
		}
		return f.String() + "\n" + text, nil
	})
}

// replace sets the files of a part, and puts lines in the place of the others.
func (p *ModelPart) replace(files []File, lines []string) {
	p.Files = files
	if len(lines) == 0 {
		return
	}
	text := strings.Join(lines, "\n")
	if p.Type == PartFile {
		*p = ModelPart{Type: PartText, Text: text}
		return
	}
	p.Text = strings.TrimPrefix(p.Text+"\n"+text, "\n")
}

// added returns the files of the call's result.
func (c *Call) added() []File {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.files
}

// AddFile adds a file to the call's result. The model receives it with the result, as far as the
// policy's "send" lets it have the content of all files that the call touched. The limits and the
// errors are those of a message, see [Session.Say]. The result of a call that fails has no files, and
// code that makes the call gets its data alone.
func (c *Call) AddFile(f File) error {
	_, err := c.addFile(f)
	return err
}

// addFile adds a file as AddFile does, and returns it with all its fields.
func (c *Call) addFile(f File) (File, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f.Name, _ = secrets.Redact(context.Background(), cleanName(f.Name))
	list, err := checkFiles(c.files, f)
	if err != nil {
		return File{}, err
	}
	c.files = list
	return list[len(list)-1], nil
}
