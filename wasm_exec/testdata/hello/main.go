// Command hello is a page that says so.
package main

import "syscall/js"

func main() {
	js.Global().Get("document").Get("body").Set("textContent", "Hello from Go.")
	select {}
}
