package protocol

// WithoutList switches off the list of start-up files.
func (p *FSPolicy) WithoutList() { p.unlisted = true }

// Limits that the documentation states in figures.
const (
	MaxPath   = maxPath
	MaxSchema = maxSchema
)
