package btcp

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// Page are the tools that let a model, an agent of [Serve] or code of [Execute] use the app's own page. Each call passes the
// gate of the box: the policy grants its capability, and the user sees the whole effect, unless a rule allows it. The
// results are copied text, and no tool returns an object of the page.
//
//	tools, err := btcp.Page{Root: "#report", Storage: "tools."}.Tools()
//
//	dom_querySelector {selector}                dom.read         describes the first element that matches, or null
//	dom_observe {selector, seconds}             dom.read         waits until its description changes
//	dom_setText {selector, from, to}            dom.write        changes the text of an element
//	storage_get {key}, storage_set {key, value} storage.*        a text of the page's localStorage, below a prefix
//	clipboard_read {}, clipboard_write {text}   clipboard.*      a text of the clipboard
//
// The tools don't see what the user has typed: they look at a copy without the content of form fields and of editable elements,
// without scripts, and without anything outside of Root, so that a selector tells nothing about these either.
//
// dom_setText changes only elements for text, such as p, td and h1, that have no element in them, and none in a link, a button, a label or an
// editable element. The element must have the text from, so that the question shows all that is lost. So it makes no element, runs
// no script and renames no control. A user may still take a changed text for the app's own: choose Root so that
// it has none that the user decides by.
//
// Code of [Execute] has them as btcp.parentDOM, btcp.storage and btcp.clipboard, as far as the message's capabilities go. To let its calls
// pass the gate, run it by the box: box.Call(ctx, "code_run", …).
type Page struct {
	// Root is the CSS selector of the element that the tools see. It is itself not found. The default is "body".
	Root string
	// Storage is the beginning of the keys in localStorage that the tools may use, such as "tools.". The app must store
	// nothing below it. With "" there are no tools for storage. There are at most 100 keys and 256 KiB.
	Storage string
	// MaxText is the maximum length of a text of an element, of an attribute, and of the clipboard, in UTF-16 units. Longer texts are
	// cut. The default is 10,000, the maximum 1,000,000.
	MaxText int

	off pageOff
}

// pageOff are defences that a test switches off.
type pageOff struct{ copied, kinds, from, quota, prefix, controls bool }

// Limits of the tools of a [Page].
const (
	maxSelector   = 1000      // bytes
	maxElements   = 20_000    // of Root
	maxAttributes = 64        // of a description
	maxWrite      = 100_000   // bytes of a text for the page or the clipboard
	maxKeys       = 100       // below Storage
	maxStored     = 256 << 10 // bytes of all keys and values below Storage
)

// forText is the selector of the elements whose text dom_setText changes, and control that of those in which it changes none.
const (
	forText = "p, span, div, h1, h2, h3, h4, h5, h6, li, dt, dd, td, th, caption, figcaption, em, strong, b, i, u, s, small, sub, sup, code, pre, blockquote, cite, q, time, output, mark"
	control = "a, area, button, label, legend, summary, select, option, datalist, dialog, svg, math, [role], [contenteditable], [onclick]"
)

// Tools returns the tools. Outside of a page they are missing. An option out of its range is [protocol.ErrInvalidParams].
func (p Page) Tools() ([]sandbox.Tool, error) {
	if p.MaxText < 0 || p.MaxText > 1_000_000 {
		return nil, protocol.Errorf(protocol.ErrInvalidParams, "btcp.Page.MaxText", "", "is %d; want 0 to 1,000,000", p.MaxText)
	}
	if p.Storage != "" && !prefixForm.MatchString(p.Storage) {
		return nil, protocol.Errorf(protocol.ErrInvalidParams, "btcp.Page.Storage", p.Storage, "want 2 to 64 letters, digits, dots, underscores and hyphens")
	}
	if p.MaxText == 0 {
		p.MaxText = 10_000
	}
	if p.Root == "" {
		p.Root = "body"
	}
	list := []sandbox.Tool{p.query(), p.observe(), p.setText()}
	if p.Storage != "" {
		list = append(list, p.get(), p.set())
	}
	list = append(list, p.paste(), p.copy())
	for i := range list {
		list[i].Missing = missing
	}
	return list, nil
}

var (
	prefixForm = regexp.MustCompile(`^[A-Za-z0-9._-]{2,64}$`)
	keyForm    = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)
)

func needs(c protocol.Capability, subject string) []policy.Need {
	return []policy.Need{{Capability: c, Subject: subject}}
}

func selectorOf(s string) error {
	if s == "" || len(s) > maxSelector {
		return protocol.Errorf(protocol.ErrInvalidParams, "selector", "", "has %d bytes; want 1 to %d", len(s), maxSelector)
	}
	return nil
}

type byQuery struct {
	Selector string `json:"selector" jsonschema:"a CSS selector"`
}

func (p Page) query() sandbox.Tool {
	return sandbox.Func("dom_querySelector", "Describes the first element of the page that a CSS selector finds: tagName, id, className, textContent and attributes. The result is null if there is none.",
		func(in byQuery) []policy.Need { return needs(protocol.DOMRead, in.Selector) },
		func(_ context.Context, _ *sandbox.Call, in byQuery) (any, error) {
			if err := selectorOf(in.Selector); err != nil {
				return nil, err
			}
			return p.describe(in.Selector)
		})
}

type observing struct {
	Selector string  `json:"selector" jsonschema:"a CSS selector"`
	Seconds  float64 `json:"seconds" jsonschema:"how long to wait, 1 to 60"`
}

func (p Page) observe() sandbox.Tool {
	t := sandbox.Func("dom_observe", "Waits until the first element of the page that a CSS selector finds changes, comes or goes. Returns changed, and the element as dom_querySelector does.",
		func(in observing) []policy.Need { return needs(protocol.DOMRead, in.Selector) },
		func(ctx context.Context, _ *sandbox.Call, in observing) (any, error) {
			if err := selectorOf(in.Selector); err != nil {
				return nil, err
			}
			if !(in.Seconds >= 1 && in.Seconds <= 60) {
				return nil, protocol.Errorf(protocol.ErrInvalidParams, "dom_observe", "", "seconds is %v; want 1 to 60", in.Seconds)
			}
			ctx, cancel := context.WithTimeout(ctx, time.Duration(in.Seconds*float64(time.Second)))
			defer cancel()
			element, changed, err := p.changed(ctx, in.Selector)
			if err != nil {
				return nil, err
			}
			return map[string]any{"changed": changed, "element": element}, nil
		})
	t.Time = 65 * time.Second
	t.Preview = func(_ context.Context, c *sandbox.Call) (title, diff string) {
		var in observing
		if c.Bind(&in) != nil {
			return "", ""
		}
		return fmt.Sprintf("watch the page for %v s", in.Seconds), ""
	}
	return t
}

type changing struct {
	Selector string `json:"selector" jsonschema:"a CSS selector of one element without elements in it"`
	From     string `json:"from" jsonschema:"the text that the element has, complete"`
	To       string `json:"to" jsonschema:"the text that it gets"`
}

func (p Page) setText() sandbox.Tool {
	t := sandbox.Func("dom_setText", "Changes the text of an element of the page, such as a paragraph, a cell or a heading. The text that it has must be given too. Controls, links and elements with others in them can't be changed.",
		func(in changing) []policy.Need { return needs(protocol.DOMWrite, in.Selector) },
		func(_ context.Context, _ *sandbox.Call, in changing) (any, error) {
			if err := in.check(); err != nil {
				return nil, err
			}
			return map[string]any{"changed": true}, p.change(in.Selector, in.From, in.To, true)
		})
	t.Precheck = func(_ context.Context, c *sandbox.Call) error {
		var in changing
		if err := c.Bind(&in); err != nil {
			return err
		}
		if err := in.check(); err != nil {
			return err
		}
		return p.change(in.Selector, in.From, in.To, false)
	}
	t.Preview = func(_ context.Context, c *sandbox.Call) (title, diff string) {
		var in changing
		if c.Bind(&in) != nil {
			return "", ""
		}
		return "", lines("-", in.From) + lines("+", in.To)
	}
	return t
}

func (in changing) check() error {
	if err := selectorOf(in.Selector); err != nil {
		return err
	}
	return writable("dom_setText", in.To)
}

// writable returns an error if a text is too long, or has characters that a terminal or a reader acts on.
func writable(tool, text string) error {
	if len(text) > maxWrite || !utf8.ValidString(text) {
		return protocol.Errorf(protocol.ErrInvalidParams, tool, "", "the text has %d bytes; want at most %d, in UTF-8", len(text), maxWrite)
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 }); i >= 0 {
		return protocol.Errorf(protocol.ErrInvalidParams, tool, "", "the text has a control character at byte %d", i)
	}
	return nil
}

// lines returns a text with a mark at the beginning of each line.
func lines(mark, text string) string {
	if text == "" {
		return ""
	}
	return mark + strings.ReplaceAll(text, "\n", "\n"+mark) + "\n"
}

type byKey struct {
	Key string `json:"key" jsonschema:"1 to 100 letters, digits, dots, underscores and hyphens"`
}

func (p Page) get() sandbox.Tool {
	return sandbox.Func("storage_get", "Returns a text that storage_set has stored in this browser, or null.",
		func(in byKey) []policy.Need { return needs(protocol.StorageRead, in.Key) },
		func(_ context.Context, _ *sandbox.Call, in byKey) (any, error) {
			key, err := p.key(in.Key)
			if err != nil {
				return nil, err
			}
			v, ok, err := stored(key)
			if err != nil || !ok {
				return map[string]any{"value": nil}, err
			}
			return map[string]any{"value": v}, nil
		})
}

type storing struct {
	Key   string  `json:"key" jsonschema:"1 to 100 letters, digits, dots, underscores and hyphens"`
	Value *string `json:"value" jsonschema:"the text, or nothing to remove it"`
}

func (p Page) set() sandbox.Tool {
	t := sandbox.Func("storage_set", "Stores a text in this browser under a key, or removes it. It stays when the page is closed.",
		func(in storing) []policy.Need { return needs(protocol.StorageWrite, in.Key) },
		func(_ context.Context, _ *sandbox.Call, in storing) (any, error) {
			key, err := p.key(in.Key)
			if err != nil {
				return nil, err
			}
			return map[string]any{"stored": in.Value != nil}, p.store(key, in.Value)
		})
	t.Preview = func(_ context.Context, c *sandbox.Call) (title, diff string) {
		var in storing
		if c.Bind(&in) != nil {
			return "", ""
		}
		if key, err := p.key(in.Key); err == nil {
			old, _, _ := stored(key)
			diff = lines("-", old)
		}
		if in.Value != nil {
			diff += lines("+", *in.Value)
		}
		return "", diff
	}
	return t
}

// key returns the key in localStorage of a key of a tool.
func (p Page) key(key string) (string, error) {
	if !keyForm.MatchString(key) && !p.off.prefix {
		return "", protocol.Errorf(protocol.ErrInvalidParams, "key", key, "want 1 to 100 letters, digits, dots, underscores and hyphens")
	}
	if p.off.prefix {
		return key, nil
	}
	return p.Storage + key, nil
}

func (p Page) paste() sandbox.Tool {
	return sandbox.Func("clipboard_read", "Returns the text of the clipboard.",
		func(struct{}) []policy.Need { return needs(protocol.ClipboardRead, "") },
		func(ctx context.Context, _ *sandbox.Call, _ struct{}) (any, error) {
			text, err := readClipboard(ctx, p.MaxText)
			return map[string]any{"text": text}, err
		})
}

type copying struct {
	Text string `json:"text"`
}

func (p Page) copy() sandbox.Tool {
	t := sandbox.Func("clipboard_write", "Puts a text into the clipboard.",
		func(copying) []policy.Need { return needs(protocol.ClipboardWrite, "") },
		func(ctx context.Context, _ *sandbox.Call, in copying) (any, error) {
			if err := writable("clipboard_write", in.Text); err != nil {
				return nil, err
			}
			return map[string]any{"written": true}, writeClipboard(ctx, in.Text)
		})
	t.Precheck = func(_ context.Context, c *sandbox.Call) error {
		var in copying
		if err := c.Bind(&in); err != nil {
			return err
		}
		return writable("clipboard_write", in.Text)
	}
	t.Preview = func(_ context.Context, c *sandbox.Call) (title, diff string) {
		var in copying
		if c.Bind(&in) != nil {
			return "", ""
		}
		return "", in.Text
	}
	return t
}
