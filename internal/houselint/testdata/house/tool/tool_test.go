package tool

var _ = Size()
