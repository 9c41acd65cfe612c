// Package blocklint finds operations that may block inside functions that
// JavaScript calls back. Such a call runs on the browser's event loop: waiting
// there for anything that the event loop has to deliver deadlocks the program.
//
// It looks at function literals given to jsx's Func, Function, Listen,
// OnMessage, OnMessageError and Animation, to js.FuncOf and to safejs.FuncOf, and at
// functions of the same package that are given by name; inside them, at
// channel sends and receives, range over a channel, select without default,
// time.Sleep, Wait of a WaitGroup or Cond, and jsx's own Await, CallAwait,
// Yield, Recv, RecvAll and Ask. What stands in a nested go statement or in a
// further literal that is not called on the spot is another matter, and passes. A
// mutex is fine: jsx holds none across a crossing.
//
// A send to a channel that the same function made with a constant room passes
// in a plain js.FuncOf: that is how a one-shot callback answers. Given to jsx it
// does not, for events come again.
//
// What is known to be right for another reason says so on its own line, as
// "//blocklint:ok the reason"; a reason is needed, and a mark where nothing was found
// is itself a finding.
//
// It reads syntax, not types: a blocking call hidden in another function is
// not seen. What it trusts: nothing. What it never does: run or change code.
package blocklint

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// A Finding is one operation that may block.
type Finding struct {
	Pos  token.Position
	Op   string // "channel receive"
	Into string // what the callback was given to: "scope.Listen"
}

// String is the finding as a compiler would print it.
func (f Finding) String() string {
	if f.Into == "" {
		return fmt.Sprintf("%s: %s: nothing to excuse here", f.Pos, f.Op)
	}
	return fmt.Sprintf("%s: %s may block inside a callback given to %s: append to a jsx.Queue, or start a goroutine", f.Pos, f.Op, f.Into)
}

// takers are the names of functions and methods that take a callback, with
// the packages that a plain function of that name must be of.
var takers = map[string][]string{
	"FuncOf":         {"syscall/js", "github.com/hack-pad/safejs"},
	"Func":           nil, // methods of jsx.Scope
	"Function":       nil,
	"Listen":         nil,
	"OnMessage":      nil,
	"OnMessageError": nil,
	"Animation":      nil,
}

// jsxPath is imported by whoever has a scope; in it, the methods are known.
const jsxPath = "github.com/bailey-go/bailey/internal/jsx"

// Tree looks at every Go file below root, but for testdata and hidden folders.
func Tree(root string) ([]Finding, error) {
	dirs := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules") {
			return filepath.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(name, ".go") {
			dirs[filepath.Dir(path)] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var all []Finding
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		found, err := Dir(dir)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// Dir looks at the Go files of one folder, for whatever target.
func Dir(dir string) ([]Finding, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	l := &linter{fset: fset, funcs: map[string]*ast.FuncDecl{}, seen: map[token.Pos]bool{}, marks: map[string]*mark{}}
	var files []*ast.File
	for _, path := range paths {
		f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				l.funcs[fn.Name.Name] = fn
			}
		}
	}
	for _, f := range files {
		l.file(f)
	}
	for _, m := range l.marks {
		if !m.used {
			l.found = append(l.found, Finding{m.pos, "useless " + okMark, ""})
		}
	}
	slices.SortFunc(l.found, func(a, b Finding) int {
		if a.Pos.Filename != b.Pos.Filename {
			return strings.Compare(a.Pos.Filename, b.Pos.Filename)
		}
		return a.Pos.Offset - b.Pos.Offset
	})
	return l.found, nil
}

type linter struct {
	fset    *token.FileSet
	funcs   map[string]*ast.FuncDecl // of the package, methods too
	imports map[string]string        // of the file: name -> path
	scoped  bool                     // the file may hold a jsx.Scope
	seen    map[token.Pos]bool       // named functions looked at
	roomy   map[string]bool          // channels of the function that have room
	marks   map[string]*mark         // by "file:line"
	found   []Finding
}

// okMark, followed by a reason, excuses what is found on its line.
const okMark = "//blocklint:ok"

type mark struct {
	pos  token.Position
	used bool
}

func lineOf(p token.Position) string { return fmt.Sprintf("%s:%d", p.Filename, p.Line) }

func (l *linter) file(f *ast.File) {
	for _, group := range f.Comments {
		for _, c := range group.List {
			if why, ok := strings.CutPrefix(c.Text, okMark+" "); ok && strings.TrimSpace(why) != "" {
				pos := l.fset.Position(c.Pos())
				l.marks[lineOf(pos)] = &mark{pos: pos}
			}
		}
	}
	l.imports = map[string]string{}
	l.scoped = f.Name.Name == "jsx"
	for _, imp := range f.Imports {
		path := strings.Trim(imp.Path.Value, "`\"")
		name := path[strings.LastIndexByte(path, '/')+1:]
		if imp.Name != nil {
			name = imp.Name.Name
		}
		l.imports[name] = path
		l.scoped = l.scoped || path == jsxPath
	}
	for _, d := range f.Decls {
		l.roomy = nil
		if fn, ok := d.(*ast.FuncDecl); ok {
			l.roomy = roomy(fn)
		}
		l.decl(d)
	}
}

func (l *linter) decl(d ast.Decl) {
	ast.Inspect(d, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if into, ok := l.takes(call.Fun); ok {
			for _, arg := range call.Args {
				l.callback(arg, into)
			}
		}
		return true
	})
}

// takes reports whether fun is one of the takers, and how it is written.
func (l *linter) takes(fun ast.Expr) (string, bool) {
	switch fun := fun.(type) {
	case *ast.SelectorExpr:
		name := fun.Sel.Name
		pkgs, ok := takers[name]
		if !ok {
			return "", false
		}
		x, isIdent := fun.X.(*ast.Ident)
		if pkgs != nil {
			return text(fun), isIdent && slices.Contains(pkgs, l.imports[x.Name])
		}
		if isIdent && l.imports[x.Name] != "" {
			return "", false // a function of some package that has the same name
		}
		return text(fun), l.scoped
	case *ast.ParenExpr:
		return l.takes(fun.X)
	}
	return "", false
}

// callback looks into what was given to a taker.
func (l *linter) callback(arg ast.Expr, into string) {
	switch arg := arg.(type) {
	case *ast.FuncLit:
		l.body(arg.Body, into)
	case *ast.Ident:
		l.named(arg.Name, into)
	case *ast.SelectorExpr: // a method value: p.onMessage
		l.named(arg.Sel.Name, into)
	case *ast.ParenExpr:
		l.callback(arg.X, into)
	}
}

func (l *linter) named(name, into string) {
	if fn := l.funcs[name]; fn != nil && !l.seen[fn.Pos()] {
		l.seen[fn.Pos()] = true
		l.body(fn.Body, into)
	}
}

func (l *linter) body(b ast.Node, into string) {
	report := func(n ast.Node, op string) {
		pos := l.fset.Position(n.Pos())
		if m := l.marks[lineOf(pos)]; m != nil {
			m.used = true
			return
		}
		l.found = append(l.found, Finding{pos, op, into})
	}
	var visit func(ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			for _, a := range n.Call.Args { // evaluated here, the rest is not
				ast.Inspect(a, visit)
			}
			return false
		case *ast.FuncLit:
			return false // runs when somebody calls it
		case *ast.CallExpr:
			if lit, ok := n.Fun.(*ast.FuncLit); ok { // called on the spot, or deferred
				ast.Inspect(lit.Body, visit)
			} else if op := blockingCall(n, l.imports); op != "" {
				report(n, op)
			}
		case *ast.SendStmt:
			if id, ok := n.Chan.(*ast.Ident); !ok || !l.roomy[id.Name] || !strings.HasSuffix(into, ".FuncOf") {
				report(n, "channel send")
			}
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				report(n, "channel receive")
			}
		case *ast.RangeStmt:
			if id, ok := n.X.(*ast.Ident); ok && n.Value == nil && channelName(id.Name) {
				report(n, "range over a channel")
			}
		case *ast.SelectStmt:
			l.selection(n, visit, report)
			return false
		}
		return true
	}
	ast.Inspect(b, visit)
}

// selection passes the communications of a select that has a default, and
// looks into the bodies of every one.
func (l *linter) selection(n *ast.SelectStmt, visit func(ast.Node) bool, report func(ast.Node, string)) {
	hasDefault := false
	for _, c := range n.Body.List {
		if c.(*ast.CommClause).Comm == nil {
			hasDefault = true
		}
	}
	if !hasDefault {
		report(n, "select without default")
	}
	for _, c := range n.Body.List {
		for _, s := range c.(*ast.CommClause).Body {
			ast.Inspect(s, visit)
		}
	}
}

// roomy names the channels that fn makes with a room of a literal number.
func roomy(fn *ast.FuncDecl) map[string]bool {
	made := map[string]bool{}
	ast.Inspect(fn, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || a.Tok != token.DEFINE || len(a.Lhs) != len(a.Rhs) {
			return true
		}
		for i, rhs := range a.Rhs {
			call, ok := rhs.(*ast.CallExpr)
			if !ok || len(call.Args) != 2 || text(call.Fun) != "make" {
				continue
			}
			room, ok := call.Args[1].(*ast.BasicLit)
			if _, isChan := call.Args[0].(*ast.ChanType); isChan && ok && room.Kind == token.INT && room.Value != "0" {
				made[text(a.Lhs[i])] = true
			}
		}
		return true
	})
	return made
}

func blockingCall(c *ast.CallExpr, imports map[string]string) string {
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	name := sel.Sel.Name
	if x, ok := sel.X.(*ast.Ident); ok && imports[x.Name] != "" {
		switch path := imports[x.Name]; {
		case path == "time" && name == "Sleep":
			return "time.Sleep"
		case path == jsxPath && (name == "Await" || name == "CallAwait" || name == "Yield"):
			return text(sel)
		}
		return ""
	}
	switch name {
	case "Wait":
		return text(sel)
	case "Recv", "RecvAll", "Ask", "Spend":
		return text(sel)
	}
	return ""
}

// channelName guesses: without types, a range with one variable may be over
// anything, and these are what channels are called.
func channelName(name string) bool {
	name = strings.ToLower(name)
	return name == "c" || strings.HasSuffix(name, "ch") || strings.HasSuffix(name, "chan") || name == "done" || strings.HasSuffix(name, "signal")
}

func text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return text(e.X) + "." + e.Sel.Name
	case *ast.CallExpr:
		return text(e.Fun) + "()"
	case *ast.IndexExpr:
		return text(e.X) + "[]"
	case *ast.ParenExpr:
		return text(e.X)
	}
	return "…"
}
