package iframe

import (
	"context"
	"fmt"
	"strings"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/ids"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/wire/enclave"
	"github.com/bailey-go/bailey/protocol"
)

// poolImpl runs JavaScript on the frames of a [frame.Pool]. The pool's loop owns every run.
type poolImpl struct {
	*frame.Pool
	opts PoolOptions
	ids  *ids.Source
}

func newPool(ctx context.Context, opts PoolOptions) (*EnclavePool, error) {
	p := &EnclavePool{}
	im := &p.impl
	var err error
	if im.ids, err = ids.New("run"); err != nil {
		return nil, err
	}
	im.opts = opts
	page, err := opts.describe().Page()
	if err != nil {
		return nil, err
	}
	var place frame.Placer
	if opts.dom != nil {
		place = opts.dom.place
	}
	im.Pool = frame.NewPool(frame.PoolOptions{
		Page: page, PolicyName: opts.TrustedTypesPolicy, URL: opts.URL, Alone: opts.dom != nil, Max: opts.Max, Spare: opts.Spare,
		ReadyTimeout: opts.ReadyTimeout, Heartbeat: opts.Heartbeat, Aborted: "the caller ended the run", Lost: ErrFrameLost, Blocked: im.blocked, Mismatch: im.mismatch,
	}, im, place)
	if err := im.Start(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

func (im *poolImpl) mismatch() error {
	return fmt.Errorf("%w: the page at %s was made for other options or by another version: serve the page of EnclaveOptions.Page for these options", ErrFrameBlocked, im.opts.URL)
}

func (im *poolImpl) blocked() error {
	if im.opts.URL != "" {
		return fmt.Errorf("%w: the page at %s did not answer. Check that it is the page of EnclaveOptions.Page, has that page's headers and has this page's origin among its embedders, "+
			"and that this page's Content-Security-Policy and Connection-Allowlist list it: frame-src %s", ErrFrameBlocked, im.opts.URL, im.opts.URL)
	}
	also := ""
	if im.opts.dom != nil || im.opts.Warm {
		also = " blob:"
	}
	return fmt.Errorf("%w: srcdoc frames and their workers inherit the page's Content-Security-Policy. Add worker-src blob: and to script-src: %s%s",
		ErrFrameBlocked, strings.Join(frame.ScriptHashes(), " "), also)
}

// Read returns the text of a broker's message.
func (im *poolImpl) Read(m jsx.Message) (any, error) {
	l := im.opts.Limits
	text, err := jsx.String(m.Data, l.MessageBytes+l.ConsoleBytes+l.Output+1<<16)
	return text, err
}

// Heard handles a message from the broker of s.
func (im *poolImpl) Heard(s *frame.Slot, m any) { im.heard(s, m.(string)) }

// Ping sends a ping to the broker of s.
func (im *poolImpl) Ping(s *frame.Slot) {
	text, err := enclave.EncodeBatch(enclave.Batch{Gen: s.Gen, Messages: []enclave.Message{&enclave.MsgPing{N: s.NextPing()}}}, enclave.HostToBroker, protocol.JSONLimits{})
	if err == nil {
		_ = s.Data.Post(text)
	}
}

// Quiet posts the answers that were kept.
func (im *poolImpl) Quiet() {
	for _, s := range im.Slots() {
		if r, ok := s.Job.(*run); ok {
			im.flush(r)
		}
	}
}

func (im *poolImpl) snapshot() PoolStats { return PoolStats(im.Stats()) }

func (im *poolImpl) close() error { return im.Close() }
