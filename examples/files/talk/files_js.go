package talk

import (
	"context"
	"encoding/base64"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/sandbox"
)

// pictured is a file that the document shows, and how to read it.
type pictured struct {
	sandbox.File
	read func(context.Context) ([]byte, error)
}

// images are the images of a document by their addresses in its text. The zero value has none.
type images struct {
	mu   sync.Mutex
	list []func(context.Context) ([]byte, error)
}

// imageAt is how the address of an image in the document's text begins. A number follows it.
const imageAt = "bailey-image:"

func (i *images) clear() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.list = nil
}

// add returns the address of another image.
func (i *images) add(read func(context.Context) ([]byte, error)) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.list = append(i.list, read)
	return imageAt + fmt.Sprint(len(i.list)-1)
}

// image returns an image of the document. A model can name one too, and the user sees it once more.
func (t *Talk) image(ctx context.Context, r iframe.ImageRequest) ([]byte, error) {
	at, n := strings.TrimPrefix(r.URL, imageAt), -1
	_, _ = fmt.Sscan(at, &n)
	t.images.mu.Lock()
	list := t.images.list
	t.images.mu.Unlock()
	if n < 0 || n >= len(list) || fmt.Sprint(imageAt, n) != r.URL {
		return nil, fs.ErrNotExist
	}
	return list[n](ctx)
}

// picture returns a file as Markdown: an image, or a line about another file.
func (t *Talk) picture(f pictured) string {
	if kind, _, _ := strings.Cut(strings.TrimPrefix(f.String(), "["), ":"); kind == "image" {
		return "![" + escape(f.Name) + "](" + t.images.add(f.read) + ")"
	}
	return "**" + escape(f.Name) + "** · attached"
}

// stored returns the files of stored parts, which are read when they are shown.
func (t *Talk) stored(parts []sandbox.PartRecord) (out []pictured) {
	for _, p := range parts {
		d, _ := p.Data.(map[string]any)
		kind, _ := d["media_type"].(string)
		out = append(out, pictured{sandbox.File{Name: NameOf(p), MediaType: kind}, func(ctx context.Context) ([]byte, error) {
			list, err := t.Session.Files(ctx, p)
			if err != nil || len(list) == 0 {
				return nil, err
			}
			return list[0].Data, nil
		}})
	}
	return out
}

// made shows a file that the model made.
func (t *Talk) made(f pictured) {
	s := t.section("Assistant")
	s.write(t.picture(f))
	_ = s.Close()
	t.text = nil
}

// streamed shows a file that the model made just now. The chunk has its content.
func (t *Talk) streamed(c sandbox.Chunk) {
	_, text, _ := strings.Cut(c.URL, ",")
	data, err := base64.StdEncoding.DecodeString(text)
	if dom.Failed(err) {
		return
	}
	t.made(pictured{sandbox.File{Name: "file", MediaType: c.MediaType}, func(context.Context) ([]byte, error) { return data, nil }})
}

// Written returns the text of a message, and its parts that are files.
func Written(m sandbox.Message) (text string, files []sandbox.PartRecord) {
	for _, p := range m.Parts {
		d, _ := p.Data.(map[string]any)
		switch p.Type {
		case "text":
			more, _ := d["text"].(string)
			text = strings.TrimPrefix(text+"\n\n"+more, "\n\n")
		case "file":
			files = append(files, p)
		}
	}
	return text, files
}

// NameOf returns the name of a part that is a file.
func NameOf(p sandbox.PartRecord) string {
	d, _ := p.Data.(map[string]any)
	name, _ := d["name"].(string)
	return name
}
