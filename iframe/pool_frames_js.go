package iframe

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
)

// build makes the outer frame, which holds the first inner one.
func (im *poolImpl) build() error {
	page, err := jsx.Get(jsx.Global(), "document")
	if err != nil {
		return err
	}
	if jsx.Nullish(page) {
		return fmt.Errorf("iframe: an enclave needs a page, and this is a worker: %w", errors.ErrUnsupported)
	}
	el, err := jsx.Call(page, "createElement", "iframe")
	if err != nil {
		return err
	}
	for _, a := range [][2]string{
		{"sandbox", frame.Sandbox}, {"allow", frame.Allow}, {"referrerpolicy", "no-referrer"}, {"title", "Sandbox"},
		{"aria-hidden", "true"}, {"tabindex", "-1"}, {"data-bailey", "enclave"},
	} {
		if _, err := jsx.Call(el, "setAttribute", a[0], a[1]); err != nil {
			return err
		}
	}
	where, err := im.place(el, page)
	if err != nil {
		return err
	}
	o := &outerFrame{el: el, scope: jsx.NewScope(jsx.ScopeOptions{})}
	if _, err := o.scope.Add(jsx.Track(jsx.Frames)); err != nil {
		return err
	}
	im.outer = o
	im.outers++
	im.lastSlot = 1
	im.slots[1] = im.newSlot(1)
	if _, err := o.scope.Listen(jsx.Global(), "message", func(event jsx.Value) { im.hello(o, event) }); err != nil {
		return err
	}
	if _, err := o.scope.Listen(el, "load", func(jsx.Value) { im.loaded(o) }); err != nil {
		return err
	}
	if err := im.fill(el); err != nil {
		return err
	}
	if jsx.Nullish(where) {
		return errors.New("iframe: the page has no body yet; make enclaves after it was parsed")
	}
	_, err = jsx.Call(where, "append", el)
	return err
}

// fill says what stands in the outer frame.
func (im *poolImpl) fill(el jsx.Value) error {
	if im.opts.URL == "" {
		policy, err := jsx.Trusted(im.opts.TrustedTypesPolicy)
		if err != nil {
			return err
		}
		return policy.SetSrcdoc(el, im.page.Srcdoc())
	}
	at, err := address(im.opts.URL)
	if err != nil {
		return err
	}
	_, err = jsx.Call(el, "setAttribute", "src", at)
	return err
}

// address is a page's whole address.
func address(url string) (string, error) {
	base, err := jsx.Lookup(jsx.Global(), "location.href")
	if err != nil {
		return "", err
	}
	u, err := jsx.NewGlobal("URL", url, base)
	if err != nil {
		return "", fmt.Errorf("iframe: EnclaveOptions: URL %q: %w", url, err)
	}
	scheme, err := jsx.Get(u, "protocol")
	if err != nil {
		return "", err
	}
	if !isString(scheme, "https:") && !isString(scheme, "http:") {
		return "", fmt.Errorf("iframe: EnclaveOptions: URL %q: it must be the https: or http: address of an EnclavePage", url)
	}
	href, err := jsx.Get(u, "href")
	if err != nil {
		return "", err
	}
	return jsx.String(href, 64<<10)
}

// place styles the outer frame and says where it belongs.
func (im *poolImpl) place(el, page jsx.Value) (jsx.Value, error) {
	if im.opts.dom != nil {
		return im.opts.dom.place(el, page)
	}
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

// hello believes a message only if its source is the outer frame just made, and
// only the first one. It runs in a callback.
func (im *poolImpl) hello(o *outerFrame, event jsx.Value) {
	data, err := jsx.Get(event, "data")
	if err != nil {
		return
	}
	said, err := jsx.String(data, 64)
	if err != nil {
		return
	}
	digest, ok := frame.ParseDomainHello(said)
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
	ports, err := jsx.Get(event, "ports")
	if err != nil {
		return
	}
	if n, err := jsx.Length(ports); err != nil || n != 1 {
		return
	}
	port, err := jsx.Index(ports, 0)
	if err != nil {
		return
	}
	im.do(func() {
		if im.outer != o || o.port != nil {
			return
		}
		if want := im.digest(); digest != want {
			im.fail(fmt.Errorf("%w: the page at %s was made for other options or by another version (%q, not %q): serve what EnclavePage gives for these options",
				ErrFrameBlocked, im.opts.URL, digest, want))
			return
		}
		im.attach(o, port)
	})
}

// digest is what the outer frame's page says of itself.
func (im *poolImpl) digest() string {
	if im.opts.URL == "" {
		return ""
	}
	return im.page.Digest()
}

func (im *poolImpl) attach(o *outerFrame, v jsx.Value) {
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
		im.do(func() {
			if im.outer != o {
				return
			}
			switch word {
			case "pong":
				o.pong()
			case "inner":
				if id, err := strconv.Atoi(rest); err == nil && len(ports) == 1 {
					im.adopt(im.slots[id], ports[0])
				}
			}
		})
	})
	if err != nil {
		im.fail(err)
		return
	}
	im.assign()
}

// note reads a word from a frame. It runs in a callback.
func note(m jsx.Message) (word, rest string, ok bool) {
	s, err := jsx.String(m.Data, frame.MaxNote)
	if err != nil {
		return "", "", false
	}
	return frame.ParseNote(s)
}

// loaded runs in a callback: the frame's parser is done, and its script with it
// unless a policy forbade it.
func (im *poolImpl) loaded(o *outerFrame) {
	_, _ = o.scope.AfterFunc(helloGrace, func() {
		im.do(func() {
			if im.outer != o {
				return
			}
			heard := o.port != nil
			for _, s := range im.slots {
				heard = heard && (s.control != nil || s.id != 1)
			}
			if !heard {
				im.fail(im.blocked())
			}
		})
	})
}

func (im *poolImpl) blocked() error {
	if im.opts.URL != "" {
		return fmt.Errorf("%w: the page at %s did not answer. See that it is what EnclavePage gives, that it comes with that page's headers and names this page's origin among its embedders, "+
			"and that this page's Content-Security-Policy and Connection-Allowlist list it: frame-src %s", ErrFrameBlocked, im.opts.URL, im.opts.URL)
	}
	also := ""
	if im.opts.dom != nil || im.opts.Warm {
		also = " blob:"
	}
	return fmt.Errorf("%w: srcdoc frames and their workers inherit the page's Content-Security-Policy. Add worker-src blob: and to script-src: %s%s",
		ErrFrameBlocked, strings.Join(frame.ScriptHashes(), " "), also)
}

func (im *poolImpl) newSlot(id int) *slot {
	s := &slot{id: id, born: time.Now(), scope: jsx.NewScope(jsx.ScopeOptions{})}
	_, _ = s.scope.Add(jsx.Track(jsx.Frames))
	return s
}

// adopt takes the control port of an inner frame that has said hello.
func (im *poolImpl) adopt(s *slot, v jsx.Value) {
	if s == nil || s.control != nil {
		_, _ = jsx.Call(v, "close")
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
		im.do(func() {
			if im.slots[s.id] != s {
				return
			}
			if strings.HasPrefix(rest, "blocked") {
				im.fail(im.blocked())
				return
			}
			im.loseSlot(s, "its broker failed: "+rest)
		})
	})
	if err == nil {
		err = im.prepare(s)
	}
	if err != nil {
		im.loseSlot(s, err.Error())
	}
}

// prepare gives the broker of s a port to the host. Runs follow one another on it,
// each with a generation of its own, until one is killed: then it goes with the frame.
func (im *poolImpl) prepare(s *slot) error {
	if s.data != nil {
		_ = s.data.Close()
	}
	im.nextGen(s)
	s.state = slotStarting
	data, far, err := s.scope.Channel()
	if err != nil {
		return err
	}
	s.data = data
	l := im.opts.Limits
	most := l.MessageBytes + l.ConsoleBytes + l.Output + 1<<16
	err = data.OnMessage(func(m jsx.Message) {
		text, err := jsx.String(m.Data, most)
		im.do(func() {
			if im.slots[s.id] != s || s.data != data {
				return
			}
			if err != nil {
				im.stop(s, protocol.ErrSecurityViolation, "the broker sent what is no text, or too long")
				return
			}
			im.heard(s, text)
		})
	})
	if err != nil {
		return err
	}
	// A slot is ready when a ping has come back, and gets another port if none does:
	// what is posted while a port is handed on is not sure to arrive.
	_, err = s.scope.AfterFunc(portGrace, func() {
		im.do(func() {
			if im.slots[s.id] == s && s.data == data && s.state < slotReady {
				if err := im.prepare(s); err != nil {
					im.loseSlot(s, err.Error())
				}
			}
		})
	})
	if err != nil {
		return err
	}
	return s.control.Post(frame.Note("run", s.gen), far)
}

// portGrace is how long a broker may take to answer its first ping.
const portGrace = 500 * time.Millisecond

func (im *poolImpl) nextGen(s *slot) {
	im.lastGen++
	s.gen, s.answers, s.answerBytes = im.lastGen, nil, 0
}

// ping asks the broker of s for a sign of life.
func (im *poolImpl) ping(s *slot) {
	text, err := protocol.EncodeBatch(protocol.Batch{Gen: s.gen, Messages: []protocol.Message{&protocol.MsgPing{N: s.next()}}}, protocol.HostToBroker, protocol.JSONLimits{})
	if err == nil {
		_ = s.data.Post(text)
	}
}
