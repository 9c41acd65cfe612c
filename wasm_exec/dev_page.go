package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// devState is the state of a page's build, as the page receives it.
type devState struct {
	State   string       `json:"state"`             // devBuilding, devReady or devFailed
	Version string       `json:"version,omitempty"` // of the last build that succeeded
	Done    int          `json:"done,omitempty"`    // packages compiled so far
	Last    string       `json:"last,omitempty"`    // the last of them
	Errors  []buildError `json:"errors,omitempty"`
	Text    string       `json:"text,omitempty"` // the output of a failed build
}

const (
	devIdle     = "" // not opened yet, or changed while no page was open
	devBuilding = "building"
	devReady    = "ready"
	devFailed   = "failed"
)

// devPage is a page that is built when it is opened.
type devPage struct {
	server  *devServer
	site    *site
	pkg     string
	name    string // of its folder, or empty for the page at the root
	path    string // of its URL
	options buildOptions

	mu     sync.Mutex
	state  devState
	ended  chan struct{}          // closed when the running build ends
	built  *program               // the last program, for a change of the page's files alone
	inputs *inputs                // nil until the first build has ended
	open   map[chan struct{}]bool // a channel for each open page, which receives after a change of state
}

// start starts a build unless the last one is current, and returns the state.
func (p *devPage) start() devState {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state.State == devIdle && p.inputs == nil {
		if in, version, ok := restoreInputs(p.pkg, p.options); ok {
			p.inputs = in
			p.set(devState{State: devReady, Version: version})
		}
	}
	if p.state.State == devIdle {
		p.build()
	}
	return p.state
}

// wait is start and waits until no build runs, or ctx ends.
func (p *devPage) wait(ctx context.Context) devState {
	for {
		s := p.start()
		if s.State != devBuilding {
			return s
		}
		p.mu.Lock()
		ended := p.ended
		p.mu.Unlock()
		select {
		case <-ended:
		case <-ctx.Done():
			return s
		}
	}
}

// check looks for changed files, unless a build runs, which does so at its end. After a change it
// starts a build if a page is open. Otherwise the next request starts it.
func (p *devPage) check() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state.State != devBuilding {
		p.look()
	}
}

// look is check for a caller that holds mu.
func (p *devPage) look() {
	if p.inputs == nil {
		return
	}
	changed, program := p.inputs.changed()
	if !changed {
		return
	}
	if program {
		p.built = nil
	}
	if len(p.open) > 0 {
		p.build()
	} else {
		p.set(devState{Version: p.state.Version})
	}
}

// build starts a build. The caller holds mu.
func (p *devPage) build() {
	p.ended = make(chan struct{})
	p.set(devState{State: devBuilding, Version: p.state.Version})
	go p.run(p.built)
}

// set changes the state. The caller holds mu.
func (p *devPage) set(s devState) {
	p.state = s
	for changed := range p.open {
		select {
		case changed <- struct{}{}:
		default: // the page has not received the previous state yet
		}
	}
}

// run builds the page. built is the program if it has not changed.
func (p *devPage) run(built *program) {
	d := p.server
	d.building <- struct{}{}
	defer func() { <-d.building }()
	began := time.Now()
	var before map[string]stamp
	p.mu.Lock()
	if p.inputs != nil {
		before = p.inputs.Stamps
	}
	p.mu.Unlock()
	var output bytes.Buffer
	o := p.options
	o.note = func(pkg string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		s := p.state
		s.Done, s.Last = s.Done+1, pkg
		p.set(s)
	}
	var list *inputs
	var err error
	if built == nil {
		o.found = func(found *program) { list = found.inputs(o) }
		built, err = compileProgram(d.ctx, p.pkg, o, io.MultiWriter(&output, d.log))
		if list == nil {
			list = fewInputs(p.pkg, o)
		}
		list.since(before, began)
	}
	var m *manifest
	if err == nil {
		m, err = built.write(d.ctx, o)
	}
	took := time.Since(began).Round(time.Millisecond)

	p.mu.Lock()
	if list != nil {
		p.inputs = list
	}
	if err != nil {
		fmt.Fprintf(d.log, "wasm_exec dev: %s: %v\n", p.pkg, err)
		text := strings.TrimSpace(output.String() + "\n" + err.Error())
		p.set(devState{State: devFailed, Version: p.state.Version, Text: text, Errors: buildErrors(output.String(), p.pkg)})
	} else {
		fmt.Fprintf(d.log, "wasm_exec dev: built %s in %s\n", p.pkg, took)
		p.set(devState{State: devReady, Version: m.Dev})
		p.built = built
		if err := p.inputs.save(p.options, m.Dev); err != nil {
			fmt.Fprintf(d.log, "wasm_exec dev: %v\n", err)
		}
	}
	// A file may have changed during the build. Requests then wait for the next one.
	ended := p.ended
	p.look()
	close(ended)
	p.mu.Unlock()
}

// events sends each state of the page's build as a server-sent event.
func (p *devPage) events(w http.ResponseWriter, r *http.Request) {
	changed := make(chan struct{}, 1)
	p.mu.Lock()
	if p.open == nil {
		p.open = map[chan struct{}]bool{}
	}
	p.open[changed] = true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.open, changed)
		p.mu.Unlock()
	}()
	p.server.watch.Do(func() { go p.server.watchFiles() })
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	alive := time.NewTicker(20 * time.Second)
	defer alive.Stop()
	for {
		data, err := json.Marshal(p.start())
		if err != nil {
			return
		}
		if _, err := fmt.Fprintf(w, "data: %s\n\n", data); err != nil || flush.Flush() != nil {
			return
		}
		select {
		case <-changed:
		case <-alive.C:
		case <-r.Context().Done():
			return
		case <-p.server.ctx.Done():
			return
		}
	}
}

// interval is the time between two looks at the files of open pages. A look at the 474 files of
// examples/files takes 5 ms on a busy machine. Looking works on every file system, also on those of containers and
// networks, where the operating system reports no changes.
const interval = 100 * time.Millisecond

// watchFiles looks for changed files of open pages until the server ends.
func (d *devServer) watchFiles() {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-d.ctx.Done():
			return
		case <-tick.C:
		}
		for _, p := range d.pages {
			p.mu.Lock()
			open := len(p.open) > 0
			p.mu.Unlock()
			if open {
				p.check()
			}
		}
	}
}
