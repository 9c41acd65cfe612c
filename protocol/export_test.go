package protocol

// WithoutList switches off the list of start-up files.
func (p *FSPolicy) WithoutList() { p.unlisted = true }
