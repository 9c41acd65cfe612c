// Package coding holds the commands for bytes: sums, dumps, encodings, tokens.
package coding

import (
	"bufio"
	"bytes"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/bailey-go/bailey/internal/userland/tool"
)

// Commands returns the commands of this package.
func Commands() tool.Set {
	const c = "bytes"
	set := tool.Set{
		{Name: "base64", Usage: "[-di] [-w N] [FILE]", Summary: "encode or decode base64", Category: c, Files: "read", Run: base, Help: "  -d  decode    -i  ignore what is no base64    -w N  lines of N (default 76, 0 is one line)"},
		{Name: "xxd", Usage: "[-rpu] [-c N] [-g N] [-l N] [-s N] [FILE]", Summary: "show bytes in hexadecimal, or make bytes of that", Category: c, Files: "read", Run: xxd,
			Help: "  -p  plain    -r  back to bytes    -u  capitals    -c N  bytes a line    -g N  bytes a group    -l N  only N bytes    -s N  from byte N on"},
		{Name: "base32", Usage: "[-d] [-w N] [FILE]", Summary: "encode or decode base32", Category: c, Files: "read", Run: base32Cmd},
		{Name: "od", Usage: "[-An] [-t TYPE] [-c] [-x] [-b] [-d] [-j N] [-N N] [-w N] [-v] [FILE]...", Summary: "show bytes as numbers or characters", Category: c, Files: "read", Run: od, Help: "  -A d|o|x|n  the addresses    -t x1 o1 d1 u1 c a, and with 2, 4 or 8 bytes"},
		{Name: "hexdump", Also: []string{"hd"}, Usage: "[-C] [-n N] [-s N] [-v] [FILE]...", Summary: "show bytes in hexadecimal", Category: c, Files: "read", Run: hexdump},
		{Name: "cksum", Usage: "[FILE]...", Summary: "print CRC sums", Category: c, Files: "read", Run: cksum},
		{Name: "uuid", Usage: "[-4|-7] [N]", Summary: "make random identifiers", Category: c, Files: "none", Run: uuid, Help: "  -4  wholly random (default)    -7  in the order of time"},
		{Name: "jwt", Usage: "[decode] [TOKEN|-]", Summary: "show what a JSON Web Token says, without proof", Category: c, Files: "none", Run: jwt},
	}
	for _, s := range []struct {
		name string
		make func() hash.Hash
	}{{"md5sum", md5.New}, {"sha1sum", sha1.New}, {"sha224sum", sha256.New224}, {"sha256sum", sha256.New}, {"sha384sum", sha512.New384}, {"sha512sum", sha512.New}} {
		set = append(set, tool.Command{Name: s.name, Usage: "[-c] [FILE]...", Summary: "print or check " + strings.ToUpper(strings.TrimSuffix(s.name, "sum")) + " sums", Category: c, Files: "read",
			Help: "  -c  check the sums that stand in a file    --quiet  say only what is wrong    --status  say nothing",
			Run:  func(e *tool.Env) error { return sum(e, s.make) }})
	}
	return set
}

func sum(e *tool.Env, make func() hash.Hash) error {
	o, err := e.Options("cbtqs1z", "tag=1 zero=z ignore-missing=q strict=b warn=b check=c binary=b text=t quiet=q status=s")
	if err != nil {
		return err
	}
	digest := func(r io.Reader) (string, error) {
		h := make()
		err := feed(e, h, r)
		return hex.EncodeToString(h.Sum(nil)), err
	}
	if o.Has('c') {
		return check(e, o, digest)
	}
	return e.Each(o.Args, func(name string, r io.Reader) error {
		s, err := digest(r)
		if err != nil {
			return err
		}
		if o.Has('1') {
			_, err = fmt.Fprintf(e.Stdout, "%s (%s) = %s\n", strings.ToUpper(strings.TrimSuffix(e.Name, "sum")), name, s)
			return err
		}
		mark := "  "
		if o.Has('b') {
			mark = " *"
		}
		if strings.ContainsAny(name, "\\\n") {
			s, name = `\`+s, strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(name)
		}
		_, err = fmt.Fprintln(e.Stdout, s+mark+name)
		return err
	})
}

// feed writes all of r to w, in pieces.
func feed(e *tool.Env, w io.Writer, r io.Reader) error {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		if _, err := w.Write(buf[:n]); err != nil {
			return err
		}
		e.World.Spend(n + 1)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func check(e *tool.Env, o *tool.Opts, digest func(io.Reader) (string, error)) error {
	bad, missing, seen := 0, 0, 0
	err := e.Each(o.Args, func(list string, r io.Reader) error {
		rows := bufio.NewScanner(r)
		for rows.Scan() {
			e.World.Spend(256)
			want, name, ok := strings.Cut(rows.Text(), " ")
			if tagged, digest, is := strings.Cut(rows.Text(), ") = "); is { // --tag
				_, name, ok = strings.Cut(tagged, "(")
				want, name = digest, " "+name
			}
			if want = strings.TrimPrefix(want, `\\`); !ok || len(name) < 2 || len(want) < 32 || strings.Trim(want, "0123456789abcdefABCDEF") != "" {
				continue
			}
			seen++
			name = name[1:]
			f, err := e.Open(name)
			if err != nil {
				e.Warn(name, err)
				fmt.Fprintf(e.Stdout, "%s: FAILED open or read\n", name)
				missing++
				continue
			}
			got, err := digest(f)
			f.Close()
			verdict := "OK"
			if err != nil || !strings.EqualFold(got, want) {
				verdict = "FAILED"
				bad++
			}
			if !o.Has('s') && !(o.Has('q') && verdict == "OK") {
				fmt.Fprintf(e.Stdout, "%s: %s\n", name, verdict)
			}
		}
		if err := rows.Err(); err != nil {
			return err
		}
		if seen == 0 {
			return tool.Errorf("%s: no properly formatted checksum lines found", list)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if bad > 0 && !o.Has('s') {
		e.Stdout.Flush()
		return &tool.Exit{Code: 1, Text: fmt.Sprintf("WARNING: %d computed checksum%s did NOT match", bad, map[bool]string{true: "", false: "s"}[bad == 1])}
	}
	if bad+missing > 0 {
		return tool.Code(1)
	}
	return nil
}

func base(e *tool.Env) error {
	o, err := e.Options("diDw:", "decode=d ignore-garbage=i wrap=w")
	if err != nil {
		return err
	}
	width, err := e.Int(o, 'w', 76)
	if err != nil {
		return err
	}
	if len(o.Args) > 1 {
		return e.Usagef("extra operand '%s'", o.Args[1])
	}
	return e.Each(o.Args, func(_ string, r io.Reader) error {
		if o.Has('d') {
			all, err := e.Slurp(r)
			if err != nil {
				return err
			}
			keep := func(c rune) rune {
				if c == '\n' || c == '\r' || o.Has('i') && !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=", c) {
					return -1
				}
				return c
			}
			all = bytes.Map(keep, all)
			e.World.Hold(2 * len(all))
			dst := make([]byte, base64.StdEncoding.DecodedLen(len(all)))
			n, err := base64.StdEncoding.Decode(dst, all)
			e.Stdout.Write(dst[:n])
			if err != nil {
				return tool.Errorf("invalid input")
			}
			return nil
		}
		w := &wrapper{w: e.Stdout, width: width}
		enc := base64.NewEncoder(base64.StdEncoding, w)
		if err := feed(e, enc, r); err != nil {
			return err
		}
		enc.Close()
		if w.column > 0 && width > 0 {
			e.Stdout.WriteByte('\n')
		}
		return nil
	})
}

// wrapper breaks its output into lines of width bytes. 0 is no limit.
type wrapper struct {
	w             *bufio.Writer
	width, column int
}

func (w *wrapper) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		part := p
		if w.width > 0 {
			part = p[:min(len(p), w.width-w.column)]
		}
		if _, err := w.w.Write(part); err != nil {
			return 0, err
		}
		p = p[len(part):]
		if w.column += len(part); w.column == w.width && w.width > 0 {
			w.w.WriteByte('\n')
			w.column = 0
		}
	}
	return n, nil
}

func xxd(e *tool.Env) error {
	o, err := e.Options("rpuc:g:l:s:bien:", "name=n")
	if err != nil {
		return err
	}
	in := e.Stdin
	if len(o.Args) > 0 {
		f, err := e.Open(o.Args[0])
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	if o.Has('r') {
		return undump(e, in, o.Has('p'))
	}
	width := 16
	switch {
	case o.Has('p'):
		width = 30
	case o.Has('b'):
		width = 6
	case o.Has('i'):
		width = 12
	}
	if width, err = e.Int(o, 'c', width); err != nil || width == 0 || width > 256 {
		return e.Usagef("the number of columns must be from 1 to 256")
	}
	group, err := e.Int(o, 'g', 2)
	if err != nil {
		return err
	}
	if v := o.Value('s'); len(v) > 1 && v[0] == '-' { // from the end
		n, err := strconv.Atoi(v[1:])
		if err != nil {
			return tool.Errorf("invalid number: '%s'", v)
		}
		all, err := e.Slurp(in)
		if err != nil {
			return err
		}
		at := max(len(all)-n, 0)
		return rowsOfXxd(e, o, bytes.NewReader(all[at:]), width, group, at)
	}
	skip, err := e.Int(o, 's', 0)
	if err != nil {
		return err
	}
	if _, err := io.CopyN(io.Discard, e.Counted(in), int64(skip)); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return rowsOfXxd(e, o, in, width, group, skip)
}

// rowsOfXxd prints the rest of a file, which begins at an offset.
func rowsOfXxd(e *tool.Env, o *tool.Opts, in io.Reader, width, group, skip int) error {
	most, err := e.Int(o, 'l', 1<<62)
	if err != nil {
		return err
	}
	in = bufio.NewReader(io.LimitReader(in, int64(most)))
	digits := "%02x"
	if o.Has('u') {
		digits = "%02X"
	}
	buf := make([]byte, width)
	for at := skip; ; at += width {
		n, err := io.ReadFull(in, buf)
		e.World.Spend(8*n + 64)
		switch {
		case n == 0:
		case o.Has('b'):
			bits(e.Stdout, buf[:n], at, width)
		case o.Has('i'):
			more := err == nil
			if next, bad := in.(*bufio.Reader).Peek(1); len(next) == 0 || bad != nil {
				more = false
			}
			literal(e.Stdout, buf[:n], more)
		default:
			dumpRow(e.Stdout, buf[:n], at, width, group, digits, o.Has('p'))
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// bits prints a row of xxd -b.
func bits(w *bufio.Writer, row []byte, at, width int) {
	fmt.Fprintf(w, "%08x:", at)
	for _, c := range row {
		fmt.Fprintf(w, " %08b", c)
	}
	w.WriteString(strings.Repeat(" ", 9*(width-len(row))+2))
	for _, c := range row {
		if c < 32 || c > 126 {
			c = '.'
		}
		w.WriteByte(c)
	}
	w.WriteByte('\n')
}

// literal prints a row of xxd -i.
func literal(w *bufio.Writer, row []byte, more bool) {
	w.WriteString("  ")
	for i, c := range row {
		if i > 0 {
			w.WriteString(", ")
		}
		fmt.Fprintf(w, "0x%02x", c)
	}
	if more {
		w.WriteByte(',')
	}
	w.WriteByte('\n')
}

func dumpRow(w *bufio.Writer, row []byte, at, width, group int, digits string, plain bool) {
	if plain {
		for _, c := range row {
			fmt.Fprintf(w, digits, c)
		}
		w.WriteByte('\n')
		return
	}
	fmt.Fprintf(w, "%08x: ", at)
	column, whole := 0, 2*width
	if group > 0 {
		whole += (width + group - 1) / group
	} else {
		whole++
	}
	for i, c := range row {
		fmt.Fprintf(w, digits, c)
		if column += 2; group > 0 && (i+1)%group == 0 {
			w.WriteByte(' ')
			column++
		}
	}
	w.WriteString(strings.Repeat(" ", whole-column+1))
	for _, c := range row {
		if c < 32 || c > 126 {
			c = '.'
		}
		w.WriteByte(c)
	}
	w.WriteByte('\n')
}

func undump(e *tool.Env, in io.Reader, plain bool) error {
	rows := bufio.NewScanner(in)
	rows.Buffer(nil, 1<<26)
	for rows.Scan() {
		row := rows.Text()
		e.World.Spend(len(row) + 64)
		if !plain {
			_, rest, ok := strings.Cut(row, ":")
			if !ok {
				continue
			}
			row, _, _ = strings.Cut(strings.TrimPrefix(rest, " "), "  ")
		}
		row = strings.Map(func(r rune) rune {
			if r == ' ' || r == '\t' || r == '\r' {
				return -1
			}
			return r
		}, row)
		b, err := hex.DecodeString(row)
		e.Stdout.Write(b)
		if err != nil {
			return tool.Errorf("'%s' is no hexadecimal", row)
		}
	}
	return rows.Err()
}

func uuid(e *tool.Env) error {
	o, err := e.Options("47", "")
	if err != nil {
		return err
	}
	n := 1
	if len(o.Args) > 0 {
		if _, err := fmt.Sscanf(o.Args[0], "%d", &n); err != nil || n < 1 || n > 1_000_000 || len(o.Args) > 1 {
			return e.Usagef("want a number from 1 to 1000000")
		}
	}
	for i := range n {
		var b [16]byte
		_, _ = rand.Read(b[:])
		version := byte(4)
		if o.Has('7') { // RFC 9562: 48 bits of milliseconds, then a counter, which orders 4,096 per millisecond
			version = 7
			ms := time.Now().UnixMilli()
			for j := range 6 {
				b[j] = byte(ms >> (40 - 8*j))
			}
			b[6], b[7] = byte(i>>8), byte(i)
		}
		b[6], b[8] = b[6]&0x0f|version<<4, b[8]&0x3f|0x80
		x := hex.EncodeToString(b[:])
		fmt.Fprintf(e.Stdout, "%s-%s-%s-%s-%s\n", x[:8], x[8:12], x[12:16], x[16:20], x[20:])
	}
	return nil
}

func jwt(e *tool.Env) error {
	o, err := e.Options("", "")
	if err != nil {
		return err
	}
	args := o.Args
	if len(args) > 0 && args[0] == "decode" {
		args = args[1:]
	}
	token := ""
	if len(args) > 0 && args[0] != "-" {
		token = args[0]
	} else {
		all, err := io.ReadAll(io.LimitReader(e.Stdin, 1<<20))
		if err != nil {
			return err
		}
		token = string(all)
	}
	token = strings.TrimPrefix(strings.TrimSpace(token), "Bearer ")
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return tool.Errorf("a token has three parts with dots between them, this one has %d", len(parts))
	}
	out := map[string]any{"verified": false, "signed": parts[2] != ""}
	for i, name := range []string{"header", "payload"} {
		raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[i], "="))
		if err != nil {
			return tool.Errorf("the %s is no base64url", name)
		}
		var v map[string]any
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			return tool.Errorf("the %s is no JSON object: %v", name, err)
		}
		out[name] = v
		for _, claim := range []string{"iat", "nbf", "exp"} {
			if n, ok := v[claim].(json.Number); ok && name == "payload" {
				if f, err := n.Float64(); err == nil && f > -1e11 && f < 1e11 {
					out[claim] = time.Unix(int64(f), 0).UTC().Format(time.RFC3339)
				}
			}
		}
	}
	enc := json.NewEncoder(e.Stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}
