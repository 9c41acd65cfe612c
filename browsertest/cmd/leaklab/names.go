package main

import (
	"errors"
	"net"
	"strings"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
)

// names is a DNS server that resolves every name, and records the names. A name that contains
// ip-127-0-0-5 resolves to that address, and any other to 127.0.0.1.
type names struct {
	mu    sync.Mutex
	asked []string
}

func watchNames() (*names, error) {
	udp, err := net.ListenPacket("udp", "127.0.0.1:53")
	if err != nil {
		return nil, err
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:53")
	if err != nil {
		return nil, err
	}
	n := &names{}
	go func() {
		buf := make([]byte, 4096)
		for {
			size, from, err := udp.ReadFrom(buf)
			if err != nil {
				return
			}
			if out, err := n.answer(buf[:size]); err == nil {
				_, _ = udp.WriteTo(out, from)
			}
		}
	}()
	go func() {
		for {
			c, err := tcp.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				head := make([]byte, 2)
				if _, err := c.Read(head); err != nil {
					return
				}
				buf := make([]byte, int(head[0])<<8|int(head[1]))
				if _, err := c.Read(buf); err != nil {
					return
				}
				if out, err := n.answer(buf); err == nil {
					_, _ = c.Write(append([]byte{byte(len(out) >> 8), byte(len(out))}, out...))
				}
			}()
		}
	}()
	return n, nil
}

func (n *names) answer(query []byte) ([]byte, error) {
	var p dnsmessage.Parser
	head, err := p.Start(query)
	if err != nil {
		return nil, err
	}
	q, err := p.Question()
	if err != nil {
		return nil, err
	}
	name := strings.ToLower(q.Name.String())
	n.mu.Lock()
	n.asked = append(n.asked, name)
	n.mu.Unlock()
	b := dnsmessage.NewBuilder(nil, dnsmessage.Header{ID: head.ID, Response: true, RecursionDesired: head.RecursionDesired, RecursionAvailable: true})
	if err := errors.Join(b.StartQuestions(), b.Question(q), b.StartAnswers()); err != nil {
		return nil, err
	}
	if q.Type == dnsmessage.TypeA {
		err = b.AResource(dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 1}, dnsmessage.AResource{A: addressIn(name)})
	}
	if err != nil {
		return nil, err
	}
	return b.Finish()
}

func addressIn(name string) [4]byte {
	for label := range strings.SplitSeq(name, ".") {
		if digits, ok := strings.CutPrefix(label, "ip-"); ok {
			if ip := net.ParseIP(strings.ReplaceAll(digits, "-", ".")).To4(); ip != nil {
				return [4]byte(ip)
			}
		}
	}
	return [4]byte{127, 0, 0, 1}
}

// count returns the number of lookups of names with a prefix.
func (n *names) count(prefix string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	c := 0
	for _, a := range n.asked {
		if strings.HasPrefix(a, prefix) {
			c++
		}
	}
	return c
}

func (n *names) forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked = nil
}
