package protocol

// WithoutList switches off the list of start-up files.
func (p *FSPolicy) WithoutList() { p.unlisted = true }

// StartupFiles returns the list of start-up files.
func StartupFiles() []startupFile { return startupFiles[:] }

// Limits that the documentation states in figures.
const (
	MaxPath   = maxPath
	MaxSchema = maxSchema
)

// StartupFileOf returns the row that covers path, and whether there is one.
func StartupFileOf(path string) (startupFile, bool) {
	if f := rowOf(path); f != nil {
		return *f, true
	}
	return startupFile{}, false
}
