package mcpclient

// Echoes turns off that credentials are removed from responses.
func Echoes(o *Options) { o.echoes = true }

// Trusts turns off the checks of what an authorization server sends.
func Trusts(o *Options) { o.trusts = true }

// Naive turns off that the server's texts are cleaned, and that its questions are limited.
func Naive(o *Options) { o.naive = true }
