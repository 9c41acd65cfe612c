package iframe

import (
	"context"
	"fmt"
	"strings"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
)

// poolImpl is what runs JavaScript on the frames of a [frame.Pool], whose loop owns
// every run.
type poolImpl struct {
	*frame.Pool
	opts PoolOptions
	ids  *protocol.IDs
}

func newPool(ctx context.Context, opts PoolOptions) (*EnclavePool, error) {
	p := &EnclavePool{}
	im := &p.impl
	var err error
	if im.ids, err = protocol.NewIDs("run"); err != nil {
		return nil, err
	}
	im.opts = opts
	page := frame.DomainPage{PolicyName: opts.TrustedTypesPolicy, Level: opts.Level, Off: opts.off, Warm: opts.Warm}
	var place frame.Placer
	if opts.dom != nil {
		page.DOM, page.Extra, page.Warm = true, opts.dom.extra, false
		place = opts.dom.place
	}
	if page.Warm {
		if page.Sample, err = encodeStart(1, &protocol.MsgStart{Run: "sample", Limits: opts.Limits}); err != nil {
			return nil, err
		}
	}
	im.Pool = frame.NewPool(frame.PoolOptions{
		Page: page, PolicyName: opts.TrustedTypesPolicy, Alone: opts.dom != nil, Max: opts.Max, Spare: opts.Spare,
		ReadyTimeout: opts.ReadyTimeout, Heartbeat: opts.Heartbeat, Lost: ErrFrameLost, Blocked: im.blocked,
	}, im, place)
	if err := im.Start(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

func (im *poolImpl) blocked() error {
	also := ""
	if im.opts.dom != nil || im.opts.Warm {
		also = " blob:"
	}
	return fmt.Errorf("%w: srcdoc frames and their workers inherit the page's Content-Security-Policy. Add worker-src blob: and to script-src: %s%s",
		ErrFrameBlocked, strings.Join(frame.ScriptHashes(), " "), also)
}

// Read takes the text of a broker's message.
func (im *poolImpl) Read(m jsx.Message) (any, error) {
	l := im.opts.Limits
	text, err := jsx.String(m.Data, l.MessageBytes+l.ConsoleBytes+l.Output+1<<16)
	return text, err
}

// Heard takes what the broker of s says.
func (im *poolImpl) Heard(s *frame.Slot, m any) { im.heard(s, m.(string)) }

// Ping asks the broker of s for a sign of life.
func (im *poolImpl) Ping(s *frame.Slot) {
	text, err := protocol.EncodeBatch(protocol.Batch{Gen: s.Gen, Messages: []protocol.Message{&protocol.MsgPing{N: s.NextPing()}}}, protocol.HostToBroker, protocol.JSONLimits{})
	if err == nil {
		_ = s.Data.Post(text)
	}
}

// Quiet posts the answers that wait.
func (im *poolImpl) Quiet() {
	for _, s := range im.Slots() {
		if r, ok := s.Job.(*run); ok {
			im.flush(r)
		}
	}
}

func (im *poolImpl) snapshot() PoolStats { return PoolStats(im.Stats()) }

func (im *poolImpl) close() error { return im.Close() }
