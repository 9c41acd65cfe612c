package iframe

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bailey-go/bailey/internal/frame"
)

var (
	// ErrFrameBlocked is returned when the frame was loaded but its script did not run, because
	// the page's own policy forbids it.
	ErrFrameBlocked = errors.New("iframe: the frame's script was blocked")

	// ErrFrameLost is wrapped by the error of a document or pool that lost its frames too
	// often.
	ErrFrameLost = errors.New("iframe: the frame was lost")
)

func blockedError() error {
	return fmt.Errorf("%w: the page's Content-Security-Policy is inherited by srcdoc frames and its script-src does not list Bailey's scripts. Add to script-src: %s",
		ErrFrameBlocked, strings.Join(frame.ScriptHashes(), " "))
}

func trustedTypesError(policy, cause string) error {
	return fmt.Errorf("%w: Trusted Types are enforced and the policy %q could not be made (%s). Add to the Content-Security-Policy: trusted-types %s",
		ErrFrameBlocked, policy, cause, policy)
}
