package browser

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
)

// Filer is a Page that can choose files of this machine for an <input type=file>. For an input with
// webkitdirectory, Chromium takes a folder, and the other engines refuse one.
type Filer interface {
	SetFiles(ctx context.Context, selector string, paths ...string) error
}

// SetFiles implements [Filer].
func (p *firefoxPage) SetFiles(ctx context.Context, selector string, paths ...string) error {
	files, err := absolute(paths)
	if err != nil {
		return err
	}
	var found struct {
		Nodes []struct {
			SharedID string `json:"sharedId"`
		}
	}
	if err := p.f.bidi.call(ctx, "browsingContext.locateNodes", map[string]any{
		"context": p.context, "locator": map[string]string{"type": "css", "value": selector}, "maxNodeCount": 1,
	}, &found); err != nil {
		return err
	}
	if len(found.Nodes) == 0 {
		return fmt.Errorf("browser: nothing in the page matches %q", selector)
	}
	return p.f.bidi.call(ctx, "input.setFiles", map[string]any{
		"context": p.context, "element": map[string]string{"sharedId": found.Nodes[0].SharedID}, "files": files,
	}, nil)
}

// SetFiles implements [Filer]. It types the paths into the input, as WebDriver does.
func (p *webkitPage) SetFiles(ctx context.Context, selector string, paths ...string) error {
	files, err := absolute(paths)
	if err != nil {
		return err
	}
	var found map[string]string
	if err := p.call(ctx, http.MethodPost, "/element", map[string]string{"using": "css selector", "value": selector}, &found); err != nil {
		return err
	}
	for _, id := range found { // one, under a name that WebDriver fixes
		return p.call(ctx, http.MethodPost, "/element/"+id+"/value", map[string]string{"text": strings.Join(files, "\n")}, nil)
	}
	return fmt.Errorf("browser: nothing in the page matches %q", selector)
}

func absolute(paths []string) ([]string, error) {
	out := make([]string, len(paths))
	for i, p := range paths {
		a, err := filepath.Abs(p)
		if err != nil {
			return nil, err
		}
		out[i] = a
	}
	return out, nil
}
