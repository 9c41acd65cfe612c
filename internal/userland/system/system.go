// Package system holds the commands that ask about the surroundings, compute, or run other commands.
package system

import (
	"errors"
	"fmt"
	"io"
	"math/big"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bailey-go/bailey/internal/userland/tool"
	"github.com/bailey-go/bailey/internal/userland/when"
)

// Small returns the commands that are needed before any tool is loaded.
func Small() tool.Set {
	const c = "system"
	return tool.Set{
		{Name: "date", Usage: "[-u] [-d TIME] [-r FILE] [-I[UNIT]] [+FORMAT]", Summary: "print the time, in UTC", Category: c, Files: "read", Run: date, Help: "  -d TIME  such as '2024-01-31 +1 day', yesterday or @86400    -I  ISO 8601    -R  for mail    -u  is the default here"},
		{Name: "sleep", Usage: "SECONDS...", Summary: "wait", Category: c, Files: "none", Run: sleep},
		{Name: "yes", Usage: "[TEXT]...", Summary: "print a line many times", Category: c, Files: "none", Run: yes},
		{Name: "env", Usage: "[-i] [-u NAME] [NAME=VALUE]... [COMMAND [ARG]...]", Summary: "print the environment, or run a command with another one", Category: c, Files: "none", Run: env},
		{Name: "printenv", Usage: "[NAME]...", Summary: "print variables of the environment", Category: c, Files: "none", Run: printenv},
		{Name: "timeout", Usage: "SECONDS COMMAND [ARG]...", Summary: "run a command with a time limit", Category: c, Files: "none", Trouble: 125, Run: timeout, Help: "  -k SECONDS  -s SIGNAL  are accepted    --preserve-status"},
		{Name: "nohup", Usage: "COMMAND [ARG]...", Summary: "run a command", Category: c, Files: "none", Trouble: 125, Run: prefix("+")},
		{Name: "nice", Usage: "[-n N] COMMAND [ARG]...", Summary: "run a command", Category: c, Files: "none", Trouble: 125, Run: prefix("+n:#")},
		{Name: "stdbuf", Usage: "[-i MODE] [-o MODE] [-e MODE] COMMAND [ARG]...", Summary: "run a command", Category: c, Files: "none", Trouble: 125, Run: prefix("+i:o:e:")},
		{Name: "uname", Usage: "[-asnrmo]", Summary: "print the name of the system", Category: c, Files: "none", Run: uname},
		{Name: "whoami", Usage: "", Summary: "print the user's name", Category: c, Files: "none", Run: fixed(owner)},
		{Name: "logname", Usage: "", Summary: "print the user's name", Category: c, Files: "none", Run: fixed(owner)},
		{Name: "hostname", Usage: "", Summary: "print the computer's name", Category: c, Files: "none", Run: fixed("sandbox")},
		{Name: "arch", Usage: "", Summary: "print the kind of processor", Category: c, Files: "none", Run: fixed("wasm")},
		{Name: "nproc", Usage: "", Summary: "print the number of processors", Category: c, Files: "none", Run: fixed("1")},
		{Name: "tty", Usage: "", Summary: "say that there is no terminal", Category: c, Files: "none", Run: func(e *tool.Env) error { e.Stdout.WriteString("not a tty\n"); return tool.Code(1) }},
		{Name: "id", Usage: "[-ugGn]", Summary: "print the user's number and name", Category: c, Files: "none", Run: id},
		{Name: "df", Usage: "[-h]", Summary: "say that the room is not known", Category: c, Files: "none", Run: df},
		{Name: "sync", Usage: "", Summary: "do nothing: each file is written at once", Category: c, Files: "none", Run: func(*tool.Env) error { return nil }},
	}
}

// Large returns the other commands.
func Large() tool.Set {
	const c = "system"
	return tool.Set{
		{Name: "expr", Usage: "EXPRESSION", Summary: "compute with numbers and texts", Category: c, Files: "none", Trouble: 2, Run: expr},
		{Name: "bc", Usage: "[-lq] [FILE]...", Summary: "a calculator with any number of digits", Category: c, Files: "read", Run: bc, Help: "  + - * / % ^ ( ) = == != < > <= >= && || ! ++ -- scale ibase obase last sqrt() length() scale() if while for { } print \"text\"; no -l functions and no define"},
		{Name: "numfmt", Usage: "[--from=UNIT] [--to=UNIT] [--field=N] [NUMBER]...", Summary: "write numbers with units, or without", Category: c, Files: "none", Run: numfmt, Help: "  --from, --to  none, si (1000), iec (1024), iec-i    --field=N    -d C    --padding=N    --format=%.2f    --suffix=TEXT    --round=up|down|nearest    --header[=N]"},
		{Name: "tsort", Usage: "[FILE]", Summary: "order names so that each is before those that need it", Category: c, Files: "read", Run: tsort},
		{Name: "groups", Usage: "", Summary: "print the user's groups", Category: c, Files: "none", Run: fixed(owner)},
		{Name: "factor", Usage: "[NUMBER]...", Summary: "print the prime factors", Category: c, Files: "none", Run: factor},
		{Name: "file", Usage: "[-bi] FILE...", Summary: "say what kind of content a file has", Category: c, Files: "read", Run: file, Help: "  -b  no names    -i  the media type"},
	}
}

// Programs returns small commands that a shell has itself.
func Programs() tool.Set {
	const c = "system"
	return tool.Set{
		{Name: "echo", Usage: "[-n] [-e] [TEXT]...", Summary: "print its arguments", Category: c, Files: "none", Run: echo},
		{Name: "true", Usage: "", Summary: "succeed", Category: c, Files: "none", Run: func(*tool.Env) error { return nil }},
		{Name: "false", Usage: "", Summary: "fail", Category: c, Files: "none", Run: func(*tool.Env) error { return tool.Code(1) }},
	}
}

const owner = "user"

func fixed(text string) func(*tool.Env) error {
	return func(e *tool.Env) error {
		_, err := e.Stdout.WriteString(text + "\n")
		return err
	}
}

func echo(e *tool.Env) error {
	args, newline, escapes := e.Args, true, false
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
		newline = newline && !strings.Contains(args[0], "n")
		escapes = strings.Contains(args[0], "e")
		args = args[1:]
	}
	text := strings.Join(args, " ")
	if escapes {
		text = tool.Unescape(text)
	}
	e.Stdout.WriteString(text)
	if newline {
		e.Stdout.WriteByte('\n')
	}
	return nil
}

func date(e *tool.Env) error {
	o, err := e.Options("ud:r:I::R1:s:f:", "file=f utc=u universal=u date=d reference=r iso-8601=I rfc-email=R rfc-3339=1 set=s")
	if err != nil {
		return err
	}
	if o.Has('s') {
		return tool.Errorf("cannot set date: Operation not permitted")
	}
	t := time.Now().UTC()
	if o.Has('f') { // a date a line
		data, err := e.ReadAll(o.Value('f'))
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(data)) {
			e.World.Spend(512)
			sub := *e
			sub.Args = append([]string{"-d", strings.TrimSuffix(line, "\n")}, o.Args...)
			if err := date(&sub); err != nil {
				e.Errorf("%s", tool.Say(err))
			}
		}
		return nil
	}
	switch {
	case o.Has('d'):
		if t, err = when.Parse(o.Value('d'), t); err != nil {
			return err
		}
	case o.Has('r'):
		info, err := e.World.Stat(o.Value('r'))
		if err != nil {
			return err
		}
		t = info.ModTime().UTC()
	}
	format := "%a %b %e %H:%M:%S %Z %Y"
	switch {
	case o.Has('I'):
		format = map[string]string{"": "%F", "date": "%F", "hours": "%FT%H%:z", "minutes": "%FT%H:%M%:z", "seconds": "%FT%H:%M:%S%:z", "s": "%FT%H:%M:%S%:z", "ns": "%FT%H:%M:%S,%N%:z"}[o.Value('I')]
	case o.Has('R'):
		format = "%a, %d %b %Y %H:%M:%S %z"
	case o.Has('1'):
		format = map[string]string{"date": "%F", "seconds": "%F %T%:z", "ns": "%F %T.%N%:z"}[o.Value('1')]
	case len(o.Args) > 1:
		return e.Usagef("extra operand '%s'", o.Args[1])
	case len(o.Args) == 1 && strings.HasPrefix(o.Args[0], "+"):
		format = o.Args[0][1:]
	case len(o.Args) == 1:
		return tool.Errorf("invalid date '%s'", o.Args[0])
	}
	if format == "" && (o.Has('I') || o.Has('1')) {
		return e.Usagef("invalid argument for --iso-8601 or --rfc-3339")
	}
	text, err := when.Format(t, format)
	fmt.Fprintln(e.Stdout, text)
	return err
}

// duration parses a number of seconds with one of the units s m h d.
func duration(text string) (time.Duration, error) {
	unit := time.Second
	if text != "" {
		if u, ok := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}[text[len(text)-1]]; ok {
			unit, text = u, text[:len(text)-1]
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= 0) {
		return 0, tool.Errorf("invalid time interval '%s'", text)
	}
	return time.Duration(min(n, 1e6) * float64(unit)), nil
}

func sleep(e *tool.Env) error {
	if len(e.Args) == 0 {
		return e.Usagef("missing operand")
	}
	total := time.Duration(0)
	for _, a := range e.Args {
		d, err := duration(a)
		if err != nil {
			return err
		}
		total = min(total+d, 1e6*time.Second)
	}
	e.Stdout.Flush()
	timer := time.NewTimer(total)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-e.Ctx().Done():
		e.World.Spend(1 << 20) // ends the command if the script has ended
		return tool.Code(130)
	}
}

func yes(e *tool.Env) error {
	word := "y"
	if len(e.Args) > 0 {
		word = strings.Join(e.Args, " ")
	}
	// It writes several whole lines at once. A reader that needs only a few closes the pipe.
	const most = 100_000
	some := min(max(4096/(len(word)+1), 1), most)
	e.World.Hold(some * (len(word) + 1))
	text := strings.Repeat(word+"\n", some)
	for left := most; left > 0; left -= some {
		some = min(some, left)
		e.World.Spend(some * (len(word) + 1))
		if _, err := e.Stdout.WriteString(text[:some*(len(word)+1)]); err != nil {
			return err
		}
		if err := e.Stdout.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func env(e *tool.Env) error {
	o, err := e.Options("+iu:0C:S:", "ignore-environment=i unset=u null=0 chdir=C split-string=S")
	if err != nil {
		return err
	}
	args := o.Args
	if len(args) > 0 && args[0] == "-" {
		args = args[1:]
	}
	var set []string
	for len(args) > 0 && strings.Contains(args[0], "=") && args[0][0] != '=' {
		set, args = append(set, args[0]), args[1:]
	}
	if o.Has('S') {
		args = append(strings.Fields(o.Value('S')), args...)
	}
	vars := e.World.Environ()
	if o.Has('i') {
		vars = nil
	}
	for _, name := range o.All('u') {
		vars = slices.DeleteFunc(vars, func(v string) bool { return strings.HasPrefix(v, name+"=") })
	}
	for _, v := range set {
		name, _, _ := strings.Cut(v, "=")
		vars = append(slices.DeleteFunc(vars, func(old string) bool { return strings.HasPrefix(old, name+"=") }), v)
	}
	if o.Has('C') {
		if err := e.World.Chdir(o.Value('C')); err != nil {
			return err
		}
	}
	if len(args) == 0 {
		end := "\n"
		if o.Has('0') {
			end = "\x00"
		}
		for _, v := range vars {
			e.Stdout.WriteString(v + end)
		}
		return nil
	}
	e.Stdout.Flush()
	if vars == nil {
		vars = []string{}
	}
	return tool.Code(e.World.Run(e, args, vars))
}

func printenv(e *tool.Env) error {
	o, err := e.Options("+0", "null=0")
	if err != nil {
		return err
	}
	vars := e.World.Environ()
	if len(o.Args) == 0 {
		for _, v := range vars {
			fmt.Fprintln(e.Stdout, v)
		}
		return nil
	}
	for _, name := range o.Args {
		found := false
		for _, v := range vars {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				fmt.Fprintln(e.Stdout, value)
				found = true
			}
		}
		if !found {
			e.SetFailed()
		}
	}
	return nil
}

// prefix returns a command that runs another one.
func prefix(options string) func(*tool.Env) error {
	return func(e *tool.Env) error {
		o, err := e.Options(options, "adjustment=n input=i output=o error=e")
		if err != nil {
			return err
		}
		if len(o.Args) == 0 {
			return e.Usagef("missing operand")
		}
		e.Stdout.Flush()
		return tool.Code(e.World.Run(e, o.Args, nil))
	}
}

// A Timer is a world that can run a command with a time limit.
type Timer interface {
	RunFor(d time.Duration, e *tool.Env, argv []string) (code int, late bool)
}

func timeout(e *tool.Env) error {
	o, err := e.Options("+k:s:1v", "kill-after=k signal=s preserve-status=1 foreground=v verbose=v")
	if err != nil {
		return err
	}
	if len(o.Args) < 2 {
		return e.Usagef("missing operand")
	}
	d, err := duration(o.Args[0])
	if err != nil {
		return err
	}
	t, ok := e.World.(Timer)
	if !ok {
		return tool.Errorf("a program here can start no other")
	}
	e.Stdout.Flush()
	if d == 0 {
		return tool.Code(e.World.Run(e, o.Args[1:], nil))
	}
	code, late := t.RunFor(d, e, o.Args[1:])
	switch {
	case late && !o.Has('1'):
		return tool.Code(124)
	case late:
		code = 128 + 15 // of SIGTERM
	}
	return tool.Code(code)
}

func uname(e *tool.Env) error {
	o, err := e.Options("asnrvmpio", "all=a kernel-name=s nodename=n kernel-release=r kernel-version=v machine=m operating-system=o")
	if err != nil {
		return err
	}
	var out []string
	for _, part := range []struct {
		c    rune
		text string
	}{{'s', "Linux"}, {'n', "sandbox"}, {'r', "6.0.0-sandbox"}, {'v', "#1"}, {'m', "wasm32"}, {'o', "GNU/Linux"}} {
		if o.Has('a') || o.Has(part.c) || part.c == 's' && o.Last("asnrvmpio") == 0 {
			out = append(out, part.text)
		}
	}
	fmt.Fprintln(e.Stdout, strings.Join(out, " "))
	return nil
}

func id(e *tool.Env) error {
	o, err := e.Options("ugGnr", "user=u group=g groups=G name=n real=r")
	if err != nil {
		return err
	}
	switch {
	case o.Last("ugG") == 0:
		fmt.Fprintf(e.Stdout, "uid=1000(%s) gid=1000(%s) groups=1000(%s)\n", owner, owner, owner)
	case o.Has('n'):
		fmt.Fprintln(e.Stdout, owner)
	default:
		fmt.Fprintln(e.Stdout, "1000")
	}
	return nil
}

func df(e *tool.Env) error {
	if _, err := e.Options("hkTiaBP", "human-readable=h"); err != nil {
		return err
	}
	e.Stdout.WriteString("Filesystem     1K-blocks  Used Available Use% Mounted on\nfolder                 -     -         -    - /\n")
	return nil
}

func factor(e *tool.Env) error {
	words := e.Args
	if len(words) == 0 {
		data, err := e.ReadAll("-")
		if err != nil {
			return err
		}
		words = strings.Fields(string(data))
	}
	for _, w := range words {
		n, err := strconv.ParseUint(w, 10, 64)
		if err != nil || n == 0 {
			e.Errorf("'%s' is not a valid positive integer", w)
			continue
		}
		fmt.Fprintf(e.Stdout, "%d:", n)
		for p := uint64(2); p*p <= n && p < 1<<32; p++ {
			if p&1023 == 0 {
				e.World.Spend(16 << 10)
				if p > 1<<24 && new(big.Int).SetUint64(n).ProbablyPrime(20) {
					break
				}
			}
			for n%p == 0 {
				fmt.Fprintf(e.Stdout, " %d", p)
				n /= p
			}
		}
		if n > 1 {
			fmt.Fprintf(e.Stdout, " %d", n)
		}
		fmt.Fprintln(e.Stdout)
	}
	return nil
}

func file(e *tool.Env) error {
	o, err := e.Operands("biLhzNIE", "brief=b mime=i mime-type=I mime-encoding=E dereference=L")
	if err != nil {
		return err
	}
	widest := 0
	for _, name := range o.Args {
		widest = max(widest, len(name))
	}
	for _, name := range o.Args {
		text, media, err := kind(e, name)
		if err != nil {
			text = fmt.Sprintf("cannot open `%s' (%s)", name, tool.Reason(err))
			media = text
		}
		if o.Has('i') || o.Has('I') || o.Has('E') {
			text = media
			kind, set, _ := strings.Cut(media, "; charset=")
			if o.Has('I') {
				text = kind
			} else if o.Has('E') {
				text = set
			}
		}
		if !o.Has('b') {
			fmt.Fprintf(e.Stdout, "%-*s ", widest+1, name+":")
		}
		fmt.Fprintln(e.Stdout, text)
	}
	return nil
}

// magics are the first bytes of common kinds of files.
var magics = []struct{ head, text, media string }{
	{"\x89PNG\r\n\x1a\n", "PNG image data", "image/png"}, {"\xff\xd8\xff", "JPEG image data", "image/jpeg"}, {"GIF8", "GIF image data", "image/gif"},
	{"%PDF-", "PDF document", "application/pdf"}, {"PK\x03\x04", "Zip archive data", "application/zip"}, {"\x1f\x8b", "gzip compressed data", "application/gzip"},
	{"BZh", "bzip2 compressed data", "application/x-bzip2"}, {"\xfd7zXZ\x00", "XZ compressed data", "application/x-xz"}, {"7z\xbc\xaf\x27\x1c", "7-zip archive data", "application/x-7z-compressed"},
	{"\x7fELF", "ELF executable", "application/x-executable"}, {"\x00asm", "WebAssembly (wasm) binary module", "application/wasm"}, {"SQLite format 3\x00", "SQLite 3.x database", "application/vnd.sqlite3"},
	{"RIFF", "RIFF (little-endian) data", "application/octet-stream"}, {"OggS", "Ogg data", "application/ogg"}, {"ID3", "Audio file with ID3", "audio/mpeg"}, {"II*\x00", "TIFF image data", "image/tiff"},
	{"BM", "PC bitmap", "image/bmp"}, {"\x28\xb5\x2f\xfd", "Zstandard compressed data", "application/zstd"}, {"wOFF", "Web Open Font Format", "font/woff"},
}

func kind(e *tool.Env, name string) (text, media string, err error) {
	if name != "-" {
		info, err := e.World.Stat(name)
		if err != nil {
			return "", "", err
		}
		if info.IsDir() {
			return "directory", "inode/directory; charset=binary", nil
		}
	}
	r, err := e.Open(name)
	if err != nil {
		return "", "", err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, 64<<10))
	if err != nil {
		return "", "", err
	}
	if len(data) == 0 {
		return "empty", "inode/x-empty; charset=binary", nil
	}
	s := string(data)
	for _, m := range magics {
		if strings.HasPrefix(s, m.head) && !(m.head == "BM" && !strings.ContainsRune(s, 0)) {
			return m.text, m.media + "; charset=binary", nil
		}
	}
	if len(s) > 262 && s[257:262] == "ustar" {
		return "POSIX tar archive", "application/x-tar; charset=binary", nil
	}
	if strings.ContainsRune(s, 0) {
		return "data", "application/octet-stream; charset=binary", nil
	}
	charset, set := "ASCII text", "us-ascii"
	for _, c := range data {
		if c >= 0x80 {
			charset, set = "Unicode text, UTF-8 text", "utf-8"
			break
		}
	}
	if set == "utf-8" && !validUTF8(data) {
		charset, set = "Non-ISO extended-ASCII text", "unknown-8bit"
	}
	text, media = charset, "text/plain"
	trimmed := strings.TrimSpace(s)
	switch {
	case strings.HasPrefix(s, "#!"):
		line, _, _ := strings.Cut(s, "\n")
		program := path.Base(strings.Fields(line[2:] + " x")[0])
		if program == "env" {
			program = (strings.Fields(line + " x x"))[1]
		}
		switch {
		case program == "bash":
			text, media = "Bourne-Again shell script, "+charset+" executable", "text/x-shellscript"
		case program == "sh" || program == "dash":
			text, media = "POSIX shell script, "+charset+" executable", "text/x-shellscript"
		case strings.HasPrefix(program, "python"):
			text, media = "Python script, "+charset+" executable", "text/x-script.python"
		case program == "node":
			text, media = "Node.js script executable, "+charset, "application/javascript"
		default:
			text = "a " + strings.TrimSpace(line[2:]) + " script, " + charset + " executable"
		}
	case strings.HasPrefix(trimmed, "<?xml"):
		text, media = "XML 1.0 document, "+charset, "text/xml"
	case strings.HasPrefix(strings.ToLower(trimmed), "<!doctype html") || strings.HasPrefix(strings.ToLower(trimmed), "<html"):
		text, media = "HTML document, "+charset, "text/html"
	case (strings.HasPrefix(trimmed, "{") && strings.HasSuffix(trimmed, "}") || strings.HasPrefix(trimmed, "[") && strings.HasSuffix(trimmed, "]")) && strings.Contains(trimmed, `"`):
		text, media = "JSON text data", "application/json"
	}
	if strings.Contains(s, "\r\n") && media == "text/plain" {
		text += ", with CRLF line terminators"
	} else if !strings.Contains(s, "\n") && media == "text/plain" {
		text += ", with no line terminators"
	}
	return text, media + "; charset=" + set, nil
}

func validUTF8(data []byte) bool {
	// The last character may be cut off.
	for n := 0; n < 4 && n < len(data); n++ {
		if strings.ToValidUTF8(string(data[:len(data)-n]), "") == string(data[:len(data)-n]) {
			return true
		}
	}
	return false
}

var errNumber = errors.New("non-integer argument")
