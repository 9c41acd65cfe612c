package btcp

func encodes() { Encode() }
