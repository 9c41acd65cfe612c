package shell

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bailey-go/bailey/sandbox/shell/internal/interp"
)

func sleep(t *task) int {
	if len(t.args) != 1 {
		return 2
	}
	n, err := strconv.ParseFloat(strings.TrimSuffix(t.args[0], "s"), 64)
	if err != nil || !(n >= 0 && n < 1000) {
		return t.fail("%q is not a time", t.args[0])
	}
	timer := time.NewTimer(time.Duration(n * float64(time.Second)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return 0
	case <-t.ctx.Done():
		return 130
	}
}

func env(t *task) int {
	if len(t.args) > 0 {
		return t.fail("only the script's own variables are there; set them in the script")
	}
	for name, v := range interp.HandlerCtx(t.ctx).Env.Each {
		if v.Exported {
			fmt.Fprintf(t.out, "%s=%s\n", name, v.Str)
		}
	}
	return 0
}

func date(t *task) int {
	o, rest, ok := t.options("u", "d")
	if !ok || has(o, 'd') {
		return t.fail("only +FORMAT and -u are known")
	}
	now := time.Now().UTC()
	if len(rest) == 0 {
		return t.print([]string{now.Format("Mon Jan _2 15:04:05 MST 2006")})
	}
	r := strings.NewReplacer("%Y", now.Format("2006"), "%m", now.Format("01"), "%d", now.Format("02"), "%H", now.Format("15"), "%M", now.Format("04"),
		"%S", now.Format("05"), "%F", now.Format("2006-01-02"), "%T", now.Format("15:04:05"), "%s", strconv.FormatInt(now.Unix(), 10), "%%", "%")
	return t.print([]string{r.Replace(strings.TrimPrefix(rest[0], "+"))})
}

func yes(t *task) int {
	word := "y"
	if len(t.args) > 0 {
		word = strings.Join(t.args, " ")
	}
	// It writes several whole lines at once. A reader that needs only a few closes the
	// pipe.
	const most = 100_000
	some := min(max(4096/(len(word)+1), 1), most)
	t.hold(some * (len(word) + 1))
	text := []byte(strings.Repeat(word+"\n", some))
	for left := most; left > 0; left -= some {
		some = min(some, left)
		t.spend(some * (len(word) + 1))
		if _, err := t.out.Write(text[:some*(len(word)+1)]); err != nil {
			return 1
		}
	}
	return 0
}
