// Command pages brings files of its own.
package main

func main() {}
