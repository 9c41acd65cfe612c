package web

import (
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/sandbox/fetch"
)

// No form of an address hides a credential in it.
func TestAttackCredentialInAnAddress(t *testing.T) {
	count := attack.Start(t, "19")
	broker := func(escaped bool) *Broker {
		b, err := NewBroker(BrokerOptions{Transport: fetch.TransportFunc(nil)})
		if err != nil {
			t.Fatal(err)
		}
		b.o.escaped = escaped
		return b
	}
	on, off := broker(false), broker(true)
	rest := "p_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
	key := "gh" + rest
	all := ""
	for _, c := range []byte(key) {
		all += "%" + string("0123456789ABCDEF"[c>>4]) + string("0123456789abcdef"[c&15])
	}
	deep := func(n int) string { return "gh%" + strings.Repeat("25", n) + "70" + rest[1:] }
	for _, path := range []string{
		"?q=" + key,
		"?q=gh%70" + rest[1:],
		"?q=gh%70" + rest[1:] + "&x=%zz",
		"?x=%zz&q=gh%70" + rest[1:],
		"?q=%gh%70" + rest[1:],
		"?q=" + all,
		"?q=" + all + "%",
		"?q=" + all + "%4",
		all,
		"a%2f" + all + "/b",
		"?q=" + deep(1),
		"?q=" + deep(2),
		"?q=" + deep(6),
		"?q=" + deep(9),
		"?q=" + deep(500),
		"?a=1&b=2#gh%70" + rest[1:],
		"?q=token+" + "gh%70" + rest[1:],
		"?gh%70" + rest[1:] + "=1",
		"?q=%E0%A4%A&t=gh%70" + rest[1:],
	} {
		_, err := on.Target("https://ok.example/" + path)
		count.Try(path, err == nil)
		_, err = off.Target("https://ok.example/" + path)
		count.Off(path, err == nil)
	}
	for _, fine := range []string{"", "?q=100%25", "?q=a+b%20c", "?x=%zz", "?q=" + strings.Repeat("%25", 100), "a%2Fb?u=https%3A%2F%2Fx.example%2F%3Fq%3Da%2520b", "?q=" + deep(6)[:6]} {
		if _, err := on.Target("https://ok.example/" + fine); err != nil {
			t.Errorf("%s: %v", fine, err)
		}
	}
}

// An address is unescaped at most maxEscapes times.
func TestUnescaped(t *testing.T) {
	for n, want := range map[int]bool{0: true, maxEscapes - 1: true, maxEscapes: false} {
		text := "%" + strings.Repeat("25", n) + "41"
		texts, whole := unescaped(text)
		if whole != want || want && texts[len(texts)-1] != "A" {
			t.Errorf("%d: %q %v", n, texts, whole)
		}
	}
}

// A model can't use the relay to explore the network that the relay is in.
func TestAttackRelaysNetwork(t *testing.T) {
	count := attack.Start(t, "19")
	broker := func(relay string, inner bool) *Broker {
		b, err := NewBroker(BrokerOptions{Transport: fetch.TransportFunc(nil), Relay: relay})
		if err != nil {
			t.Fatal(err)
		}
		b.o.inner = inner
		return b
	}
	on, off, without := broker("/relay", false), broker("/relay", true), broker("", false)
	for _, host := range []string{"localhost", "127.0.0.1", "127.1.2.3", "[::1]", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1", "100.127.255.255",
		"0.0.0.0", "224.0.0.1", "[fe80::1]", "[fd00::1]", "[::ffff:10.0.0.1]", "[::ffff:127.0.0.1]", "[::]", "db.localhost", "printer.local", "metadata.google.internal", "router.home.arpa"} {
		_, err := on.Target("https://" + host + "/")
		count.Try(host, err == nil)
		_, err = off.Target("https://" + host + "/")
		count.Off(host, err == nil)
	}
	for _, host := range []string{"example.com", "11.0.0.1", "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0", "100.63.255.255", "100.128.0.0", "[2606:4700::1]", "local.example", "internal.example"} {
		if _, err := on.Target("https://" + host + "/"); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	if _, err := without.Target("http://localhost/"); err != nil {
		t.Errorf("without a relay: %v", err)
	}
}
