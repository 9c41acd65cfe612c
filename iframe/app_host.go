package iframe

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/bailey-go/bailey/internal/legible"
	"github.com/bailey-go/bailey/protocol"
)

// appVersion is the version of the extension.
const appVersion = "2026-01-26"

// Codes of JSON-RPC.
const (
	rpcInvalid  = -32600
	rpcMethod   = -32601
	rpcParams   = -32602
	rpcInternal = -32603
)

// rpcError is an error that the app receives.
type rpcError struct {
	code int
	text string
}

func (e *rpcError) Error() string { return e.text }

func rpcf(code int, format string, args ...any) error {
	return &rpcError{code, fmt.Sprintf(format, args...)}
}

// Rates of an app's messages. An app above the first one has ended. Sizes above the second are dropped,
// because a page may change its size in each animation frame.
var (
	appRate  = rate{400, 200}
	sizeRate = rate{120, 60}
)

func newAppHost(ctx context.Context, opts AppOptions) *appHost {
	return &appHost{opts: opts, ctx: ctx, now: time.Now, height: opts.Height, mode: "inline", running: map[string]*appCall{}, pending: map[float64]chan struct{}{}}
}

// restart forgets an app whose frame is loaded again.
func (h *appHost) restart() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, call := range h.running {
		call.cancel()
	}
	clear(h.running)
	if h.stage != appOver {
		h.stage = appSilent
	}
}

// over ends all requests.
func (h *appHost) over() {
	h.restart()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stage = appOver
	for _, answered := range h.pending {
		close(answered)
	}
	clear(h.pending)
}

func (h *appHost) currentHeight() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.height
}

// send sends a message to the app. mu is held.
func (h *appHost) send(msg map[string]any) error {
	msg["jsonrpc"] = "2.0"
	text, err := protocol.EncodeJSON(msg, protocol.JSONLimits{Bytes: maxAppOut})
	if err != nil {
		return err
	}
	if h.stage != appOver {
		h.post(text)
	}
	return nil
}

// changed tells an app that is ready what it does not know of its context yet. An app that is not ready
// receives it with the answer to its ui/initialize, or after that. mu is held.
func (h *appHost) changed() error {
	if h.stage == appOver {
		return ErrClosed
	}
	if h.stage != appReady {
		return nil
	}
	params := map[string]any{}
	if h.opts.Scheme != h.knows.scheme {
		params["theme"] = h.opts.Scheme
	}
	if h.mode != h.knows.mode {
		params["displayMode"] = h.mode
	}
	h.knows = appContext{h.opts.Scheme, h.mode}
	if len(params) == 0 {
		return nil
	}
	return h.send(map[string]any{"method": "ui/notifications/host-context-changed", "params": params})
}

func (h *appHost) scheme(scheme string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.opts.Scheme = scheme
	return h.changed()
}

// tell sends a notification, and keeps it for an app that is not ready yet, or is loaded again.
func (h *appHost) tell(at int, method string, params any) error {
	text, err := protocol.EncodeJSON(map[string]any{"jsonrpc": "2.0", "method": method, "params": params}, protocol.JSONLimits{Bytes: maxAppOut})
	if err != nil {
		return err
	}
	if h.stage == appOver {
		return ErrClosed
	}
	h.told[at] = text
	if h.stage == appReady {
		h.post(text)
	}
	return nil
}

func (h *appHost) input(args any, complete bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.whole {
		return fmt.Errorf("iframe: App.Input: the complete input was told already")
	}
	if args == nil {
		args = map[string]any{}
	}
	method := "ui/notifications/tool-input-partial"
	if complete {
		method = "ui/notifications/tool-input"
	}
	err := h.tell(0, method, map[string]any{"arguments": args})
	h.whole = complete && err == nil
	return err
}

func (h *appHost) result(result any) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.whole {
		return fmt.Errorf("iframe: App.Result: tell the complete input first, with Input")
	}
	return h.tell(1, "ui/notifications/tool-result", result)
}

func (h *appHost) cancelled(reason string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.tell(2, "ui/notifications/tool-cancelled", map[string]any{"reason": reason})
}

func (h *appHost) display(mode string) error {
	if !slices.Contains(h.opts.Modes, mode) {
		return fmt.Errorf("iframe: App.SetDisplay: %q: AppOptions.Modes has %s", mode, strings.Join(h.opts.Modes, ", "))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mode = mode
	return h.changed()
}

// teardown asks the app to end, and waits for its answer or for ctx.
func (h *appHost) teardown(ctx context.Context) {
	h.mu.Lock()
	if h.stage != appReady {
		h.mu.Unlock()
		return
	}
	h.next++
	id, answered := h.next, make(chan struct{})
	h.pending[id] = answered
	_ = h.send(map[string]any{"id": id, "method": "ui/resource-teardown", "params": map[string]any{}})
	h.mu.Unlock()
	select {
	case <-answered:
	case <-ctx.Done():
	}
}

// appMessage is a message of the app.
type appMessage struct {
	id     any // a string, a number, or nil
	method string
	params map[string]any
	answer bool // it answers a request of the host
}

// parseApp decodes a message of the app. A message that has a member too many or of another type is
// refused as a whole.
func parseApp(text string) (m appMessage, ok bool) {
	if len(text) > 3*maxAppMessage { // units of UTF-16 have at most three bytes
		return m, false
	}
	v, err := protocol.ParseJSON(text, protocol.JSONLimits{Bytes: 3 * maxAppMessage})
	if err != nil {
		return m, false
	}
	o, _ := v.(map[string]any)
	if o["jsonrpc"] != "2.0" {
		return m, false
	}
	for key := range o {
		if !slices.Contains([]string{"jsonrpc", "id", "method", "params", "result", "error"}, key) {
			return m, false
		}
	}
	switch id := o["id"].(type) {
	case nil:
		if _, has := o["id"]; has {
			return m, false
		}
	case string:
		if len(id) > 128 {
			return m, false
		}
		m.id = id
	case float64:
		if id != math.Trunc(id) || math.Abs(id) > 1<<53 {
			return m, false
		}
		m.id = id
	default:
		return m, false
	}
	_, result := o["result"]
	_, failed := o["error"]
	method, has := o["method"]
	if result || failed {
		m.answer = true
		return m, !has && result != failed && m.id != nil
	}
	if m.method, ok = method.(string); !ok || len(m.method) > 100 {
		return m, false
	}
	switch p := o["params"].(type) {
	case map[string]any:
		m.params = p
	case nil:
		m.params = map[string]any{}
	default:
		return m, false
	}
	return m, true
}

// key returns the name of a request of the app. 1 and "1" are two ids.
func (m appMessage) key() string {
	if n, ok := m.id.(float64); ok {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return fmt.Sprintf("%q", m.id)
}

// heard handles a message of the app. It does not block: the functions of the options run on
// goroutines of their own.
func (h *appHost) heard(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stage == appOver {
		return
	}
	if !h.said.take(appRate, h.now()) && !h.opts.off.rate {
		h.stage = appOver
		go h.end(fmt.Errorf("%w: the app sent more messages than an app needs", ErrFrameLost))
		return
	}
	m, ok := parseApp(text)
	if !ok {
		return
	}
	switch {
	case m.answer:
		if id, ok := m.id.(float64); ok {
			if answered := h.pending[id]; answered != nil {
				delete(h.pending, id)
				close(answered)
			}
		}
	case m.id == nil:
		h.noted(m)
	default:
		h.asked(m)
	}
}

// noted handles a notification. mu is held.
func (h *appHost) noted(m appMessage) {
	if m.method == "ui/notifications/initialized" {
		if h.stage != appGreeted {
			return
		}
		h.stage = appReady
		_ = h.changed()
		for _, text := range h.told {
			if text != "" {
				h.post(text)
			}
		}
		return
	}
	if h.stage != appReady && !h.opts.off.state {
		return
	}
	switch m.method {
	case "ui/notifications/size-changed":
		if height, ok := m.params["height"].(float64); ok {
			h.resize(height)
		}
	case "ui/notifications/request-teardown":
		go func() {
			ctx, stop := context.WithTimeout(h.ctx, h.grace())
			defer stop()
			h.teardown(ctx)
			h.end(nil)
		}()
	case "notifications/cancelled":
		id := appMessage{id: m.params["requestId"]}
		switch id.id.(type) {
		case string, float64:
			if call := h.running[id.key()]; call != nil {
				call.cancel()
			}
		}
	case "notifications/message":
		if h.opts.OnLog != nil {
			level, _ := m.params["level"].(string)
			text, isText := m.params["data"].(string)
			if !isText {
				text, _ = protocol.EncodeJSON(m.params["data"], protocol.JSONLimits{})
			}
			level, text = cut(legible.Text(level), 20), cut(legible.Text(text), 2000)
			go h.opts.OnLog(level, text)
		}
	}
}

// teardownGrace is how long an app may take to store its state.
const teardownGrace = 500 * time.Millisecond

func (h *appHost) grace() time.Duration {
	if h.opts.off.hurry {
		return time.Minute
	}
	return teardownGrace
}

// resize sets the height that the app wants, within the limits. mu is held.
func (h *appHost) resize(height float64) {
	if !h.opts.off.size {
		if !h.sized.take(sizeRate, h.now()) {
			return
		}
		height = min(max(height, 1), float64(h.opts.MaxHeight))
	}
	if px := int(math.Ceil(height)); px != h.height {
		h.height = px
		h.size(px)
		if h.opts.OnSize != nil {
			go h.opts.OnSize(px)
		}
	}
}

// asked handles a request. mu is held.
func (h *appHost) asked(m appMessage) {
	answer := func(result any, err error) {
		msg := map[string]any{"id": m.id, "result": result}
		if err != nil {
			msg = map[string]any{"id": m.id, "error": rpcOf(err)}
		}
		if err := h.send(msg); err != nil { // the result is too long, or no JSON
			_ = h.send(map[string]any{"id": m.id, "error": map[string]any{"code": rpcInternal, "message": protocol.Public(err).Message}})
		}
	}
	key := m.key()
	switch {
	case h.running[key] != nil:
		answer(nil, rpcf(rpcInvalid, "a request with this id is running"))
		return
	case m.method == "ping":
		answer(map[string]any{}, nil)
		return
	case m.method == "ui/initialize":
		answer(h.initialize(m.params))
		return
	case h.stage != appReady && !h.opts.off.state:
		answer(nil, rpcf(rpcInvalid, "the app must send ui/initialize, and then ui/notifications/initialized"))
		return
	case len(h.running) >= maxAppRequests && !h.opts.off.rate:
		answer(nil, rpcf(rpcInternal, "%d requests are running: wait for an answer", maxAppRequests))
		return
	}
	do := h.method(m.method)
	if do == nil {
		answer(nil, rpcf(rpcMethod, "this host has no %s", m.method))
		return
	}
	ctx, cancel := context.WithCancel(h.ctx)
	call := &appCall{cancel}
	h.running[key] = call
	go func() {
		result, err := do(ctx, m.params)
		h.mu.Lock()
		defer h.mu.Unlock()
		late := ctx.Err() != nil // cancelled, or of a page that is gone
		cancel()
		if h.running[key] != call { // a page that was loaded again may have a request with the same id
			return
		}
		delete(h.running, key)
		if !late {
			answer(result, err)
		}
	}()
}

func rpcOf(err error) map[string]any {
	e := (*rpcError)(nil)
	if errors.As(err, &e) {
		return map[string]any{"code": e.code, "message": e.text}
	}
	return map[string]any{"code": rpcInternal, "message": protocol.Public(err).Message}
}

// granted returns features in the form of the protocol.
func granted(features []string) map[string]any {
	out := map[string]any{}
	for _, f := range features {
		if f == "clipboard-write" {
			f = "clipboardWrite"
		}
		out[f] = map[string]any{}
	}
	return out
}

func (h *appHost) initialize(params map[string]any) (any, error) {
	if h.stage != appSilent {
		return nil, rpcf(rpcInvalid, "ui/initialize was answered already")
	}
	if _, ok := params["protocolVersion"].(string); !ok {
		return nil, rpcf(rpcParams, "protocolVersion must be a text, such as %q", appVersion)
	}
	h.stage = appGreeted
	h.knows = appContext{h.opts.Scheme, h.mode}
	none := map[string]any{}
	o := &h.opts
	csp := map[string]any{"connectDomains": o.Connect, "resourceDomains": o.Resources}
	if len(o.Frames) > 0 {
		csp["frameDomains"] = o.Frames
	}
	can := map[string]any{"sandbox": map[string]any{"csp": csp, "permissions": granted(o.Permissions)}}
	for _, c := range []struct {
		name string
		has  bool
		what any
	}{
		{"openLinks", o.Ask != nil, none}, {"downloadFile", o.Ask != nil, none}, {"logging", o.OnLog != nil, none},
		{"serverTools", o.OnCall != nil, none}, {"serverResources", o.OnRead != nil, none},
		{"message", o.Ask != nil && o.OnMessage != nil, map[string]any{"text": none}},
		{"updateModelContext", o.OnContext != nil, map[string]any{"text": none, "structuredContent": none}},
	} {
		if c.has {
			can[c.name] = c.what
		}
	}
	about := map[string]any{"displayMode": h.mode, "availableDisplayModes": o.Modes, "containerDimensions": map[string]any{"maxHeight": o.MaxHeight},
		"platform": "web", "userAgent": "bailey"}
	if o.Scheme != "" {
		about["theme"] = o.Scheme
	}
	if o.Locale != "" {
		about["locale"] = o.Locale
	}
	return map[string]any{"protocolVersion": appVersion, "hostInfo": map[string]any{"name": "bailey", "version": "1"}, "hostCapabilities": can, "hostContext": about}, nil
}

// method returns the function for a request, or nil if the host lacks it.
func (h *appHost) method(name string) func(context.Context, map[string]any) (any, error) {
	o := &h.opts
	switch {
	case name == "ui/open-link" && o.Ask != nil:
		return h.link
	case name == "ui/download-file" && o.Ask != nil:
		return h.download
	case name == "ui/message" && o.Ask != nil && o.OnMessage != nil:
		return h.message
	case name == "ui/update-model-context" && o.OnContext != nil:
		return h.context
	case name == "ui/request-display-mode":
		return h.mayDisplay
	case name == "tools/call" && o.OnCall != nil:
		return h.call
	case name == "resources/read" && o.OnRead != nil:
		return h.read
	}
	return nil
}

// refused is the result of a request that the user did not agree to.
func refused(why error) (any, error) {
	text := protocol.Public(why).Message
	if e := (*rpcError)(nil); errors.As(why, &e) {
		text = e.text
	}
	return map[string]any{"isError": true, "message": text}, nil
}

// ask asks the user, unless the app has asked too much.
func (h *appHost) ask(ctx context.Context, kind, text string) error {
	h.mu.Lock()
	if !h.opts.off.once && (h.asking || h.refusals >= maxRefusals) {
		defer h.mu.Unlock()
		if h.asking {
			return rpcf(rpcInternal, "another question to the user is open")
		}
		return rpcf(rpcInternal, "the user refused the last %d questions of this app", maxRefusals)
	}
	h.asking = true
	h.mu.Unlock()
	agreed := h.opts.off.ask || h.opts.Ask(ctx, kind, text)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asking = false
	if !agreed || ctx.Err() != nil {
		h.refusals++
		return rpcf(rpcInternal, "the user did not agree")
	}
	h.refusals = 0
	return nil
}

func (h *appHost) link(ctx context.Context, params map[string]any) (any, error) {
	address, _ := params["url"].(string)
	l := Link{URL: address}
	if u, err := url.Parse(address); !h.opts.off.link && (err != nil || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || l.check() != nil || len(address) > 2000 || legible.Text(address) != address) {
		return refused(rpcf(rpcParams, "only a whole address that begins with https or http can be opened, of at most 2,000 bytes"))
	}
	if err := h.ask(ctx, "link", address); err != nil {
		return refused(err)
	}
	if err := h.opens(ctx, l); err != nil {
		return refused(err)
	}
	return map[string]any{}, nil
}

// textOf returns the text blocks of a content. Other kinds are an error.
func textOf(content any, most int) (string, error) {
	list, ok := content.([]any)
	if !ok && content != nil {
		return "", rpcf(rpcParams, "content must be a list of blocks")
	}
	var b strings.Builder
	for _, e := range list {
		block, _ := e.(map[string]any)
		text, ok := block["text"].(string)
		if block["type"] != "text" || !ok {
			return "", rpcf(rpcParams, "only text blocks are accepted")
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(text)
		if b.Len() > most {
			return "", rpcf(rpcParams, "the text has more than %d bytes", most)
		}
	}
	return legible.Text(b.String()), nil
}

func (h *appHost) message(ctx context.Context, params map[string]any) (any, error) {
	if params["role"] != "user" {
		return nil, rpcf(rpcParams, `the role must be "user"`)
	}
	text, err := textOf(params["content"], maxAppText)
	if err == nil && strings.TrimSpace(text) == "" {
		err = rpcf(rpcParams, "the message is empty")
	}
	if err != nil {
		return nil, err
	}
	if err := h.ask(ctx, "message", text); err != nil {
		return refused(err)
	}
	if err := h.opts.OnMessage(ctx, text); err != nil {
		return refused(err)
	}
	return map[string]any{}, nil
}

func (h *appHost) context(_ context.Context, params map[string]any) (any, error) {
	text, err := textOf(params["content"], maxAppContext)
	if err != nil {
		return nil, err
	}
	if s := params["structuredContent"]; s != nil {
		more, err := protocol.EncodeJSON(s, protocol.JSONLimits{Bytes: maxAppContext})
		if err != nil {
			return nil, rpcf(rpcParams, "structuredContent has more than %d bytes", maxAppContext)
		}
		text = strings.TrimPrefix(text+"\n"+legible.Text(more), "\n")
	}
	if len(text) > maxAppContext {
		return nil, rpcf(rpcParams, "the context has more than %d bytes", maxAppContext)
	}
	h.opts.OnContext(text)
	return map[string]any{}, nil
}

func (h *appHost) mayDisplay(ctx context.Context, params map[string]any) (any, error) {
	mode, _ := params["mode"].(string)
	h.mu.Lock()
	now := h.mode
	h.mu.Unlock()
	stay := map[string]any{"mode": now}
	if mode == now || !slices.Contains(h.opts.Modes, mode) && !h.opts.off.mode {
		return stay, nil
	}
	if mode != "inline" && (h.opts.Ask == nil || h.ask(ctx, "display", mode) != nil) {
		return stay, nil
	}
	h.mu.Lock()
	h.mode, h.knows.mode = mode, mode // the app's request is answered with it
	h.mu.Unlock()
	if h.opts.OnDisplay != nil {
		h.opts.OnDisplay(mode)
	}
	return map[string]any{"mode": mode}, nil
}

func (h *appHost) call(ctx context.Context, params map[string]any) (any, error) {
	name, _ := params["name"].(string)
	args, ok := params["arguments"].(map[string]any)
	if name == "" || len(name) > 256 || !ok && params["arguments"] != nil {
		return nil, rpcf(rpcParams, "a call needs the name of a tool, and an object as its arguments")
	}
	if args == nil {
		args = map[string]any{}
	}
	result, err := h.opts.OnCall(ctx, name, args)
	if err != nil {
		return map[string]any{"isError": true, "content": []any{map[string]any{"type": "text", "text": protocol.Public(err).Message}}}, nil
	}
	return result, nil
}

func (h *appHost) read(ctx context.Context, params map[string]any) (any, error) {
	uri, _ := params["uri"].(string)
	if uri == "" || len(uri) > 2000 {
		return nil, rpcf(rpcParams, "uri must be an address of at most 2,000 bytes")
	}
	return h.opts.OnRead(ctx, uri)
}

// appFile is a file of a download.
type appFile struct {
	name, kind string
	data       []byte
}

func (h *appHost) download(ctx context.Context, params map[string]any) (any, error) {
	list, _ := params["contents"].([]any)
	if len(list) == 0 || len(list) > maxAppFiles {
		return nil, rpcf(rpcParams, "a download has 1 to %d files", maxAppFiles)
	}
	var files []appFile
	var lines []string
	for i, e := range list {
		block, _ := e.(map[string]any)
		r, _ := block["resource"].(map[string]any)
		uri, _ := r["uri"].(string)
		if block["type"] != "resource" || r == nil {
			return nil, rpcf(rpcParams, "a download contains resources with their data")
		}
		f := appFile{name: appFileName(uri, i)}
		if h.opts.off.file {
			f.name = uri
		}
		f.kind, _ = r["mimeType"].(string)
		if text, ok := r["text"].(string); ok {
			f.data = []byte(text)
		} else if blob, ok := r["blob"].(string); ok {
			var err error
			if f.data, err = base64.StdEncoding.DecodeString(blob); err != nil {
				return nil, rpcf(rpcParams, "blob must be base64")
			}
		} else {
			return nil, rpcf(rpcParams, "a download contains resources with their data")
		}
		files = append(files, f)
		lines = append(lines, fmt.Sprintf("%s (%d bytes)", f.name, len(f.data)))
	}
	if err := h.ask(ctx, "download", strings.Join(lines, "\n")); err != nil {
		return refused(err)
	}
	for _, f := range files {
		// The browser must never show the file as a page of ours.
		if err := h.save(f.name, "application/octet-stream", f.data); err != nil {
			return refused(err)
		}
	}
	return map[string]any{}, nil
}

// appFileName returns the last part of an address as the name of a file: without characters that a
// person does not see or that a system treats specially, and not hidden.
func appFileName(uri string, at int) string {
	if i := strings.IndexAny(uri, "?#"); i >= 0 {
		uri = uri[:i]
	}
	name, err := url.PathUnescape(uri)
	if err != nil {
		name = uri
	}
	if _, rest, ok := strings.Cut(name, "://"); ok {
		name = rest
	}
	name = path.Base(strings.ReplaceAll(legible.Text(name), `\`, "/"))
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || strings.ContainsRune(`<>:"|?*/`, r) {
			return '_'
		}
		return r
	}, name)
	name = strings.TrimRight(strings.TrimLeft(cut(name, 100), ". "), ". ")
	if name == "" || strings.Trim(name, "_") == "" {
		name = "file-" + strconv.Itoa(at+1)
	}
	return name
}

func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}
