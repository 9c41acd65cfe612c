package models

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// account has what a tenant used.
type account struct {
	open                    int
	requests, bytes, tokens bucket
}

// bucket empties steadily, its most in an hour.
type bucket struct {
	most int64
	used float64
	at   time.Time
}

func (b *bucket) drain(now time.Time) {
	b.used = max(0, b.used-float64(b.most)*now.Sub(b.at).Hours())
	b.at = now
}

func (b *bucket) add(now time.Time, n int64) {
	b.drain(now)
	b.used += float64(n)
}

func (b *bucket) over(now time.Time) bool {
	b.drain(now)
	return b.used >= float64(b.most)
}

// wait returns the seconds until there is room for the next request.
func (b *bucket) wait() int64 {
	return 1 + int64((b.used-float64(b.most))/float64(b.most)*3600) + int64(3600/float64(b.most))
}

// enter counts a request of a tenant, if the tenant may send one.
func (p *Proxy) enter(tenant string, size int64) (*account, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.o.now()
	a := p.tenants[tenant]
	if a == nil {
		a = &account{requests: bucket{most: p.o.Requests, at: now}, bytes: bucket{most: p.o.Bytes, at: now}, tokens: bucket{most: p.o.Tokens, at: now}}
		p.tenants[tenant] = a
	}
	if !p.o.off.limits {
		if a.open >= p.o.Open {
			return nil, refusal{http.StatusTooManyRequests, "open", fmt.Sprintf("%d requests of this tenant to the model are open, as many as may be", a.open), 1}
		}
		for _, l := range []struct {
			b    *bucket
			name string
		}{{&a.requests, "requests"}, {&a.bytes, "bytes"}, {&a.tokens, "tokens"}} {
			if l.b.over(now) {
				return nil, refusal{http.StatusTooManyRequests, l.name, fmt.Sprintf("the tenant has used its %d %s of an hour", l.b.most, l.name), l.b.wait()}
			}
		}
	}
	a.open++
	a.requests.add(now, 1)
	a.bytes.add(now, size)
	return a, nil
}

func (p *Proxy) leave(a *account) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a.open--
}

// maxLine is the most bytes of an event in which the number of tokens is looked for.
const maxLine = 1 << 20

// counter reads the number of tokens of a response.
type counter struct {
	asked  int64 // bytes of the request
	events bool  // they are events, and otherwise one object
	line   []byte
	long   bool // the line has no room
	lines  int64
	size   int64
	said   int64 // by the server, or 0
}

func (c *counter) Write(b []byte) (int, error) {
	c.size += int64(len(b))
	for rest := b; len(rest) > 0; {
		line, more, ended := rest, []byte(nil), false
		if c.events {
			line, more, ended = bytes.Cut(rest, []byte("\n"))
		}
		if c.long = c.long || len(c.line)+len(line) > maxLine; !c.long {
			c.line = append(c.line, line...)
		}
		if ended {
			c.read()
		}
		rest = more
	}
	return len(b), nil
}

// read reads the line.
func (c *counter) read() {
	data, ok := c.line, !c.long && len(c.line) > 0
	if c.events {
		data, ok = bytes.CutPrefix(data, []byte("data:"))
		if ok {
			c.lines++
		}
	}
	var v struct {
		Usage struct {
			Total  int64 `json:"total_tokens"`
			Prompt int64 `json:"prompt_tokens"`
			Answer int64 `json:"completion_tokens"`
		}
	}
	if ok && !c.long && bytes.Contains(data, []byte(`"usage"`)) && json.Unmarshal(data, &v) == nil {
		c.said = max(c.said, v.Usage.Total, v.Usage.Prompt+v.Usage.Answer)
	}
	c.line, c.long = c.line[:0], false
}

// tokens returns the number, after the end of the response.
func (c *counter) tokens() int64 {
	if len(c.line) > 0 {
		c.read()
	}
	if c.said > 0 {
		return c.said
	}
	if c.events {
		return c.asked/4 + c.lines
	}
	return (c.asked + c.size) / 4
}
