// Copyright (c) 2017, Daniel Martí <mvdan@mvdan.cc>
// See LICENSE for licensing information

package interp

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/bailey-go/bailey/sandbox/shell/internal/expand"
	"mvdan.cc/sh/v3/syntax"
)

// non-empty string is true, empty string is false
func bashTest(ctx context.Context, r *Runner, expr syntax.TestExpr, classic bool) string {
	switch x := expr.(type) {
	case *syntax.Word:
		if classic {
			// In the classic "test" mode, we already expanded and
			// split the list of words, so don't redo that work.
			return r.document(x)
		}
		return r.literal(x)
	case *syntax.ParenTest:
		return bashTest(ctx, r, x.X, classic)
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.TsMatchShort, syntax.TsMatch, syntax.TsNoMatch:
			str := r.literal(x.X.(*syntax.Word))
			yw := x.Y.(*syntax.Word)
			if classic { // test, [
				lit := r.literal(yw)
				if (str == lit) == (x.Op != syntax.TsNoMatch) {
					return "1"
				}
			} else { // [[
				pattern := r.pattern(yw)
				if r.match(pattern, str) == (x.Op != syntax.TsNoMatch) {
					return "1"
				}
			}
			return ""
		}
		if x.Op == syntax.TsReMatch && !classic {
			expr, err := expand.Regexp(r.ecfg, x.Y.(*syntax.Word))
			r.expandErr(err)
			if binTest(ctx, r, x.Op, bashTest(ctx, r, x.X, classic), expr) {
				return "1"
			}
			return ""
		}
		switch x.Op {
		case syntax.AndTest, syntax.OrTest: // the right side counts only if it is needed
			if (bashTest(ctx, r, x.X, classic) != "") == (x.Op == syntax.OrTest) {
				return map[bool]string{true: "1"}[x.Op == syntax.OrTest]
			}
			return bashTest(ctx, r, x.Y, classic)
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			left, ok1 := operand(r, bashTest(ctx, r, x.X, classic), classic)
			right, ok2 := operand(r, bashTest(ctx, r, x.Y, classic), classic)
			if ok1 && ok2 && map[syntax.BinTestOperator]bool{syntax.TsEql: left == right, syntax.TsNeq: left != right, syntax.TsLeq: left <= right,
				syntax.TsGeq: left >= right, syntax.TsLss: left < right, syntax.TsGtr: left > right}[x.Op] {
				return "1"
			}
			return ""
		}
		if binTest(ctx, r, x.Op, bashTest(ctx, r, x.X, classic), bashTest(ctx, r, x.Y, classic)) {
			return "1"
		}
		return ""
	case *syntax.UnaryTest:
		if unTest(ctx, r, x.Op, bashTest(ctx, r, x.X, classic)) {
			return "1"
		}
		return ""
	}
	return ""
}

func binTest(ctx context.Context, r *Runner, op syntax.BinTestOperator, x, y string) bool {
	switch op {
	case syntax.TsReMatch:
		if r.opts[optNoCaseMatch] {
			y = "(?i)" + y
		}
		re, err := r.bounds.regexp(y)
		if err != nil {
			r.exit.code = 2
			return false
		}
		m := re.FindStringSubmatch(x)
		vr := expand.Variable{
			Set:  true,
			Kind: expand.Indexed,
			List: m,
		}
		r.setVar("BASH_REMATCH", vr)
		return m != nil
	case syntax.TsNewer, syntax.TsOlder:
		info1, err1 := r.stat(ctx, x)
		info2, err2 := r.stat(ctx, y)
		// -ot is the mirror of -nt, so swap the operands and share the logic.
		if op == syntax.TsOlder {
			info1, info2, err1, err2 = info2, info1, err2, err1
		}
		// True if the first operand exists and the second does not,
		// or if both exist and the first is newer.
		if err1 != nil {
			return false
		}
		if err2 != nil {
			return true
		}
		return info1.ModTime().After(info2.ModTime())
	case syntax.TsDevIno:
		info1, err1 := r.stat(ctx, x)
		info2, err2 := r.stat(ctx, y)
		if err1 != nil || err2 != nil {
			return false
		}
		return absPath(r.Dir, x) == absPath(r.Dir, y) && info1 != nil && info2 != nil
	case syntax.TsBefore:
		return x < y
	case syntax.TsAfter:
		return x > y
	default:
		// Should only happen if we forgot a case above.
		panic(fmt.Sprintf("unexpected binary test operator: %q", op))
	}
}

func statMode(ctx context.Context, r *Runner, name string, mode os.FileMode) bool {
	info, err := r.stat(ctx, name)
	return err == nil && info.Mode()&mode != 0
}

func unTest(ctx context.Context, r *Runner, op syntax.UnTestOperator, x string) bool {
	switch op {
	case syntax.TsExists:
		_, err := r.stat(ctx, x)
		return err == nil
	case syntax.TsRegFile:
		info, err := r.stat(ctx, x)
		return err == nil && info.Mode().IsRegular()
	case syntax.TsDirect:
		return statMode(ctx, r, x, os.ModeDir)
	case syntax.TsCharSp:
		return statMode(ctx, r, x, os.ModeCharDevice)
	case syntax.TsBlckSp:
		info, err := r.stat(ctx, x)
		return err == nil && info.Mode()&os.ModeDevice != 0 &&
			info.Mode()&os.ModeCharDevice == 0
	case syntax.TsNmPipe:
		return statMode(ctx, r, x, os.ModeNamedPipe)
	case syntax.TsSocket:
		return statMode(ctx, r, x, os.ModeSocket)
	case syntax.TsSmbLink:
		info, err := r.lstat(ctx, x)
		return err == nil && info.Mode()&os.ModeSymlink != 0
	case syntax.TsSticky:
		return statMode(ctx, r, x, os.ModeSticky)
	case syntax.TsUIDSet:
		return statMode(ctx, r, x, os.ModeSetuid)
	case syntax.TsGIDSet:
		return statMode(ctx, r, x, os.ModeSetgid)
	case syntax.TsModif:
		info, err := r.stat(ctx, x)
		if err != nil {
			return false
		}
		return !info.ModTime().IsZero() // access times are not kept
	case syntax.TsRead:
		return r.access(ctx, x, AccessRead) == nil
	case syntax.TsWrite:
		return r.access(ctx, x, AccessWrite) == nil
	case syntax.TsExec:
		return r.access(ctx, x, AccessExec) == nil
	case syntax.TsNoEmpty:
		info, err := r.stat(ctx, x)
		return err == nil && info.Size() > 0
	case syntax.TsFdTerm:
		return false // there is no terminal
	case syntax.TsEmpStr:
		return x == ""
	case syntax.TsNempStr:
		return x != ""
	case syntax.TsOptSet:
		if opt := r.posixOptByName(x); opt != nil {
			return *opt
		}
		return false
	case syntax.TsVarSet:
		name, sub, ok := cutElemSubscript(x)
		if !ok {
			return r.lookupVar(x).IsSet()
		}
		return isElem(r, name, sub)
	case syntax.TsRefVar:
		return r.lookupVar(x).Kind == expand.NameRef
	case syntax.TsNot:
		return x == ""
	case syntax.TsUsrOwn, syntax.TsGrpOwn:
		_, err := r.stat(ctx, x)
		return err == nil // files have no owners, so a visible file counts as owned
	default:
		// Should only happen if we forgot a case above.
		panic(fmt.Sprintf("unexpected unary test op: %v", op))
	}
}

// operand returns an operand of -eq and its kind: a number for test, and an expression in [[ ]].
func operand(r *Runner, text string, classic bool) (int, bool) {
	if !classic {
		n, err := expand.Value(r.ecfg, text)
		if r.expandErr(err); err != nil {
			r.exit.code = 1
		}
		return n, err == nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		r.errf("bash: [: %s: integer expression expected\n", text)
		r.badTest = true
	}
	return n, err == nil
}

// isElem reports whether an element of an array is set.
func isElem(r *Runner, name, sub string) bool {
	vr := r.lookupVar(name)
	if n, v := vr.Resolve(r.writeEnv); n != "" {
		vr = v
	}
	switch vr.Kind {
	case expand.Associative:
		_, ok := vr.Map[sub]
		return ok
	case expand.Indexed:
		if sub == "@" || sub == "*" {
			return len(vr.List) > 0
		}
		n, err := expand.Value(r.ecfg, sub)
		if n < 0 {
			n += expand.IndexedMax(vr.List, vr.Indexes) + 1
		}
		if vr.Indexes != nil {
			return err == nil && slices.Contains(vr.Indexes, n)
		}
		return err == nil && n >= 0 && n < len(vr.List)
	}
	return vr.IsSet() && sub == "0"
}
