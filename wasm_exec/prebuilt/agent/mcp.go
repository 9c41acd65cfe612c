//go:build js && wasm

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/mcpclient"
	"github.com/bailey-go/bailey/wasm_exec/prebuilt/internal/page"
)

// maxServers is the number of MCP servers of a box.
const maxServers = 32

// servers reads the option mcp of a box, a list of MCPServer of agent.d.mts.
func servers(v jsx.Value) ([]mcpclient.Options, error) {
	n, err := jsx.Length(v)
	if err != nil || !jsx.IsArray(v) || n > maxServers {
		return nil, fmt.Errorf("must be a list of at most %d servers, such as [{name: 'notes', url: 'https://mcp.example/mcp'}]", maxServers)
	}
	out := make([]mcpclient.Options, n)
	for i := range n {
		item, err := jsx.Index(v, i)
		if err != nil {
			return nil, err
		}
		if err := server(&out[i], item); err != nil {
			return nil, fmt.Errorf("server %d: %w", i, err)
		}
	}
	return out, nil
}

func server(o *mcpclient.Options, v jsx.Value) error {
	token := jsx.Undefined()
	err := page.Each(v, "", func(key string, value jsx.Value) (err error) {
		switch key {
		case "name":
			o.Name, err = jsx.String(value, 64)
		case "url":
			o.URL, err = jsx.String(value, 8<<10)
		case "port":
			o.Port = jsx.ToRaw(value)
		case "header":
			o.Header = map[string]string{}
			err = page.Each(value, "", func(name string, value jsx.Value) (err error) {
				o.Header[name], err = jsx.String(value, 8<<10)
				return err
			})
		case "token":
			if token = value; jsx.TypeOf(value) != "function" {
				err = errors.New("must be a function that returns the token")
			}
		case "time":
			o.Time, err = page.Milliseconds(value)
		case "maxBytes":
			var n int
			n, err = positive(value)
			o.MaxBytes = int64(n)
		default:
			err = page.ErrNoOption
		}
		return err
	})
	if err == nil && o.Port != nil && !jsx.Nullish(token) {
		return errors.New("token: a port needs none")
	}
	if err == nil && !jsx.Nullish(token) {
		o.Transport = &bearer{name: o.Name, token: token, next: fetch.Browser()}
	}
	return err
}

// bearer is a transport whose requests have the token that the page's function returns. It asks for it before each request. The last
// tokens are removed from the server's answers, since a model must not get them. The client does so for the values of Header.
type bearer struct {
	name  string
	token jsx.Value
	next  fetch.Transport

	mu   sync.Mutex
	last []string // tokens, the newest first
}

// maxTokens is the number of tokens that are removed from answers.
const maxTokens = 8

// Do implements [fetch.Transport].
func (b *bearer) Do(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
	v, err := jsx.Invoke(b.token)
	if err == nil {
		v, err = jsx.Await(ctx, v)
	}
	if err != nil {
		return nil, fmt.Errorf("token: %w", thrown(err))
	}
	text, err := jsx.String(v, 64<<10)
	if err != nil {
		return nil, fmt.Errorf("token: must return a text: %w", err)
	}
	b.mu.Lock()
	if !slices.Contains(b.last, text) {
		b.last = append([]string{text}, b.last[:min(len(b.last), maxTokens-1)]...)
	}
	last := b.last
	b.mu.Unlock()
	r.Header = maps.Clone(r.Header)
	if r.Header == nil {
		r.Header = map[string]string{}
	}
	r.Header["Authorization"] = "Bearer " + text
	res, err := b.next.Do(ctx, r)
	if err != nil {
		return nil, err
	}
	for _, value := range last {
		if len(value) >= minHidden {
			res.Body = &hiding{ReadCloser: res.Body, value: []byte(value), instead: []byte("{{secret:" + b.name + "}}")}
		}
	}
	return res, nil
}

// minHidden is the least length of a value that is removed, in bytes. A shorter one is no credential, but may be a word.
const minHidden = 8

// hiding is a body in which a value is replaced, also one that comes in two parts.
type hiding struct {
	io.ReadCloser
	value, instead []byte
	ready, rest    []byte // rest may be the beginning of the value
	err            error
}

// Read implements [io.Reader].
func (h *hiding) Read(p []byte) (int, error) {
	for len(h.ready) == 0 && h.err == nil {
		part := make([]byte, 32<<10)
		n, err := h.ReadCloser.Read(part)
		h.err = err
		all := bytes.ReplaceAll(append(h.rest, part[:n]...), h.value, h.instead)
		keep := 0
		if err == nil {
			keep = min(len(all), len(h.value)-1)
			for keep > 0 && !bytes.HasPrefix(h.value, all[len(all)-keep:]) {
				keep--
			}
		}
		h.ready, h.rest = all[:len(all)-keep], bytes.Clone(all[len(all)-keep:])
	}
	n := copy(p, h.ready)
	h.ready = h.ready[n:]
	if n == 0 && len(p) > 0 {
		return 0, h.err
	}
	return n, nil
}

// connect connects to the servers of a box, and returns their tools. The box closes the clients.
func (t *theBox) connect(ctx context.Context, list []mcpclient.Options, answer jsx.Value) ([]sandbox.Tool, error) {
	var tools []sandbox.Tool
	for _, o := range list {
		if !jsx.Nullish(answer) {
			name := o.Name
			o.Ask = func(ctx context.Context, list []sandbox.ModelQuestion) ([][]string, error) {
				return answers(ctx, answer, name, list)
			}
		}
		c, err := mcpclient.Connect(ctx, o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.Name, err)
		}
		t.clients = append(t.clients, c)
		more, err := c.Tools(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.Name, err)
		}
		tools = append(tools, more...)
	}
	return tools, nil
}

// disconnect ends the sessions with the servers.
func (t *theBox) disconnect(ctx context.Context) {
	for _, c := range t.clients {
		_ = c.Close(ctx) // the server may be gone
	}
}
