package tools_test

import (
	"context"
	"fmt"
	"os"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/worker"
)

// A page fetches core.wasm once, and runs each of its commands by name.
func Example() {
	ctx := context.Background()
	wasm, err := os.ReadFile("../../build/tools/core.wasm") // in a page: fetched from tools/core.wasm
	if err != nil {
		fmt.Println(err)
		return
	}
	pool, err := worker.NewPool(ctx, worker.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	core, err := pool.Compile(ctx, wasm)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer core.Close()
	folder := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	_ = folder.WriteFile("numbers.txt", []byte("10\n9\n8\n"), 0o644)
	cmd := pool.Command(ctx, core, "sort", "-n", "numbers.txt")
	cmd.FS = folder
	out, err := cmd.Output()
	fmt.Printf("%s%v\n", out, err)
	// Output:
	// 8
	// 9
	// 10
	// <nil>
}
