package frame

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
)

// build makes the outer frame, which contains the first inner one.
func (p *Pool) build() error {
	page, err := jsx.Get(jsx.Global(), "document")
	if err != nil {
		return err
	}
	if p.opts.Direct {
		p.addSlot()
		return nil
	}
	if jsx.Nullish(page) {
		return fmt.Errorf("frame: an enclave needs a page, and this is a worker: %w", errors.ErrUnsupported)
	}
	el, err := jsx.Call(page, "createElement", "iframe")
	if err != nil {
		return err
	}
	sandbox, allow := p.opts.Page.sandbox()
	for _, a := range [][2]string{
		{"sandbox", sandbox}, {"allow", allow}, {"referrerpolicy", "no-referrer"}, {"title", "Sandbox"},
		{"aria-hidden", "true"}, {"tabindex", "-1"}, {"data-bailey", "enclave"},
	} {
		if _, err := jsx.Call(el, "setAttribute", a[0], a[1]); err != nil {
			return err
		}
	}
	place := p.place
	if place == nil {
		place = hide
	}
	where, err := place(el, page)
	if err != nil {
		return err
	}
	o := &outerFrame{el: el, scope: jsx.NewScope(jsx.ScopeOptions{})}
	if _, err := o.scope.Add(jsx.Track(jsx.Frames)); err != nil {
		return err
	}
	p.outer = o
	p.lastSlot = 1
	p.slots[1] = p.newSlot(1)
	if _, err := o.scope.Listen(jsx.Global(), "message", func(event jsx.Value) { p.hello(o, event) }); err != nil {
		return err
	}
	if _, err := o.scope.Listen(el, "load", func(jsx.Value) { p.loaded(o) }); err != nil {
		return err
	}
	if err := p.fill(el); err != nil {
		return err
	}
	if jsx.Nullish(where) {
		return errors.New("frame: the page has no body yet; make enclaves after it was parsed")
	}
	_, err = jsx.Call(where, "append", el)
	return err
}

// fill sets the content of the outer frame.
func (p *Pool) fill(el jsx.Value) error {
	if p.opts.URL == "" {
		policy, err := jsx.Trusted(p.opts.PolicyName)
		if err != nil {
			return err
		}
		return policy.SetSrcdoc(el, p.opts.Page.Srcdoc())
	}
	at, err := Address(p.opts.URL)
	if err != nil {
		return err
	}
	_, err = jsx.Call(el, "setAttribute", "src", at)
	return err
}

// Address returns the absolute address of a page. "" is this page.
func Address(url string) (string, error) {
	base, err := jsx.Lookup(jsx.Global(), "location.href")
	if err != nil {
		return "", err
	}
	u, err := jsx.NewGlobal("URL", url, base)
	if err != nil {
		return "", fmt.Errorf("frame: the URL %q: %w", url, err)
	}
	scheme, err := jsx.GetString(u, "protocol", 100)
	if err != nil {
		return "", err
	}
	if scheme != "https:" && scheme != "http:" {
		return "", fmt.Errorf("frame: the URL %q must be the https: or http: address of an enclave's page", url)
	}
	return jsx.GetString(u, "href", 64<<10)
}

// hide makes an outer frame invisible and returns the element to append it to.
func hide(el, page jsx.Value) (jsx.Value, error) {
	style, err := jsx.Get(el, "style")
	if err != nil {
		return el, err
	}
	for _, p := range [][2]string{{"position", "fixed"}, {"width", "0"}, {"height", "0"}, {"border", "0"}, {"visibility", "hidden"}} {
		if _, err := jsx.Call(style, "setProperty", p[0], p[1]); err != nil {
			return el, err
		}
	}
	return jsx.Get(page, "body")
}

// hello accepts a message only if its source is the outer frame that was just made, and accepts
// only the first one. It runs in a callback.
func (p *Pool) hello(o *outerFrame, event jsx.Value) {
	data, err := jsx.Get(event, "data")
	if err != nil {
		return
	}
	said, err := jsx.String(data, len(DomainHello)+30)
	if err != nil {
		return
	}
	digest, ok := ParseDomainHello(said)
	if !ok {
		return
	}
	source, err := jsx.Get(event, "source")
	if err != nil {
		return
	}
	window, err := jsx.Get(o.el, "contentWindow")
	if err != nil || jsx.Nullish(window) || !window.Equal(source) {
		return
	}
	port, ok := jsx.OnlyPort(event)
	if !ok {
		return
	}
	p.Do(func() {
		switch {
		case p.outer != o || o.port != nil:
		case p.opts.URL != "" && digest != p.opts.Page.Digest():
			p.Fail(p.opts.Mismatch())
		default:
			p.attach(o, port)
		}
	})
}

func (p *Pool) attach(o *outerFrame, v jsx.Value) {
	port, err := o.scope.Port(v)
	if err != nil {
		return
	}
	o.port = port
	err = port.OnMessage(func(m jsx.Message) {
		word, rest, ok := note(m)
		ports, err := m.Ports()
		if !ok || err != nil {
			return
		}
		p.Do(func() {
			if p.outer != o {
				return
			}
			switch word {
			case "pong":
				o.Pong()
			case "inner":
				if id, err := strconv.Atoi(rest); err == nil && len(ports) == 2 {
					p.adopt(p.slots[id], ports[0], ports[1])
				}
			}
		})
	})
	if err != nil {
		p.Fail(err)
		return
	}
	if err := p.give(port); err != nil {
		p.Fail(err)
		return
	}
	p.Assign()
}

// give sends an outer frame the programs for the workers of its inner frames.
func (p *Pool) give(outer *jsx.Port) error {
	page := p.opts.Page
	broker, err := newBlob(page.Programs.broker)
	if err != nil {
		return err
	}
	var runtime any = page.Programs.runner
	if !page.DOM { // it becomes a part of a script in a frame of another origin
		if runtime, err = newBlob(page.Programs.runner); err != nil {
			return err
		}
	}
	return outer.Post(map[string]any{"broker": broker, "runtime": runtime, "policyName": page.PolicyName, "config": page.config(), "dom": page.DOM, "warm": page.Warm})
}

// note parses a message from a frame. It runs in a callback.
func note(m jsx.Message) (word, rest string, ok bool) {
	s, err := jsx.String(m.Data, MaxNote)
	if err != nil {
		return "", "", false
	}
	return ParseNote(s)
}

// loaded runs in a callback, when the frame's parser has finished. The frame's script has then
// run, unless a policy forbade it.
func (p *Pool) loaded(o *outerFrame) {
	_, _ = o.scope.AfterFunc(helloGrace, func() {
		p.Do(func() {
			if p.outer != o {
				return
			}
			heard := o.port != nil
			for _, s := range p.slots {
				heard = heard && (s.control != nil || s.ID != 1)
			}
			if !heard {
				p.Fail(p.opts.Blocked())
			}
		})
	})
}

func (p *Pool) newSlot(id int) *Slot {
	s := &Slot{ID: id, born: time.Now(), scope: jsx.NewScope(jsx.ScopeOptions{})}
	kind := jsx.Frames
	if p.opts.Direct {
		kind = jsx.Workers
	}
	_, _ = s.scope.Add(jsx.Track(kind))
	return s
}

// adopt takes the ports of an inner frame that has sent its hello: the control port, and the
// port to the broker that the frame starts.
func (p *Pool) adopt(s *Slot, v, data jsx.Value) {
	if s == nil || s.control != nil {
		_, _ = jsx.Call(v, "close")
		_, _ = jsx.Call(data, "close")
		return
	}
	port, err := s.scope.Port(v)
	if err != nil {
		return
	}
	s.control = port
	err = port.OnMessage(func(m jsx.Message) {
		word, rest, ok := note(m)
		if !ok || word != "lost" {
			return
		}
		p.Do(func() { p.failed(s, rest) })
	})
	if err == nil {
		var own *jsx.Port
		if own, err = s.scope.Port(data); err == nil {
			err = p.hear(s, own)
		}
	}
	if err != nil {
		p.Lose(s, err.Error())
	}
}

// failed handles a broker that could not be started, or that threw an error.
func (p *Pool) failed(s *Slot, why string) {
	if !p.Live(s) {
		return
	}
	if strings.HasPrefix(why, "blocked") {
		p.Fail(p.opts.Blocked())
		return
	}
	p.Lose(s, "its broker failed: "+why)
}

// prepare gives the broker of s a new port to the host.
func (p *Pool) prepare(s *Slot) error {
	if s.Data != nil {
		_ = s.Data.Close()
	}
	data, far, err := s.scope.Channel()
	if err == nil {
		err = p.hear(s, data)
	}
	if err != nil {
		return err
	}
	if p.opts.Direct {
		return jsx.PostTo(s.worker, "", map[string]any{"port": true}, far)
	}
	return s.control.Post("run", far)
}

// hear listens to the broker of s. Jobs follow one another on its port, each with its own
// generation, until a job is killed. Then the port is closed and the frame removed.
func (p *Pool) hear(s *Slot, data *jsx.Port) error {
	p.nextGen(s)
	s.Data, s.state = data, SlotStarting
	err := data.OnMessage(func(m jsx.Message) {
		v, err := p.keeper.Read(m)
		p.Do(func() {
			if !p.Live(s) || s.Data != data {
				return
			}
			if err != nil {
				p.Stop(s, protocol.ErrSecurityViolation, "the broker sent an unreadable or too large message")
				return
			}
			p.keeper.Heard(s, v)
		})
	})
	if err != nil {
		return err
	}
	// In Firefox a message that is posted while the other end is being transferred may be lost.
	// So both ends send a message when they are ready: the broker reports that it listens, and
	// the host pings. A slot whose broker has not been heard after portGrace gets a new port.
	p.keeper.Ping(s)
	_, err = s.scope.AfterFunc(portGrace, func() {
		p.Do(func() {
			if p.Live(s) && s.Data == data && s.state < SlotReady {
				if err := p.prepare(s); err != nil {
					p.Lose(s, err.Error())
				}
			}
		})
	})
	return err
}

func (p *Pool) nextGen(s *Slot) {
	p.lastGen++
	s.Gen = p.lastGen
}
