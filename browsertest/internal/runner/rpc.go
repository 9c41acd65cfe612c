package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
)

// method is the handler of one call of package testpage.
type method func(ctx context.Context, s *session, p *testPage, params json.RawMessage) (any, error)

// with returns a method that decodes its parameters.
func with[P any](f func(ctx context.Context, s *session, p *testPage, params P) (any, error)) method {
	return func(ctx context.Context, s *session, p *testPage, raw json.RawMessage) (any, error) {
		var params P
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, &params); err != nil {
				return nil, err
			}
		}
		return f(ctx, s, p, params)
	}
}

// onPage returns a method that acts on the browser's side of the calling page.
func onPage[P any](f func(ctx context.Context, pg browser.Page, params P) (any, error)) method {
	return with(func(ctx context.Context, s *session, p *testPage, params P) (any, error) {
		pg, err := p.browserPage(ctx)
		if err != nil {
			return nil, err
		}
		return f(ctx, pg, params)
	})
}

type none struct{}

func methods() map[string]method {
	m := map[string]method{
		"origin": with(func(ctx context.Context, s *session, p *testPage, a struct{ N int }) (any, error) {
			o, err := s.origins.get(a.N)
			if err != nil {
				return nil, err
			}
			return o.url, nil
		}),
		"hostorigin": with(func(ctx context.Context, s *session, p *testPage, a struct{ Host string }) (any, error) {
			_, port, err := net.SplitHostPort(s.server.listener.Addr().String())
			return "http://" + a.Host + ":" + port, err
		}),
		"serve": with(func(ctx context.Context, s *session, p *testPage, a struct {
			Origin  int
			Path    string
			Prefix  bool
			Status  int
			Header  map[string]string
			Body    string
			DelayMs int64
		}) (any, error) {
			e := &endpoint{path: a.Path, prefix: a.Prefix, status: a.Status, header: a.Header, body: a.Body, delay: time.Duration(a.DelayMs) * time.Millisecond}
			url, err := s.origins.add(a.Origin, e)
			return map[string]string{"URL": url, "ID": e.id}, err
		}),
		"sink": with(func(ctx context.Context, s *session, p *testPage, _ none) (any, error) {
			e, url, err := s.origins.addSink()
			if err != nil {
				return nil, err
			}
			return map[string]string{"URL": url, "ID": e.id}, nil
		}),
		"unserve": with(func(ctx context.Context, s *session, p *testPage, a struct{ ID string }) (any, error) {
			s.origins.remove(a.ID)
			return nil, nil
		}),
		"reset": with(func(ctx context.Context, s *session, p *testPage, a struct{ ID string }) (any, error) {
			e, err := s.origins.endpoint(a.ID)
			if err == nil {
				e.note(func() { e.requests, e.connections, e.datagrams = nil, 0, 0 })
			}
			return nil, err
		}),
		"traffic": with(func(ctx context.Context, s *session, p *testPage, a struct {
			ID      string
			Wait    int
			LimitMs int64
		}) (any, error) {
			e, err := s.origins.endpoint(a.ID)
			if err != nil {
				return nil, err
			}
			limit := time.NewTimer(time.Duration(a.LimitMs) * time.Millisecond)
			defer limit.Stop()
			for {
				t, changed := e.traffic()
				if len(t.Requests)+t.Datagrams >= a.Wait {
					return t, nil
				}
				select {
				case <-changed:
				case <-limit.C:
					t, _ := e.traffic()
					return t, nil
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			}
		}),
		"verdict": with(func(ctx context.Context, s *session, p *testPage, v verdict) (any, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.verdict = v
			return nil, nil
		}),
		"run": with(runOwnPage),
		"click": onPage(func(ctx context.Context, pg browser.Page, a struct {
			Selector string
			X, Y     float64
		}) (any, error) {
			if a.Selector != "" {
				return nil, pg.Click(ctx, a.Selector)
			}
			return nil, pg.ClickAt(ctx, a.X, a.Y)
		}),
		"move": onPage(func(ctx context.Context, pg browser.Page, a struct{ X, Y float64 }) (any, error) {
			return nil, pg.MoveTo(ctx, a.X, a.Y)
		}),
		"type": onPage(func(ctx context.Context, pg browser.Page, a struct{ Text string }) (any, error) {
			return nil, pg.Type(ctx, a.Text)
		}),
		"press": onPage(func(ctx context.Context, pg browser.Page, a struct{ Key string }) (any, error) {
			return nil, pg.Press(ctx, a.Key)
		}),
		"setfiles": onPage(func(ctx context.Context, pg browser.Page, a struct {
			Selector string
			Paths    []string
		}) (any, error) {
			f, ok := pg.(browser.Filer)
			if !ok {
				return nil, fmt.Errorf("choosing files: %w", errors.ErrUnsupported)
			}
			return nil, f.SetFiles(ctx, a.Selector, a.Paths...)
		}),
		"drop": with(func(ctx context.Context, s *session, p *testPage, a struct {
			Selector string
			Paths    []string
		}) (any, error) {
			_, pg, err := chromium(ctx, s, p, "dropping files")
			if err != nil {
				return nil, err
			}
			return nil, pg.Drop(ctx, a.Selector, a.Paths...)
		}),
		"screenshot": onPage(func(ctx context.Context, pg browser.Page, _ none) (any, error) {
			return pg.Screenshot(ctx)
		}),
		"media": onPage(func(ctx context.Context, pg browser.Page, a struct{ Features map[string]string }) (any, error) {
			return nil, pg.Media(ctx, a.Features)
		}),
		"viewport": onPage(func(ctx context.Context, pg browser.Page, a struct {
			Width, Height int
			Scale         float64
		}) (any, error) {
			return nil, pg.Viewport(ctx, a.Width, a.Height, a.Scale)
		}),
	}
	lifeMethods(m)
	return m
}

// serveRPC handles a request that package testpage wrote to /dev/browsertest.
func (s *session) serveRPC(w http.ResponseWriter, r *http.Request, p *testPage) {
	var req struct {
		Method string
		Params json.RawMessage
	}
	var answer struct {
		Result      any    `json:"result"`
		Error       string `json:"error,omitempty"`
		Unsupported bool   `json:"unsupported,omitempty"`
	}
	data, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(data, &req)
	}
	if err == nil {
		m := s.methods[req.Method]
		if m == nil {
			err = fmt.Errorf("this runner does not know %q: build it anew", req.Method)
		} else {
			// The context is not the request's, because a frozen page drops its requests, and must
			// be able to end the freeze.
			ctx, cancel := context.WithCancel(s.ctx)
			stop := context.AfterFunc(p.ctx, cancel)
			answer.Result, err = m(ctx, s, p, req.Params)
			stop()
			cancel()
		}
	}
	if err != nil {
		answer.Result, answer.Error = nil, strings.TrimPrefix(err.Error(), "browser: ")
		answer.Unsupported = errors.Is(err, errors.ErrUnsupported)
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(answer)
}

// browserPage returns the page when the browser has opened it. The page may run, and call methods,
// before that.
func (p *testPage) browserPage(ctx context.Context) (browser.Page, error) {
	select {
	case <-p.opened:
		return p.page, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
