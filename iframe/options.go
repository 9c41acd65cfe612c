package iframe

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/bailey-go/bailey/iframe/markdown"
)

// Defaults and limits of a document.
const (
	DefaultReadyTimeout = 10 * time.Second
	DefaultHeartbeat    = 2 * time.Second
	DefaultMaxHeight    = 1 << 20 // CSS pixels, about 65,000 lines
	DefaultMaxImage     = 4 << 20 // bytes of one image from OnImage
	MaxSections         = 10000   // sections of one document
	MaxSectionID        = 128     // bytes of a section's id
	MaxThemeValue       = 256     // bytes of a theme variable's value
)

// constant is a string that only a constant can be, so that no text from
// elsewhere becomes style.
type constant string

// DocumentOptions configure a document. The zero value is safe and strict:
// links do nothing, images stay words.
type DocumentOptions struct {
	// Renderer turns Markdown into HTML; nil takes one with
	// markdown.Options{}. A renderer may serve many documents.
	Renderer *markdown.Renderer

	// Label is the accessible name of the frame. Default "Conversation".
	Label string

	// Lang is the language of the text, as BCP 47 has it; "" is unknown.
	Lang string

	// OnLink hears of a click, a middle click or Enter on a link. Nothing is
	// opened unless it does: ask the person, showing Link.URL, and then call
	// [Link.Open]. It runs on a goroutine of its own, with a context that ends
	// with the document.
	OnLink func(context.Context, Link)

	// OnImage is asked for each image that the text refers to and that is not
	// a data: URL. It returns the image's bytes (PNG, JPEG, GIF, WebP or AVIF,
	// at most MaxImage), or an error, and then the image's words stand in its
	// place. Nil refuses all. It runs on a goroutine of its own.
	OnImage func(context.Context, ImageRequest) ([]byte, error)

	// MaxImage is the size of the largest image taken from OnImage, in bytes.
	// Default DefaultMaxImage.
	MaxImage int

	// OnCopy gets the text of a code block whose copy button was pressed, and
	// returns an error if it could not be copied. The text comes from the
	// document's own copy, not from the frame. Default: the clipboard.
	OnCopy func(context.Context, string) error

	// OnViolation hears what the frame's policy stopped, on a goroutine of its
	// own. With the sanitiser on, nothing should ever get that far.
	OnViolation func(Violation)

	// OnState hears of the frame's life, on a goroutine of its own: ready,
	// lost, rebuilt, failed.
	OnState func(State)

	// Theme is the first theme; [Document.SetTheme] changes it.
	Theme Theme

	// CSS is added behind the document's own style. Only a constant can be
	// given here. It can load nothing.
	CSS constant

	// MaxHeight clamps the frame's height, in CSS pixels; what is taller
	// scrolls inside. Default DefaultMaxHeight.
	MaxHeight int

	// ReadyTimeout bounds the wait for the frame. Default
	// DefaultReadyTimeout.
	ReadyTimeout time.Duration

	// Heartbeat is how often a silent frame is asked whether it lives.
	// Default DefaultHeartbeat; at least 100 ms. After three silent beats the
	// frame counts as lost and is rebuilt where it stood.
	Heartbeat time.Duration

	// TrustedTypesPolicy is the name of the policy made once in the page and
	// once in each frame. Default "bailey". A page whose CSP has a
	// trusted-types directive must list it.
	TrustedTypesPolicy string
}

func (o DocumentOptions) withDefaults() (DocumentOptions, error) {
	if o.Label == "" {
		o.Label = "Conversation"
	}
	if o.MaxImage == 0 {
		o.MaxImage = DefaultMaxImage
	}
	if o.MaxHeight == 0 {
		o.MaxHeight = DefaultMaxHeight
	}
	if o.ReadyTimeout == 0 {
		o.ReadyTimeout = DefaultReadyTimeout
	}
	if o.Heartbeat == 0 {
		o.Heartbeat = DefaultHeartbeat
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

// Theme is how a document looks. document.css in internal/frame lists the
// variables that it knows: --bailey-font, --bailey-text, --bailey-link and so on.
type Theme struct {
	// Scheme is "light", "dark", or "" to follow the place where the document
	// stands (the page's color-scheme, or the person's preference).
	Scheme string

	// Variables are CSS custom properties: names begin with two hyphens,
	// values are at most MaxThemeValue bytes.
	Variables map[string]string
}

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
		if len(value) > MaxThemeValue {
			return fmt.Errorf("iframe: Theme.Variables[%q] has %d bytes: at most %d", name, len(value), MaxThemeValue)
		}
	}
	return nil
}

// State is a point in the life of a document's frame.
type State string

// States of a document.
const (
	StateReady   State = "ready"   // the frame can be written to
	StateLost    State = "lost"    // the frame is gone or silent; it is being rebuilt
	StateRebuilt State = "rebuilt" // a new frame shows everything again
	StateFailed  State = "failed"  // rebuilt too often: see Document.Err
	StateClosed  State = "closed"
)

// Violation is something that a frame's policy stopped.
type Violation struct {
	Directive string // the effective directive, such as "img-src"
	Blocked   string // URL or keyword, at most 1,000 characters
	Enforced  bool   // false: only reported
	Sample    string // the first characters of an inline script or style
}
