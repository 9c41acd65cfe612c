//go:build js && wasm

// Hello is the least Go program that a page can wait for: the floor of every
// start-up time.
package main

import "syscall/js"

func main() {
	js.Global().Get("performance").Call("mark", "main")
	println("hello")
	select {}
}
