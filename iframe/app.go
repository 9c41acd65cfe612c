package iframe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/hosted"
	"github.com/bailey-go/bailey/protocol"
)

// App shows the page of a tool: an MCP App (SEP-1865, version 2026-01-26 of the extension
// io.modelcontextprotocol/ui). Make one with [NewApp]. All methods may be called from any goroutine.
//
// In the opaque mode, the default, the page runs in two nested frames with opaque origins. It can load nothing, connect to nothing,
// store nothing, open nothing and ask the browser for nothing. Everything else goes through the
// messages of the protocol, and each of these is a function of [AppOptions] that the page's author
// can't reach in another way. The Content-Security-Policy of the page around applies to the app as
// well. One in a meta element of the app's HTML has no effect: such policies are written for inline
// scripts, which run from blob: URLs here.
//
// In the conforming mode, with [AppOptions.Proxy], a sandbox proxy on another origin is the outer frame, as
// the standard describes it. The page is loaded unchanged, and its origin is as opaque. It can start
// workers from blob: URLs, show frames, and use the features of the browser that the user agreed to.
type App struct {
	host *appHost
	impl appImpl
}

// AppOptions configure an app. The zero value is safe and strict: the app shows the input and the
// result of its tool, and every request of the app is refused.
type AppOptions struct {
	// Label is the accessible name of the frame, such as "Chart, from the server weather". Default
	// "App".
	Label string

	// Proxy is the address of a sandbox proxy on another origin, and chooses the conforming mode. The
	// proxy is the page that [AppOptions.Page] returns. The policy of the page around must list its
	// origin in frame-src, and in connect-src unless AllowWithoutConnectionAllowlist is set. Default ""
	// for the opaque mode.
	Proxy string

	// Connect and Resources are the origins that the user agreed to, from those that the page
	// declares in [protocol.App]. Others, and those that the page does not declare, have no effect, nor have
	// those that the policy of the page around does not list.
	// Connect is for fetch and sockets. Resources is for scripts, styles, images, fonts and media.
	// The app can send data to all of them. Default none.
	Connect, Resources []string

	// Frames and Permissions are the origins of frames in the app, and the features of the browser, in
	// the same sense. They count in the conforming mode only. The features are "camera",
	// "clipboard-write", "geolocation" and "microphone". Default none.
	Frames, Permissions []string

	// AllowWithoutConnectionAllowlist lets the app start even if the page has no
	// Connection-Allowlist that this browser enforces. The app can then send data to any host by
	// name look-ups, by the connection that a blocked navigation opens and, if Resources lists an
	// origin, by WebRTC in a script from there. In the conforming mode the header is that of Proxy, and
	// WebRTC is open without it. Without it, NewApp returns an error that wraps
	// [ErrLeaks].
	AllowWithoutConnectionAllowlist bool

	// Ask shows a question of the app to the user and reports whether the user agreed. kind is
	// "message" (text is then sent in the user's name), "link" (an address to open), "download" (the
	// names and sizes of files) or "display" (a mode). One question is open at a time. After three
	// refusals in a row, further questions are refused without being shown. Nil refuses all.
	Ask func(ctx context.Context, kind, text string) bool

	// OnMessage receives a message to the model that the user has agreed to. Nil refuses them.
	OnMessage func(ctx context.Context, text string) error

	// OnContext receives text for the model's next turn. Each call replaces the text before it, and
	// "" removes it. Its author is the app: mark it as such. At most 16 KiB. Nil refuses it.
	OnContext func(text string)

	// OnCall calls a tool for the app and returns the result, in the form of the protocol's
	// CallToolResult. It must pass a gate such as [sandbox.Box.CallForApp], because the app chooses
	// the name and the arguments. Nil refuses all calls.
	OnCall func(ctx context.Context, tool string, args map[string]any) (result any, err error)

	// OnRead reads a resource of the app's server and returns the contents, in the form of the
	// protocol's ReadResourceResult. Nil refuses it.
	OnRead func(ctx context.Context, uri string) (result any, err error)

	// OnLog receives a message of the app for developers, of at most 2,000 bytes.
	OnLog func(level, text string)

	// OnSize receives the height of the frame in CSS pixels after each change.
	OnSize func(height int)

	// OnDisplay shows the app in a mode of Modes. The user has agreed to every mode but "inline".
	OnDisplay func(mode string)

	// Modes are the display modes that the app may ask for: "inline", "fullscreen" and "pip".
	// Default "inline".
	Modes []string

	// OnEnd is called when the app ends by itself: nil if it asked for that, otherwise an error that
	// wraps [ErrFrameLost].
	OnEnd func(err error)

	// Scheme is "light", "dark" or "". It is the theme that the app is told.
	Scheme string

	// Locale is the user's language as a BCP 47 tag, which the app is told. Default none.
	Locale string

	// MaxHeight is the maximum height of the frame in CSS pixels, and Height the one before the app
	// says its own. Defaults 800 and 120, at most 10,000.
	Height, MaxHeight int

	// ReadyTimeout is how long the frames may take to become ready. Default 10 s.
	ReadyTimeout time.Duration

	// TrustedTypesPolicy is the name of the Trusted Types policy, as in [DocumentOptions].
	TrustedTypesPolicy string

	off    appOff        // in attack tests
	layers []frame.Layer // that an attack test leaves out
}

// appOff turns off defences in attack tests.
type appOff struct {
	rate, size       bool
	ask, once        bool
	state            bool // requests before ui/initialize
	link, file, mode bool
	hurry            bool // the app has a minute to store its state
	sender, within   bool // of the conforming mode: the sender of a message, and the page's own policy
}

// NewApp appends the app to parent and returns when its frames are ready. The app lives until Close
// is called, ctx ends, or it ends by itself.
//
// If the page's Content-Security-Policy forbids the frames' scripts, the error wraps
// [ErrFrameBlocked]: script-src must list [ScriptHashes] and blob: (blobScripts in headers.json).
// Outside a browser the error matches [errors.ErrUnsupported].
func NewApp(ctx context.Context, parent Element, page protocol.App, opts AppOptions) (*App, error) {
	opts, err := opts.withDefaults(page)
	if err != nil {
		return nil, err
	}
	return newApp(ctx, parent, page, opts)
}

// Input tells the app the arguments of its tool. They can be told several times while a model writes
// them, with complete false. The last time must be with complete true.
func (a *App) Input(args any, complete bool) error { return a.host.input(args, complete) }

// Result tells the app the result of its tool, in the form of the protocol's CallToolResult, such as
// {"content": [{"type": "text", "text": …}], "structuredContent": …}.
func (a *App) Result(result any) error { return a.host.result(result) }

// Cancelled tells the app that its tool was stopped, and why.
func (a *App) Cancelled(reason string) error { return a.host.cancelled(reason) }

// SetScheme tells the app that the page is now "light" or "dark".
func (a *App) SetScheme(scheme string) error {
	if scheme != "light" && scheme != "dark" {
		return fmt.Errorf("iframe: App.SetScheme: %q: want \"light\" or \"dark\"", scheme)
	}
	return a.host.scheme(scheme)
}

// SetDisplay tells the app that the user shows it in another mode.
func (a *App) SetDisplay(mode string) error { return a.host.display(mode) }

// Height returns the height of the frame in CSS pixels.
func (a *App) Height() int { return a.host.currentHeight() }

// Err returns the reason why the app ended: nil while it lives, ErrClosed after Close, and otherwise
// an error that wraps ErrFrameLost.
func (a *App) Err() error { return a.impl.failure() }

// Close removes the app from the page. The app first has up to 500 ms to store its state by a call of a
// tool, if it has answered before. Close is idempotent.
func (a *App) Close() error { return a.impl.close() }

// Limits of an app.
const (
	maxAppPage     = 8 << 20  // bytes of its HTML
	maxAppMessage  = 2 << 20  // bytes of a message from it
	maxAppOut      = 16 << 20 // bytes of a message to it
	maxAppHeight   = 10_000
	maxAppContext  = 16 << 10
	maxAppText     = 16 << 10 // bytes of a message in the user's name
	maxAppRequests = 16       // of its requests at once
	maxAppFiles    = 10       // of a download
	maxRefusals    = 3        // in a row
)

// appModes are the display modes of the protocol.
var appModes = []string{"inline", "fullscreen", "pip"}

func (o AppOptions) withDefaults(page protocol.App) (AppOptions, error) {
	var errs []error
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf("iframe: "+format, args...)) }
	if o.Label == "" {
		o.Label = "App"
	}
	if o.Height == 0 {
		o.Height = 120
	}
	if o.MaxHeight == 0 {
		o.MaxHeight = 800
	}
	if o.ReadyTimeout == 0 {
		o.ReadyTimeout = defaultReadyTimeout
	}
	if o.TrustedTypesPolicy == "" {
		o.TrustedTypesPolicy = "bailey"
	}
	if len(o.Modes) == 0 {
		o.Modes = []string{"inline"}
	}
	if o.Height < 1 || o.MaxHeight > maxAppHeight || o.Height > o.MaxHeight {
		refuse("AppOptions: Height is %d and MaxHeight %d CSS pixels: want 1 to MaxHeight, and at most %d", o.Height, o.MaxHeight, maxAppHeight)
	}
	if o.ReadyTimeout < 0 {
		refuse("AppOptions.ReadyTimeout is %v: want a positive duration, or 0 for the default", o.ReadyTimeout)
	}
	if o.Scheme != "" && o.Scheme != "light" && o.Scheme != "dark" {
		refuse("AppOptions.Scheme is %q: want \"light\", \"dark\" or \"\"", o.Scheme)
	}
	for _, m := range o.Modes {
		if !slices.Contains(appModes, m) {
			refuse("AppOptions.Modes: %q: the modes are %s", m, strings.Join(appModes, ", "))
		}
	}
	if len(o.Label) > 1000 || strings.ContainsFunc(o.Label, unicode.IsControl) {
		refuse("AppOptions.Label %.40q: want at most 1000 bytes without control characters", o.Label)
	}
	if page.HTML == "" || len(page.HTML) > maxAppPage {
		refuse("the app's page has %d bytes: want 1 to %d", len(page.HTML), maxAppPage)
	}
	o.Connect = hosted.Agreed(o.Connect, page.Connect, true)
	o.Resources = hosted.Agreed(o.Resources, page.Resources, false)
	if o.Proxy == "" {
		o.Frames, o.Permissions = nil, nil
	}
	o.Frames = hosted.Agreed(o.Frames, page.Frames, false)
	o.Permissions = slices.DeleteFunc(frame.AppFeatures(), func(f string) bool {
		return !slices.Contains(o.Permissions, f) || !slices.Contains(page.Permissions, f)
	})
	return o, errors.Join(errs...)
}

// Page returns the sandbox proxy of the conforming mode, for a server to send at [AppOptions.Proxy] from
// another origin than that of the page around. It uses only the options Connect, Resources, Frames and
// Permissions. They are the most that any app can have there, and the proxy's Connection-Allowlist. Page
// works natively too, as [EnclaveOptions.Page]. "wasm_exec apps" writes it as a file.
//
// embedders are the origins of the pages around, at least one. The page works without its headers, as a
// static file. Name look-ups, preconnect and WebRTC are then open to apps, and NewApp refuses it unless
// AllowWithoutConnectionAllowlist is set. In a cross-origin isolated page an app has no frames.
func (o AppOptions) Page(embedders ...string) (HostedPage, error) {
	p, err := hosted.Proxy(frame.ProxyPage{Hosts: embedders, Connect: o.Connect, Resources: o.Resources, Frames: o.Frames, Features: o.Permissions, Off: o.layers})
	return HostedPage(p), err
}

// appHost is the host's side of the protocol, without the frames.
type appHost struct {
	opts  AppOptions
	ctx   context.Context
	post  func(text string) // sends a message to the app
	size  func(height int)  // sets the height of the frame
	end   func(err error)   // ends the app
	save  func(name, kind string, data []byte) error
	opens func(ctx context.Context, l Link) error
	now   func() time.Time

	mu       sync.Mutex
	stage    appStage
	running  map[string]*appCall       // requests of the app by their ids
	pending  map[float64]chan struct{} // requests to the app
	next     float64
	height   int
	mode     string
	knows    appContext // what the app was told of its context
	asking   bool
	refusals int
	said     bucket
	sized    bucket
	whole    bool      // the complete input was told
	told     [3]string // the last input, result and reason, for an app that is not ready or is loaded again
}

// appCall is a request of the app that runs.
type appCall struct{ cancel context.CancelFunc }

// appContext is what changes of an app's context.
type appContext struct{ scheme, mode string }

// appStage is how far the app has come.
type appStage uint8

const (
	appSilent  appStage = iota
	appGreeted          // ui/initialize was answered
	appReady            // it has confirmed that
	appOver
)
