package iframe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/bailey-go/bailey/iframe/markdown"
	"github.com/bailey-go/bailey/internal/frame"
)

// Limits of a document.
const (
	defaultMaxImage     = 4 << 20 // bytes of one image from OnImage
	maxThemeValue       = 256     // bytes of a theme variable's value
	defaultReadyTimeout = 10 * time.Second
	defaultHeartbeat    = 2 * time.Second
	defaultMaxHeight    = 1 << 20 // CSS pixels, about 65,000 lines
	maxSections         = 10000   // sections of one document
	maxSectionID        = 128     // bytes of a section's ID
)

// constant is a string type that accepts only untyped constants from other packages. This keeps
// text from elsewhere out of the style.
type constant string

// DocumentOptions configure a document. The zero value is safe and strict: links do nothing,
// and images are shown as their alternative text.
type DocumentOptions struct {
	// Renderer converts Markdown to HTML. Nil means a new one with markdown.Options{}. One
	// renderer may serve many documents.
	Renderer *markdown.Renderer

	// Label is the accessible name of the frame. Default "Conversation".
	Label string

	// Lang is the language of the text as a BCP 47 tag, such as "en". Empty means unknown.
	Lang string

	// OnLink is called when the user clicks, middle-clicks or presses Enter on a link. The
	// package opens nothing by itself: show Link.URL to the user, ask, and then call
	// [Link.Open]. A relative link has Link.Path instead, the path of a file. OnLink runs on its
	// own goroutine, with a context that ends with the document. Above 8 clicks at once or 4 a second, further clicks are dropped.
	OnLink func(context.Context, Link)

	// OnImage is called for each image in the text that is not a data: URL. It returns the
	// bytes of the image (PNG, JPEG, GIF, WebP or AVIF, at most MaxImage bytes). If it returns
	// an error, the image's alternative text stays in its place. Nil refuses all images.
	// OnImage runs on its own goroutine.
	OnImage func(context.Context, ImageRequest) ([]byte, error)

	// MaxImage is the size of the largest image accepted from OnImage, in bytes. Default
	// 4 MiB.
	MaxImage int

	// OnCopy receives the text of a code block, or a table as CSV, when the user presses its copy button. It
	// returns an error if the text could not be copied. The text comes from the document's own
	// copy, and not from the frame. The default writes to the clipboard.
	OnCopy func(context.Context, string) error

	// OnSave receives the text of a code block when the user presses its download button, and a
	// name such as code.go. It returns an error if the text could not be saved. The default has the
	// browser save it.
	OnSave func(ctx context.Context, name, text string) error

	// OnOpen receives the text of a code block when the user presses its Open button, and a name
	// such as code.go. Without it there is no such button.
	OnOpen func(ctx context.Context, name, text string) error

	// OnViolation receives the reports of the frame's policy, on its own goroutine. With the
	// sanitiser on, the policy should never have to stop anything. Above 100 reports at once or
	// 10 a second, further reports are dropped.
	OnViolation func(CSPViolation)

	// OnState receives the states of the frame in order, on its own goroutine: ready, lost,
	// rebuilt, failed.
	OnState func(State)

	// OnHeight receives the height of the frame in CSS pixels after each change, in order and on its own
	// goroutine, for a page that scrolls by itself. [Document.Height] has the newest.
	OnHeight func(px int)

	// Follow keeps the end of the document in view as it grows. The nearest parent that scrolls, or the
	// page, is moved to its end if it was there, to 40 pixels, right before the document grew. So a user
	// who scrolls up stays where they are, and one who scrolls to the end follows again. A document taller
	// than MaxHeight, which scrolls inside its frame, does so in any case.
	Follow bool

	// Theme is the initial theme. [Document.SetTheme] changes it.
	Theme Theme

	// CSS is added after the document's own style. Only a constant is accepted here. The style
	// cannot load anything.
	CSS constant

	// MaxHeight is the maximum height of the frame in CSS pixels. Taller content scrolls inside
	// the frame. Default 1,048,576, about 65,000 lines, at most 16,777,216.
	MaxHeight int

	// ReadyTimeout is how long the frame may take to become ready. Default 10 s.
	ReadyTimeout time.Duration

	// Heartbeat is the interval between checks of a silent frame. Default 2 s, at least
	// 100 ms. After three unanswered checks the frame counts as lost and is rebuilt in
	// the same place.
	Heartbeat time.Duration

	// TrustedTypesPolicy is the name of the Trusted Types policy, created once in the page and
	// once in each frame. Default "bailey". A page whose Content-Security-Policy has a
	// trusted-types directive must list this name.
	TrustedTypesPolicy string
}

func (o DocumentOptions) withDefaults() (DocumentOptions, error) {
	if o.Label == "" {
		o.Label = "Conversation"
	}
	if o.MaxImage == 0 {
		o.MaxImage = defaultMaxImage
	}
	if o.MaxHeight == 0 {
		o.MaxHeight = defaultMaxHeight
	}
	if o.ReadyTimeout == 0 {
		o.ReadyTimeout = defaultReadyTimeout
	}
	if o.Heartbeat == 0 {
		o.Heartbeat = defaultHeartbeat
	}
	if o.TrustedTypesPolicy == "" {
		o.TrustedTypesPolicy = "bailey"
	}
	var errs []error
	refuse := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("iframe: DocumentOptions."+format, args...))
	}
	if o.MaxImage < 0 {
		refuse("MaxImage is %d bytes: want at least 1, or 0 for the default", o.MaxImage)
	}
	if o.MaxHeight < 1 || o.MaxHeight > 1<<24 {
		refuse("MaxHeight is %d CSS pixels: want 1 to 16777216, or 0 for the default", o.MaxHeight)
	}
	if o.ReadyTimeout < 0 {
		refuse("ReadyTimeout is %v: want a positive duration, or 0 for the default", o.ReadyTimeout)
	}
	if o.Heartbeat < 100*time.Millisecond {
		refuse("Heartbeat is %v: want at least 100ms, or 0 for the default", o.Heartbeat)
	}
	if strings.ContainsFunc(o.TrustedTypesPolicy, func(r rune) bool {
		return !(r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-#=_/@.%", r)))
	}) {
		refuse("TrustedTypesPolicy is %q: want letters, digits and -#=_/@.%% only", o.TrustedTypesPolicy)
	}
	if strings.ContainsFunc(o.Lang, func(r rune) bool {
		return !(r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-'))
	}) {
		refuse("Lang is %q: want a BCP 47 tag such as \"en\" or \"pt-BR\"", o.Lang)
	}
	if err := o.Theme.check(); err != nil {
		errs = append(errs, err)
	}
	return o, errors.Join(errs...)
}

// Theme sets the look of a document. These variables have an effect, and [Theme.Names] returns their names:
//
//	--bailey-font          fonts of text
//	--bailey-mono          fonts of code
//	--bailey-size          size of text, 16px
//	--bailey-line          height of a line, 1.6
//	--bailey-background    behind everything, transparent
//	--bailey-text          colour of text
//	--bailey-muted         colour of less important text, such as comments in code
//	--bailey-link          colour of links and of the focus
//	--bailey-border        lines of tables, code and quotations
//	--bailey-surface       behind code and messages of the user
//	--bailey-accent        colour of check boxes
//	--bailey-warn          colour of warnings
//	--bailey-warn-surface  behind warnings
//
// Colours of code are classes such as hl-keyword, hl-string and hl-comment. They have colours for both schemes,
// which DocumentOptions.CSS can change.
type Theme struct {
	// Scheme is "light", "dark" or "". Empty follows the surroundings of the document: the
	// page's color-scheme, or the user's preference.
	Scheme string

	// Variables are CSS custom properties. A name begins with two hyphens, and one that begins with
	// --bailey- is one of [Theme.Names]. A value has at most 256 bytes.
	Variables map[string]string
}

// Names returns the names of the variables that have an effect, sorted. They are the same for every
// Theme.
func (Theme) Names() []string { return frame.ThemeVariables() }

func (t Theme) check() error {
	if t.Scheme != "" && t.Scheme != "light" && t.Scheme != "dark" {
		return fmt.Errorf("iframe: Theme.Scheme is %q: want \"light\", \"dark\" or \"\"", t.Scheme)
	}
	for name, value := range t.Variables {
		bad := func(r rune) bool {
			return !(r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_'))
		}
		if len(name) < 3 || !strings.HasPrefix(name, "--") || strings.ContainsFunc(name, bad) {
			return fmt.Errorf("iframe: Theme.Variables: %q is no name of a CSS custom property (--name)", name)
		}
		if strings.HasPrefix(name, "--bailey-") && !slices.Contains(t.Names(), name) {
			return fmt.Errorf("iframe: Theme.Variables: there is no variable %s: the names are %s", name, strings.Join(t.Names(), ", "))
		}
		if len(value) > maxThemeValue {
			return fmt.Errorf("iframe: Theme.Variables[%q] has %d bytes: at most %d", name, len(value), maxThemeValue)
		}
	}
	return nil
}

// State is a state of a document's frame.
type State string

// States of a document.
const (
	StateReady   State = "ready"   // the frame accepts content
	StateLost    State = "lost"    // the frame is gone or silent, and is being rebuilt
	StateRebuilt State = "rebuilt" // a new frame shows all sections again
	StateFailed  State = "failed"  // the frame was rebuilt too often: see Document.Err
)

// CSPViolation is the browser's report that something in a frame violated the frame's Content
// Security Policy, such as by an image from a web address.
type CSPViolation struct {
	Directive string // the effective directive, such as "img-src"
	Blocked   string // URL or keyword, at most 1,000 characters
	Enforced  bool   // false: only reported
	Sample    string // the first characters of an inline script or style
}
