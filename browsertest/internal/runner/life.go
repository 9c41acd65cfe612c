package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
)

// chromium returns the browser and the calling page. It returns an error that wraps ErrUnsupported
// if the browser is not Chromium. The last parameter is the action for that error.
func chromium(ctx context.Context, s *session, p *testPage, what string) (*browser.ChromiumBrowser, *browser.ChromiumPage, error) {
	b, ok := s.browser.(*browser.ChromiumBrowser)
	if !ok {
		return nil, nil, fmt.Errorf("%s needs Chromium, this is %s: %w", what, s.browser.Engine(), errors.ErrUnsupported)
	}
	pg, err := p.browserPage(ctx)
	if err != nil {
		return nil, nil, err
	}
	return b, pg.(*browser.ChromiumPage), nil
}

// lifeMethods adds the methods about the life of a page and its objects.
func lifeMethods(m map[string]method) {
	m["cdp"] = with(func(ctx context.Context, s *session, p *testPage, a struct {
		Method string
		Params json.RawMessage
	}) (any, error) {
		b, pg, err := chromium(ctx, s, p, a.Method)
		if err != nil {
			return nil, err
		}
		var params any
		if len(a.Params) > 0 && string(a.Params) != "null" {
			params = a.Params
		}
		callOn := pg.Call
		switch domain, _, _ := strings.Cut(a.Method, "."); domain {
		case "Browser", "Target", "SystemInfo", "Tracing":
			callOn = b.Call
		}
		var result json.RawMessage
		err = callOn(ctx, a.Method, params, &result)
		return result, err
	})
	m["freeze"] = with(func(ctx context.Context, s *session, p *testPage, a struct{ Ms int64 }) (any, error) {
		_, pg, err := chromium(ctx, s, p, "freezing a page")
		if err != nil {
			return nil, err
		}
		p.absent(true)
		defer p.absent(false)
		if err := pg.SetFrozen(ctx, true); err != nil {
			return nil, err
		}
		sleep(ctx, time.Duration(a.Ms)*time.Millisecond)
		return nil, pg.SetFrozen(ctx, false)
	})
	m["hide"] = with(func(ctx context.Context, s *session, p *testPage, a struct{ Ms int64 }) (any, error) {
		_, pg, err := chromium(ctx, s, p, "hiding a page")
		if err != nil {
			return nil, err
		}
		show, err := pg.Hide(ctx)
		if err != nil {
			return nil, err
		}
		sleep(ctx, time.Duration(a.Ms)*time.Millisecond)
		return nil, show()
	})
	m["gc"] = with(func(ctx context.Context, s *session, p *testPage, _ none) (any, error) {
		_, pg, err := chromium(ctx, s, p, "collecting garbage")
		if err != nil {
			return nil, err
		}
		return nil, pg.CollectGarbage(ctx)
	})
	m["count"] = with(func(ctx context.Context, s *session, p *testPage, _ none) (any, error) {
		b, pg, err := chromium(ctx, s, p, "counting a page's objects")
		if err != nil {
			return nil, err
		}
		return pg.Count(ctx, b)
	})
	m["processes"] = with(func(ctx context.Context, s *session, p *testPage, _ none) (any, error) {
		return browser.Processes(s.browser.PID())
	})
	m["targets"] = with(func(ctx context.Context, s *session, p *testPage, _ none) (any, error) {
		b, _, err := chromium(ctx, s, p, "listing targets")
		if err != nil {
			return nil, err
		}
		return b.Targets(ctx)
	})
	m["evalframes"] = with(func(ctx context.Context, s *session, p *testPage, a struct{ Expression string }) (any, error) {
		b, pg, err := chromium(ctx, s, p, "evaluating in other frames")
		if err != nil {
			return nil, err
		}
		return pg.EvalFrames(ctx, b, a.Expression)
	})
	m["crash"] = with(func(ctx context.Context, s *session, p *testPage, a struct{ ID string }) (any, error) {
		b, _, err := chromium(ctx, s, p, "killing a renderer")
		if err != nil {
			return nil, err
		}
		return nil, b.Crash(ctx, a.ID)
	})
	m["open"] = with(func(ctx context.Context, s *session, p *testPage, a struct{ URL string }) (any, error) {
		pg, err := s.browser.Open(ctx, a.URL, browser.Events{})
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		id := strconv.Itoa(len(s.others) + 1)
		s.others[id] = pg
		return id, nil
	})
	m["close"] = with(func(ctx context.Context, s *session, p *testPage, a otherPage) (any, error) {
		s.mu.Lock()
		pg := s.others[a.Page]
		s.others[a.Page] = nil
		s.mu.Unlock()
		if pg != nil {
			return nil, pg.Close()
		}
		return nil, nil
	})
	m["eval"] = with(func(ctx context.Context, s *session, p *testPage, a struct {
		otherPage
		Expression string
	}) (any, error) {
		pg, err := s.other(a.otherPage)
		if err != nil {
			return nil, err
		}
		return pg.Eval(ctx, a.Expression)
	})
	m["lifecycle"] = with(func(ctx context.Context, s *session, p *testPage, a struct {
		otherPage
		Frozen bool
	}) (any, error) {
		pg, err := s.otherChromium(a.otherPage)
		if err != nil {
			return nil, err
		}
		return nil, pg.SetFrozen(ctx, a.Frozen)
	})
	m["crashpage"] = with(func(ctx context.Context, s *session, p *testPage, a otherPage) (any, error) {
		pg, err := s.otherChromium(a)
		if err != nil {
			return nil, err
		}
		return nil, pg.Crash(ctx)
	})
}

// otherPage is the name of a page that testpage.Open opened.
type otherPage struct{ Page string }

func (s *session) other(o otherPage) (browser.Page, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if pg := s.others[o.Page]; pg != nil {
		return pg, nil
	}
	return nil, fmt.Errorf("the page is closed")
}

func (s *session) otherChromium(o otherPage) (*browser.ChromiumPage, error) {
	pg, err := s.other(o)
	if err != nil {
		return nil, err
	}
	c, ok := pg.(*browser.ChromiumPage)
	if !ok {
		return nil, fmt.Errorf("this needs Chromium, this is %s: %w", s.browser.Engine(), errors.ErrUnsupported)
	}
	return c, nil
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
