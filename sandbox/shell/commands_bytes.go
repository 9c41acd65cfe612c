package shell

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
)

func base64Cmd(t *task) int {
	o, files, ok := t.options("d", "w")
	if !ok {
		return 2
	}
	d, code := t.all(files)
	if has(o, 'd') {
		out, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(d)), ""))
		if err != nil {
			return t.fail("invalid input")
		}
		_, _ = t.out.Write(out)
		return code
	}
	width, ok := t.number(o, 'w', 76)
	if !ok {
		return 2
	}
	text := base64.StdEncoding.EncodeToString(d)
	for width > 0 && len(text) > width {
		fmt.Fprintln(t.out, text[:width])
		text = text[width:]
	}
	if text != "" {
		fmt.Fprint(t.out, text)
		if width > 0 {
			fmt.Fprintln(t.out)
		}
	}
	return code
}

func sum(make func() hash.Hash) command {
	return func(t *task) int {
		return t.each(t.args, func(name string, d []byte) int {
			h := make()
			h.Write(d)
			fmt.Fprintf(t.out, "%s  %s\n", hex.EncodeToString(h.Sum(nil)), name)
			return 0
		})
	}
}

func xxd(t *task) int {
	o, files, ok := t.options("p", "")
	if !ok {
		return 2
	}
	d, code := t.all(files)
	if has(o, 'p') {
		for ; len(d) > 0; d = d[min(len(d), 30):] {
			fmt.Fprintln(t.out, hex.EncodeToString(d[:min(len(d), 30)]))
		}
		return code
	}
	for i := 0; i < len(d); i += 16 {
		row := d[i:min(i+16, len(d))]
		var hexs, text strings.Builder
		for j, c := range row {
			fmt.Fprintf(&hexs, "%02x", c)
			if j%2 == 1 {
				hexs.WriteByte(' ')
			}
			if c < 32 || c > 126 {
				c = '.'
			}
			text.WriteByte(c)
		}
		fmt.Fprintf(t.out, "%08x: %-40s %s\n", i, strings.TrimRight(hexs.String(), " "), text.String())
	}
	return code
}
