package browser

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
)

// Filer is a Page that can choose files of this machine for an <input type=file>. For an input with
// webkitdirectory, Chromium takes a folder, and the other engines refuse one.
type Filer interface {
	SetFiles(ctx context.Context, selector string, paths ...string) error
}

// SetFiles implements [Filer]. For webkitdirectory it takes one folder.
func (p *ChromiumPage) SetFiles(ctx context.Context, selector string, paths ...string) error {
	files, err := absolute(paths)
	if err != nil {
		return err
	}
	quoted, err := quoteJS(selector)
	if err != nil {
		return err
	}
	r, err := cdp.Call(ctx, p.target, runtime.Evaluate, runtime.EvaluateParams{Expression: "document.querySelector(" + quoted + ")"})
	if err != nil {
		return err
	}
	if r.Result == nil || r.Result.ObjectID == "" {
		return fmt.Errorf("browser: nothing in the page matches %q", selector)
	}
	_, err = cdp.Call(ctx, p.target, dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: files, ObjectID: r.Result.ObjectID})
	return err
}

// Drop drags files and folders from outside of the browser onto the middle of an element.
func (p *ChromiumPage) Drop(ctx context.Context, selector string, paths ...string) error {
	files, err := absolute(paths)
	if err != nil {
		return err
	}
	x, y, err := point(ctx, p.Eval, selector)
	if err != nil {
		return err
	}
	for _, kind := range []input.DispatchDragEventType{input.DispatchDragEventTypeDragEnter, input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop} {
		_, err := cdp.Call(ctx, p.target, input.DispatchDragEvent, input.DispatchDragEventParams{
			Type: kind, X: x, Y: y,
			Data: &input.DragData{Items: []*input.DragDataItem{}, Files: files, DragOperationsMask: 1},
		})
		if err != nil {
			return err
		}
	}
	return nil
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
