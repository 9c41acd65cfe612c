package gate

import (
	"context"
	"strings"

	"github.com/bailey-go/bailey/protocol"
)

// MaxShown is the maximum length of a question's title and diff together, in bytes. A call with a
// longer question fails, because a user can't agree to text that is not shown.
const MaxShown = 4 << 20

func tooLong(tool string, n int) error {
	return protocol.Errorf(protocol.ErrResourceLimit, "call", tool, "the user cannot be asked about this: %d bytes would have to be shown, and a question shows %d; do it in smaller parts", n, MaxShown)
}

// Shown is the text of the question that the user was asked about a call.
type Shown struct {
	asked bool
	text  string
}

func (s *Shown) note(r Request) { s.asked, s.text = true, said(r) }

// said returns the text of a question, without the line numbers of its diff. Other parts of a file
// may change while the user is asked.
func said(r Request) string {
	var b strings.Builder
	for _, e := range r.Effects {
		b.WriteString(e.Text + "\n")
	}
	b.WriteString(r.Title + "\n")
	for line := range strings.Lines(r.Diff) {
		if strings.HasPrefix(line, "@@ ") {
			line = "@@\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

// Same returns an error with [protocol.ReasonStale] if the call would now do something else than
// the question showed, because a file changed in the meantime. It is called right before the
// effect.
func (g *Gate) Same(ctx context.Context, p Passage) error {
	if p.Shown == nil || !p.Shown.asked || g.o.Off.Same {
		return nil
	}
	if p.Folder != nil {
		p.Needs = p.Folder.Resolve(ctx, p.Needs)
	}
	if said(g.question(ctx, p)) == p.Shown.text {
		return nil
	}
	return protocol.Errorf(protocol.ErrExecution, "call", p.Tool.ID, "the folder changed while the user was asked, so this would now do something else than was agreed to; look again, and call it again").WithReason(protocol.ReasonStale)
}
