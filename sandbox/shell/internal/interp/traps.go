package interp

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"mvdan.cc/sh/v3/syntax"
)

// signals are the numbers of the signals on Linux, by their names.
var signals = map[string]int{"HUP": 1, "INT": 2, "QUIT": 3, "ILL": 4, "TRAP": 5, "ABRT": 6, "BUS": 7, "FPE": 8, "KILL": 9, "USR1": 10, "SEGV": 11, "USR2": 12, "PIPE": 13, "ALRM": 14,
	"TERM": 15, "STKFLT": 16, "CHLD": 17, "CONT": 18, "STOP": 19, "TSTP": 20, "TTIN": 21, "TTOU": 22, "URG": 23, "XCPU": 24, "XFSZ": 25, "VTALRM": 26, "PROF": 27, "WINCH": 28, "IO": 29, "PWR": 30, "SYS": 31}

// signalOf returns the name and the number of a signal, which a word names with or without SIG, or by its number. The name is "" if there is none.
func signalOf(word string) (string, int) {
	if n, err := strconv.Atoi(word); err == nil {
		for name, m := range signals {
			if n == m {
				return name, n
			}
		}
		return "", n
	}
	name := strings.TrimPrefix(strings.ToUpper(word), "SIG")
	if n, ok := signals[name]; ok {
		return name, n
	}
	return "", -1
}

// conditionOf returns the name under which trap keeps a callback, or "".
func conditionOf(word string) string {
	switch word = strings.ToUpper(word); word {
	case "EXIT", "0", "SIGEXIT":
		return "EXIT"
	case "ERR", "RETURN", "DEBUG":
		return word
	}
	name, _ := signalOf(word)
	return name
}

func setTrap(r *Runner, name, callback string) {
	if r.traps == nil {
		r.traps = map[string]string{}
	}
	r.traps[name] = callback
}

// trap is the builtin trap.
func trap(r *Runner, args []string) (code uint8) {
	show := false
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		a := args[0]
		args = args[1:]
		if a == "--" {
			break
		}
		switch a {
		case "-p":
			show = true
		case "-l":
			listSignals(r)
			return 0
		default:
			r.errf("bash: trap: %s: invalid option\ntrap: usage: trap [-lp] [[arg] signal_spec ...]\n", a)
			return 2
		}
	}
	if show || len(args) == 0 {
		printTraps(r, args)
		return 0
	}
	callback, set := args[0], true
	if conditionOf(callback) != "" && len(args) == 1 { // it gets its default back
		set = false
	} else if args = args[1:]; callback == "-" {
		set = false
	}
	for _, arg := range args {
		name := conditionOf(arg)
		switch {
		case name == "":
			r.errf("bash: trap: %s: invalid signal specification\n", arg)
			code = 1
		case set:
			setTrap(r, name, callback)
		default:
			delete(r.traps, name)
		}
		if name == "ERR" || name == "DEBUG" {
			r.muted = false
		}
	}
	return code
}

func printTraps(r *Runner, only []string) {
	order := func(name string) int {
		switch name {
		case "EXIT":
			return 0
		case "DEBUG", "ERR", "RETURN":
			return 100 + int(name[0])
		}
		return signals[name]
	}
	names := slices.SortedFunc(maps.Keys(r.traps), func(a, b string) int { return order(a) - order(b) })
	for _, name := range names {
		if len(only) > 0 && !slices.ContainsFunc(only, func(w string) bool { return conditionOf(w) == name }) {
			continue
		}
		shown := name
		if _, ok := signals[name]; ok {
			shown = "SIG" + name
		}
		r.outf("trap -- '%s' %s\n", strings.ReplaceAll(r.traps[name], "'", `'\''`), shown)
	}
}

func listSignals(r *Runner) {
	for i, name := range slices.SortedFunc(maps.Keys(signals), func(a, b string) int { return signals[a] - signals[b] }) {
		r.outf("%2d) SIG%s", i+1, name)
		if i%5 == 4 || i == len(signals)-1 {
			r.out("\n")
		} else {
			r.out("\t")
		}
	}
}

// trapCallback runs the callback of a trap. Its own commands start no other.
func trapCallback(ctx context.Context, r *Runner, name string) {
	callback := r.traps[name]
	if callback == "" || r.handlingTrap || r.exit.fatalExit || r.muted && (name == "ERR" || name == "DEBUG") {
		return
	}
	r.handlingTrap = true
	defer func() { r.handlingTrap = false }()

	file, err := r.bounds.Parse(callback)
	if err != nil {
		r.errf("bash: trap: %v\n", err)
		return // the callback has no effect
	}
	oldExit, oldLastExit := r.exit, r.lastExit
	if name != "DEBUG" {
		r.lastExit = r.exit
	}
	r.exit.exiting, r.exit.returning = false, false // a trap of EXIT or RETURN runs when the shell or the function has ended
	r.stmts(ctx, file.Stmts)
	if r.exit.exiting || r.exit.fatalExit {
		return // exit in a trap is that of the shell
	}
	r.exit, r.lastExit = oldExit, oldLastExit // traps on EXIT or ERR should not modify the result
}

// before runs the callback of DEBUG before a simple command.
func before(ctx context.Context, r *Runner, cm syntax.Command) {
	if r.handlingTrap {
		return
	}
	if c, ok := cm.(*syntax.CallExpr); ok && len(c.Args) == 1 && len(c.Args[0].Parts) == 1 {
		if q, ok := c.Args[0].Parts[0].(*syntax.SglQuoted); ok && strings.HasPrefix(q.Value, "\x00") {
			return // the shell's own command
		}
	}
	r.command = cm
	trapCallback(ctx, r, "DEBUG")
}

// kill is the builtin kill. The only processes of a shell are itself and its background jobs.
func kill(ctx context.Context, r *Runner, args []string) (exit exitStatus) {
	name, num := "TERM", 15
	if len(args) > 0 && (args[0] == "-l" || args[0] == "-L") {
		if len(args) == 1 {
			listSignals(r)
			return exit
		}
		for _, a := range args[1:] {
			n, err := strconv.Atoi(a)
			if s, m := signalOf(a); s != "" && err != nil {
				r.outf("%d\n", m)
			} else if s, _ := signalOf(strconv.Itoa(n & 127)); s != "" {
				r.outf("%s\n", s)
			} else {
				r.errf("bash: kill: %s: invalid signal specification\n", a)
				exit.code = 1
			}
		}
		return exit
	}
	if len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		word := args[0][1:]
		args = args[1:]
		if (word == "s" || word == "n") && len(args) > 0 {
			word, args = args[0], args[1:]
		}
		if word != "-" {
			if name, num = signalOf(word); name == "" && num != 0 {
				r.errf("bash: kill: %s: invalid signal specification\n", word)
				exit.code = 1
				return exit
			}
		}
	}
	if len(args) == 0 {
		r.errf("kill: usage: kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]\n")
		exit.code = 2
		return exit
	}
	for _, a := range args {
		if a == "1" { // $$
			if num == 0 {
				continue
			}
			if callback, ok := r.traps[name]; ok && name != "KILL" && name != "STOP" {
				if callback != "" {
					trapCallback(ctx, r, name)
				}
				if r.exit.exiting {
					return r.exit
				}
				continue
			}
			switch name {
			case "CHLD", "CONT", "URG", "WINCH":
			default:
				r.traps = nil // it ends at once
				exit.code, exit.exiting = uint8(128+num), true
				return exit
			}
			continue
		}
		n := int(atoi(strings.TrimLeft(a, "g%")))
		if !strings.HasPrefix(a, "g") && !strings.HasPrefix(a, "%") || n < 1 || n > len(r.bgProcs) {
			r.errf("bash: kill: (%s) - No such process\n", a)
			exit.code = 1
			continue
		}
		bg := r.bgProcs[n-1]
		select {
		case <-bg.done:
			r.errf("bash: kill: (%s) - No such process\n", a)
			exit.code = 1
			continue
		default:
		}
		switch name {
		case "", "CHLD", "CONT", "URG", "WINCH":
		default:
			bg.with.CompareAndSwap(0, int32(num))
			bg.stop()
		}
	}
	return exit
}

// newJob returns a background job and the context in which it runs.
func newJob(ctx context.Context, r *Runner) (bgProc, context.Context) {
	own, stop := context.WithCancel(ctx)
	if r.jobEnded == nil {
		r.jobEnded = make(chan struct{}, 1)
	}
	return bgProc{done: make(chan struct{}), exit: new(exitStatus), stop: stop, with: new(atomic.Int32), next: r.jobEnded}, jobContext{ctx, own}
}

// end tells those that wait for the job.
func (bg bgProc) end() {
	close(bg.done)
	select {
	case bg.next <- struct{}{}:
	default: // one word is enough, as wait -n looks at all jobs
	}
}

// waitNext waits for the end of a job that no wait -n has returned.
func waitNext(ctx context.Context, r *Runner) (exit exitStatus) {
	for {
		open := false
		for i := range r.bgProcs {
			bg := &r.bgProcs[i]
			if bg.told {
				continue
			}
			open = true
			select {
			case <-bg.done:
				bg.told = true
				return *bg.exit
			default:
			}
		}
		if !open {
			exit.code = 127
			return exit
		}
		select {
		case <-r.jobEnded:
		case <-ctx.Done():
			exit.fatal(ctx.Err())
			return exit
		}
	}
}
