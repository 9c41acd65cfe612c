package iframe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/hosted"
	"github.com/bailey-go/bailey/internal/wire/enclave"
	"github.com/bailey-go/bailey/protocol"
)

// EnclaveOptions configure an [Enclave] or an [EnclavePool]. The zero value is the strictest
// level and no tools.
type EnclaveOptions struct {
	// Level sets the limits and the globals of the code's realm. The zero value is
	// [protocol.Strict].
	Level protocol.Level

	// Limits override the level's limits field by field. A zero field keeps the level's limit. The
	// times do not count while a tool asks the user, see [protocol.Limits] and [protocol.Asking].
	Limits protocol.Limits

	// Tools are the tools that the code can call with callTool and mcp. Nil means none.
	Tools *protocol.Toolset

	// Authorize, if set, is called before each tool call, with arguments that match the tool's
	// schema. If it returns an error, the call is refused with that error. It must return when
	// its context ends. sandbox.WatchOptions.Authorize makes one of patterns of names, repetitions and
	// sequences of calls.
	Authorize func(ctx context.Context, tool *protocol.Tool, args any) error

	// TrustedTypesPolicy is the name of the Trusted Types policy that the frames create. The
	// default is "bailey".
	TrustedTypesPolicy string

	// ReadyTimeout is how long the first frames may take to start. The default is 10 s.
	ReadyTimeout time.Duration

	// Heartbeat is the interval between pings to the frames and brokers. A frame or broker
	// counts as lost after three unanswered pings, and the outer frame after twenty while one of
	// its brokers answers. The default is 500 ms, the minimum 50 ms.
	Heartbeat time.Duration

	// Warm keeps a prepared worker waiting in each frame, complete except for the code. A run
	// then takes little more than half as long: 7.6 ms instead of 13 ms in our benchmarks. The
	// cost is the memory of that worker. A page with a Content-Security-Policy must then also
	// list blob: in script-src (blobScripts in wasm_exec's headers.json), because a running
	// worker can receive code in no other way. NewDOMEnclave ignores Warm.
	Warm bool

	// URL is the address of a page for the outermost frame of this enclave: https:, http: or
	// relative to the page's own address. The server must send the HTML and headers that
	// [EnclaveOptions.Page] returns for the same Level, Warm and TrustedTypesPolicy. The enclave then
	// has its own policy and inherits nothing from the page. The page needs only frame-src, and
	// neither [ScriptHashes] nor blob:. A page on another site also has its own process in
	// browsers that isolate sites. Give each tenant whose crash must not affect others a site
	// of its own. The default is a page made in place.
	URL string

	// off switches layers off, for tests that show the purpose of each layer.
	off []frame.Layer
	// most replaces the bound of the time in which a person is asked, for tests.
	most time.Duration
}

func (o EnclaveOptions) withDefaults() (EnclaveOptions, error) {
	if err := o.Limits.Validate(); err != nil {
		return o, fmt.Errorf("iframe: EnclaveOptions: %w", err)
	}
	if o.Level > protocol.Permissive {
		return o, fmt.Errorf("iframe: EnclaveOptions: unknown level %d", o.Level)
	}
	o.Limits = o.Limits.Or(o.Level.Limits())
	if o.Tools == nil {
		o.Tools = &protocol.Toolset{}
	}
	if o.TrustedTypesPolicy == "" {
		o.TrustedTypesPolicy = "bailey"
	}
	if o.ReadyTimeout < 0 || o.Heartbeat < 0 {
		return o, errors.New("iframe: EnclaveOptions: times can't be negative")
	}
	if strings.ContainsFunc(o.URL, unicode.IsControl) || len(o.URL) > 8<<10 {
		return o, errors.New("iframe: EnclaveOptions: URL holds control characters, or more than 8 KB")
	}
	if o.ReadyTimeout == 0 {
		o.ReadyTimeout = 10 * time.Second
	}
	if o.Heartbeat == 0 {
		o.Heartbeat = 500 * time.Millisecond
	}
	if o.Heartbeat < 50*time.Millisecond {
		return o, fmt.Errorf("iframe: EnclaveOptions: Heartbeat %v: it must be at least 50 ms", o.Heartbeat)
	}
	return o, nil
}

// RunOptions configure one run. The zero value is useful.
type RunOptions struct {
	// Args is the value of args in the code. It can be any value that a tool may
	// return, see [protocol.Tool]. Nil is undefined.
	Args any

	// Context defines constants for the code, by name. Each name must be a JavaScript
	// identifier that is not already in use.
	Context map[string]any

	// Limits narrow the limits of the enclave. A larger limit has no effect. The times do not
	// count while a tool asks the user, see [protocol.Asking]. The deadline of the run's context
	// counts always.
	Limits protocol.Limits

	// OnConsole, if set, receives each call of console as it arrives, in order. Run returns
	// after the last OnConsole call.
	OnConsole func(protocol.ConsoleRow)

	// Grace is how long the code may continue after its context has ended. During this time its
	// open calls and sleeps are rejected, and signal.aborted is true. It must be between 0 and
	// the time limit of the run. The default of 0 kills the code at once.
	Grace time.Duration

	time time.Duration // of proveDOM: the time limit in place of the enclave's, if it is not 0
}

// An Enclave runs JavaScript that has not been reviewed. Make one with [NewEnclave].
//
// The code is the body of an async function in strict mode. It can use the whole language, such
// as await, return, classes and generators. It can use nothing of a page. Its globals are
// callTool(name, args), mcp.server.tool(args), parallel(fns, {concurrency}), console,
// sleep(ms), signal, args and the constants of [RunOptions.Context].
//
// The code runs in a worker below a trusted worker, inside two frames with opaque origins and a
// policy that permits no loading. Each run has its own worker, which leaves no state for the
// next run.
type Enclave struct{ pool *EnclavePool }

// NewEnclave makes an enclave in the page and returns when it is ready. If ctx ends before that,
// it returns the error of ctx. If ReadyTimeout passes before that, the error matches
// [protocol.ErrSandbox]. Afterwards ctx has no effect: the enclave lives until Close.
//
// A page with a Content-Security-Policy must list [ScriptHashes] in script-src and blob: in
// worker-src. Otherwise the error wraps [ErrFrameBlocked] and contains the directives to add.
// Outside a browser the error matches [errors.ErrUnsupported].
func NewEnclave(ctx context.Context, opts EnclaveOptions) (*Enclave, error) {
	p, err := NewEnclavePool(ctx, PoolOptions{EnclaveOptions: opts, Max: 1, Spare: 1})
	if err != nil {
		return nil, err
	}
	return &Enclave{p}, nil
}

// Run runs code and returns when it has ended. An enclave executes one run at a time, and
// further calls wait for their turn. See [EnclavePool.Run].
func (e *Enclave) Run(ctx context.Context, code string, opts RunOptions) (*protocol.RunResult, error) {
	return e.pool.Run(ctx, code, opts)
}

// Close aborts the current run and removes the frames. It is idempotent.
func (e *Enclave) Close() error { return e.pool.Close() }

// newProgram returns the program text and the first message of a run. text is that message,
// encoded as a batch with generation 1.
func newProgram(opts PoolOptions, code, id string, run RunOptions) (program, text string, start *enclave.MsgStart, limits protocol.Limits, err error) {
	if err = run.Limits.Validate(); err != nil {
		return "", "", nil, limits, err
	}
	limits = opts.Limits.Narrow(run.Limits)
	limits.Time = cmp.Or(run.time, limits.Time)
	if len(code) > limits.Code {
		return "", "", nil, limits, protocol.Errorf(protocol.ErrResourceLimit, "run", "", "the code has %d bytes; the limit is %d", len(code), limits.Code)
	}
	if run.Grace < 0 || run.Grace > limits.Time {
		return "", "", nil, limits, protocol.Errorf(protocol.ErrInvalidParams, "run", "", "Grace is %v; it must be 0 to the time limit, %v", run.Grace, limits.Time)
	}
	start = &enclave.MsgStart{Run: id, Args: run.Args, Context: run.Context, Limits: limits, Servers: map[string][]string{}}
	for t := range opts.Tools.All() {
		start.Tools = append(start.Tools, t.ID)
		if short, ok := strings.CutPrefix(t.ID, t.Server+"_"); ok && t.Server != "" && protocol.ValidToolName(short) == nil {
			start.Servers[t.Server] = append(start.Servers[t.Server], short)
		}
	}
	// EncodeStart checks the names before they become parameters of a function.
	if text, err = hosted.EncodeStart(1, start); err != nil {
		return "", "", nil, limits, err
	}
	names := make([]string, 0, len(run.Context))
	for n := range run.Context {
		names = append(names, n)
	}
	slices.Sort(names)
	unique, err := nonce()
	if err != nil {
		return "", "", nil, limits, err
	}
	p := frame.Program{Code: code, Nonce: "n" + unique, Names: names}
	return p.Text(), text, start, limits, nil
}

// claimed returns the code of an error that the untrusted realm reported. The realm may report
// only its own mistakes, so a claim about the sandbox or the host becomes ErrExecution.
func claimed(c protocol.Code) protocol.Code {
	switch c {
	case protocol.ErrInvalidParams, protocol.ErrOutputTooLarge, protocol.ErrResourceLimit:
		return c
	}
	return protocol.ErrExecution
}
