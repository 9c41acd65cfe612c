package frame

import (
	"errors"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/jsx/trust"
)

// spawn starts the broker of a direct pool's slot, as enclave.js does in a frame.
func (p *Pool) spawn(s *Slot) error {
	url, err := blobURL(s.scope, p.opts.Page.Programs.broker)
	if err != nil {
		return err
	}
	policy, err := jsx.Trusted(p.opts.PolicyName)
	if err != nil {
		return err
	}
	realm := jsx.Global()
	if p.opts.Apart {
		if realm, err = s.apart(); err != nil {
			return err
		}
	}
	if s.worker, err = policy.NewWorker(realm, trust.AuthoredScriptURL(url), map[string]any{"name": "bailey-broker"}); err != nil {
		if errors.Is(err, jsx.ErrSecurity) { // WebKit throws an error where other browsers fire an event
			return p.opts.Blocked()
		}
		return err
	}
	if _, err := s.scope.Add(func() { _, _ = jsx.Call(s.worker, "terminate") }); err != nil {
		return err
	}
	_, err = s.scope.Listen(s.worker, "error", func(event jsx.Value) {
		_, _ = jsx.Call(event, "preventDefault")
		why, err := jsx.GetString(event, "message", MaxNote)
		if err != nil || why == "" {
			why = "blocked" // no message: the policy kept the worker from starting
		}
		p.Do(func() { p.failed(s, why) })
	})
	if err != nil {
		return err
	}
	blob, err := newBlob(p.opts.Page.Programs.runner)
	if err != nil {
		return err
	}
	err = jsx.PostTo(s.worker, "", map[string]any{"runtime": blob, "policyName": p.opts.PolicyName, "config": "{}", "dom": false, "warm": true})
	if err != nil {
		return err
	}
	return p.prepare(s)
}

// apart makes an empty frame for a broker, and returns its window.
func (s *Slot) apart() (jsx.Value, error) {
	page, err := jsx.Get(jsx.Global(), "document")
	if err != nil {
		return page, err
	}
	el, err := jsx.Call(page, "createElement", "iframe")
	if err != nil {
		return el, err
	}
	where, err := hide(el, page)
	if err != nil {
		return el, err
	}
	if _, err := jsx.Call(where, "append", el); err != nil {
		return el, err
	}
	if _, err := s.scope.Add(func() { _, _ = jsx.Call(el, "remove") }); err != nil {
		return el, err
	}
	return jsx.Get(el, "contentWindow")
}

func newBlob(text string) (jsx.Value, error) {
	parts, err := jsx.ToJS([]any{text})
	if err != nil {
		return parts, err
	}
	return jsx.NewGlobal("Blob", parts, map[string]any{"type": "text/javascript"})
}

// blobURL returns an address for a script of Bailey's own. It is valid until the scope is
// closed.
func blobURL(scope *jsx.Scope, text string) (string, error) {
	blob, err := newBlob(text)
	if err != nil {
		return "", err
	}
	class, err := jsx.Get(jsx.Global(), "URL")
	if err != nil {
		return "", err
	}
	v, err := jsx.Call(class, "createObjectURL", blob)
	if err != nil {
		return "", err
	}
	url, err := jsx.String(v, 1000)
	if err != nil {
		return "", err
	}
	done := jsx.Track(jsx.URLs)
	_, err = scope.Add(func() { done(); _, _ = jsx.Call(class, "revokeObjectURL", url) })
	return url, err
}
