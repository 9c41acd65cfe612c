package iframe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/protocol"
)

// EnclaveOptions configure an [Enclave] or an [EnclavePool]. The zero value is the
// strictest level and no tools.
type EnclaveOptions struct {
	// Level chooses limits and what the code's realm has. The zero value is
	// [protocol.Strict].
	Level protocol.Level

	// Limits override the level's, field by field.
	Limits protocol.Limits

	// Tools are what callTool and mcp reach. nil is none.
	Tools *protocol.Toolset

	// Authorize is asked before each call of a tool, with arguments that fit its
	// schema. An error refuses the call. It must honour its context.
	Authorize func(ctx context.Context, tool *protocol.Tool, args any) error

	// TrustedTypesPolicy is the name of the Trusted Types policy that the frames
	// make. The default is "bailey".
	TrustedTypesPolicy string

	// ReadyTimeout is how long the first frames may take. The default is 10 s.
	ReadyTimeout time.Duration

	// Heartbeat is the interval at which frames and brokers are asked for a sign of
	// life; three that stay unanswered mean lost. The default is 500 ms.
	Heartbeat time.Duration

	// Warm keeps a worker waiting in each frame, with all but the code in it: a run then
	// takes little more than half as long (7.6 ms in place of 13 in our benches). It costs the memory of that worker, and a
	// page with a Content-Security-Policy must also list blob: in script-src (blobScripts in
	// wasm_exec's headers.json), for that is the only way to give code to a worker that
	// runs. NewDOMEnclave ignores it.
	Warm bool

	// URL is the address of a page with which this enclave begins, https: or http: or
	// relative to the page's own: what [EnclavePage] gives for the same Level, Warm and
	// TrustedTypesPolicy, served with its headers. The enclave then has a policy of its
	// own and inherits nothing from the page, which needs no [ScriptHashes] and no
	// blob:, only frame-src. On another site than the page's it also has a process of its own, where
	// a browser isolates sites: enclaves of tenants that must not share fate belong on sites of their own.
	// The default is a page made in place.
	URL string

	// off switches layers off, for tests that show what each is for.
	off []frame.Layer
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
		return o, fmt.Errorf("iframe: EnclaveOptions: Heartbeat %v: less than 50 ms is more noise than news", o.Heartbeat)
	}
	return o, nil
}

// RunOptions are what one run gets. The zero value is useful.
type RunOptions struct {
	// Args is what the code sees as args: any value that [protocol.EncodeValue]
	// writes. nil is undefined.
	Args any

	// Context are named constants. The names must be JavaScript identifiers that are
	// not taken.
	Context map[string]any

	// Limits narrow the enclave's; a limit that is larger changes nothing.
	Limits protocol.Limits

	// OnConsole gets each call of console as it comes, in order. Run returns after
	// the last.
	OnConsole func(protocol.ConsoleRow)

	// Grace is how long the code may go on after its context has ended: open calls
	// and sleeps are rejected, signal.aborted is true. 0 kills it at once.
	Grace time.Duration
}

// An Enclave runs JavaScript that nobody has read. Make one with [NewEnclave].
//
// The code is the body of an async function in strict mode: await, return, classes,
// generators and all else of the language, and nothing of a page. It finds callTool(name,
// args), mcp.server.tool(args), parallel(fns, {concurrency}), console, sleep(ms),
// signal, args and the constants of [RunOptions.Context].
//
// It runs in a worker below a trusted worker, inside two frames whose origins are
// opaque and whose policy lets nothing be loaded. Each run has a worker of its own,
// and nothing is left of it for the next.
type Enclave struct{ pool *EnclavePool }

// NewEnclave makes an enclave in the page, and waits until it is ready or ctx is
// done. ctx does not limit the enclave's life; Close does. A page with a
// Content-Security-Policy must list [ScriptHashes] in script-src and have
// worker-src blob:; otherwise the error is [ErrFrameBlocked] and says so.
func NewEnclave(ctx context.Context, opts EnclaveOptions) (*Enclave, error) {
	p, err := NewEnclavePool(ctx, PoolOptions{EnclaveOptions: opts, Max: 1, Spare: 1})
	if err != nil {
		return nil, err
	}
	return &Enclave{p}, nil
}

// Run runs code and waits for its end. One run at a time: others wait for their turn.
// See [EnclavePool.Run].
func (e *Enclave) Run(ctx context.Context, code string, opts RunOptions) (*protocol.RunResult, error) {
	return e.pool.Run(ctx, code, opts)
}

// Close ends what runs and removes the frames. It is idempotent.
func (e *Enclave) Close() error { return e.pool.Close() }

// newProgram makes the script and the first message of a run; text is that message's
// batch as generation 1.
func newProgram(opts PoolOptions, code, id string, run RunOptions) (program, text string, start *protocol.MsgStart, limits protocol.Limits, err error) {
	if err = run.Limits.Validate(); err != nil {
		return "", "", nil, limits, err
	}
	limits = opts.Limits.Narrow(run.Limits)
	if len(code) > limits.Code {
		return "", "", nil, limits, protocol.Errorf(protocol.ErrResourceLimit, "run", "", "the code has %d bytes; the limit is %d", len(code), limits.Code)
	}
	if run.Grace < 0 || run.Grace > limits.Time {
		return "", "", nil, limits, protocol.Errorf(protocol.ErrInvalidParams, "run", "", "Grace is %v; it must be 0 to the time limit, %v", run.Grace, limits.Time)
	}
	start = &protocol.MsgStart{Run: id, Args: run.Args, Context: run.Context, Limits: limits, Servers: map[string][]string{}}
	for t := range opts.Tools.All() {
		start.Tools = append(start.Tools, t.ID)
		if short, ok := strings.CutPrefix(t.ID, t.Server+"_"); ok && t.Server != "" && protocol.ValidToolName(short) == nil {
			start.Servers[t.Server] = append(start.Servers[t.Server], short)
		}
	}
	// Encoding checks the names before they become parameters of a function.
	if text, err = encodeStart(1, start); err != nil {
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

// encodeStart is not bounded by the run's message limits: what the host hands in is
// the host's to bound.
func encodeStart(gen int, m *protocol.MsgStart) (string, error) {
	return protocol.EncodeBatch(protocol.Batch{Gen: gen, Messages: []protocol.Message{m}}, protocol.HostToBroker,
		protocol.JSONLimits{Bytes: 256 << 20, Depth: 128, Nodes: 10_000_000})
}

// claimed is the code of an error that the untrusted realm reported: it may say what
// it did wrong itself, and nothing about the sandbox or the host.
func claimed(c protocol.Code) protocol.Code {
	switch c {
	case protocol.ErrInvalidParams, protocol.ErrOutputTooLarge, protocol.ErrResourceLimit:
		return c
	}
	return protocol.ErrExecution
}
