//go:build js && wasm

package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bailey-go/bailey/examples/internal/dom"
)

// say shows an error text. An empty text hides it.
func say(text string) {
	dom.SetText("problem", text)
	dom.Hide("problem", text == "")
}

// insert adds a word to the end of the pipe.
func insert(word string) {
	line := dom.Element("line")
	text := line.Get("value").String()
	if text != "" && !strings.HasSuffix(text, " ") {
		text += " "
	}
	line.Set("value", text+word)
	line.Call("focus")
}

// shown returns the text of an output for the page: up to 200 kB of text, or the first 2 KiB of
// binary data in hexadecimal.
func shown(data []byte) string {
	const most = 200_000
	head := data[:min(len(data), most)]
	for i := 0; i < 3 && len(head) > 0 && !utf8.Valid(head); i++ {
		head = head[:len(head)-1] // an incomplete character
	}
	if utf8.Valid(head) && !strings.Contains(string(head), "\x00") {
		if len(data) > most {
			return string(head) + "\n… " + dom.Size(int64(len(data))) + " in all"
		}
		return string(head)
	}
	var b strings.Builder
	for at := 0; at < min(len(data), 2048); at += 16 {
		row := data[at:min(at+16, len(data))]
		text := strings.Map(func(r rune) rune {
			if r < ' ' || r > '~' {
				return '.'
			}
			return r
		}, latin(row))
		fmt.Fprintf(&b, "%08x  %-47s  %s\n", at, fmt.Sprintf("% x", row), text)
	}
	if len(data) > 2048 {
		b.WriteString("… " + dom.Size(int64(len(data))) + " in all")
	}
	return b.String()
}

func latin(b []byte) string {
	r := make([]rune, len(b))
	for i, c := range b {
		r[i] = rune(c)
	}
	return string(r)
}
