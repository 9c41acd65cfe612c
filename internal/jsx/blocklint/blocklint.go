// Package blocklint finds operations that may block in functions that JavaScript calls. Such a call
// runs on the browser's event loop. If it waits there for something that the event loop must
// deliver, the program deadlocks.
//
// The package checks the function literals that are passed to jsx's Func, Function, Listen,
// OnMessage, OnMessageError and Animation, to js.FuncOf and to safejs.FuncOf, and the functions and
// methods of the same package that are passed by name. It reports channel sends and receives, range
// over a channel, select without default, time.Sleep, Wait of a WaitGroup or Cond, and jsx's own
// Await, CallAwait, Yield, Recv, RecvAll, Ask and Spend. It does not check code in a nested go
// statement, or in another literal that is not called at once. A mutex is allowed, because jsx
// holds none across a crossing.
//
// In a plain js.FuncOf, a send is allowed to a channel that the same function made with a constant
// capacity. A callback that is called once returns its result in this way. In a callback of jsx it
// is reported, because events come again.
//
// To allow an operation that is correct for another reason, put "//blocklint:ok the reason" on its
// line. The reason is required. A mark on a line without such an operation is itself a finding.
//
// The package reads syntax, not types, so it does not find a blocking call in another function. It
// never runs or changes code.
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
	Into string // the function that the callback was passed to: "scope.Listen"
}

// String returns the finding in the form of a compiler's error.
func (f Finding) String() string {
	if f.Into == "" {
		return fmt.Sprintf("%s: %s: nothing to excuse here", f.Pos, f.Op)
	}
	return fmt.Sprintf("%s: %s may block inside a callback given to %s: append to a jsx.Queue, or start a goroutine", f.Pos, f.Op, f.Into)
}

// takers are the names of functions and methods that accept a callback. A name with packages is a
// function of one of these packages, and not a method.
var takers = map[string][]string{
	"FuncOf":         {"syscall/js", "github.com/hack-pad/safejs"},
	"Func":           nil, // methods of jsx.Scope
	"Function":       nil,
	"Listen":         nil,
	"OnMessage":      nil,
	"OnMessageError": nil,
	"Animation":      nil,
}

// jsxPath is imported by files that use a scope. In package jsx itself, the methods are always
// checked.
const jsxPath = "github.com/bailey-go/bailey/internal/jsx"

// Tree checks every Go file below root, except in folders that are hidden or named testdata or
// node_modules.
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

// Dir checks the Go files of one folder, for all targets. It returns the findings in the order of
// their position.
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
	funcs   map[string]*ast.FuncDecl // of the package, with its methods
	imports map[string]string        // of the file: name -> path
	scoped  bool                     // the file may use a jsx.Scope
	seen    map[token.Pos]bool       // named functions that were checked
	roomy   map[string]bool          // channels of the function that have a capacity
	marks   map[string]*mark         // by "file:line"
	found   []Finding
}

// okMark, followed by a reason, allows the operations on its line.
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

// takes reports whether fun is one of the takers, and returns its text.
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
			return "", false // a function of another package with the same name
		}
		return text(fun), l.scoped
	case *ast.ParenExpr:
		return l.takes(fun.X)
	}
	return "", false
}

// callback checks an argument of a taker.
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
			for _, a := range n.Call.Args { // evaluated here, but the rest is not
				ast.Inspect(a, visit)
			}
			return false
		case *ast.FuncLit:
			return false // runs when it is called
		case *ast.CallExpr:
			if lit, ok := n.Fun.(*ast.FuncLit); ok { // called at once, or deferred
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

// selection allows the communications of a select that has a default. It checks the bodies of all
// cases.
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

// roomy returns the names of the channels that fn makes with a literal capacity.
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

// channelName reports whether name is a usual name of a channel. Without types, a range with one
// variable may be over anything.
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
