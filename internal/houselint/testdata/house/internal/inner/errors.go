package inner

import "errors"

var errWhat = errors.New("what is wrong here; read it; then go")

func Err() error { return errWhat }
