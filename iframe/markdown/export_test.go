package markdown

// Sanitise is our bluemonday policy alone.
func (r *Renderer) Sanitise(s string) string {
	r.prepare()
	return r.policy.Sanitize(s)
}

// Verify is the last check alone.
func (r *Renderer) Verify(s string) bool { return verify(r, []byte(s)) == "" }

// WithoutLabels switches off the real target beside a link and the warning in it.
func (r *Renderer) WithoutLabels() { r.unlabelled = true }

// Defaults of limits that tests compare sizes with.
const (
	LineBytes  = defaultLineBytes
	TableCells = defaultTableCells
	MaxDepth   = maxDepth
)
