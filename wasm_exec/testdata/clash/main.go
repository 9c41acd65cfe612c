// Command clash brings a file whose name is taken.
package main

func main() {}
