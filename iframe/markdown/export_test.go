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

// WithoutBounds switches off the bounds of the layout: of elements, tables, marks and directions.
func (r *Renderer) WithoutBounds() { r.unbounded = true }

// Defaults of limits that tests compare sizes with.
const (
	LineBytes  = defaultLineBytes
	TableCells = defaultTableCells
	MaxDepth   = maxDepth
)

// CheckDrawing is the check of drawings alone. It returns the HTML of a formula or the address of a picture.
func (r *Renderer) CheckDrawing(s Source, d Drawing) (shown string, err error) {
	p, err := r.gallery.(*pictures).check(s, d)
	if err != nil || p == nil {
		return "", err
	}
	return p.html + p.image, nil
}
