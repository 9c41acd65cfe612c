package protocol

// WithoutList switches off the list of start-up files.
func (p *FSPolicy) WithoutList() { p.unlisted = true }

// StartupFiles returns the list of start-up files.
func StartupFiles() []StartupFile { return startupFiles[:] }

// Limits that the documentation states in figures.
const (
	MaxPath   = maxPath
	MaxSchema = maxSchema
)
