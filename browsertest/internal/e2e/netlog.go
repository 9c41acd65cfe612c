package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
)

// NetLog is the network activity of a browser, read from its own log.
type NetLog struct {
	// URLs are the requests that the network stack began.
	URLs []string
	// Resolved are the host names that were looked up. Names that a browser resolves itself, such
	// as localhost, are not among them.
	Resolved []string
	// Connected are the addresses (host:port) of TCP connection attempts.
	Connected []string
	// Datagrams are the addresses to which UDP datagrams were sent, except for the lookups of
	// Resolved (port 53). A browser also connects UDP sockets without sending, to find out its own
	// address. Those are not included.
	Datagrams []string

	udp map[int64]string
}

// NetLog closes the browser, which completes its log, and returns the content. It returns an error
// without Options.NetLog.
func (b *Browser) NetLog() (*NetLog, error) {
	if b.netlog == "" {
		return nil, fmt.Errorf("e2e: there is no network log: launch the browser with Options.NetLog")
	}
	if err := b.Close(); err != nil {
		return nil, err
	}
	return ParseNetLog([]byte(b.netlog))
}

// Hosts returns all hosts that were resolved, connected to, sent to or named in a request, sorted
// and with loopback.
func (n *NetLog) Hosts() []string {
	var list []string
	for _, u := range n.URLs {
		if p, err := url.Parse(u); err == nil && p.Hostname() != "" {
			list = append(list, p.Hostname())
		}
	}
	list = append(list, n.Resolved...)
	for _, a := range slices.Concat(n.Connected, n.Datagrams) {
		if h, _, err := net.SplitHostPort(a); err == nil {
			list = append(list, h)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Outside returns those of Hosts that are not loopback.
func (n *NetLog) Outside() []string {
	return slices.DeleteFunc(n.Hosts(), func(h string) bool {
		ip := net.ParseIP(h)
		return h == "localhost" || strings.HasSuffix(h, ".localhost") || ip != nil && ip.IsLoopback()
	})
}

// ParseNetLog parses a log written by --log-net-log. A log that ends early, because its browser was
// killed, is parsed as far as it goes.
func ParseNetLog(data []byte) (*NetLog, error) {
	dec := json.NewDecoder(strings.NewReader(string(data)))
	fail := func(err error) (*NetLog, error) { return nil, fmt.Errorf("e2e: reading the network log: %w", err) }
	if _, err := dec.Token(); err != nil {
		return fail(err)
	}
	log := &NetLog{udp: map[int64]string{}}
	names := map[int]string{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return fail(err)
		}
		switch key {
		case "constants":
			var c struct {
				LogEventTypes map[string]int `json:"logEventTypes"`
			}
			if err := dec.Decode(&c); err != nil {
				return fail(err)
			}
			for name, id := range c.LogEventTypes {
				names[id] = name
			}
		case "events":
			if _, err := dec.Token(); err != nil {
				return fail(err)
			}
			for dec.More() {
				var e struct {
					Type   int `json:"type"`
					Source struct {
						ID int64 `json:"id"`
					} `json:"source"`
					Params json.RawMessage `json:"params"`
				}
				if err := dec.Decode(&e); err != nil {
					return log.compact(), nil // incomplete
				}
				log.add(names[e.Type], e.Source.ID, e.Params)
			}
			if _, err := dec.Token(); err != nil {
				return log.compact(), nil
			}
		default:
			var skip json.RawMessage
			if err := dec.Decode(&skip); err != nil {
				return log.compact(), nil
			}
		}
	}
	if len(names) == 0 {
		return fail(fmt.Errorf("no constants in it"))
	}
	return log.compact(), nil
}

func (n *NetLog) add(kind string, source int64, raw json.RawMessage) {
	var p struct {
		Host    string `json:"host"`
		URL     string `json:"url"`
		Address string `json:"address"`
	}
	if len(raw) > 0 && json.Unmarshal(raw, &p) != nil {
		return
	}
	switch kind {
	case "URL_REQUEST_START_JOB":
		if p.URL != "" {
			n.URLs = append(n.URLs, p.URL)
		}
	case "HOST_RESOLVER_MANAGER_JOB", "HOST_RESOLVER_SYSTEM_TASK", "HOST_RESOLVER_DNS_TASK":
		if h := hostOf(p.Host); h != "" {
			n.Resolved = append(n.Resolved, h)
		}
	case "TCP_CONNECT_ATTEMPT":
		if p.Address != "" {
			n.Connected = append(n.Connected, p.Address)
		}
	case "UDP_CONNECT":
		if p.Address != "" {
			n.udp[source] = p.Address
		}
	case "UDP_BYTES_SENT":
		to := p.Address
		if to == "" {
			to = n.udp[source] // a connected socket
		}
		if to != "" && !strings.HasSuffix(to, ":53") {
			n.Datagrams = append(n.Datagrams, to)
		}
	}
}

// hostOf returns the name in "name", "name:port" or "scheme://name:port".
func hostOf(s string) string {
	if u, err := url.Parse(s); err == nil && u.Hostname() != "" {
		return u.Hostname()
	}
	if h, _, err := net.SplitHostPort(s); err == nil {
		return h
	}
	return s
}

func (n *NetLog) compact() *NetLog {
	for _, list := range []*[]string{&n.Resolved, &n.Connected, &n.Datagrams} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return n
}
