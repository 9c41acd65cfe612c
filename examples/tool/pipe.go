//go:build js && wasm

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"syscall/js"
	"time"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/worker"
)

// maxStages is the number of tools that a pipe may have. They run together, each in a worker.
const maxStages = 8

// stage is one tool of a pipe during a run.
type stage struct {
	args     []string
	tool     *entry
	cmd      *worker.Cmd
	in, out  atomic.Int64
	err      error
	done     atomic.Bool
	began    time.Time
	row      js.Value
	upstream *io.PipeReader
}

// start runs the pipe in the text field.
func (a *app) start() {
	if a.stop != nil {
		return
	}
	ctx, cancel := context.WithCancel(a.ctx)
	a.stop = cancel
	dom.Enable("ready", false)
	dom.Enable("stop", true)
	defer func() {
		cancel()
		a.stop = nil
		dom.Enable("ready", true)
		dom.Enable("stop", false)
	}()
	say("")
	dom.Hide("result", true)
	dom.Empty("stages")
	dom.Status("Running")
	begin := time.Now()
	stages, to, err := a.parse(dom.Value("line"))
	if err == nil {
		err = a.pipe(ctx, stages, to)
	}
	switch {
	case err != nil:
		say(err.Error())
		dom.Status(fmt.Sprintf("Ended after %d ms", time.Since(begin).Milliseconds()))
	default:
		dom.Status(fmt.Sprintf("Done in %d ms", time.Since(begin).Milliseconds()))
	}
	a.showFiles()
}

// parse reads a pipe: words with quotes, "|" between tools, and optionally ">" and a file at the
// end. Nothing is expanded.
func (a *app) parse(line string) (stages []*stage, to string, err error) {
	words, err := split(line)
	if err != nil {
		return nil, "", err
	}
	if n := len(words); n > 2 && words[n-2] == (word{">", true}) && !words[n-1].bare {
		to, words = words[n-1].text, words[:n-2]
	}
	var args []string
	add := func() error {
		if len(args) == 0 {
			return errors.New("a tool is missing: write one before and behind each |")
		}
		tool := a.tools.tools[args[0]]
		if tool == nil {
			return fmt.Errorf("%s: there is no such tool", args[0])
		}
		stages, args = append(stages, &stage{args: args, tool: tool}), nil
		return nil
	}
	for _, w := range words {
		switch {
		case w == (word{"|", true}):
			if err := add(); err != nil {
				return nil, "", err
			}
		case w.bare:
			return nil, "", fmt.Errorf("%q can only stand at the end, with a file behind it", w.text)
		default:
			args = append(args, w.text)
		}
	}
	if err := add(); err != nil {
		return nil, "", err
	}
	if len(stages) > maxStages {
		return nil, "", fmt.Errorf("%d tools in a pipe; at most %d run together", len(stages), maxStages)
	}
	return stages, to, nil
}

// word is a word of the line. If bare is set, it is the operator "|" or ">".
type word struct {
	text string
	bare bool
}

func split(line string) (words []word, err error) {
	var b strings.Builder
	open, quote := false, rune(0)
	flush := func() {
		if open {
			words = append(words, word{b.String(), false})
			b.Reset()
			open = false
		}
	}
	escaped := false
	for _, r := range line {
		switch {
		case escaped:
			b.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, open = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			b.WriteRune(r)
		case r == '\'' || r == '"':
			quote, open = r, true
		case r == '|' || r == '>':
			flush()
			words = append(words, word{string(r), true})
		case r == ' ' || r == '\t' || r == '\n':
			flush()
		default:
			b.WriteRune(r)
			open = true
		}
	}
	flush()
	if quote != 0 || escaped {
		return nil, errors.New("a quote is not closed")
	}
	return words, nil
}

func quoteWord(s string) string {
	if strings.ContainsAny(s, " '\"|>\\") {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}

// counter is a writer that counts the bytes.
type counter struct {
	io.Writer
	n *atomic.Int64
}

func (c counter) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.n.Add(int64(n))
	return n, err
}

// pipe runs the stages together. The output of each stage is the input of the next.
func (a *app) pipe(ctx context.Context, stages []*stage, to string) error {
	for _, s := range stages {
		module, err := a.load(ctx, s.tool)
		if err != nil {
			return err
		}
		if s.tool.pkg != nil {
			defer module.Close()
		}
		if s.cmd, err = a.command(ctx, s, module); err != nil {
			return err
		}
		s.show()
	}
	dom.Status("Running")
	var output, complaints bytes.Buffer
	var lock sync.Mutex
	var wait sync.WaitGroup
	for i, s := range stages {
		s.cmd.Stderr = locked{&complaints, &lock}
		var w io.Writer = &output
		var closer io.Closer
		if i < len(stages)-1 {
			pr, pw := io.Pipe()
			stages[i+1].upstream = pr
			stages[i+1].cmd.Stdin = pr
			w, closer = counter{pw, &stages[i+1].in}, pw
		}
		s.cmd.Stdout = counter{w, &s.out}
		s.began = time.Now()
		wait.Go(func() {
			s.err = s.cmd.Run()
			s.done.Store(true)
			if closer != nil {
				closer.Close()
			}
			if s.upstream != nil {
				s.upstream.CloseWithError(io.ErrClosedPipe) // the previous stage may stop writing
			}
		})
	}
	ended := make(chan struct{})
	go func() { wait.Wait(); close(ended) }()
	for tick := time.NewTicker(100 * time.Millisecond); ; {
		for _, s := range stages {
			s.update()
		}
		select {
		case <-tick.C:
			continue
		case <-ended:
		}
		tick.Stop()
		break
	}
	return a.finish(ctx, stages, to, output.Bytes(), complaints.String())
}

func (a *app) command(ctx context.Context, s *stage, module *worker.Module) (*worker.Cmd, error) {
	if s.tool.pkg != nil {
		rest := make([]any, len(s.args)-1)
		for i, arg := range s.args[1:] {
			rest[i] = arg
		}
		var params any = map[string]any{}
		if len(rest) > 0 {
			params = map[string]any{"args": rest}
		}
		return s.tool.pkg.Command(ctx, a.pool, module, params, a.files)
	}
	cmd := a.pool.Command(ctx, module, s.args[0], s.args[1:]...)
	cmd.Limits.Time = 60 * time.Second
	if s.tool.Execution.FileAccess != worker.FilesNone {
		cmd.FS = a.files
	}
	return cmd, nil
}

// finish shows the end of a run: the output, and the statistics of each tool.
func (a *app) finish(ctx context.Context, stages []*stage, to string, output []byte, complaints string) error {
	var errs []string
	for i, s := range stages {
		s.update()
		s.figures()
		var exit *worker.ExitError
		switch {
		case s.err == nil, i < len(stages)-1 && errors.Is(s.err, io.ErrClosedPipe):
		case errors.Is(s.err, protocol.ErrAborted) && ctx.Err() != nil:
			errs = append(errs, s.args[0]+" was killed.")
		case errors.As(s.err, &exit) && exit.Exited():
			errs = append(errs, fmt.Sprintf("%s ended with exit code %d.", s.args[0], exit.ExitCode()))
		default:
			errs = append(errs, s.args[0]+": "+s.err.Error())
		}
	}
	if complaints != "" {
		errs = append(errs, strings.TrimSpace(complaints))
	}
	a.output = output
	if to != "" && len(errs) == 0 {
		if err := a.files.WriteFile(to, output, 0o644); err != nil {
			errs = append(errs, err.Error())
		}
		output = []byte("Wrote " + dom.Size(int64(len(output))) + " to " + to)
	}
	text := shown(output)
	if text == "" {
		text = "Nothing came out."
	}
	dom.SetText("output", text)
	dom.SetText("came", dom.Size(int64(len(a.output))))
	dom.Hide("result", false)
	if len(errs) > 0 {
		return errors.New(strings.Join(errs, "\n"))
	}
	return nil
}

// locked is a writer for several tools to one buffer, which keeps the first 64 kB.
type locked struct {
	b  *bytes.Buffer
	mu *sync.Mutex
}

func (l locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b.Write(p[:min(len(p), max(64_000-l.b.Len(), 0))])
	return len(p), nil
}

// show adds the stage's row to the table.
func (s *stage) show() {
	s.row = dom.Create("tr", "")
	head := dom.Create("th", s.args[0])
	head.Set("scope", "row")
	head.Set("title", strings.Join(s.args, " "))
	s.row.Call("append", head)
	for range 5 {
		s.row.Call("append", dom.Create("td", ""))
	}
	dom.Element("stages").Call("append", s.row)
	dom.Hide("run", false)
}

func (s *stage) cell(i int, text string) {
	s.row.Get("children").Index(i).Set("textContent", text)
}

func (s *stage) update() {
	state := "running"
	if s.done.Load() {
		state = "done"
		var exit *worker.ExitError
		if s.err != nil {
			state = "killed"
			if errors.As(s.err, &exit) && exit.Exited() {
				state = fmt.Sprintf("exit %d", exit.ExitCode())
			}
		}
	}
	s.row.Set("className", strings.Fields(state)[0])
	s.cell(1, state)
	s.cell(2, dom.Size(s.in.Load()))
	s.cell(3, dom.Size(s.out.Load()))
	s.cell(4, fmt.Sprintf("%.1f s", time.Since(s.began).Seconds()))
}

func (s *stage) figures() {
	if s.cmd.ProcessState == nil {
		return
	}
	st := s.cmd.ProcessState.Stats()
	s.cell(2, dom.Size(max(s.in.Load(), st.Input)+st.Read))
	s.cell(4, fmt.Sprintf("%d ms", st.Duration.Milliseconds()))
	memory := "not told"
	if st.Memory > 0 {
		memory = dom.Size(st.Memory)
	}
	s.cell(5, memory)
}
