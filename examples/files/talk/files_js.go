package talk

import (
	"context"
	"encoding/base64"
	"fmt"
	"io/fs"
	"strings"
	"sync"

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

// open returns an image of the document, or one of the folder by picture. A model can name one too, and the
// user sees it once more.
func (i *images) open(ctx context.Context, r iframe.ImageRequest, picture func(context.Context, string) ([]byte, error)) ([]byte, error) {
	if r.Path != "" {
		return picture(ctx, r.Path)
	}
	at, n := strings.TrimPrefix(r.URL, imageAt), -1
	_, _ = fmt.Sscan(at, &n)
	i.mu.Lock()
	list := i.list
	i.mu.Unlock()
	if n < 0 || n >= len(list) || fmt.Sprint(imageAt, n) != r.URL {
		return nil, fs.ErrNotExist
	}
	return list[n](ctx)
}

// markdown returns a file as Markdown: an image, or a line about another file.
func (i *images) markdown(f pictured) string {
	if kind, _, _ := strings.Cut(strings.TrimPrefix(f.String(), "["), ":"); kind == "image" {
		return "![" + escape(f.Name) + "](" + i.add(f.read) + ")"
	}
	return "**" + escape(f.Name) + "** · attached"
}

// stored returns the files of stored parts, which are read when they are shown.
func stored(s *sandbox.Session, parts ...sandbox.PartRecord) (out []pictured) {
	for _, p := range parts {
		d, _ := p.Data.(map[string]any)
		kind, _ := d["media_type"].(string)
		out = append(out, pictured{sandbox.File{Name: NameOf(p), MediaType: kind}, func(ctx context.Context) ([]byte, error) {
			list, err := s.Files(ctx, p)
			if err != nil || len(list) == 0 {
				return nil, err
			}
			return list[0].Data, nil
		}})
	}
	return out
}

// streamed returns a file that the model made just now. The chunk has its content.
func streamed(c sandbox.Chunk) (pictured, error) {
	_, text, _ := strings.Cut(c.URL, ",")
	data, err := base64.StdEncoding.DecodeString(text)
	return pictured{sandbox.File{Name: "file", MediaType: c.MediaType}, func(context.Context) ([]byte, error) { return data, nil }}, err
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
