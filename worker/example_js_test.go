package worker_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/bailey-go/bailey/worker"
)

// addWasm is a module of one function: (func (export "add") (param i32 i32) (result i32)).
const addWasm = "\x00asm\x01\x00\x00\x00" + // the binary format, version 1
	"\x01\x07\x01\x60\x02\x7f\x7f\x01\x7f" + // its type
	"\x03\x02\x01\x00" + "\x07\x07\x01\x03add\x00\x00" + // it is exported
	"\x0a\x09\x01\x07\x00\x20\x00\x20\x01\x6a\x0b" // local.get 0, local.get 1, i32.add

// A module that is not a command exports functions. Each call has an instance of its own.
func ExamplePool_Call() {
	ctx := context.Background()
	pool, err := worker.NewPool(ctx, worker.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	module, err := pool.Compile(ctx, []byte(addWasm))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(pool.Call(ctx, module, "add", []any{int32(40), int32(2)}, worker.CallOptions{}))
	// Output: [42] <nil>
}

// A pool that was closed, or that lost its workers too often, runs no further command. Replace it
// by a new one.
func ExamplePool_Close() {
	ctx := context.Background()
	pool, err := worker.NewPool(ctx, worker.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	module, err := pool.Compile(ctx, []byte(addWasm))
	if err != nil {
		fmt.Println(err)
		return
	}
	pool.Close()
	_, err = pool.Call(ctx, module, "add", []any{1, 2}, worker.CallOptions{})
	if errors.Is(err, worker.ErrClosed) || errors.Is(err, worker.ErrLost) {
		fmt.Println("the pool is gone")
	}
	// Output: the pool is gone
}
