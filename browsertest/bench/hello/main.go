//go:build js && wasm

// Hello is the smallest Go program that a page can wait for. It is the floor of every start-up
// time.
package main

import "syscall/js"

func main() {
	js.Global().Get("performance").Call("mark", "main")
	println("hello")
	select {}
}
