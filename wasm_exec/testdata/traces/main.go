// Traces does what reads Go's table of functions: it grows stacks, collects garbage with pointers on them,
// panics, recovers, and names its callers.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
)

type node struct {
	next *node
	data []byte
}

func main() {
	var list *node
	for i := range 20_000 {
		list = &node{list, []byte(fmt.Sprint(i))}
		if i%5_000 == 0 {
			runtime.GC()
		}
	}
	n := 0
	for ; list != nil; list = list.next {
		n += len(list.data)
	}
	fmt.Println("bytes", n, "deep", deep(10_000, new(int)))

	fmt.Println(caught(func() { panic("plain") }))
	fmt.Println(caught(func() { var m map[string]int; m["x"] = 1 }))
	fmt.Println(caught(func() { var p *node; fmt.Println(p.next) }))
	fmt.Println(caught(func() { fmt.Println([]int{1}[n]) }))
	fmt.Println(caught(func() { defer func() { panic("second") }(); panic("first") }))
	fmt.Println(caught(func() {
		defer func() { recover() }()
		inlined()
	}))
	fmt.Println(caught(func() { defer nested(); panic("not nested") })) // recover is not called by the deferred function
	for i := range 3 {
		defer fmt.Println("deferred", i)
	}

	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			if deep(200+i, new(int)) < 0 {
				fmt.Println("never")
			}
			runtime.GC()
		})
	}
	wg.Wait()

	var pcs [20]uintptr
	frames := runtime.CallersFrames(pcs[:outer(&pcs)])
	for {
		f, more := frames.Next()
		fmt.Println("frame", f.Function)
		if !more {
			break
		}
	}
	_, file, line, ok := runtime.Caller(0)
	fmt.Println("caller", strings.HasSuffix(file, "main.go"), line > 0, ok)
	stack := string(debug.Stack())
	fmt.Println("stack", strings.Contains(stack, "main.main"), strings.Contains(stack, "main.go:"))
	if len(os.Args) > 1 {
		panic(errors.New("the end"))
	}
}

//go:noinline
func deep(n int, p *int) int {
	if *p += n; n == 0 {
		runtime.GC()
		return *p
	}
	return deep(n-1, p)
}

func inlined() { panic("inlined") }

func nested() { func() { recover() }() }

//go:noinline
func outer(pcs *[20]uintptr) int { return middle(pcs) }

func middle(pcs *[20]uintptr) int { return runtime.Callers(0, pcs[:]) }

func caught(do func()) (text string) {
	defer func() { text = fmt.Sprint("recovered: ", recover()) }()
	do()
	return "no panic"
}
